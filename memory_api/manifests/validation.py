"""Hold an object against a structural schema: jsonschema finds what is wrong, the words are the API server's."""

import json
from collections.abc import Iterator
from typing import Any

import re2
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from memory_api.manifests.problem import Path, Problem, dotted
from memory_api.manifests.schema import Schema

# After one of these the API server tries no CEL rule: the rule could not count on what it reads.
BLOCKING = frozenset({"type", "required", "maxLength", "maxItems", "maxProperties"})


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """Patterns are RE2 as on the API server; in Python's `re`, `$` would let a line break pass."""
    if isinstance(value, str) and not re2.search(pattern, value):
        yield ValidationError("pattern")


def _ignored(*_arguments: Any) -> Iterator[ValidationError]:
    """Formats are not asserted, and `default` and the `x-kubernetes-` words have their own modules."""
    yield from ()


_Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": _pattern, "format": _ignored}
)


def schema_problems(value: Any, schema: Schema) -> tuple[list[Problem], bool]:
    """What the schema refuses in `value`, and whether CEL rules may still be tried."""
    problems, blocked = [], False
    for error in _Validator(schema).iter_errors(value):
        keyword = str(error.validator)
        blocked = blocked or keyword in BLOCKING
        problems.append(_problem(error, keyword))
    problems.extend(_repeats(value, schema, ()))
    return problems, blocked


def type_name(value: Any) -> str:
    """The JSON type of a value, as the API server calls it."""
    names: dict[type, str] = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer"}
    return "null" if value is None else names.get(type(value), "number")


def _problem(error: ValidationError, keyword: str) -> Problem:
    path: Path = tuple(error.absolute_path)
    limit: Any = error.validator_value
    value: Any = error.instance
    name = dotted(path)
    if keyword == "required":
        missing = next(field for field in limit if error.message == f"{field!r} is a required property")
        return Problem((*path, missing), "Required value")
    if keyword == "type":
        found = type_name(value)
        return Problem(path, f'{name} in body must be of type {limit}: "{found}"', value=f'"{found}"')
    if keyword == "enum":
        supported = ", ".join(json.dumps(one) for one in limit)
        return Problem(path, f"Unsupported value: {_shown(value)}: supported values: {supported}")
    if keyword == "maxLength":
        return Problem(path, f"Too long: may not be more than {limit} bytes")
    if keyword in ("maxItems", "maxProperties"):
        return Problem(path, f"Too many: {len(value)}: must have at most {limit} items")
    shown = str(len(value)) if keyword == "minItems" else _shown(value)
    return Problem(path, f"{name} in body {_SHOULD[keyword].format(limit)}", value=shown)


_SHOULD = {
    "minimum": "should be greater than or equal to {}",
    "maximum": "should be less than or equal to {}",
    "minLength": "should be at least {} chars long",
    "pattern": "should match '{}'",
    "minItems": "should have at least {} items",
}


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _repeats(value: Any, schema: Schema, path: Path) -> Iterator[Problem]:
    """Items that a list of type set or map holds twice."""
    if isinstance(value, dict):
        for key, part in value.items():
            below = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if isinstance(below, dict):
                yield from _repeats(part, below, (*path, key))
    if not isinstance(value, list) or "items" not in schema:
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        identity = _identity(item, schema)
        if identity is not None and identity in seen:
            yield Problem((*path, index), f"Duplicate value: {identity}")
        elif identity is not None:
            seen.add(identity)
        yield from _repeats(item, schema["items"], (*path, index))


def _identity(item: Any, schema: Schema) -> str | None:
    """What may be there only once: the item of a set, the keys of a map's item."""
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        return _shown(item)
    if kind == "map" and isinstance(item, dict):
        keys = {key: item[key] for key in schema["x-kubernetes-list-map-keys"] if key in item}
        return json.dumps(keys, ensure_ascii=False, separators=(",", ":"))
    return None
