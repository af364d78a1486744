"""Callers and questions at the edge of what is allowed, each held against an ordinary one on the same service.

A user with a fifth of the store, a question of 2,000 words, 100 hits of 1 MB each, a memory with 50,000 relations.
"""

import json
from typing import Any

import asyncpg
import psutil
from rich.progress import track

from tests.bench.asking import Line, body_of, lines_to
from tests.bench.budgets import Figure
from tests.bench.filling import CALLER, CROWD, HOARDER, Store, Stores
from tests.bench.place import Place
from tests.bench.timing import p50, p95, timed

_BODY_BYTES = 1_000_000
_HUB_ROWS = 1_000
_WORDS = 2_000
# Rows of the caller's size whose bodies are long or short; the words that are asked for stand first in both.
_BODIES = """
insert into memories (id, user_id, kind, content, confidence, observed_at, confirmed_at)
select gen_random_uuid(), $1, 'fact', 'quokka handbook ' || n || repeat(' page of the handbook', $2), 0.9, now(), now()
from generate_series(1, 100) as n
"""
_HUB = """
with rows as (
  insert into memories (id, user_id, kind, content, confidence, observed_at, confirmed_at)
  select gen_random_uuid(), 'hub', 'fact', case n when 1 then 'quokka handbook' else 'leaf ' || n end, 0.9, now(), now()
  from generate_series(1, $1) as n returning id, content
)
insert into relations (id, source_id, target_id, relation_type, weight)
select gen_random_uuid(), hub.id, leaf.id, 'r' || n, random()
from rows as hub, rows as leaf, generate_series(1, 50) as n
where hub.content = 'quokka handbook' and leaf.id <> hub.id
"""


async def measure(place: Place, stores: Stores) -> list[Figure]:
    large = await stores.get("large")
    await _add_rows(large)
    questions = stores.language.questions(10 if place.quick else 20)
    long = " ".join(stores.language.questions(_WORDS // 8))
    with place.serving(large.url) as service:
        memory = psutil.Process(service.process.pid)
        async with lines_to(service.api) as (line,):
            asking = _Asking(line, rounds=3 if place.quick else 6)
            plain = await asking.times("one user", [body_of(question, user_id=CALLER) for question in questions])
            wide = await asking.times(
                "shared rows", [body_of(question, user_id=CALLER, agent_id=CROWD) for question in questions]
            )
            hoarder = await asking.times("a large user", [body_of(question, user_id=HOARDER) for question in questions])
            much = await asking.times("2,000 words", [body_of(f"{long} {n}", user_id=CALLER) for n in range(4)])
            hub = await asking.times("a hub", [body_of("quokka handbook", user_id="hub")] * 5)
            slim = await asking.times("short bodies", [_hundred("slim")] * 5)
            before = memory.memory_info().rss
            bulky = await asking.times("long bodies", [_hundred("bulky")] * 5)
            grown = (memory.memory_info().rss - before) / 1e6
            answer = await line.recall(_hundred("bulky"))
    found = json.loads(answer)["memories"]
    shown = sum("content_preview" in hit for hit in found)
    return [
        Figure("extremes.hoarder_over_shared", p50(hoarder) / p50(wide), f"{large.shape.hoarder:,} rows"),
        Figure("extremes.hoarder_p95", p95(hoarder), f"p50 {p50(hoarder):.1f} ms"),
        Figure("extremes.long_query_over_question", p50(much) / p50(plain), f"p50 {p50(much):.1f} ms"),
        Figure("extremes.hub_over_question", p50(hub) / p50(plain), f"p50 {p50(hub):.1f} ms, 50 k relations"),
        Figure("extremes.long_bodies_over_short", p50(bulky) / p50(slim), f"p50 {p50(bulky):.1f} ms, {shown} previews"),
        Figure("extremes.long_bodies_answer", len(answer) / 1e6, f"{len(found)} hits of 1 MB"),
        Figure("extremes.long_bodies_memory", grown),
    ]


def _hundred(user: str) -> bytes:
    return body_of("quokka handbook", user_id=user, limit=100, previews=True)


class _Asking:
    def __init__(self, line: Line, *, rounds: int) -> None:
        self._line = line
        self._rounds = rounds

    async def times(self, label: str, bodies: list[bytes]) -> list[float]:
        """Milliseconds of each recall, after one round that is not counted."""
        for body in bodies:
            await self._line.recall(body)
        return [
            await timed(self._line.recall(body))
            for _ in track(range(self._rounds), f"Recall, {label}")
            for body in bodies
        ]


async def _add_rows(store: Store) -> None:
    connection: Any = await asyncpg.connect(store.dsn)
    try:
        await connection.execute(_BODIES, "slim", 1)
        await connection.execute(_BODIES, "bulky", _BODY_BYTES // len(" page of the handbook"), timeout=300)
        await connection.execute(_HUB, _HUB_ROWS)
        await connection.execute("analyze memories; analyze relations", timeout=300)
    finally:
        await connection.close()
