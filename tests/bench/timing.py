"""Clocks and percentiles."""

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
