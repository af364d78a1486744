"""What answers while the vectors of another model are being replaced: words only, and it says so.

A ranking by the vectors that are there already would put those memories before all others; so queries get no vector
until every memory has its new one. Saves are embedded as ever.
"""

from collections.abc import Sequence

from memory_api.db import store
from memory_api.db.engine import transaction
from memory_api.embedding.provider import EmbeddingProvider, Vector
from memory_api.errors import EmbeddingError
from memory_api.services.context import Context


class PassagesOnly:
    """The provider behind it, without its answers to queries."""

    def __init__(self, provider: EmbeddingProvider) -> None:
        self.provider = provider

    @property
    def model(self) -> str:
        return self.provider.model

    @property
    def dimensions(self) -> int:
        return self.provider.dimensions

    async def embed_query(self, text: str) -> Vector:
        del text
        raise EmbeddingError("reembedding", "not every memory has its vector of the new model yet")

    async def embed_passages(self, texts: Sequence[str], *, deadline: float) -> list[Vector]:
        return await self.provider.embed_passages(texts, deadline=deadline)

    async def warm_up(self) -> None:
        await self.provider.warm_up()

    async def aclose(self) -> None:
        await self.provider.aclose()


async def end_reembedding(ctx: Context) -> bool:
    """Whether every memory has its vector; from then on `ctx` answers queries by meaning again.

    Raises:
        DependencyDown: the database is away.
    """
    async with transaction(ctx.engine) as connection:
        going_on = await store.is_reembedding(connection)
    if not going_on and isinstance(ctx.provider, PassagesOnly):
        ctx.provider = ctx.provider.provider
    return not going_on
