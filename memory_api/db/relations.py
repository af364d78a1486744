"""Typed edges between memories."""

from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from memory_api.db.visibility import Fragment
from memory_api.domain.cursor import Cursor
from memory_api.domain.memory import Relation

_COLUMNS = "r.id, r.source_id, r.target_id, r.relation_type, r.weight, r.created_at"


def _to_relation(row: Row[Any]) -> Relation:
    return Relation(row.id, row.source_id, row.target_id, row.relation_type, row.weight, row.created_at)


async def put(
    connection: AsyncConnection, source_id: UUID, target_id: UUID, relation_type: str, weight: float
) -> tuple[Relation, bool]:
    """The edge, and whether it is new: stating it again keeps its id and takes the new weight."""
    id_ = uuid7()
    row = (
        await connection.execute(
            text(
                "insert into relations as r (id, source_id, target_id, relation_type, weight)"
                " values (:id, :source, :target, :type, :weight)"
                " on conflict (source_id, target_id, relation_type) do update set weight = excluded.weight"
                f" returning {_COLUMNS}"
            ),
            {"id": id_, "source": source_id, "target": target_id, "type": relation_type, "weight": weight},
        )
    ).one()
    return _to_relation(row), row.id == id_


async def page(
    connection: AsyncConnection, seen: Fragment, *, memory_id: UUID | None, after: Cursor | None, limit: int
) -> list[Relation]:
    """Edges whose two ends are visible, newest first; of one memory when `memory_id` is given."""
    of_memory = "and :memory_id in (r.source_id, r.target_id)" if memory_id else ""
    keyset = "and (r.created_at, r.id) < (:after_time, :after_id)" if after else ""
    rows = await connection.execute(
        text(
            f"select {_COLUMNS} from relations r where true {of_memory} {keyset}"
            f" and exists (select from memories m where m.id = r.source_id and {seen.sql})"
            f" and exists (select from memories m where m.id = r.target_id and {seen.sql})"
            " order by r.created_at desc, r.id desc limit :limit"
        ),
        {
            **seen.params,
            **({"memory_id": memory_id} if memory_id else {}),
            **({"after_time": after.time, "after_id": after.id} if after else {}),
            "limit": limit,
        },
    )
    return [_to_relation(row) for row in rows]


async def erase(connection: AsyncConnection, id_: UUID, own: Fragment) -> bool:
    """Delete the edge when one of its ends is the subject's own."""
    result = await connection.execute(
        text(
            "delete from relations r where r.id = :id"
            f" and exists (select from memories m where m.id in (r.source_id, r.target_id) and {own.sql})"
            " returning r.id"
        ),
        {"id": id_, **own.params},
    )
    return result.first() is not None
