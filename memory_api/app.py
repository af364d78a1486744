"""Wires memory-api together: engine, embedder, policy, workers and the two HTTP apps. Decides nothing itself."""

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, Self

import structlog
from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from fastapi_offline import FastAPIOffline

from memory_api import __version__
from memory_api.db.engine import create_engine
from memory_api.domain.policy import Policy
from memory_api.embedding.factory import build_provider
from memory_api.embedding.provider import EmbeddingProvider, ProviderConfig
from memory_api.errors import DependencyDown, EmbeddingError
from memory_api.http import memories, openapi, problem, recall, relations, shared, status
from memory_api.http.metrics import metrics_app
from memory_api.http.middleware import API_PREFIX, Observe
from memory_api.manifests.watch import PolicySource
from memory_api.services.context import Context
from memory_api.services.reembedding import PassagesOnly
from memory_api.services.standing import Standing, claim
from memory_api.settings import Settings
from memory_api.telemetry import Metrics
from memory_api.workers.backfill import run_backfill
from memory_api.workers.reembedding import run_until_reembedded

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
        policy: PolicySource | None,
        workers: bool = True,
        reembed: bool = False,
    ) -> None:
        self.metrics = Metrics()
        self.standing = Standing(policy=policy)
        self.api = api_app(self.standing, self.metrics)
        self.health = status.health_app(self.standing, self.metrics)
        self.metrics_app = metrics_app(self.standing, self.metrics)
        self.metrics.policy_valid.set_function(lambda: 0 if policy and policy.error else 1)
        if policy and policy.config_map:
            watch = policy.config_map
            self.metrics.policy_followed.set_function(lambda: 1 if watch.following else 0)
            watch.on_fault = lambda fault: self.metrics.policy_watch_faults.labels(fault).inc()
        self.fatal: Exception | None = None
        self.ended = asyncio.Event()
        self._settings = settings
        self._engine = create_engine(database_url, pooler=settings.database_pooler)
        self._config = provider
        self._provider = build_provider(provider, observer=self._observe_embedding) if provider else None
        self._policy = policy
        self._workers = workers
        self._reembed = reembed
        self._why_not: tuple[str, str] | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        """Claim the store, load the embedder, start the workers.

        Raises:
            ConfigurationError: the store is another workspace's, or holds vectors of another model.
        """
        try:
            if self._policy:
                self._spawn(self._policy.run())
            if self._provider:
                self._spawn(self._warm_up(self._provider))
            if not await self._claim_once():
                self._spawn(self._claim_later())
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._provider:
            await self._provider.aclose()
        await self._engine.dispose()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def _claim_once(self) -> bool:
        try:
            workspace = await claim(self._engine, self._settings, self._provider, reembed=self._reembed)
        except DependencyDown as error:
            return self._not_ready("DatabaseUnreachable", str(error))
        if workspace is None:
            return self._not_ready("SchemaNotAtHead", "run `keepsake migrate`")
        policy = self._policy
        context = Context(
            engine=self._engine,
            workspace_name=workspace.name,
            workspace_uid=workspace.uid,
            policy=(lambda: policy.policy) if policy else Policy,
            provider=PassagesOnly(self._provider) if self._provider and workspace.reembedding else self._provider,
            metrics=self.metrics,
        )
        if self._config:
            context.timeouts, context.batch_size = self._config.timeouts, self._config.batch_size
        self.standing.context = context
        if self._workers:
            self._spawn(run_backfill(context))
        if workspace.reembedding:
            self._spawn(run_until_reembedded(context))
        log.info("serving", workspace=workspace.name)
        return True

    def _not_ready(self, reason: str, detail: str) -> bool:
        if (reason, detail) != self._why_not:
            log.warning("not ready", reason=reason, detail=detail)
        self.standing.reason, self._why_not = reason, (reason, detail)
        return False

    async def _claim_later(self) -> None:
        """Until the database is there and at head. What can never work ends the program, as it would have at start."""
        try:
            claimed = False
            while not claimed:
                await asyncio.sleep(CLAIM_RETRY_SECONDS)
                claimed = await self._claim_once()
        except Exception as error:
            # Nobody waits for this task: a fault in it ends the program, which else would never be ready.
            log.error("cannot take the store", fault=type(error).__name__, exc_info=error)
            self.fatal = error
            self.ended.set()

    async def _warm_up(self, provider: EmbeddingProvider) -> None:
        try:
            await provider.warm_up()
        except EmbeddingError as error:
            log.warning("embedder not warm", fault=error.fault)

    def _observe_embedding(self, outcome: str, seconds: float, operation: str) -> None:
        self.metrics.embeddings.labels(operation, outcome).inc()
        self.metrics.embedding_seconds.labels(operation).observe(seconds)
        # "rejected" is about one text; the provider answered.
        self.standing.embedding_fault = None if outcome in ("ok", "rejected") else outcome


def api_app(standing: Standing, metrics: Metrics) -> FastAPI:
    """The app of the API port."""
    app = FastAPIOffline(
        title="Keepsake memory-api",
        version=__version__,
        summary="Durable, ranked memory for AI agents",
        redoc_url=None,
        redirect_slashes=False,
        responses=problem.problems(400, 422, 503),
    )
    app.state.standing = standing
    app.state.context = standing.serving
    problem.install(app, partial(openapi.methods_at, app))
    app.add_middleware(Observe, metrics=metrics)
    for router in (memories.router, recall.router, shared.router, relations.router, status.router):
        app.include_router(router, prefix=API_PREFIX)
    app.add_api_route("/healthz", status.healthz, methods=["GET"], include_in_schema=False)
    app.add_api_route("/", lambda: RedirectResponse("/docs"), methods=["GET"], include_in_schema=False)
    openapi.describe(app)
    return app
