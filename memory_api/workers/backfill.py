"""Runs the backfill: at once when a save asked for it, else every few seconds; slower while the provider is down."""

import asyncio

import structlog

from memory_api.errors import DependencyDown
from memory_api.services.backfill import Progress, backfill_once
from memory_api.services.context import Context

IDLE_SECONDS = 2.0
MAX_PAUSE_SECONDS = 5.0

log = structlog.get_logger()


async def run_backfill(ctx: Context) -> None:
    """Work until cancelled. Every replica may run one: a lease keeps a memory from being embedded twice."""
    pause = IDLE_SECONDS
    while True:
        try:
            progress = await backfill_once(ctx)
        except DependencyDown:
            progress = Progress(fault="unavailable")
        except Exception as error:
            # A worker that died would leave saves without vectors until the next restart; this one says so and goes on.
            log.error("backfill failed", fault=type(error).__name__, exc_info=error)
            progress = Progress(fault="unavailable")
        ctx.metrics.backfilled.inc(progress.embedded)
        if progress.fault:
            await asyncio.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE_SECONDS)
        elif not progress.leased:
            pause = IDLE_SECONDS
            await _wanted_or_idle(ctx)
        else:
            pause = IDLE_SECONDS
            await asyncio.sleep(0)


async def _wanted_or_idle(ctx: Context) -> None:
    # Not wait_for: before Python 3.12 it loses a cancellation that comes in the moment of the event, and the program
    # would not end on SIGTERM after a save.
    try:
        async with asyncio.timeout(IDLE_SECONDS):
            await ctx.backfill_wanted.wait()
    except TimeoutError:
        return
    ctx.backfill_wanted.clear()
