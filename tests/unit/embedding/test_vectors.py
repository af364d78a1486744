"""Which vectors are usable, and what an answer must look like to hold them (BR-072)."""

import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_api.embedding.answers import retry_after, vectors_of
from memory_api.embedding.cores import usable_cores
from memory_api.embedding.vectors import mean_vector, unit_vector
from memory_api.errors import EmbeddingError

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=40).filter(any))
def test_br_072_any_finite_vector_with_a_direction_survives_16_bit_floats(raw: list[float]) -> None:
    vector = unit_vector(raw, dimensions=len(raw))
    stored = struct.unpack(f"<{len(raw)}e", struct.pack(f"<{len(raw)}e", *vector))
    assert all(map(math.isfinite, stored))
    assert any(stored)
    assert math.hypot(*vector) == pytest.approx(1.0)


def test_the_largest_vector_of_equal_numbers_survives_too() -> None:
    vector = unit_vector([1e-300] * 4000, dimensions=4000)
    assert struct.unpack("<e", struct.pack("<e", vector[0]))[0] == pytest.approx(1 / math.sqrt(4000), rel=1e-3)


@pytest.mark.parametrize(
    "raw",
    [
        [0.0, 0.0], [0, -0.0], [math.nan, 1.0], [math.inf, 1.0], [-math.inf, 1.0], [True, False], [None, 1.0],
        ["1", "2"], [10**400, 1], [[1.0], [2.0]], [1.0], [1.0, 2.0, 3.0], [],
        None, "12", b"12", 5, {"0": 1.0, "1": 2.0},
    ],
)  # fmt: skip
def test_br_072_whatever_is_no_usable_vector_is_refused(raw: object) -> None:
    with pytest.raises(EmbeddingError) as caught:
        unit_vector(raw, dimensions=2)
    assert caught.value.fault == "bad_vector"


def test_whole_numbers_are_numbers() -> None:
    assert unit_vector([3, 4], dimensions=2) == pytest.approx([0.6, 0.8])


def test_the_windows_of_a_text_have_the_same_say() -> None:
    assert mean_vector([[1.0, 0.0], [0.0, 1.0]]) == pytest.approx([math.sqrt(0.5)] * 2)
    assert mean_vector([[0.6, 0.8]]) == [0.6, 0.8]


def test_windows_that_cancel_each_other_are_no_vector() -> None:
    with pytest.raises(EmbeddingError, match="zeros"):
        mean_vector([[1.0, 0.0], [-1.0, 0.0]])


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", "unavailable"),
        ("[" * 100_000, "unavailable"),
        ("\x80", "unavailable"),
        ("[]", "bad_vector"),
        ("null", "bad_vector"),
        ('{"data": {}}', "bad_vector"),
        ('{"data": [1]}', "bad_vector"),
        ('{"data": [{"index": 0}]}', "bad_vector"),
        ('{"data": [{"index": true, "embedding": [1, 2]}]}', "bad_vector"),
        ('{"data": [{"index": -1, "embedding": [1, 2]}]}', "bad_vector"),
        ('{"data": [{"index": 1, "embedding": [1, 2]}]}', "bad_vector"),
        ('{"data": [{"index": 0, "embedding": "no base64!"}]}', "bad_vector"),
        ('{"data": [{"index": 0, "embedding": "AAA="}]}', "bad_vector"),
    ],
)
def test_an_answer_of_another_shape_is_refused(answer: str, fault: str) -> None:
    with pytest.raises(EmbeddingError) as caught:
        vectors_of(answer.encode("latin-1"), count=1, dimensions=2)
    assert caught.value.fault == fault


def test_an_answer_is_placed_by_its_indices() -> None:
    data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 0]}]
    assert vectors_of(json.dumps({"data": data}).encode(), count=2, dimensions=2) == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after-ms": "nan"}, 0.0),
        ({"retry-after-ms": "inf"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_br_081_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers) == seconds


def test_br_081_a_date_to_come_is_seconds_from_now() -> None:
    assert retry_after({"retry-after": "Fri, 31 Dec 2100 23:59:59 GMT"}) > 1_000_000


def test_there_is_always_a_core() -> None:
    assert usable_cores() >= 1
