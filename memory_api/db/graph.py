"""Edges that lead from memories to others that the subject may see."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memory_api.db.history import Past
from memory_api.db.memories import COLUMNS, to_memory
from memory_api.db.visibility import Fragment
from memory_api.domain.memory import Memory, Relation

# What an edge passes on, per hop, of the score that it leads away from.
HOP_DISCOUNT = 0.5

_EDGE = "id, source_id, target_id, relation_type, weight, created_at"
_HEAVIEST = "order by weight desc, created_at desc, id desc"
# Narrow rows first. Each side of a hub is read in its index's order until `most` of its edges lead to something that is
# seen; then bodies are read of those neighbours alone that can come among the hits.
_STEPS = f"""
with edges as materialized (
  select hub.id as origin, hub.score, edge.*
  from (
    select m.id, o.score
    from unnest(cast(:origins as uuid[]), cast(:scores as float8[])) as o(id, score)
    join {{memories}} m on m.id = o.id
    where {{seen}}
  ) as hub
  cross join lateral (
    select r.*, other_end.confirmed_at, other_end.wanted
    from (
      (select {_EDGE}, target_id as other from relations where source_id = hub.id {_HEAVIEST})
      union all
      (select {_EDGE}, source_id from relations where target_id = hub.id {_HEAVIEST})
    ) as r
    -- One by one (limit 1 keeps it so): the planner would read all that is seen for a hub's heaviest few.
    cross join lateral (
      select m.confirmed_at, (true {{filters}}) as wanted from {{memories}} m where m.id = r.other and {{seen}} limit 1
    ) as other_end
    {_HEAVIEST} limit :most
  ) as edge
),
reached as (
  select distinct on (other) other, id, score * weight * cast(:discount as float8) as reached_score, confirmed_at
  from edges
  where wanted and cast(:follow as boolean)
    and (cardinality(cast(:types as text[])) = 0 or relation_type = any(cast(:types as text[])))
    and other <> all(cast(:held as uuid[]))
  order by other, reached_score desc, weight desc, created_at desc, id desc
),
kept as materialized (
  select other, id as edge_id
  from reached
  where reached_score >= cast(:floor as float8)
  order by reached_score desc, confirmed_at desc, other desc
  limit :bodies
)
select edges.origin, edges.id as relation_id, edges.source_id, edges.target_id, edges.relation_type,
  edges.weight as edge_weight, edges.created_at as related_at, edges.other, edges.wanted, body.*
from edges
left join kept on kept.other = edges.other and kept.edge_id = edges.id
left join lateral (select {COLUMNS} from {{memories}} m where m.id = kept.other) as body on true
order by edges.origin, edges.weight desc, edges.created_at desc, edges.id desc
"""


@dataclass(frozen=True, slots=True)
class Front:
    """Where a hop starts and what it is for.

    `scores` are the origins'; `held` are memories whose bodies are there already. With `follow` the bodies of up to
    `bodies` neighbours are read: the best that reach a score of `floor` over an edge of `types` (any if empty).
    """

    scores: Mapping[UUID, float]
    held: Collection[UUID]
    types: Collection[str]
    follow: bool
    floor: float
    bodies: int


@dataclass(frozen=True, slots=True)
class Step:
    """One edge walked from `origin` to `other`; `wanted` says whether that passes the request's filters.

    `memory` is there once for each neighbour that was read.
    """

    origin: UUID
    relation: Relation
    other: UUID
    wanted: bool
    memory: Memory | None


async def steps_from(
    connection: AsyncConnection,
    front: Front,
    seen: Fragment,
    filters: Fragment,
    past: Past,
    *,
    most: int,
    preview_above: int | None,
) -> list[Step]:
    """Up to `most` edges of each origin, either way, heaviest first; a hub is cut inside the database."""
    rows = await connection.execute(
        text(_STEPS.format(seen=seen.sql, filters=filters.sql, memories=past.memories)),
        {
            "origins": list(front.scores),
            "scores": list(front.scores.values()),
            "held": list(front.held),
            "types": list(front.types),
            "follow": front.follow,
            "floor": front.floor,
            "bodies": front.bodies,
            "discount": HOP_DISCOUNT,
            "most": most,
            "preview_above": preview_above,
            **seen.params,
            **filters.params,
            **past.params,
        },
    )
    return [_to_step(row) for row in rows]


def _to_step(row: Row[Any]) -> Step:
    relation = Relation(
        row.relation_id, row.source_id, row.target_id, row.relation_type, row.edge_weight, row.related_at
    )
    return Step(row.origin, relation, row.other, row.wanted, to_memory(row) if row.id is not None else None)
