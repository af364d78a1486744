"""Durations and decimals as manifests write them: strings, because CRDs have no type for either.

A pattern holds the shape, a CEL rule what a pattern cannot say. CEL's own `duration()` knows no days, so `cel_seconds`
builds an expression of plain integers; digits are bounded so that no sum overflows and every rule has a known cost.
"""

from typing import Annotated

from pydantic import Field
from pydantic.config import JsonDict

_DAYS = r"([0-9]{1,6}d)?([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?"
DURATION_PATTERN = rf"^{_DAYS}$"
DURATION_OR_NONE_PATTERN = rf"^(none|{_DAYS})$"
TIMEOUT_PATTERN = r"^([0-9]{1,3}m)?([0-9]{1,4}s)?([0-9]{1,6}ms)?$"
RATIO_PATTERN = r"^(0(\.[0-9]{1,6})?|1(\.0{1,6})?)$"
TIER_WEIGHT_PATTERN = r"^([0-9](\.[0-9]{1,6})?|10(\.0{1,6})?)$"
WEIGHT_PATTERN = r"^([0-9]{1,2}(\.[0-9]{1,6})?|100(\.0{1,6})?)$"

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def rule(expression: str, message: str, *, path: str = "", reason: str = "") -> dict[str, str]:
    """One CEL rule; `message` says what to do, `path` the field below that is at fault."""
    entry = {"rule": expression, "message": message}
    if reason:
        entry["reason"] = reason
    if path:
        entry["fieldPath"] = path
    return entry


def rules(*entries: dict[str, str]) -> JsonDict:
    """Schema extras that hold `entries`, for a field or a model."""
    return {"x-kubernetes-validations": [dict(entry) for entry in entries]}


def cel_seconds(text: str) -> str:
    """A CEL expression: the seconds in the duration string `text`, 0 for a unit that is not there."""
    terms = [f"int('0' + {text}.find('[0-9]+{unit}').replace('{unit}', '')) * {size}" for unit, size in _UNITS.items()]
    return "(" + " + ".join(terms) + ")"


def cel_positive(text: str) -> str:
    """A CEL expression: the number or duration string `text` is more than nothing."""
    return f"{text}.matches('[1-9]')"


def cel_any_positive(*fields: str) -> str:
    """A CEL expression: one of `fields` is more than nothing.

    It holds while a field is absent: the API server tries a section's rules on its bare default `{}` too.
    """
    absent = [f"!has(self.{name})" for name in fields]
    return " || ".join([*absent, *(cel_positive(f"self.{name}") for name in fields)])


Duration = Annotated[
    str,
    Field(
        pattern=DURATION_PATTERN,
        min_length=2,
        max_length=32,
        json_schema_extra=rules(
            rule(cel_positive("self"), "must be longer than zero; leave the field out where nothing should expire")
        ),
    ),
]
DurationOrNone = Annotated[
    str,
    Field(
        pattern=DURATION_OR_NONE_PATTERN,
        min_length=2,
        max_length=32,
        json_schema_extra=rules(
            rule(f"self == 'none' || {cel_positive('self')}", "must be longer than zero; write none for no decay")
        ),
    ),
]
Timeout = Annotated[
    str,
    Field(
        pattern=TIMEOUT_PATTERN,
        min_length=2,
        max_length=16,
        json_schema_extra=rules(rule(cel_positive("self"), "must be longer than zero, such as 1500ms or 3s")),
    ),
]
Ratio = Annotated[str, Field(pattern=RATIO_PATTERN, max_length=8)]
TierWeight = Annotated[str, Field(pattern=TIER_WEIGHT_PATTERN, max_length=9)]
Weight = Annotated[str, Field(pattern=WEIGHT_PATTERN, max_length=10)]
