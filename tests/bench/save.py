"""Saving one memory over HTTP, on a server that keeps what it promised; the mock embedder takes no time."""

import json

from rich.progress import track

from tests.bench.asking import lines_to
from tests.bench.budgets import Figure
from tests.bench.filling import Stores
from tests.bench.place import Place
from tests.bench.timing import p50, p95, timed


async def measure(place: Place, stores: Stores) -> list[Figure]:
    store = await stores.get("small")
    language = stores.language
    sentences = language.sentences(300 if place.quick else 1_500, long_share=0)
    bodies = [
        json.dumps(
            {
                "user_id": f"saver-{number % 7}",
                "type": "observation",
                "content": language.text(sentence),
                "session_id": f"talk-{number // 20}",
                "turn_range": [number % 20 + 1, number % 20 + 1],
            }
        ).encode()
        for number, sentence in enumerate(sentences)
    ]
    with place.serving(store.url) as service:
        async with lines_to(service.api) as (line,):
            times = [await timed(line.post("/api/v1/memories", body, expect=201)) for body in track(bodies, "Saving")][
                20:
            ]
    rows = f"{len(times)} saves, store of {store.shape.rows:,}"
    return [Figure("save.p50", p50(times), rows), Figure("save.p95", p95(times))]
