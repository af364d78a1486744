"""Notices when every memory has its vector of the new model. Runs in every replica, only while that is awaited."""

import asyncio

import structlog

from memory_api.errors import DependencyDown
from memory_api.services.context import Context
from memory_api.services.reembedding import end_reembedding

LOOK_SECONDS = 1.0

log = structlog.get_logger()


async def run_until_reembedded(ctx: Context) -> None:
    """Look every second; a database that is away only makes it later."""
    log.warning("answering by words until every memory is embedded anew")
    done = False
    while not done:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            done = await end_reembedding(ctx)
        except DependencyDown:
            continue
    log.warning("every memory is embedded anew; answering by words and meaning")
