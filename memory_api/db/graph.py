"""Edges that lead from memories to others that the subject may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memory_api.db.memories import COLUMNS, to_memory
from memory_api.db.visibility import Fragment
from memory_api.domain.memory import Memory, Relation


@dataclass(frozen=True, slots=True)
class Step:
    """One edge walked from `origin`; `wanted` says whether the memory it leads to passes the request's filters."""

    origin: UUID
    relation: Relation
    memory: Memory
    wanted: bool


async def steps_from(
    connection: AsyncConnection,
    origins: Sequence[UUID],
    seen: Fragment,
    filters: Fragment,
    *,
    most: int,
    preview_above: int | None,
) -> list[Step]:
    """Up to `most` edges of each origin, either way, heaviest first; a hub is cut inside the database."""
    rows = await connection.execute(
        text(
            "select hub.id as origin, edge.id as relation_id, edge.source_id, edge.target_id, edge.relation_type,"
            f" edge.weight as edge_weight, edge.created_at as related_at, (true {filters.sql}) as wanted, {COLUMNS}"
            f" from (select m.id from memories m where m.id = any(:origins) and {seen.sql}) as hub cross join lateral ("
            "  select r.* from ("
            "   select *, target_id as other from relations where source_id = hub.id"
            "   union all select *, source_id from relations where target_id = hub.id) as r"
            f"  join memories m on m.id = r.other where {seen.sql}"
            "  order by r.weight desc, r.created_at desc, r.id desc limit :most) as edge"
            " join memories m on m.id = edge.other"
            " order by hub.id, edge.weight desc, edge.created_at desc, edge.id desc"
        ),
        {
            "origins": list(origins),
            "most": most,
            "preview_above": preview_above,
            **seen.params,
            **filters.params,
        },
    )
    return [
        Step(
            row.origin,
            Relation(row.relation_id, row.source_id, row.target_id, row.relation_type, row.edge_weight, row.related_at),
            to_memory(row),
            row.wanted,
        )
        for row in rows
    ]
