"""What a ranked list is worth against graded answers: recall, nDCG and reciprocal rank, all from 0 to 1."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Self

MEASURES = ("recall_at_5", "ndcg_at_10", "mrr")


@dataclass(frozen=True, slots=True)
class Scores:
    """Of one question, or the means of many."""

    recall_at_5: float
    ndcg_at_10: float
    mrr: float

    @classmethod
    def of(cls, ranked: Sequence[str], grades: Mapping[str, int]) -> Self:
        """Score one list: recall counts the grade-2 answers among the first 5, MRR the first of them anywhere."""
        wanted = {memory for memory, grade in grades.items() if grade == 2}
        first = next((place for place, memory in enumerate(ranked, start=1) if memory in wanted), None)
        ideal = _gain(sorted(grades.values(), reverse=True))
        return cls(
            recall_at_5=len(wanted.intersection(ranked[:5])) / min(len(wanted), 5),
            ndcg_at_10=_gain([grades.get(memory, 0) for memory in ranked]) / ideal,
            mrr=1 / first if first else 0.0,
        )

    @classmethod
    def mean(cls, scores: Iterable[Self]) -> Self:
        many = list(scores)
        return cls(*(sum(getattr(one, name) for one in many) / len(many) for name in MEASURES))


def _gain(grades: Sequence[int]) -> float:
    """Discounted cumulative gain of the first 10, a grade counting 2^grade - 1."""
    return sum((2**grade - 1) / log2(place + 1) for place, grade in enumerate(grades[:10], start=1))
