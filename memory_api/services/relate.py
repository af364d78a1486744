"""Relations: typed edges that recall can follow."""

import hashlib
import re
from dataclasses import dataclass
from uuid import UUID

from memory_api.db import memories, relations
from memory_api.db.engine import reading, transaction
from memory_api.db.visibility import visible
from memory_api.domain.caller import Caller
from memory_api.domain.cursor import Cursor, decode, encode
from memory_api.domain.memory import Relation
from memory_api.domain.policy import Policy
from memory_api.domain.subject import Subject
from memory_api.errors import InvalidRequest, NotFound
from memory_api.services.browse import NO_SUCH_MEMORY
from memory_api.services.context import Context

_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,62}\Z")


@dataclass(frozen=True, slots=True)
class RelationPage:
    relations: list[Relation]
    next_cursor: str | None


async def relate(
    ctx: Context, caller: Caller, subject: Subject, *, source: UUID, target: UUID, relation_type: str, weight: float
) -> tuple[Relation, bool]:
    """The edge, and whether it is new. Stating an edge again takes the new weight.

    Raises:
        NotFound: one of the two memories may not be seen by the subject.
        InvalidRequest: a type that the policy does not declare, or a memory related to itself.
    """
    _check_type(relation_type, ctx.policy())
    if source == target:
        raise InvalidRequest("a memory cannot be related to itself", [(("target_id",), "must differ from source_id")])
    acting = caller.act_for(subject)
    async with transaction(ctx.engine) as connection:
        for id_ in sorted((source, target)):
            if await memories.get(connection, id_, acting, "open", lock="key share") is None:
                raise NotFound(NO_SUCH_MEMORY)
        return await relations.put(connection, source, target, relation_type, weight)


async def list_relations(
    ctx: Context, caller: Caller, subject: Subject, *, memory_id: UUID | None, cursor: str | None, limit: int
) -> RelationPage:
    """Edges whose two ends the subject may see, newest first."""
    name = hashlib.sha256(f"relations {subject!r} {memory_id}".encode()).hexdigest()[:16]
    after = decode(cursor, of_list=name) if cursor else None
    async with reading(ctx.engine) as connection:
        found = await relations.page(
            connection, visible(caller.act_for(subject), "open"), memory_id=memory_id, after=after, limit=limit + 1
        )
    shown = found[:limit]
    last = encode(Cursor(shown[-1].created_at, shown[-1].id), of_list=name) if len(found) > limit else None
    return RelationPage(shown, last)


async def unrelate(ctx: Context, caller: Caller, subject: Subject, id_: UUID) -> None:
    """Delete an edge that starts or ends at one of the subject's own memories.

    Raises:
        NotFound: no such edge.
    """
    async with transaction(ctx.engine) as connection:
        if not await relations.erase(connection, id_, visible(caller.act_for(subject), "own")):
            raise NotFound("no such relation for this subject; name the subject that one of its ends belongs to")


def _check_type(relation_type: str, policy: Policy) -> None:
    declared = [declared.name for declared in policy.relation_types]
    if declared and relation_type not in declared:
        text = f"is not a relation type of the policy; declared: {', '.join(declared)}"
    elif not _TYPE.match(relation_type):
        text = "must begin with a letter and hold at most 63 letters, digits and _ . : -"
    else:
        return
    raise InvalidRequest(f"relation_type {text}", [(("relation_type",), text)])
