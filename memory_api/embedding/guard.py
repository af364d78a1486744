"""What is the same for every provider type, put around its embedder.

From outside in: blank texts refused, prefixes, query cache with single flight, breaker, deadline, observation. Whatever
goes wrong inside leaves as `EmbeddingError`, without the words of a foreign exception: they may hold a credential.
"""

import asyncio
import time
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal

from memory_api.embedding.breaker import Breaker
from memory_api.embedding.cache import CacheCounters, QueryCache
from memory_api.embedding.embedder import Embedder
from memory_api.embedding.provider import ProviderConfig, Vector
from memory_api.errors import EmbeddingError, EmbeddingFault

Outcome = Literal["ok"] | EmbeddingFault
Operation = Literal["query", "passages"]
Observer = Callable[[Outcome, float, Operation], None]
"""Told of every call that reached the breaker; cache hits and cancelled calls are not told."""


_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})


def _unobserved(outcome: Outcome, seconds: float, operation: Operation) -> None:
    del outcome, seconds, operation


class GuardedProvider:
    """The `EmbeddingProvider` that the rest of the service sees."""

    def __init__(
        self,
        embedder: Embedder,
        config: ProviderConfig,
        *,
        observer: Observer | None = None,
        cache: QueryCache | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        self._embedder = embedder
        self._config = config
        self._observer = observer or _unobserved
        self._cache = cache or QueryCache()
        self._breaker = breaker or Breaker()

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def cache_counters(self) -> CacheCounters:
        return self._cache.counters

    @property
    def is_paused(self) -> bool:
        """Whether calls are refused for now because the provider failed again and again."""
        return self._breaker.is_open

    async def warm_up(self) -> None:
        try:
            await self._embedder.warm_up()
        except EmbeddingError:
            raise
        except Exception as error:
            raise _foreign(error) from error

    async def embed_query(self, text: str) -> Vector:
        prepared = _prepared(text, self._config.query_prefix)
        return await self._cache.get(self.model, prepared, self._ask_for_query)

    async def embed_passages(self, texts: Sequence[str], *, deadline: float) -> list[Vector]:
        prepared = [_prepared(text, self._config.passage_prefix, number=number) for number, text in enumerate(texts)]
        return await self._ask(prepared, deadline=deadline, operation="passages") if prepared else []

    async def aclose(self) -> None:
        await self._cache.aclose()
        await self._embedder.aclose()

    async def _ask_for_query(self, prepared: str) -> Vector:
        (vector,) = await self._ask([prepared], deadline=self._config.timeouts.query, operation="query")
        return vector

    async def _ask(self, texts: Sequence[str], *, deadline: float, operation: Operation) -> list[Vector]:
        started = time.monotonic()
        try:
            async with self._breaker.call():
                vectors = await self._bounded(texts, deadline=deadline, operation=operation)
        except EmbeddingError as error:
            self._observer(error.fault, time.monotonic() - started, operation)
            raise
        self._observer("ok", time.monotonic() - started, operation)
        return vectors

    async def _bounded(self, texts: Sequence[str], *, deadline: float, operation: Operation) -> list[Vector]:
        try:
            async with asyncio.timeout(deadline):
                vectors = await self._embedder.embed(texts, deadline=deadline, urgent=operation == "query")
        except EmbeddingError:
            raise
        except TimeoutError:
            raise EmbeddingError("timeout", f"no vectors within {deadline:g} s") from None
        except Exception as error:
            raise _foreign(error) from error
        if len(vectors) != len(texts) or any(len(vector) != self.dimensions for vector in vectors):
            raise EmbeddingError("bad_vector", "the provider gave another number of vectors or numbers than asked for")
        return vectors


def _prepared(text: str, prefix: str, *, number: int = 0) -> str:
    if all(unicodedata.category(char) in _INVISIBLE for char in text):
        raise EmbeddingError("rejected", f"text {number} is blank: there is nothing to embed")
    # Half a surrogate pair can be in a str and in no request (BR-085).
    return prefix + text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _foreign(error: Exception) -> EmbeddingError:
    return EmbeddingError("unavailable", f"the embedding provider failed: {type(error).__name__}")
