"""Save memories: text first, the vector with it when the provider answers in time, else by the backfill."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import structlog

from memory_api.db import memories
from memory_api.db.engine import transaction
from memory_api.domain.admission import admit
from memory_api.domain.caller import Caller
from memory_api.domain.memory import Draft, Memory
from memory_api.errors import EmbeddingError, InvalidRequest
from memory_api.services.context import Context

# A batch of more is saved as pending: its vectors would keep the caller waiting for longer than the writes take.
EMBED_AT_ONCE = 32

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save did. Every save adds a row as long as no deduplication rule is in force."""

    memory: Memory
    action: Literal["added"] = "added"


async def remember(ctx: Context, caller: Caller, draft: Draft) -> Saved:
    """Save one memory.

    Raises:
        InvalidRequest: the policy in force does not accept it.
        DependencyDown: the database is away; nothing was saved.
    """
    (outcome,) = await remember_many(ctx, caller, [draft])
    if isinstance(outcome, InvalidRequest):
        raise outcome
    return outcome


async def remember_many(ctx: Context, caller: Caller, drafts: Sequence[Draft]) -> list[Saved | InvalidRequest]:
    """Save many in one transaction; what each one came to, in order. A bad one never spoils the others.

    Raises:
        DependencyDown: the database is away; nothing was saved.
    """
    now, policy = ctx.now(), ctx.policy()
    outcomes: list[Saved | InvalidRequest | None] = [None] * len(drafts)
    admitted: list[tuple[int, Draft]] = []
    for place, draft in enumerate(drafts):
        try:
            admitted.append((place, admit(draft, policy, now=now)))
        except InvalidRequest as error:
            outcomes[place] = error
    vectors = await embed(ctx, [draft.text_to_embed for _, draft in admitted])
    if admitted:
        async with transaction(ctx.engine) as connection:
            rows = await memories.add(connection, [draft for _, draft in admitted], vectors, model=ctx.model)
        for (place, _), row in zip(admitted, rows, strict=True):
            outcomes[place] = Saved(row)
            ctx.metrics.saves.labels(row.embedding).inc()
    if any(vector is None for vector in vectors):
        ctx.backfill_wanted.set()
    return [outcome for outcome in outcomes if outcome is not None]


async def embed(ctx: Context, texts: Sequence[str]) -> list[list[float] | None]:
    """A vector for each text, or None for all of them when they cannot be had before the save's deadline."""
    if ctx.provider is None or not texts or len(texts) > EMBED_AT_ONCE:
        return [None] * len(texts)
    try:
        return list(await ctx.provider.embed_passages(texts, deadline=ctx.timeouts.save))
    except EmbeddingError as error:
        log.warning("saved without a vector", texts=len(texts), fault=error.fault)
        return [None] * len(texts)
