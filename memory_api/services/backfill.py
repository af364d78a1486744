"""Vectors for memories that were saved without one: work that is certain to be done."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from memory_api.db import embeddings
from memory_api.db.embeddings import Job
from memory_api.db.engine import carry_out
from memory_api.errors import EmbeddingError, EmbeddingFault
from memory_api.services.context import Context

RETRY_SECONDS = 5.0
# Faults that lie with one text, not with the provider: asking for the others is worth it.
_OF_ONE_TEXT: frozenset[EmbeddingFault] = frozenset({"rejected", "bad_vector"})

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Progress:
    """What one pass did. `fault` is set when the provider as a whole gave nothing."""

    leased: int = 0
    embedded: int = 0
    fault: EmbeddingFault | None = None


async def backfill_once(ctx: Context) -> Progress:
    """Embed one batch of what waits. No connection is held while the provider works.

    Raises:
        DependencyDown: the database is away; the leases run out and the work comes back.
    """
    if ctx.provider is None:
        return Progress()
    jobs = await carry_out(ctx.engine, partial(embeddings.lease, limit=ctx.batch_size))
    if not jobs:
        return Progress()
    try:
        return await _embed_all(ctx, jobs)
    except asyncio.CancelledError:
        # A replica that stops in order leaves nothing leased: the next one need not wait.
        await _postpone(ctx, jobs, seconds=0, rejected=False)
        raise


async def _embed_all(ctx: Context, jobs: Sequence[Job]) -> Progress:
    try:
        return Progress(len(jobs), await _embed(ctx, jobs))
    except EmbeddingError as error:
        if error.fault not in _OF_ONE_TEXT:
            await _postpone(ctx, jobs, rejected=False)
            return Progress(len(jobs), 0, error.fault)
    return await _one_by_one(ctx, jobs)


async def _one_by_one(ctx: Context, jobs: Sequence[Job]) -> Progress:
    """A batch that was refused as a whole: find the texts that it was refused for."""
    embedded = 0
    for place, job in enumerate(jobs):
        try:
            embedded += await _embed(ctx, [job])
        except EmbeddingError as error:
            if error.fault not in _OF_ONE_TEXT:
                await _postpone(ctx, jobs[place:], rejected=False)
                return Progress(len(jobs), embedded, error.fault)
            log.warning("a memory cannot be embedded", memory=str(job.memory_id), fault=error.fault)
            await _postpone(ctx, [job], rejected=True)
    return Progress(len(jobs), embedded)


async def _embed(ctx: Context, jobs: Sequence[Job]) -> int:
    assert ctx.provider is not None  # noqa: S101 (backfill_once returned before)
    vectors = await ctx.provider.embed_passages([job.text_to_embed for job in jobs], deadline=ctx.timeouts.batch)
    finish = partial(embeddings.finish, jobs=jobs, vectors=vectors, model=ctx.model)
    return await carry_out(ctx.engine, finish)


async def _postpone(ctx: Context, jobs: Sequence[Job], *, rejected: bool, seconds: float = RETRY_SECONDS) -> None:
    await carry_out(ctx.engine, partial(embeddings.postpone, jobs=jobs, seconds=seconds, rejected=rejected))
