"""Change a memory: new wording, or any stated field, as the next revision."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memory_api.db import memories
from memory_api.db.engine import reading, transaction
from memory_api.domain.admission import CLOCK_SKEW, decide_expiry, decide_kind
from memory_api.domain.caller import Caller
from memory_api.domain.memory import Draft, Memory
from memory_api.domain.subject import Subject
from memory_api.errors import InvalidRequest, NotFound, PreconditionFailed
from memory_api.services.browse import NO_SUCH_MEMORY
from memory_api.services.context import Context
from memory_api.services.remember import embed


@dataclass(frozen=True, slots=True)
class Revision:
    """What to change: the fields in `changes`, by the names of `Draft`. `if_match` is the revision that was read."""

    subject: Subject
    id: UUID
    changes: Mapping[str, Any] = field(default_factory=dict)
    if_match: int | None = None


async def revise(ctx: Context, caller: Caller, revision: Revision) -> Memory:
    """Write the next revision of the subject's own memory and return it.

    Raises:
        NotFound: not one of the subject's own.
        PreconditionFailed: somebody else wrote a revision since.
        InvalidRequest: the policy in force does not accept the change.
    """
    subject = caller.act_for(revision.subject)
    async with reading(ctx.engine) as connection:
        before = await memories.get(connection, revision.id, subject, "own")
    _check(before, revision)
    reword = {"content", "title"} & set(revision.changes)
    vector = None
    if reword and before is not None:
        content = revision.changes.get("content", before.content)
        title = revision.changes.get("title", before.title)
        (vector,) = await embed(ctx, [Draft(subject, content, title=title).text_to_embed])
    async with transaction(ctx.engine) as connection:
        current = await memories.get(connection, revision.id, subject, "own", lock="update")
        memory = _check(current, revision)
        # The vector stands for title and content as they were read; a write in between makes it stale.
        if before is not None and memory.revision != before.revision:
            vector = None
        after = await memories.change(
            connection,
            memory.id,
            _columns(ctx, memory, revision),
            reword=bool(reword),
            vector=vector,
            model=ctx.model,
        )
    if reword and vector is None:
        ctx.backfill_wanted.set()
    return after


def _check(memory: Memory | None, revision: Revision) -> Memory:
    if memory is None:
        raise NotFound(NO_SUCH_MEMORY)
    if revision.if_match is not None and memory.revision != revision.if_match:
        raise PreconditionFailed(
            f"the memory stands at revision {memory.revision}, If-Match names {revision.if_match}; read it again"
        )
    return memory


def _columns(ctx: Context, memory: Memory, revision: Revision) -> dict[str, Any]:
    """The stated fields as columns, decided by the same rules as a save."""
    now, policy, changes = ctx.now(), ctx.policy(), dict(revision.changes)
    columns: dict[str, Any] = {}
    if "content" in changes:
        columns["confirmed_at"] = now
    if "kind" in changes:
        changes["kind"] = decide_kind(changes["kind"], policy, memory.tier)
    if "expires_at" in changes:
        category = changes.get("consent_category", memory.consent_category)
        changes["expires_at"] = decide_expiry(changes["expires_at"], category, policy, memory.tier, now=now)
    if (observed_at := changes.get("observed_at")) is not None:
        if observed_at > now + CLOCK_SKEW:
            raise InvalidRequest("observed_at must not be more than 5 minutes ahead", [(("observed_at",), "is ahead")])
        columns["confirmed_at"] = observed_at
    valid_from = changes.get("valid_from", memory.valid_from)
    valid_until = changes.get("valid_until", memory.valid_until)
    if valid_from and valid_until and valid_until <= valid_from:
        raise InvalidRequest(
            "valid_until must be later than valid_from", [(("valid_until",), "must be later than valid_from")]
        )
    if "about" in changes:
        about = changes.pop("about")
        columns |= {"about_kind": about.kind if about else None, "about_key": about.key if about else None}
    if "turn_range" in changes:
        turns = changes.pop("turn_range")
        columns |= {"turn_first": turns[0] if turns else None, "turn_last": turns[1] if turns else None}
    return columns | changes
