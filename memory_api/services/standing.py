"""Where this replica stands: whether it may serve, and what it has to do without."""

import asyncio
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from memory_api.db import migrate, store
from memory_api.db.engine import reading, transaction
from memory_api.db.store import Workspace
from memory_api.embedding.provider import EmbeddingProvider
from memory_api.errors import DependencyDown, ModelMismatch
from memory_api.manifests.watch import PolicySource
from memory_api.services.context import Context
from memory_api.services.reembedding import PassagesOnly
from memory_api.settings import Settings
from memory_api.telemetry import Metrics

PROBE_SECONDS = 2.0


@dataclass(slots=True)
class Standing:
    """`context` is None until the store is claimed; `reason` says why not, in the words of /readyz.

    `embedding_fault` is the provider's last fault, None while its last call went well.
    """

    reason: str = "DatabaseUnreachable"
    context: Context | None = None
    embedding_fault: str | None = None
    policy: PolicySource | None = None

    def serving(self) -> Context:
        """The context of a claimed store.

        Raises:
            DependencyDown: it is not claimed yet.
        """
        if self.context is None:
            raise DependencyDown(f"not ready yet: {self.reason}; /readyz says when")
        return self.context

    @property
    def reembedding(self) -> bool:
        """Whether queries get no vectors because those of another model are being replaced."""
        return self.context is not None and isinstance(self.context.provider, PassagesOnly)

    @property
    def policy_error(self) -> str | None:
        """Why the policy that was read last does not hold; while there is a reason nothing may be merged."""
        return self.policy.error if self.policy else None

    @property
    def policy_fault(self) -> str | None:
        """Why edits of the policy are not heard of, None while they are or there is nothing to follow."""
        watch = self.policy.config_map if self.policy else None
        return watch.fault if watch else None

    def degraded(self) -> list[str]:
        """What works less than it should, as /readyz and engine-status list it."""
        fault = "reembedding" if self.reembedding else self.embedding_fault
        said = [f"embedding:{fault}"] if fault else []
        if self.policy_error:
            said.append("policy:invalid")
        if self.policy_fault:
            said.append("policy:not_followed")
        return said


async def claim(
    engine: AsyncEngine, settings: Settings, provider: EmbeddingProvider | None, *, reembed: bool
) -> Workspace | None:
    """Take the store for this workspace and model. None: its schema is not at head yet.

    Raises:
        ConfigurationError: it belongs to another workspace, or holds vectors of another model.
        DependencyDown: the database is away.
    """
    revision = await migrate.current(engine)
    if revision is None or (revision != migrate.head() and revision in migrate.known_revisions()):
        return None
    async with transaction(engine) as connection:
        return await store.claim(
            connection,
            workspace_name=settings.workspace,
            workspace_uid=settings.workspace_uid,
            model=provider.model if provider else None,
            dimensions=provider.dimensions if provider else None,
            reembed=reembed,
        )


async def measure(standing: Standing, metrics: Metrics) -> None:
    """Bring the gauges up to date. The queue's keep their last value while the database is away."""
    reason = await why_not_ready(standing)
    metrics.ready.set(0 if reason else 1)
    if reason or standing.context is None:
        return
    try:
        async with asyncio.timeout(PROBE_SECONDS), reading(standing.context.engine) as connection:
            pending, failed = await store.waiting(connection)
    except (DependencyDown, TimeoutError):
        return
    metrics.queue.labels("pending").set(pending)
    metrics.queue.labels("failed").set(failed)


async def why_not_ready(standing: Standing) -> str | None:
    """The reason for /readyz to answer 503, or None."""
    if standing.context is None:
        return standing.reason
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            return await _compare(standing.context)
    except (DependencyDown, TimeoutError):
        return "DatabaseUnreachable"


async def _compare(ctx: Context) -> str | None:
    async with reading(ctx.engine) as connection:
        row = (
            await connection.execute(
                text(
                    "select workspace_uid, embedding_model, embedding_dimensions,"
                    " (select version_num from alembic_version) as revision from store"
                )
            )
        ).first()
    if row is None or row.workspace_uid != ctx.workspace_uid:
        return "WorkspaceMismatch"
    if row.revision != migrate.head() and row.revision in migrate.known_revisions():
        return "SchemaNotAtHead"
    if ctx.provider and (row.embedding_model, row.embedding_dimensions) != (
        ctx.provider.model,
        ctx.provider.dimensions,
    ):
        return ModelMismatch.__name__
    return None
