"""Look through memories: list them, search one subject's own, open one."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from memory_api.db import memories
from memory_api.db.engine import reading
from memory_api.db.visibility import Reach, visible
from memory_api.domain.caller import Caller
from memory_api.domain.cursor import Cursor, decode, encode
from memory_api.domain.memory import Memory
from memory_api.domain.subject import Subject, Tier
from memory_api.errors import NotFound
from memory_api.services.context import Context

NO_SUCH_MEMORY = "no such memory for this subject; name the user_id, agent_id and facet that may see it"


@dataclass(frozen=True, slots=True)
class Listing:
    """Which memories to list. Without `include_shared` the subject's own rows only."""

    subject: Subject
    tiers: Sequence[Tier] = ()
    kinds: Sequence[str] = ()
    about_kind: str | None = None
    about_key: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    include_shared: bool = False
    limit: int = 20
    offset: int = 0
    cursor: str | None = None
    count: bool = False

    @property
    def name(self) -> str:
        """Names this list among all others: a cursor of one list is refused by the next."""
        facts = {key: value for key, value in asdict(self).items() if key not in ("limit", "offset", "cursor", "count")}
        return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Page:
    memories: list[Memory]
    next_cursor: str | None
    total: int | None


async def list_memories(ctx: Context, caller: Caller, listing: Listing) -> Page:
    """One page, newest first.

    Raises:
        UnreadableRequest: a cursor that this list did not give.
    """
    after = decode(listing.cursor, of_list=listing.name) if listing.cursor else None
    reach: Reach = "open" if listing.include_shared else "own"
    seen = visible(caller.act_for(listing.subject), reach, tiers=listing.tiers)
    filters = memories.filters_of(
        tiers=listing.tiers,
        kinds=listing.kinds,
        about_kind=listing.about_kind,
        about_key=listing.about_key,
        since=listing.since,
        until=listing.until,
    )
    async with reading(ctx.engine) as connection:
        found = await memories.page(
            connection,
            seen,
            filters,
            after=after,
            offset=listing.offset,
            limit=listing.limit + 1,
            preview_above=None,
        )
        total = await memories.count(connection, seen, filters) if listing.count else None
    shown = found[: listing.limit]
    more = len(found) > listing.limit
    last = encode(Cursor(shown[-1].created_at, shown[-1].id), of_list=listing.name) if more else None
    return Page(shown, last, total)


async def open_memory(ctx: Context, caller: Caller, subject: Subject, id_: UUID) -> Memory:
    """The full memory, with recall's visibility; an id that may not be seen is answered like one that does not exist.

    Raises:
        NotFound: no such memory for this subject.
    """
    async with reading(ctx.engine) as connection:
        memory = await memories.get(connection, id_, caller.act_for(subject), "open")
    if memory is None:
        raise NotFound(NO_SUCH_MEMORY)
    return memory
