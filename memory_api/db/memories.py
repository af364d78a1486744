"""Memories as rows: write, read, list, change, erase."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Row, delete, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from memory_api.db.history import PRESENT, Past
from memory_api.db.tables import embedding_queue, memories, memory_vectors
from memory_api.db.vectors import put
from memory_api.db.visibility import Fragment, Reach, visible
from memory_api.domain.cursor import Cursor
from memory_api.domain.memory import About, Draft, Memory
from memory_api.domain.subject import Subject

PREVIEW_CHARACTERS = 240

_PLAIN = [column.name for column in memories.columns if column.name not in ("search", "content", "live_from")]
_LARGE = "m.body_size_bytes > cast(:preview_above as integer)"
_EMBEDDING_STATE = """case
    when exists (select from memory_vectors v where v.memory_id = m.id) then 'ready'
    else coalesce((select case when q.failed then 'failed' else 'pending' end
      from embedding_queue q where q.memory_id = m.id), 'none') end as embedding"""
# The parameter :preview_above is a size in bytes, or null to read every body whole.
COLUMNS = ", ".join(
    [f"m.{name}" for name in _PLAIN]
    + [
        f"case when {_LARGE} then '' else m.content end as content",
        f"case when {_LARGE} then left(m.content, {PREVIEW_CHARACTERS}) end as preview",
        _EMBEDDING_STATE,
    ]
)


def to_memory(row: Row[Any]) -> Memory:
    """One row of `COLUMNS` as a value."""
    fields = row._mapping
    turns = (fields["turn_first"], fields["turn_last"]) if fields["turn_first"] is not None else None
    about = About(fields["about_kind"], fields["about_key"]) if fields["about_kind"] is not None else None
    return Memory(
        id=fields["id"],
        tier=fields["tier"],
        subject=Subject(fields["user_id"] or None, fields["agent_id"] or None, fields["facet"] or None),
        kind=fields["kind"],
        title=fields["title"],
        content=fields["content"],
        summary=fields["summary"],
        confidence=fields["confidence"],
        metadata=fields["metadata"],
        about=about,
        consent_category=fields["consent_category"],
        provenance=fields["provenance"],
        purpose=fields["purpose"],
        session_id=fields["session_id"],
        turn_range=turns,
        observed_at=fields["observed_at"],
        valid_from=fields["valid_from"],
        valid_until=fields["valid_until"],
        created_at=fields["created_at"],
        updated_at=fields["updated_at"],
        confirmed_at=fields["confirmed_at"],
        expires_at=fields["expires_at"],
        evidence_count=fields["evidence_count"],
        revision=fields["revision"],
        body_size_bytes=fields["body_size_bytes"],
        embedding=fields["embedding"],
        preview=fields["preview"],
    )


async def add(
    connection: AsyncConnection, drafts: Sequence[Draft], vectors: Sequence[Sequence[float] | None], *, model: str
) -> list[Memory]:
    """Insert admitted drafts in order. One without a vector is queued for the backfill in the same transaction."""
    ids = [uuid7() for _ in drafts]
    await connection.execute(insert(memories), [_values(id_, draft) for id_, draft in zip(ids, drafts, strict=True)])
    made = {id_: vector for id_, vector in zip(ids, vectors, strict=True) if vector is not None}
    ready = await put(connection, made, model=model)
    pending = [{"memory_id": id_, "revision": 1} for id_ in ids if id_ not in ready]
    if pending:
        await connection.execute(insert(embedding_queue), pending)
    rows = await connection.execute(
        text(f"select {COLUMNS} from memories m where m.id = any(:ids)"), {"ids": ids, "preview_above": None}
    )
    found = {row.id: to_memory(row) for row in rows}
    return [found[id_] for id_ in ids]


def _values(id_: UUID, draft: Draft) -> dict[str, Any]:
    return {
        "id": id_,
        "user_id": draft.subject.user or "",
        "agent_id": draft.subject.agent or "",
        "facet": draft.subject.facet or "",
        "kind": draft.kind,
        "title": draft.title,
        "content": draft.content,
        "summary": draft.summary,
        "confidence": draft.confidence,
        "metadata": dict(draft.metadata),
        "about_kind": draft.about.kind if draft.about else None,
        "about_key": draft.about.key if draft.about else None,
        "consent_category": draft.consent_category,
        "provenance": draft.provenance,
        "purpose": draft.purpose,
        "session_id": draft.session_id,
        "turn_first": draft.turn_range[0] if draft.turn_range else None,
        "turn_last": draft.turn_range[1] if draft.turn_range else None,
        "observed_at": draft.observed_at,
        "valid_from": draft.valid_from,
        "valid_until": draft.valid_until,
        "confirmed_at": draft.observed_at,
        "expires_at": draft.expires_at,
    }


async def get(
    connection: AsyncConnection,
    id_: UUID,
    subject: Subject,
    reach: Reach,
    *,
    lock: Literal["update", "key share"] | None = None,
) -> Memory | None:
    """The memory, when `subject` reaches it."""
    seen = visible(subject, reach)
    statement = f"select {COLUMNS} from memories m where m.id = :id and {seen.sql}" + (
        f" for {lock} of m" if lock else ""
    )
    row = (await connection.execute(text(statement), {"id": id_, "preview_above": None, **seen.params})).first()
    return to_memory(row) if row else None


async def page(
    connection: AsyncConnection,
    seen: Fragment,
    filters: Fragment,
    *,
    after: Cursor | None,
    offset: int,
    limit: int,
    preview_above: int | None,
    past: Past = PRESENT,
) -> list[Memory]:
    """Newest first by (created_at, id), after the cursor: stable while rows come and go (BR-139).

    Each branch of the predicate is read in its index's order and no further than the page needs; only the page's rows
    are read whole.
    """
    keyset = "and (m.created_at, m.id) < (:after_time, :after_id)" if after else ""
    newest = "order by created_at desc, id desc limit cast(:limit as integer)"
    parts = " union all ".join(
        f"(select m.id, m.created_at from {past.memories} m where {branch} {filters.sql} {keyset}"
        f" {newest} + cast(:offset as integer))"
        for branch in seen.branches
    )
    rows = await connection.execute(
        text(
            f"select {COLUMNS} from (select * from ({parts}) as part {newest} offset cast(:offset as integer)) as page"
            f" join {past.memories} m on m.id = page.id order by page.created_at desc, page.id desc"
        ),
        {
            **seen.params,
            **filters.params,
            **past.params,
            **({"after_time": after.time, "after_id": after.id} if after else {}),
            "limit": limit,
            "offset": offset,
            "preview_above": preview_above,
        },
    )
    return [to_memory(row) for row in rows]


async def count(connection: AsyncConnection, seen: Fragment, filters: Fragment) -> int:
    parts = " union all ".join(
        f"select count(*) as n from memories m where {branch} {filters.sql}" for branch in seen.branches
    )
    statement = f"select sum(n) from ({parts}) as part"
    return int(await connection.scalar(text(statement), {**seen.params, **filters.params}) or 0)


async def change(
    connection: AsyncConnection,
    id_: UUID,
    changes: Mapping[str, Any],
    *,
    reword: bool,
    vector: Sequence[float] | None,
    model: str,
) -> Memory:
    """Write `changes` as the next revision. A new wording replaces the vector, or queues the memory for one."""
    await connection.execute(
        memories.update().where(memories.c.id == id_).values({**changes, "revision": memories.c.revision + 1})
    )
    if reword:
        await connection.execute(delete(memory_vectors).where(memory_vectors.c.memory_id == id_))
        await connection.execute(delete(embedding_queue).where(embedding_queue.c.memory_id == id_))
        if not await put(connection, {id_: vector} if vector is not None else {}, model=model):
            revision = select(memories.c.revision).where(memories.c.id == id_).scalar_subquery()
            await connection.execute(insert(embedding_queue).values(memory_id=id_, revision=revision))
    row = (
        await connection.execute(
            text(f"select {COLUMNS} from memories m where m.id = :id"), {"id": id_, "preview_above": None}
        )
    ).one()
    return to_memory(row)


async def erase(connection: AsyncConnection, id_: UUID) -> None:
    """Delete at once; vector, queue entry and relations go with the row.

    The edges are locked first and in one order: of two memories that point at each other, each would else wait for the
    edge that the other is about to delete.
    """
    await connection.execute(
        text("select from relations where cast(:id as uuid) in (source_id, target_id) order by id for update"),
        {"id": id_},
    )
    await connection.execute(delete(memories).where(memories.c.id == id_))


def filters_of(
    *,
    tiers: Sequence[str] = (),
    kinds: Sequence[str] = (),
    purposes: Sequence[str] = (),
    about_kind: str | None = None,
    about_key: str | None = None,
    name_prefix: str | None = None,
    min_confidence: float | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Fragment:
    """A request's filters on `memories m`, each led by `and`; `since` and `until` look at `observed_at`."""
    clauses: list[str] = []
    params: dict[str, Any] = {}
    for name, column, values in (("tiers", "tier", tiers), ("kinds", "kind", kinds), ("purposes", "purpose", purposes)):
        if values:
            clauses.append(f"and m.{column} = any(cast(:{name} as text[]))")
            params[name] = list(values)
    for name, clause, value in (
        ("about_kind", "m.about_kind = :about_kind", about_kind),
        ("about_key", "m.about_key = :about_key and m.about_kind is not null", about_key),
        ("name_prefix", "(m.title ilike :name_prefix or m.about_key ilike :name_prefix)", _starts_with(name_prefix)),
        ("min_confidence", "m.confidence >= :min_confidence", min_confidence),
        ("since", "m.observed_at >= :since", since),
        ("until", "m.observed_at < :until", until),
    ):
        if value is not None:
            clauses.append(f"and {clause}")
            params[name] = value
    return Fragment(" ".join(clauses), params)


def _starts_with(prefix: str | None) -> str | None:
    """A LIKE pattern for texts that begin with `prefix`, whatever characters it holds."""
    if prefix is None:
        return None
    return prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
