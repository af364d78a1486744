"""Keys wait once, run one at a time, and come back later and later after failures."""

import asyncio

from memory_operator.runtime.queue import FIRST_SECONDS, LONGEST_SECONDS, WorkQueue


async def test_a_key_waits_once_and_runs_again_after_a_pass_that_was_overtaken() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    queue.add("a")
    assert await queue.take() == "a"
    queue.add("a")
    assert not queue.idle
    queue.done("a")
    assert await queue.take() == "a"
    queue.done("a")
    assert queue.idle


async def test_failures_lie_further_and_further_apart() -> None:
    queue: WorkQueue[str] = WorkQueue()
    waits = [queue.retry("a") for _ in range(20)]
    assert FIRST_SECONDS / 2 <= waits[0] <= FIRST_SECONDS
    assert LONGEST_SECONDS / 2 <= waits[-1] <= LONGEST_SECONDS
    assert queue.retry("a", at_least=400) == 400
    queue.succeeded("a")
    assert queue.retry("a") <= FIRST_SECONDS
    queue.forget("a")


async def test_the_sooner_of_two_promises_counts() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 60)
    queue.add_after("a", 0.01)
    queue.add_after("a", 30)
    assert await asyncio.wait_for(queue.take(), 1) == "a"
