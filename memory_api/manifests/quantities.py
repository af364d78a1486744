"""Durations and decimals of manifests as values. What comes here has passed the schema."""

import re
from datetime import timedelta

_PART = re.compile(r"([0-9]+)(ms|[dhms])", re.ASCII)
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds"}


def duration(text: str) -> timedelta:
    """`1d12h30m` as a timedelta."""
    return timedelta(**{_UNITS[unit]: int(count) for count, unit in _PART.findall(text)})


def duration_or_none(text: str) -> timedelta | None:
    """The same, where `none` stands for no limit."""
    return None if text == "none" else duration(text)
