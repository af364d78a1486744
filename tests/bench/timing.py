"""Clocks, percentiles, and how fast the machine is just now."""

import math
import statistics
import time
from collections.abc import Awaitable, Sequence


async def timed(work: Awaitable[object]) -> float:
    """Milliseconds that it took."""
    started = time.perf_counter()
    await work
    return (time.perf_counter() - started) * 1000


def p50(values: Sequence[float]) -> float:
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


class Pace:
    """How much slower the machine usually was than in its quiet moments: 1 when nothing else ran.

    A budget in milliseconds can only be held against the machine's own speed. The same small piece of work is timed all
    through a run; when others take the processor, its median moves away from its best tenth, and so do our figures.
    """

    def __init__(self) -> None:
        self._beats: list[float] = []

    def beat(self) -> None:
        started = time.perf_counter()
        sum(number * number for number in range(8_000))
        self._beats.append(time.perf_counter() - started)

    @property
    def factor(self) -> float:
        quiet = sorted(self._beats)[len(self._beats) // 10]
        return max(1.0, statistics.median(self._beats) / quiet)
