"""What HTTP adds to the bare statement, and whether a caller's latency follows the scope or the store.

Calls that are compared take turns, so that whatever else the machine does hits both, and the first place in a pair
changes hands, because the second call finds the caches warm. HTTP is held against the bare statement in the small
store: the quicker the statement, the more of the time is HTTP's. The embedder is the mock, and its vector is cached.
"""

import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.progress import track

from tests.bench.asking import Bare, Line, bare_connections, body_of, lines_to, sent_by
from tests.bench.budgets import Figure
from tests.bench.filling import CALLER, CROWD, Stores
from tests.bench.place import Place
from tests.bench.timing import p50, p95, timed
from tests.sent_statements import Sent

_CONNECTIONS = 4
_SECONDS = 1.5


@dataclass(slots=True)
class _Times:
    bare: list[float] = field(default_factory=list)
    large: list[float] = field(default_factory=list)
    small: list[float] = field(default_factory=list)
    shared: list[float] = field(default_factory=list)
    shared_small: list[float] = field(default_factory=list)
    added: list[float] = field(default_factory=list)


async def measure(place: Place, stores: Stores) -> list[Figure]:
    small, large = await stores.get("small"), await stores.get("large")
    questions = stores.language.questions(20 if place.quick else 40)
    bodies = [body_of(question, user_id=CALLER) for question in questions]
    shared = [body_of(question, user_id=CALLER, agent_id=CROWD) for question in questions]
    sent = await sent_by(small.url, bodies)
    with place.serving(small.url) as of_small, place.serving(large.url) as of_large:
        async with (
            lines_to(of_small.api, _CONNECTIONS) as lines,
            lines_to(of_large.api) as (line_large,),
            bare_connections(small.url, _CONNECTIONS) as bare,
        ):
            times = await _take_turns(
                bare[0], lines[0], line_large, sent, bodies, shared, rounds=4 if place.quick else 10
            )
            share, most = await _throughput(bare, lines, sent, bodies, rounds=3 if place.quick else 7)
    rows = f"{large.shape.rows:,} and {small.shape.rows:,} rows"
    middle = [] if place.quick else await _in_the_middle(place, stores, bodies, shared)
    return [
        *middle,
        Figure("recall.shared_small_p95", p95(times.shared_small), f"p50 {p50(times.shared_small):.1f} ms"),
        Figure("recall.http_over_bare", p50(times.added), f"{len(times.added)} pairs"),
        Figure("recall.throughput", share, f"{_CONNECTIONS} connections, {most:.0f}/s bare"),
        Figure("recall.large_over_small", p50(times.large) / p50(times.small), rows),
        Figure("recall.bare_p50", p50(times.bare)),
        Figure("recall.http_p50", p50(times.small)),
        Figure("recall.user_small_p95", p95(times.small)),
        Figure("recall.user_large_p95", p95(times.large)),
        Figure("recall.shared_large_p95", p95(times.shared), f"p50 {p50(times.shared):.1f} ms"),
    ]


async def _in_the_middle(
    place: Place, stores: Stores, bodies: Sequence[bytes], shared: Sequence[bytes]
) -> list[Figure]:
    """The middle column of the table; it takes part in no ratio."""
    store = await stores.get("middle")
    with place.serving(store.url) as service:
        async with lines_to(service.api) as (line,):
            for body in (*bodies, *shared):
                await line.recall(body)
            user = [await timed(line.recall(body)) for _ in range(5) for body in bodies]
            wide = [await timed(line.recall(body)) for _ in range(2) for body in shared]
    return [
        Figure("recall.user_middle_p95", p95(user), f"p50 {p50(user):.1f} ms"),
        Figure("recall.shared_middle_p95", p95(wide), f"p50 {p50(wide):.1f} ms"),
    ]


async def _take_turns(
    bare: Bare,
    line: Line,
    line_large: Line,
    sent: Sequence[Sequence[Sent]],
    bodies: Sequence[bytes],
    shared: Sequence[bytes],
    *,
    rounds: int,
) -> _Times:
    for recall, body, wide in zip(sent, bodies, shared, strict=True):
        await bare.run(recall)
        await line.recall(body)
        await line_large.recall(body)
        await line_large.recall(wide)
        await line.recall(wide)
    times = _Times()
    for number in track(range(rounds), "Recall, taking turns"):
        for recall, body, wide in zip(sent, bodies, shared, strict=True):
            if number % 2 == 0:
                times.bare.append(await timed(bare.run(recall)))
                times.small.append(await timed(line.recall(body)))
            else:
                times.small.append(await timed(line.recall(body)))
                times.bare.append(await timed(bare.run(recall)))
            times.added.append(times.small[-1] - times.bare[-1])
            times.large.append(await timed(line_large.recall(body)))
            if number % 3 == 0:
                times.shared.append(await timed(line_large.recall(wide)))
                times.shared_small.append(await timed(line.recall(wide)))
    return times


async def _throughput(
    bare: Sequence[Bare],
    lines: Sequence[Line],
    sent: Sequence[Sequence[Sent]],
    bodies: Sequence[bytes],
    *,
    rounds: int,
) -> tuple[float, float]:
    """HTTP's share of what the bare statement gets (median of rounds), and the latter in calls a second."""
    shares, rates = [], []
    for _ in track(range(rounds), "Recall, all connections at once"):
        rate = await _rate([_asker(connection.run, sent) for connection in bare])
        shares.append(await _rate([_asker(line.recall, bodies) for line in lines]) / rate)
        rates.append(rate)
    return statistics.median(shares), statistics.median(rates)


def _asker(call: Callable[[Any], Awaitable[object]], asks: Sequence[object]) -> Callable[[], Awaitable[object]]:
    """Each call of the result asks the next one, for ever."""
    endless = itertools.cycle(asks)
    return lambda: call(next(endless))


async def _rate(askers: Sequence[Callable[[], Awaitable[object]]]) -> float:
    """Calls a second when every asker asks again as soon as it was answered."""
    done = 0
    started = time.perf_counter()

    async def go_on(ask: Callable[[], Awaitable[object]]) -> None:
        nonlocal done
        while time.perf_counter() - started < _SECONDS:
            await ask()
            done += 1

    await asyncio.gather(*map(go_on, askers))
    return done / (time.perf_counter() - started)
