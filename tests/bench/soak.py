"""Eight clients for a minute: no error, and memory that does not grow."""

import asyncio
import itertools
import json
import statistics
import time

import psutil

from tests.bench.asking import Line, body_of, lines_to
from tests.bench.budgets import Figure
from tests.bench.filling import CALLER, LINKED, Stores
from tests.bench.place import Place

_CLIENTS = 8
# Until pools, caches and the allocator's arenas have their size.
_WARM_SECONDS = 6.0


async def measure(place: Place, stores: Stores) -> list[Figure]:
    store = await stores.get("small" if place.quick else "middle")
    seconds = 12.0 if place.quick else 60.0
    questions = stores.language.questions(200)
    errors: list[str] = []
    done = itertools.count()
    with place.serving(store.url) as service:
        process = psutil.Process(service.process.pid)
        async with lines_to(service.api, _CLIENTS) as lines:
            end = time.monotonic() + _WARM_SECONDS + seconds
            clients = [
                asyncio.create_task(_client(line, number, questions, end, errors, done))
                for number, line in enumerate(lines)
            ]
            await asyncio.sleep(_WARM_SECONDS)
            sizes = []
            while time.monotonic() < end:
                sizes.append(process.memory_info().rss / 1e6)
                await asyncio.sleep(0.25)
            await asyncio.gather(*clients)
    third = len(sizes) // 3
    first, last = statistics.mean(sizes[:third]), statistics.mean(sizes[-third:])
    calls = f"{next(done):,} calls by {_CLIENTS} clients in {seconds:.0f} s, store of {store.shape.rows:,}"
    return [
        Figure("soak.errors", len(errors), errors[0][:80] if errors else calls),
        Figure("soak.memory_last_over_first", last / first, f"{first:.0f} MB, then {last:.0f} MB"),
    ]


async def _client(
    line: Line, number: int, questions: list[str], end: float, errors: list[str], done: "itertools.count[int]"
) -> None:
    """Recall mostly, save now and then: of every 20 calls one is a save."""
    for turn in itertools.count():
        if time.monotonic() >= end:
            return
        question = questions[(turn * 7 + number * 31) % len(questions)]
        try:
            if turn % 20 == 19:
                memory = json.dumps({"user_id": f"soak-{number}", "content": f"{question} {turn}"}).encode()
                await line.post("/api/v1/memories", memory, expect=201)
            else:
                await line.recall(body_of(question, user_id=LINKED if turn % 3 == 0 else CALLER))
        except (OSError, RuntimeError, asyncio.IncompleteReadError) as error:
            errors.append(f"{type(error).__name__}: {error}")
            if len(errors) > 50:
                return
        next(done)
