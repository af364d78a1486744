"""Recall beside a backfill by the bundled embedder: bulk work yields to questions."""

import asyncio
import itertools
import json
from pathlib import Path

import httpx
from rich.progress import Progress

from memory_api.manifests.schema import shipped
from tests.bench.asking import Line, body_of, lines_to
from tests.bench.budgets import Figure
from tests.bench.embedding import sample_texts
from tests.bench.filling import Stores
from tests.bench.place import Place
from tests.bench.timing import p50, p95, timed

_BATCH = 500
_ASKER = "asker"  # not the one whose texts are embedded: a larger scope would be slower by itself
_ALONE = 150
_PAUSE_SECONDS = 0.02


async def measure(place: Place, stores: Stores) -> list[Figure]:
    del stores  # its vectors are the mock's
    texts = 600 if place.quick else 5_000
    url = await place.new_database("bulk")
    with place.serving(url, provider=Path(str(shipped("samples/provider-transformers.yaml")))) as service:
        async with lines_to(service.api) as (line,), httpx.AsyncClient(base_url=f"{service.api}/api/v1/") as client:
            await _save(line, _ASKER, sample_texts(300, seed=1))
            while await _pending(client):  # noqa: ASYNC110 (a condition of another process)
                await asyncio.sleep(0.1)
            numbers = itertools.count()
            for _ in range(20):
                await _ask(line, next(numbers))
            alone = []
            for _ in range(_ALONE):
                alone.append(await timed(_ask(line, next(numbers))))
                await asyncio.sleep(_PAUSE_SECONDS)
            await _save(line, "bulk", sample_texts(texts, seed=2))
            beside = []
            with Progress() as progress:
                bar = progress.add_task("Recall beside a backfill", total=texts)
                while left := await _pending(client):
                    progress.update(bar, completed=texts - left)
                    for _ in range(10):
                        beside.append(await timed(_ask(line, next(numbers))))
                        await asyncio.sleep(_PAUSE_SECONDS)
    said = f"{len(beside)} recalls while {texts:,} texts were embedded; p50 {p50(alone):.1f} and {p50(beside):.1f} ms"
    return [Figure("bulk.recall_p95_beside_over_alone", p95(beside) / p95(alone), said)]


async def _ask(line: Line, number: int) -> None:
    # No two alike: each query is embedded.
    await line.recall(body_of(f"what does user {number} drink in the morning", user_id=_ASKER))


async def _save(line: Line, user: str, texts: list[str]) -> None:
    for start in range(0, len(texts), _BATCH):
        memories = [{"user_id": user, "content": text} for text in texts[start : start + _BATCH]]
        await line.post("/api/v1/memories/batch", json.dumps({"memories": memories}).encode())


async def _pending(client: httpx.AsyncClient) -> int:
    health = (await client.get("memory/engine-status")).raise_for_status().json()
    return int(health["embeddings"]["pending"])
