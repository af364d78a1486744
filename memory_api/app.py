"""Wires memory-api together: engine, embedder, policy, workers and the two HTTP apps. Knows every part, decides nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog
from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from fastapi_offline import FastAPIOffline

from memory_api import __version__
from memory_api.db.engine import create_engine
from memory_api.embedding.factory import build_provider
from memory_api.embedding.provider import EmbeddingProvider, ProviderConfig
from memory_api.errors import ConfigurationError, DependencyDown, EmbeddingError
from memory_api.http import memories, problem, recall, relations, shared, status
from memory_api.http.body import MAX_BODY_BYTES
from memory_api.http.middleware import Observe
from memory_api.manifests.watch import PolicySource
from memory_api.services.context import Context
from memory_api.services.standing import Standing, claim
from memory_api.settings import Settings
from memory_api.telemetry import Metrics
from memory_api.workers.backfill import run_backfill

CLAIM_RETRY_SECONDS = 1.0

log = structlog.get_logger()


class MemoryApi:
    """One memory-api: `async with` opens it, `api` and `health` are its two apps.

    Opening tries to claim the store once, so that a wrong configuration ends the program at start; a database that is
    away only keeps it from being ready, and claiming goes on in the background.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        database_url: str,
        provider: ProviderConfig | None,
        policy: PolicySource,
        workers: bool = True,
        reembed: bool = False,
    ) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.standing = Standing(policy_error=lambda: policy.error)
        self.fatal: asyncio.Future[None] | None = None
        self._policy = policy
        self._workers = workers
        self._reembed = reembed
        self._tasks: list[asyncio.Task[None]] = []
        self._engine = create_engine(database_url)
        self._provider: EmbeddingProvider | None = (
            build_provider(provider, observer=self._observe_embedding) if provider else None
        )
        self._context = Context(
            engine=self._engine,
            workspace_name=settings.workspace,
            workspace_uid=settings.workspace_uid or NO_UID,
            policy=lambda: policy.policy,
            provider=self._provider,
            **({"timeouts": provider.timeouts, "batch_size": provider.batch_size} if provider else {}),
        )
        self.api = api_app(self.standing, self.metrics)
        self.health = status.health_app(self.standing, self.metrics)

    def _observe_embedding(self, outcome: str, seconds: float, operation: str) -> None:
        self.metrics.embeddings.labels(operation, outcome).inc()
        self.metrics.embedding_seconds.labels(operation).observe(seconds)
        self.standing.embedding_fault = None if outcome == "ok" else outcome
