"""What this database is: whose workspace, which text configuration, which model's vectors."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from memory_api.db.tables import store
from memory_api.errors import ConfigurationError, ModelMismatch

_LOCK = 0x6B656571


@dataclass(frozen=True, slots=True)
class Workspace:
    """Whose store it is. `reembedding` while the vectors of another model are being replaced."""

    name: str
    uid: UUID
    reembedding: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many memories there are, and in which state their vectors are."""

    memories: int
    ready: int
    pending: int
    failed: int
    oldest_pending_seconds: float


async def claim(
    connection: AsyncConnection,
    *,
    workspace_name: str,
    workspace_uid: UUID | None,
    model: str | None,
    dimensions: int | None,
    reembed: bool,
) -> Workspace:
    """Take the store for this workspace and this model, or refuse to touch another's.

    The first claim fixes the dimension of the vector column and builds its index. `reembed` lets go of the vectors of
    another model and queues every memory; text search goes on meanwhile. For the same model it only queues again what
    had failed for good.

    Raises:
        ConfigurationError: the store belongs to another workspace.
        ModelMismatch: it holds vectors of another model or dimension, and `reembed` is not set.
    """
    await connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    row = (await connection.execute(store.select())).first()
    if row is None:
        uid = workspace_uid or uuid7()
        await connection.execute(
            insert(store).values(
                workspace_name=workspace_name, workspace_uid=uid, text_config=func.keepsake_text_config()
            )
        )
    else:
        if workspace_uid is not None and row.workspace_uid != workspace_uid:
            raise ConfigurationError(
                f"WorkspaceMismatch: the database belongs to workspace {row.workspace_name} ({row.workspace_uid}), "
                f"not to {workspace_name} ({workspace_uid}); give this workspace a database of its own"
            )
        uid = row.workspace_uid
        await connection.execute(update(store).values(workspace_name=workspace_name))
    if model is not None and dimensions is not None:
        await _claim_model(connection, row, model, dimensions, reembed)
    reembedding = await connection.scalar(select(store.c.reembedding))
    return Workspace(workspace_name, uid, bool(reembedding))


async def _claim_model(connection: AsyncConnection, row: Any, model: str, dimensions: int, reembed: bool) -> None:
    stored = (row.embedding_model, row.embedding_dimensions) if row is not None and row.embedding_model else None
    if stored == (model, dimensions):
        if reembed:
            await connection.execute(
                text("update embedding_queue set failed = false, attempts = 0, next_attempt_at = now() where failed")
            )
        return
    if stored is not None and not reembed:
        raise ModelMismatch(
            stored=f"{stored[0]} ({stored[1]} dimensions)", configured=f"{model} ({dimensions} dimensions)"
        )
    await connection.execute(text("drop index if exists memory_vectors_nearest"))
    await connection.execute(text("truncate memory_vectors"))
    await connection.execute(text("update memory_revisions set embedding = null where embedding is not null"))
    await connection.execute(text(f"alter table memory_vectors alter column embedding type halfvec({int(dimensions)})"))
    await connection.execute(
        text("create index memory_vectors_nearest on memory_vectors using hnsw (embedding halfvec_cosine_ops)")
    )
    queued = await connection.execute(
        text(
            "insert into embedding_queue (memory_id, revision) select id, revision from memories"
            " on conflict (memory_id) do update"
            " set revision = excluded.revision, attempts = 0, next_attempt_at = now(), failed = false"
        )
    )
    await connection.execute(
        update(store).values(embedding_model=model, embedding_dimensions=dimensions, reembedding=bool(queued.rowcount))
    )


async def is_reembedding(connection: AsyncConnection) -> bool:
    """Whether memories still wait for their first vector of the new model; the last one to get it ends that state."""
    await connection.execute(
        text(
            "update store set reembedding = false"
            " where reembedding and not exists (select from embedding_queue where not failed)"
        )
    )
    return bool(await connection.scalar(select(store.c.reembedding)))


async def waiting(connection: AsyncConnection) -> tuple[int, int]:
    """How many memories wait for a vector, and how many will never get one."""
    row = (
        await connection.execute(
            text(
                "select count(*) filter (where not failed) as pending, count(*) filter (where failed) as failed"
                " from embedding_queue"
            )
        )
    ).one()
    return row.pending, row.failed


async def coverage(connection: AsyncConnection) -> Coverage:
    row = (
        await connection.execute(
            text(
                "select (select count(*) from memories) as memories, (select count(*) from memory_vectors) as ready,"
                " count(*) filter (where not failed) as pending, count(*) filter (where failed) as failed,"
                " coalesce(extract(epoch from now() - min(queued_at) filter (where not failed)), 0)::float8"
                " as age"
                " from embedding_queue"
            )
        )
    ).one()
    return Coverage(row.memories, row.ready, row.pending, row.failed, max(row.age, 0.0))


async def facts(connection: AsyncConnection) -> dict[str, Any]:
    """The store's row with the server's and extensions' versions, for engine-status and doctor."""
    row = (await connection.execute(store.select())).one()
    versions = await connection.execute(text("select extname, extversion from pg_extension"))
    return {
        "text_config": row.text_config,
        "embedding_model": row.embedding_model,
        "embedding_dimensions": row.embedding_dimensions,
        "server_version": await connection.scalar(text("show server_version")),
        "extensions": {extension.extname: extension.extversion for extension in versions},
    }
