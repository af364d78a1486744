"""Stop asking a provider that is down, so that each recall does not pay its time-out again.

After three faults in a row calls are refused at once for five seconds; then one call goes through as a probe while the
others are still refused, and its outcome closes or opens the breaker.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from memory_api.errors import EmbeddingError, EmbeddingFault


class Breaker:
    def __init__(
        self, *, threshold: int = 3, open_seconds: float = 5.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._threshold = threshold
        self._open_seconds = open_seconds
        self._clock = clock
        self._faults = 0
        self._last_fault: EmbeddingFault = "unavailable"
        self._opened_at = 0.0
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether calls are refused for now."""
        return self._faults >= self._threshold and (
            self._probing or self._clock() - self._opened_at < self._open_seconds
        )

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Guard one call; raises the fault that opened the breaker while it is open.

        `rejected` is an answer of a provider that works. A cancelled call says nothing and gives the probe back.
        """
        if self.is_open:
            raise EmbeddingError(
                self._last_fault,
                f"not asked: the provider failed {self._faults} times in a row and is tried again soon",
            )
        probe = self._faults >= self._threshold
        self._probing = self._probing or probe
        try:
            yield
        except EmbeddingError as error:
            if error.fault == "rejected":
                self._faults = 0
            else:
                self._faults += 1
                self._last_fault = error.fault
                self._opened_at = self._clock()
            raise
        else:
            self._faults = 0
        finally:
            if probe:
                self._probing = False
