"""Forget a memory: a user's is erased at once."""

from uuid import UUID

from memory_api.db import memories
from memory_api.db.engine import transaction
from memory_api.domain.caller import Caller
from memory_api.domain.subject import Subject
from memory_api.errors import InvalidRequest, NotFound, PreconditionFailed
from memory_api.services.browse import NO_SUCH_MEMORY
from memory_api.services.context import Context


async def forget(ctx: Context, caller: Caller, subject: Subject, id_: UUID, *, if_match: int | None = None) -> None:
    """Erase the user's memory with its vector, its place in the queue and its relations.

    Raises:
        NotFound: not one of the subject's own.
        PreconditionFailed: If-Match names another revision.
        InvalidRequest: a memory of a shared tier, which this route does not erase.
    """
    async with transaction(ctx.engine) as connection:
        memory = await memories.get(connection, id_, caller.act_for(subject), "own", lock="update")
        if memory is None:
            raise NotFound(NO_SUCH_MEMORY)
        if if_match is not None and memory.revision != if_match:
            raise PreconditionFailed(
                f"the memory stands at revision {memory.revision}, If-Match names {if_match}; read it again"
            )
        if memory.subject.user is None:
            raise InvalidRequest(
                f"this forgets the memories of users; to take an {memory.tier} memory out of recall, "
                "PATCH its expires_at to a time a moment ahead"
            )
        await memories.erase(connection, id_)
