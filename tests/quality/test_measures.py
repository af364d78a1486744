"""The three measures, worked out by hand."""

from math import log2

import pytest

from quality.measures import Scores


def test_a_perfect_list_is_worth_one_in_every_measure() -> None:
    assert Scores.of(["a", "b", "x"], {"a": 2, "b": 1}) == Scores(1, 1, 1)


def test_an_answer_at_place_three_counts_by_its_discounts() -> None:
    scores = Scores.of(["x", "b", "a"], {"a": 2, "b": 1})
    ideal = 3 + 1 / log2(3)
    assert scores.recall_at_5 == 1
    assert scores.ndcg_at_10 == pytest.approx((1 / log2(3) + 3 / 2) / ideal)
    assert scores.mrr == pytest.approx(1 / 3)


def test_recall_counts_the_first_five_ndcg_the_first_ten_and_mrr_all() -> None:
    scores = Scores.of([*"123456789", "a", "b"], {"a": 2, "b": 2})
    assert scores.recall_at_5 == 0
    assert scores.ndcg_at_10 == pytest.approx(3 / log2(11) / (3 + 3 / log2(3)))
    assert scores.mrr == pytest.approx(1 / 10)


def test_what_was_not_found_is_worth_nothing() -> None:
    assert Scores.of(["x"], {"a": 2}) == Scores(0, 0, 0)


def test_the_mean_weighs_every_question_alike() -> None:
    assert Scores.mean([Scores(1, 1, 1), Scores(0, 0.5, 0.25)]) == Scores(0.5, 0.75, 0.625)
