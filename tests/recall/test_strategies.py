"""What an answer says of itself is true: every strategy under every state of the provider, and what the hits show."""

from collections.abc import Sequence

import pytest

from api_client import Api, memory_api
from memory_api.embedding.provider import EmbeddingProvider, Vector
from memory_api.errors import EmbeddingError, EmbeddingFault
from memory_api.services.reembedding import PassagesOnly

STRATEGIES = ("hybrid", "semantic", "keyword", "recent", "exact")
# What is asked, and whether anything is left of it to search for.
QUERIES = {"window seats": True, "the of and": False, "?!": False, "": False}
FAULTS: tuple[EmbeddingFault, ...] = ("timeout", "unavailable", "rate_limited", "rejected", "bad_vector")


class Faulty:
    """A provider whose every answer is one fault."""

    def __init__(self, provider: EmbeddingProvider, fault: EmbeddingFault) -> None:
        self.model, self.dimensions = provider.model, provider.dimensions
        self._fault = fault

    async def embed_query(self, text: str) -> Vector:
        raise EmbeddingError(self._fault, text)

    async def embed_passages(self, texts: Sequence[str], *, deadline: float) -> list[Vector]:
        raise EmbeddingError(self._fault, f"{len(texts)} {deadline}")

    async def warm_up(self) -> None: ...

    async def aclose(self) -> None: ...


async def _check(api: Api, fault: str | None) -> None:
    for strategy in STRATEGIES:
        for query, searches in QUERIES.items():
            found = await api.recall(query, strategy=strategy, user_id="ada", explain=True)
            used, degraded = strategy, []
            if not searches or strategy in ("recent", "exact"):
                used = "recent"
            elif fault and strategy != "keyword":
                used, degraded = "keyword", [f"embedding:{fault}"]
            case = (strategy, query, fault)
            assert (found["strategy_used"], found["degraded"]) == (used, degraded), case
            shown = {arm for hit in found["memories"] for arm in ("lexical", "vector") if hit["explain"].get(arm)}
            arms = {"hybrid": {"lexical", "vector"}, "semantic": {"vector"}, "keyword": {"lexical"}, "recent": set()}
            assert shown == arms[used], case
            assert found["memories"], case


@pytest.mark.parametrize("fault", [None, *FAULTS, "reembedding", "not_configured"])
async def test_strategy_used_and_degraded_are_true(database: str, fault: EmbeddingFault | None) -> None:
    async with memory_api(database) as api:
        await api.save("Ada prefers window seats on long flights", user_id="ada")
        await api.save("Ada flies to Lisbon in May", user_id="ada")
        context = api.memory_api.standing.serving()
        own = context.provider
        assert own is not None
        if fault == "reembedding":
            context.provider = PassagesOnly(own)
        elif fault == "not_configured":
            context.provider = None
        elif fault is not None:
            context.provider = Faulty(own, fault)
        await _check(api, fault)
        # And back again as soon as the provider is.
        context.provider = own
        await _check(api, None)
