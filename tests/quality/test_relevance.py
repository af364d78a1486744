"""What a floor on relevance does today: it silences nonsense, and most of the true answers with it.

Relevance is max(coverage, cosine). No `min_relevance` parts questions from nonsense: the bundled model puts unrelated
Chinese and Japanese at 0.77, and paraphrases in English at 0.12. These tests hold the cost of the one floor that gives
no hit for any nonsense, so that a better measure shows here first; `-s` prints both distributions.
"""

from pathlib import Path
from statistics import quantiles

import pytest

from api_client import memory_api
from quality.asking import Answered, ask
from quality.conftest import BUNDLED, Asked

pytestmark = pytest.mark.xdist_group("quality")

# Relevance does not depend on age, but which 100 hits come back does: this policy hardly ages.
HARDLY_AGES = Path(__file__).parents[2] / "crds" / "samples" / "long-lived.yaml"
SILENCES_NONSENSE = 0.78
KEEPS_AT_LEAST = 48


def _best_answer(one: Answered) -> float:
    return max((hit.relevance for hit in one.hits if hit.id in one.question.expected), default=0.0)


async def test_the_floor_that_silences_all_nonsense_keeps_a_quarter_of_the_questions(asked: Asked) -> None:
    nonsense = await ask(asked.api, asked.corpus.nonsense, min_relevance=SILENCES_NONSENSE)
    answered = await ask(asked.api, asked.corpus.questions, min_relevance=SILENCES_NONSENSE)

    assert [one.question.id for one in nonsense if one.hits] == []
    assert sum(any(one.ranks.values()) for one in answered) >= KEEPS_AT_LEAST


async def test_answers_are_more_relevant_than_nonsense_by_and_large(asked: Asked, quality_database: str) -> None:
    async with memory_api(quality_database, provider=BUNDLED, policy=HARDLY_AGES, workers=False) as api:
        good = [_best_answer(one) for one in await ask(api, asked.corpus.questions)]
        bad = [max(hit.relevance for hit in one.hits) for one in await ask(api, asked.corpus.nonsense)]
    for name, values in (("answers", good), ("nonsense", bad)):
        print(f"{name:9} least {min(values):.3f} most {max(values):.3f} deciles", *_deciles(values))  # noqa: T201

    in_order = sum((a > b) + 0.5 * (a == b) for a in good for b in bad) / (len(good) * len(bad))
    print(f"an answer is above nonsense in {in_order:.3f} of the pairs")  # noqa: T201

    assert in_order >= 0.81


def _deciles(values: list[float]) -> list[str]:
    return [f"{value:.2f}" for value in quantiles(values, n=10)]
