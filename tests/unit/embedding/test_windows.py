"""Long texts are read in a bounded number of windows, and their ends always are (BR-078)."""

import pytest

from memory_api.embedding.windows import MOST_WINDOWS, bounded, byte_windows, windows


@pytest.mark.parametrize("length", [0, 1, 9, 10, 11, 79, 80])
def test_windows_cover_a_text_that_fits(length: int) -> None:
    content = list(range(length))
    pieces = windows(content, 10)
    assert [number for piece in pieces for number in piece] == content
    assert all(len(piece) <= 10 for piece in pieces)


def test_windows_are_about_equal_so_that_no_stub_weighs_as_much_as_a_full_one() -> None:
    assert [len(piece) for piece in windows(list(range(11)), 10)] == [5, 6]


@pytest.mark.parametrize("length", [81, 1_000, 12_345])
def test_br_078_beyond_the_bound_head_and_tail_are_still_read(length: int) -> None:
    content = list(range(length))
    pieces = windows(content, 10)
    assert len(pieces) == MOST_WINDOWS
    assert pieces[0] == content[:10]
    assert pieces[-1] == content[-10:]


def test_a_very_long_text_is_cut_before_it_is_tokenized() -> None:
    text = "head " + "x" * 1_000_000 + " tail"
    cut = bounded(text, characters=32_000)
    assert len(cut) < 32_100
    assert cut.startswith("head")
    assert cut.endswith("tail")


@pytest.mark.parametrize("text", ["a" * 1_000, "汇" * 1_000, "a🙂" * 500])
def test_byte_windows_never_exceed_the_bytes_of_the_limit(text: str) -> None:
    pieces = byte_windows(text, 300)
    assert 1 < len(pieces) <= MOST_WINDOWS
    assert all(len(piece.encode()) <= 300 for piece in pieces)
    assert text.endswith(pieces[-1])


def test_a_short_text_is_one_window() -> None:
    assert byte_windows("汇率", 300) == ["汇率"]
