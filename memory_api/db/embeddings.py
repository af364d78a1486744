"""The embedding queue: work that is claimed by lease, done without a connection, and written back if still wanted."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memory_api.db.vectors import OF_THIS_MODEL, literal

LEASE_SECONDS = 120
MAX_REJECTIONS = 3


@dataclass(frozen=True, slots=True)
class Job:
    """One memory that waits for its vector; `revision` is the one that brought the wording that was read."""

    memory_id: UUID
    revision: int
    attempts: int
    title: str | None
    content: str

    @property
    def text_to_embed(self) -> str:
        return f"{self.title}\n{self.content}" if self.title else self.content


async def lease(connection: AsyncConnection, *, limit: int) -> list[Job]:
    """Take up to `limit` due jobs; nobody else sees them until the lease runs out."""
    rows = await connection.execute(
        text(
            "with due as ("
            " select memory_id from embedding_queue where not failed and next_attempt_at <= now()"
            " order by next_attempt_at limit :limit for update skip locked)"
            " update embedding_queue q set next_attempt_at = now() + make_interval(secs => :lease)"
            " from due, memories m where q.memory_id = due.memory_id and m.id = q.memory_id"
            " returning q.memory_id, q.attempts, q.revision, m.title, m.content"
        ),
        {"limit": limit, "lease": LEASE_SECONDS},
    )
    return [Job(row.memory_id, row.revision, row.attempts, row.title, row.content) for row in rows]


async def finish(
    connection: AsyncConnection, jobs: Sequence[Job], vectors: Sequence[Sequence[float]], *, model: str
) -> int:
    """Write the vectors of rows that still exist in the wording that was read; return how many were written.

    A memory that was forgotten meanwhile stays forgotten (BR-102). One that was reworded has a new entry in the queue;
    any other change leaves its entry, and the vector is still right. Memories are locked before entries, as a change
    locks them.
    """
    result = await connection.execute(
        text(
            "with done as materialized ("
            " select m.id, d.vector"
            " from unnest(cast(:ids as uuid[]), cast(:revisions as integer[]), cast(:vectors as text[]))"
            "   as d(id, revision, vector)"
            " join memories m on m.id = d.id"
            " join embedding_queue q on q.memory_id = d.id and q.revision = d.revision"
            f" where {OF_THIS_MODEL} order by m.id for update of m for update of q),"
            " cleared as (delete from embedding_queue q using done where q.memory_id = done.id)"
            " insert into memory_vectors (memory_id, embedding) select id, cast(vector as halfvec) from done"
            " on conflict (memory_id) do update set embedding = excluded.embedding returning memory_id"
        ),
        {
            "ids": [job.memory_id for job in jobs],
            "revisions": [job.revision for job in jobs],
            "vectors": [literal(vector) for vector in vectors],
            "model": model,
            "dimensions": len(vectors[0]),
        },
    )
    return len(result.all())


async def postpone(connection: AsyncConnection, jobs: Sequence[Job], *, seconds: float, rejected: bool) -> None:
    """Give the jobs back for a later attempt. A text that the provider refused too often is `failed` for good.

    A provider that is away says nothing about a text: only refusals count.
    """
    await connection.execute(
        text(
            "update embedding_queue set attempts = attempts + cast(:rejected as boolean)::integer,"
            " next_attempt_at = now() + make_interval(secs => :seconds),"
            " failed = cast(:rejected as boolean) and attempts + 1 >= :most where memory_id = any(:ids)"
        ),
        {
            "ids": [job.memory_id for job in jobs],
            "seconds": seconds,
            "rejected": rejected,
            "most": MAX_REJECTIONS,
        },
    )
