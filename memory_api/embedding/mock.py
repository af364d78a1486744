"""Provider type `mock`: vectors from hashes, for tests and demonstrations without a model.

Public on purpose. The same text has the same vector everywhere and always; texts that share words are similar in
proportion; texts without a word in common are close to orthogonal. It knows nothing of meaning.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

from memory_api.embedding.provider import ProviderConfig, Vector
from memory_api.embedding.vectors import unit_vector

_DEFAULT_DIMENSIONS = 384
_MOST_WORDS = 2_000
_WORDS = re.compile(r"\w+|[^\w\s]")


class MockEmbedder:
    """A bag of words, each a direction that its hash gives."""

    def __init__(self, config: ProviderConfig) -> None:
        self.model = config.model
        self.dimensions = config.dimensions or _DEFAULT_DIMENSIONS

    async def warm_up(self) -> None:
        """Nothing to do."""

    async def embed(self, texts: Sequence[str], *, deadline: float, urgent: bool) -> list[Vector]:
        del deadline, urgent
        return [self._vector(text) for text in texts]

    async def aclose(self) -> None:
        """Nothing to close."""

    def _vector(self, text: str) -> Vector:
        words = set(_WORDS.findall(text.casefold())[:_MOST_WORDS]) or {text}
        total = [0.0] * self.dimensions
        for word in sorted(words):
            for position, sign in _direction(word, self.dimensions):
                total[position] += sign
        if not any(total):
            total[_direction(text, self.dimensions)[0][0]] = 1.0
        return unit_vector(total, dimensions=self.dimensions)


@lru_cache(maxsize=20_000)
def _direction(word: str, dimensions: int) -> tuple[tuple[int, float], ...]:
    """Eight signed positions: enough for words to be told apart, few enough to be quick."""
    digest = hashlib.blake2b(word.encode(), digest_size=40).digest()
    return tuple(
        (int.from_bytes(digest[start : start + 4], "big") % dimensions, 1.0 if digest[start + 4] & 1 else -1.0)
        for start in range(0, 40, 5)
    )
