"""The types of fields at the HTTP edge: what may come in, and what is said when it may not."""

import math
import re
import unicodedata
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, JsonValue, StringConstraints
from pydantic_core import to_json

from memory_api.domain.memory import MAX_CONTENT_CHARACTERS
from memory_api.domain.subject import FACET_PATTERN, MAX_ID_LENGTH, check_facet, check_id, shows_something

MAX_QUERY_CHARACTERS = 16_384
MAX_METADATA_BYTES = 65_536
MAX_METADATA_DEPTH = 32
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)\Z", re.ASCII)
_EARLIEST, _LATEST = datetime(1000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)


def _storable(value: str) -> str:
    if "\x00" in value:
        raise ValueError("must not hold the NUL character, which PostgreSQL cannot store")
    return value


def _wordy(value: str) -> str:
    if not any(unicodedata.category(character)[0] in "LN" for character in value):
        raise ValueError("must hold at least one letter or digit")
    return _storable(value)


def _not_blank(value: str) -> str:
    if not shows_something(value):
        raise ValueError("must not be blank; leave the field out instead")
    return _storable(value)


def _stated_as_text(value: Any) -> Any:
    if not isinstance(value, str) or not _RFC_3339.match(value):
        raise ValueError("must be an RFC 3339 time with an offset, as text: 2026-03-01T09:30:00Z")
    return value


def _within_calendar(value: datetime) -> datetime:
    if not _EARLIEST <= value <= _LATEST:
        raise ValueError("must lie between the years 1000 and 9000")
    return value


def _storable_json(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Metadata comes back as it was sent, so what JSON or PostgreSQL cannot hold is refused."""
    pending: list[tuple[Any, int]] = [(value, 1)]
    while pending:
        item, depth = pending.pop()
        if depth > MAX_METADATA_DEPTH:
            raise ValueError(f"must not be nested deeper than {MAX_METADATA_DEPTH} levels")
        if isinstance(item, str):
            _storable(item)
        elif isinstance(item, float) and not math.isfinite(item):
            raise ValueError("must hold only finite numbers")
        elif isinstance(item, int) and item.bit_length() > 256:
            raise ValueError("must hold only numbers of less than 77 digits")
        elif isinstance(item, dict):
            pending += [(key, depth) for key in item] + [(inner, depth + 1) for inner in item.values()]
        elif isinstance(item, list):
            pending += [(inner, depth + 1) for inner in item]
    if len(to_json(value)) > MAX_METADATA_BYTES:
        raise ValueError(f"must not be larger than {MAX_METADATA_BYTES} bytes as JSON")
    return value


Identifier = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_LENGTH), AfterValidator(check_id)]
Facet = Annotated[str, AfterValidator(check_facet), Field(json_schema_extra={"pattern": FACET_PATTERN})]
Name = Annotated[str, StringConstraints(min_length=1, max_length=128), AfterValidator(check_id)]
Content = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CONTENT_CHARACTERS), AfterValidator(_wordy)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(_not_blank)]
Summary = Annotated[str, StringConstraints(min_length=1, max_length=8192), AfterValidator(_not_blank)]
QueryText = Annotated[str, StringConstraints(max_length=MAX_QUERY_CHARACTERS), AfterValidator(_storable)]
Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Instant = Annotated[
    AwareDatetime, BeforeValidator(_stated_as_text), AfterValidator(_within_calendar), Field(strict=False)
]
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_storable_json)]
Turn = Annotated[int, Field(ge=0, le=2_147_483_647, strict=True)]
