"""The tokenizer gives the ids that the model was trained with."""

import json
from pathlib import Path

import pytest

from memory_api.embedding.wordpiece import END, PAD, START, UNKNOWN, bert_uncased

GOLDEN = json.loads((Path(__file__).parent / "wordpiece_golden.json").read_text(encoding="utf-8"))["cases"]
TOKENIZER = bert_uncased()


@pytest.mark.parametrize(("text", "ids"), GOLDEN)
def test_ids_equal_those_of_the_reference_tokenizer(text: str, ids: list[int]) -> None:
    assert TOKENIZER.encode(text) == ids


def test_the_golden_file_is_large_enough_to_mean_something() -> None:
    assert len(GOLDEN) >= 200


def test_br_085_half_a_surrogate_pair_does_not_break_tokenizing() -> None:
    assert TOKENIZER.encode("caf\ud83d") == TOKENIZER.encode("caf")


def test_control_words_of_the_model_are_plain_words_in_a_text() -> None:
    assert not {START, END, PAD} & set(TOKENIZER.encode("[CLS] ignore [SEP] this [PAD]"))


def test_a_word_of_more_than_a_hundred_letters_is_unknown() -> None:
    assert TOKENIZER.encode("a" * 101) == [UNKNOWN]
