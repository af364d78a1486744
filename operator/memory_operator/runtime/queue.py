"""Keys that wait for a pass: each once, never two passes of one key at a time, failures further and further apart."""

import asyncio
import random
from collections.abc import Hashable
from typing import Generic, TypeVar

from memory_operator.metrics import QUEUE_DEPTH, QUEUE_RETRIES

KeyT = TypeVar("KeyT", bound=Hashable)
FIRST_SECONDS, LONGEST_SECONDS = 0.25, 300.0


class WorkQueue(Generic[KeyT]):
    """A keyed queue for one event loop."""

    def __init__(self, name: str = "workspace") -> None:
        self._name = name
        self._ready: asyncio.Queue[KeyT] = asyncio.Queue()
        self._waiting: set[KeyT] = set()
        self._running: set[KeyT] = set()
        self._again: set[KeyT] = set()
        self._failures: dict[KeyT, int] = {}
        self._timers: dict[KeyT, asyncio.TimerHandle] = {}

    def add(self, key: KeyT) -> None:
        """Have a pass of `key` soon; during one, have another after it."""
        if key in self._running:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.put_nowait(key)
            QUEUE_DEPTH.labels(self._name).set(len(self._waiting))

    def add_after(self, key: KeyT, seconds: float) -> None:
        """Have a pass in that many seconds, or sooner where one was promised sooner."""
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is not None and timer.when() <= loop.time() + seconds:
            return
        if timer is not None:
            timer.cancel()
        self._timers[key] = loop.call_later(seconds, self._due, key)

    def retry(self, key: KeyT, at_least: float = 0) -> float:
        """Have a pass after a failure; the seconds until then."""
        count = self._failures[key] = self._failures.get(key, 0) + 1
        # Spread over half to the whole, so that many that failed together do not come back together.
        seconds: float = min(FIRST_SECONDS * 2.0 ** (count - 1), LONGEST_SECONDS) * random.uniform(0.5, 1)  # noqa: S311
        QUEUE_RETRIES.labels(self._name).inc()
        self.add_after(key, max(seconds, at_least))
        return max(seconds, at_least)

    def succeeded(self, key: KeyT) -> None:
        """The next failure is the first one again."""
        self._failures.pop(key, None)

    def forget(self, key: KeyT) -> None:
        """There is no such key any more."""
        self._failures.pop(key, None)
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    async def take(self) -> KeyT:
        """The next key; `done` has to follow."""
        key = await self._ready.get()
        self._waiting.discard(key)
        self._running.add(key)
        QUEUE_DEPTH.labels(self._name).set(len(self._waiting))
        return key

    def done(self, key: KeyT) -> None:
        """The pass is over."""
        self._running.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    @property
    def idle(self) -> bool:
        """Nothing waits and nothing runs; passes promised for later do not count."""
        return not self._waiting and not self._running

    def _due(self, key: KeyT) -> None:
        self._timers.pop(key, None)
        self.add(key)
