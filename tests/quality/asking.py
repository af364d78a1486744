"""Fill a store with the written set through the HTTP API, and ask it every question."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from api_client import Api
from quality.corpus import Memory, Question
from quality.measures import Scores

MOST_HITS = 100
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit by its id in the set, with the two figures that relevance is made of."""

    id: str
    coverage: float
    cosine: float

    @property
    def relevance(self) -> float:
        return max(self.coverage, self.cosine)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and what came back, best first."""

    question: Question
    hits: list[Hit]

    @property
    def ids(self) -> list[str]:
        return [hit.id for hit in self.hits]

    @property
    def scores(self) -> Scores:
        return Scores.of(self.ids, self.question.answers)

    @property
    def ranks(self) -> dict[str, int | None]:
        """Where each expected answer stands; None beyond the hits."""
        places = {id_: place for place, id_ in enumerate(self.ids, start=1)}
        return {id_: places.get(id_) for id_ in self.question.expected}


async def fill(api: Api, memories: Iterable[Memory]) -> None:
    """Save users' memories by batch, shared ones by their tiers' own routes, and wait for every vector."""
    now = datetime.now(UTC)
    batch = []
    for memory in memories:
        if memory.subject.user:
            batch.append(memory.save(now=now))
        else:
            await api.save(**memory.save(now=now))
    answer = await api.http.post("memories/batch", json={"memories": batch})
    refused = [result for result in answer.json()["results"] if result["status"] != 201]
    assert not refused, refused[:3]
    await _all_vectors(api)


async def _all_vectors(api: Api, *, within: float = 90.0) -> None:
    give_up = monotonic() + within
    while True:
        vectors = (await api.http.get("memory/health")).json()["embeddings"]
        assert not vectors["failed"], f"vectors failed: {vectors}"
        if not vectors["pending"]:
            return
        assert monotonic() < give_up, f"the vectors did not all come: {vectors}"
        await asyncio.sleep(0.05)


async def ask(api: Api, questions: Iterable[Question], **options: Any) -> list[Answered]:
    """Ask AT_ONCE at a time and answer in order; `options` go into each request."""
    places = asyncio.Semaphore(AT_ONCE)

    async def in_turn(question: Question) -> Answered:
        async with places:
            return await _answer(api, question, options)

    return await asyncio.gather(*map(in_turn, questions))


async def _answer(api: Api, question: Question, options: dict[str, Any]) -> Answered:
    found = await api.recall(question.query, **question.subject.body, limit=MOST_HITS, explain=True, **options)
    assert found["degraded"] == [], f"{question.id} was answered without vectors: {found['degraded']}"
    return Answered(question, [_hit(memory) for memory in found["memories"]])


def _hit(memory: dict[str, Any]) -> Hit:
    arms = memory["explain"]
    return Hit(
        memory["metadata"]["id"],
        coverage=arms.get("lexical", {}).get("coverage") or 0.0,
        cosine=arms.get("vector", {}).get("cosine", 0.0),
    )
