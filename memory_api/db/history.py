"""The store as it is, or as it was at one time: what statements read memories and their vectors from."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory_api.db.tables import memories

_OF_THE_MEMORY = ("id", "user_id", "agent_id", "facet", "tier", "created_at")
_COLUMNS = [column.name for column in memories.columns if column.name != "live_from"]


def _columns(row: str) -> str:
    """The columns of `memories`, those that a change leaves as they are from the memory, the others from `row`."""
    return ", ".join(f"{'o' if name in _OF_THE_MEMORY else row}.{name}" for name in _COLUMNS)


# Two halves, each with its own conditions, so that the planner takes each by its indexes.
_MEMORIES = (
    f"(select {_columns('o')} from memories o"
    " where coalesce(o.live_from, o.observed_at) <= :as_of and o.observed_at <= :as_of"
    f" union all select {_columns('r')} from memory_revisions r join memories o on o.id = r.memory_id"
    " where r.live_from <= :as_of and r.live_until > :as_of and r.observed_at <= :as_of)"
)
_VECTORS = (
    "(select v.memory_id, v.embedding from memory_vectors v join memories o on o.id = v.memory_id"
    " where coalesce(o.live_from, o.observed_at) <= :as_of"
    " union all select r.memory_id, r.embedding from memory_revisions r"
    " where r.live_from <= :as_of and r.live_until > :as_of and r.embedding is not null)"
)


@dataclass(frozen=True, slots=True)
class Past:
    """What stands for the tables `memories` and `memory_vectors` and for `now()` in a statement, and its parameters."""

    memories: str
    vectors: str
    now: str
    # Left out of equality, so that statements made of the same texts are the same.
    params: dict[str, Any] = field(compare=False)


PRESENT = Past("memories", "memory_vectors", "now()", {})


def past(as_of: datetime | None) -> Past:
    """The memories observed up to `as_of`, in the wording that was live then; without it, the store as it is."""
    if as_of is None:
        return PRESENT
    return Past(_MEMORIES, _VECTORS, "cast(:as_of as timestamptz)", {"as_of": as_of})
