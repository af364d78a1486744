"""The vectors of recent queries, and one call for all who ask the same at the same time.

Keyed by model and a digest of the text: no text is kept. A failed call is not cached. Whoever waits may be cancelled
without taking the call from the others; its own deadline bounds it.
"""

import asyncio
import hashlib
import time
from array import array
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cachetools import TTLCache

from memory_api.embedding.provider import Vector

# 16 MB of doubles: 5,200 vectors of 384, 500 of 4,000.
_MOST_NUMBERS = 2_000_000
_SECONDS_KEPT = 600.0
_Key = tuple[str, bytes]


@dataclass(slots=True)
class CacheCounters:
    """`joined` are calls that waited for the call of another; `inflight` is the number of calls now under way."""

    hits: int = 0
    misses: int = 0
    joined: int = 0
    inflight: int = 0


class QueryCache:
    def __init__(
        self,
        *,
        numbers: int = _MOST_NUMBERS,
        seconds: float = _SECONDS_KEPT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # Compact arrays rather than lists, and a fresh list for every caller: nobody can spoil another's vector.
        self._kept: TTLCache[_Key, array[float]] = TTLCache(numbers, seconds, timer=clock, getsizeof=len)
        self._numbers = numbers
        self._flights: dict[_Key, asyncio.Task[array[float]]] = {}
        self.counters = CacheCounters()

    async def get(self, model: str, text: str, embed: Callable[[str], Awaitable[Vector]]) -> Vector:
        key = (model, hashlib.sha256(text.encode()).digest())
        kept = self._kept.get(key)
        if kept is not None:
            self.counters.hits += 1
            return kept.tolist()
        flight = self._flights.get(key)
        if flight is None:
            self.counters.misses += 1
            flight = asyncio.create_task(self._fly(key, text, embed))
            self._flights[key] = flight
            flight.add_done_callback(_seen)
        else:
            self.counters.joined += 1
        return (await asyncio.shield(flight)).tolist()

    async def aclose(self) -> None:
        """Cancel what is under way and wait until it is gone."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    async def _fly(self, key: _Key, text: str, embed: Callable[[str], Awaitable[Vector]]) -> "array[float]":
        self.counters.inflight += 1
        try:
            vector = array("d", await embed(text))
        finally:
            self.counters.inflight -= 1
            del self._flights[key]
        if len(vector) <= self._numbers:
            self._kept[key] = vector
        return vector


def _seen(flight: "asyncio.Task[array[float]]") -> None:
    """Nobody may be left to wait for a failed call; asyncio must not complain about that."""
    if not flight.cancelled():
        flight.exception()
