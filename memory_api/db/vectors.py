"""Vectors of memories. One is stored only while the store is claimed for the model that made it."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

# A replica that still runs with the model of before must not write beside the vectors of the next one.
OF_THIS_MODEL = (
    "exists (select from store where embedding_model = :model and embedding_dimensions = cast(:dimensions as integer))"
)


async def put(connection: AsyncConnection, vectors: Mapping[UUID, Sequence[float]], *, model: str) -> set[UUID]:
    """Store the vectors and return the ids that have theirs now: none when the store is another model's."""
    if not vectors:
        return set()
    rows = await connection.execute(
        text(
            "insert into memory_vectors (memory_id, embedding)"
            " select id, cast(vector as halfvec)"
            " from unnest(cast(:ids as uuid[]), cast(:vectors as text[])) as made(id, vector)"
            f" where {OF_THIS_MODEL} on conflict (memory_id) do update set embedding = excluded.embedding"
            " returning memory_id"
        ),
        {
            "ids": list(vectors),
            "vectors": [literal(vector) for vector in vectors.values()],
            "model": model,
            "dimensions": len(next(iter(vectors.values()))),
        },
    )
    return {row.memory_id for row in rows}


def literal(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(map(repr, vector)) + "]"
