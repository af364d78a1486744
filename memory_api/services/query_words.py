"""Tells a query with something to search for from one of blanks, punctuation and stop words only."""

import re

from cachetools import LRUCache
from sqlalchemy.ext.asyncio import AsyncEngine

from memory_api.db.engine import reading
from memory_api.db.recall import words_that_count

_WORD = re.compile(r"\w+")
_MOST_WORDS = 64
# Longer words are asked about each time: a thousand pasted documents must not stay in memory.
_LONGEST_KEPT = 64


class QueryWords:
    """Remembers which words count, so that only a query made of unknown words asks the database.

    The text configuration decides what a stop word is, and it lives in the database.
    """

    def __init__(self) -> None:
        self._counts: LRUCache[str, bool] = LRUCache(maxsize=50_000)

    async def ask_something(self, engine: AsyncEngine, query: str) -> bool:
        words = list(dict.fromkeys(_WORD.findall(query.lower())))[:_MOST_WORDS]
        if any(self._counts.get(word, False) for word in words):
            return True
        unknown = [word for word in words if word not in self._counts]
        if not unknown:
            return False
        async with reading(engine) as connection:
            counts = await words_that_count(connection, unknown)
        for word, counted in zip(unknown, counts, strict=True):
            if len(word) <= _LONGEST_KEPT:
                self._counts[word] = counted
        return any(counts)
