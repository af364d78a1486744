"""What a provider type implements; `guard` puts around it what is the same for all types."""

from collections.abc import Sequence
from typing import Protocol

from memory_api.embedding.provider import Vector


class Embedder(Protocol):
    """Texts in, checked unit vectors out, in order. Texts are never blank and never hold half a surrogate pair."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def warm_up(self) -> None:
        """Do ahead what the first call would have to wait for."""

    async def embed(self, texts: Sequence[str], *, deadline: float, urgent: bool) -> list[Vector]:
        """All vectors or an `EmbeddingError`. `urgent` is a query, which goes before bulk; a caller may cancel."""

    async def aclose(self) -> None: ...
