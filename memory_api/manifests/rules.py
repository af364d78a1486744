"""The CEL rules of a CRD, tried as the API server tries them: on every value that is there, defaults included.

A rule that reads `oldSelf` compares with the object of before; a file has none, so such rules are passed over, as on
create. cel-python brings the language; the string functions that Kubernetes adds and our rules use are given here.
"""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import celpy
import re2
from celpy import celtypes
from celpy.adapter import json_to_cel
from celpy.evaluation import CELEvalError, CELFunction

from memory_api.manifests.problem import Path, Problem
from memory_api.manifests.schema import Schema

_RULES = "x-kubernetes-validations"
_OLD_SELF = re.compile(r"\boldSelf\b")
_REASONS = {"FieldValueRequired": "Required value", "FieldValueForbidden": "Forbidden"}

_SUFFIXES = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    **{letter: Decimal(1000) ** power for power, letter in enumerate("kMGT", 1)},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGT", 1)},
}


def _find(text: celtypes.StringType, pattern: celtypes.StringType) -> celtypes.StringType:
    found = re2.search(str(pattern), str(text))
    return celtypes.StringType(found.group(0) if found else "")


def _replace(text: celtypes.StringType, old: celtypes.StringType, new: celtypes.StringType) -> celtypes.StringType:
    return celtypes.StringType(str(text).replace(str(old), str(new)))


def _quantity(text: celtypes.StringType) -> celtypes.DoubleType:
    """An amount such as 500m or 1Gi as a number; the schema's patterns let nothing else pass."""
    digits = str(text).rstrip("".join(_SUFFIXES))
    return celtypes.DoubleType(Decimal(digits) * _SUFFIXES[str(text)[len(digits) :]])


def _compare_to(left: celtypes.DoubleType, right: celtypes.DoubleType) -> celtypes.IntType:
    return celtypes.IntType((left > right) - (left < right))


FUNCTIONS: dict[str, CELFunction] = {
    "find": _find,
    "replace": _replace,
    "quantity": _quantity,
    "compareTo": _compare_to,
}


def rule_problems(value: Any, schema: Schema, path: Path = ()) -> Iterator[Problem]:
    """Every rule of the schema that `value` breaks."""
    for rule in schema.get(_RULES, ()):
        if not _OLD_SELF.search(rule["rule"]):
            yield from _tried(rule, value, path)
    if isinstance(value, dict):
        for key, part in value.items():
            below = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if isinstance(below, dict):
                yield from rule_problems(part, below, (*path, key))
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            yield from rule_problems(item, schema["items"], (*path, index))


@cache
def _program(expression: str) -> celpy.Runner:
    environment = celpy.Environment()
    return environment.program(environment.compile(expression), functions=FUNCTIONS)


def _tried(rule: dict[str, Any], value: Any, path: Path) -> Iterator[Problem]:
    try:
        holds = _program(rule["rule"]).evaluate({"self": json_to_cel(value)})
    except CELEvalError as error:
        yield Problem(path, f"Invalid value: {error.args[0]} evaluating rule: {rule['message']}")
        return
    if not holds:
        at = (*path, *(part for part in rule.get("fieldPath", "").split(".") if part))
        yield _broken(rule, value, at)


def _broken(rule: dict[str, Any], value: Any, at: Path) -> Problem:
    reason = _REASONS.get(rule.get("reason", ""))
    if reason:
        return Problem(at, f"{reason}: {rule['message']}")
    if isinstance(value, dict | list):
        return Problem(at, f"Invalid value: {rule['message']}")
    return Problem(at, rule["message"], value=json.dumps(value, ensure_ascii=False))
