"""What every service works with: the store, the embedder, the policy in force and the clock."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from memory_api.domain.policy import Policy
from memory_api.embedding.provider import EmbeddingProvider, Timeouts
from memory_api.services.query_words import QueryWords
from memory_api.telemetry import Metrics


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class Context:
    """`policy` is asked anew on each use, so that an edit of the policy acts on the next request.

    `provider` is None only where a program works without vectors. `backfill_wanted` wakes the worker that embeds what
    was saved without a vector.
    """

    engine: AsyncEngine
    workspace_name: str
    workspace_uid: UUID
    policy: Callable[[], Policy]
    provider: EmbeddingProvider | None
    timeouts: Timeouts = field(default_factory=Timeouts)
    batch_size: int = 32
    words: QueryWords = field(default_factory=QueryWords)
    now: Callable[[], datetime] = _now
    metrics: Metrics = field(default_factory=Metrics)
    backfill_wanted: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def model(self) -> str:
        """The name that vectors of this program's provider carry."""
        return self.provider.model if self.provider else ""
