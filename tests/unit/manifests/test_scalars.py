"""Unquoted words mean what they mean to kubectl, compared with the YAML library of the API server."""

import pytest

from memory_api.manifests.scalars import plain_value

NUMBERS = {
    "0": 0,
    "-0": 0,
    "+5": 5,
    "1_000": 1000,
    "1__0": 10,
    "007": 7,
    "-010": -8,
    "0o17": 15,
    "0x1F": 31,
    "-0x1": -1,
    "0b11": 3,
    "1e2": 100,
    "-2E+05": -200000,
    "60.0": 60,
    "1.": 1,
    ".5": 0.5,
    "-.5": -0.5,
    "9223372036854775807": 2**63 - 1,
    "9223372036854775808": float(2**63),
    "08": 8,
}
TEXTS = [
    "1:30",
    "190:20:30",
    "2024-01-01",
    "2001-12-14t21:59:43Z",
    "0x",
    "0x1G",
    "1e",
    "+",
    "-",
    ".",
    "1,000",
    "١",
    "inf",
    "1e400",
    "30d",
    "tRue",
    "_1",
    "v1.2",
]


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_numbers(text: str, value: float) -> None:
    assert plain_value(text) == value
    assert type(plain_value(text)) is type(value)


@pytest.mark.parametrize("text", [*TEXTS, "9" * 1000])
def test_texts(text: str) -> None:
    assert plain_value(text) == text


def test_truth_and_nothing() -> None:
    assert [plain_value(word) for word in ("yes", "On", "y", "TRUE")] == [True] * 4
    assert [plain_value(word) for word in ("no", "OFF", "N", "false")] == [False] * 4
    assert [plain_value(word) for word in ("", "~", "null", "NULL")] == [None] * 4


@pytest.mark.parametrize("text", [".inf", "-.INF", ".NaN"])
def test_what_json_cannot_carry_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a number that JSON can carry"):
        plain_value(text)
