"""An institution of everything: every row of a store is shared, and each caller's scope is the whole store.

The stores of the other topics are made institutional for it, so this topic comes last.
"""

import asyncpg
from rich.progress import track

from tests.bench.asking import body_of, lines_to
from tests.bench.budgets import Figure
from tests.bench.filling import Store, Stores, without_indexes
from tests.bench.place import Place
from tests.bench.timing import p50, p95, timed


async def measure(place: Place, stores: Stores) -> list[Figure]:
    figures = []
    for name in ("large",) if place.quick else ("middle", "large"):
        store = await stores.get(name)
        await _share_all(store)
        times = await _times(place, store, stores.language.questions(20))
        words = await _times(place, store, stores.language.questions(20), strategy="keyword")
        note = f"{store.shape.rows:,} rows, p50 {p50(times):.1f} ms; words only {p50(words):.1f} ms"
        figures.append(Figure(f"everything.{name}_p95", p95(times), note))
        if name == "large":
            figures.append(Figure("everything.words_over_both", p50(words) / p50(times), note))
    return figures


async def _times(place: Place, store: Store, questions: list[str], **fields: str) -> list[float]:
    bodies = [body_of(question, **fields) for question in questions]
    with place.serving(store.url) as service:
        async with lines_to(service.api) as (line,):
            for body in bodies:
                await line.recall(body)
            return [
                await timed(line.recall(body))
                for _ in track(range(2 if place.quick else 4), "Recall, everything")
                for body in bodies
            ]


async def _share_all(store: Store) -> None:
    connection = await asyncpg.connect(store.dsn)
    try:
        await connection.execute("set maintenance_work_mem = '3GB'; set max_parallel_maintenance_workers = 1")
        async with without_indexes(connection, "memories"):
            await connection.execute("update memories set user_id = '', agent_id = ''", timeout=3600)
        await connection.execute("vacuum analyze memories", timeout=3600)
    finally:
        await connection.close()
