"""The backfill ends when it is told to, whatever it was doing."""

import asyncio

from api_client import memory_api


async def test_a_save_in_the_moment_of_the_end_does_not_keep_the_program_from_ending(database: str) -> None:
    async with asyncio.timeout(10), memory_api(database) as api:
        context = api.memory_api.standing.context
        assert context is not None
        # A first round finds nothing to do; from then on the worker waits for a save.
        async with asyncio.timeout(5):
            while not context.backfill_wanted._waiters:  # type: ignore[attr-defined] # noqa: ASYNC110
                await asyncio.sleep(0)
        context.backfill_wanted.set()
        # One turn of the loop: the event has come, and the worker has not seen it yet.
        await asyncio.sleep(0)
