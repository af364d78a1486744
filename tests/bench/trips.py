"""How often the service goes to the database for one request."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.bench.asking import Line, body_of, lines_to
from tests.bench.budgets import Figure
from tests.bench.counting import Counter, counting
from tests.bench.filling import CALLER, LINKED, Stores
from tests.bench.place import Place

_TIMES = 5


async def measure(place: Place, stores: Stores) -> list[Figure]:
    store = await stores.get("small")
    question = stores.language.questions(1)[0]
    folder = place.folder / "counted"
    folder.mkdir()
    server = Path(parse_qs(urlsplit(store.url).query)["host"][0])
    with counting(server, folder) as counter:
        url = store.url.replace(place.cluster.url("").partition("?")[2], f"host={folder}&port=5432")
        with place.serving(url, workers=False) as service:
            async with lines_to(service.api) as (line,):
                plain = await _trips(line, counter, "memories/retrieve", body_of(question, user_id=CALLER), 200)
                related = await _trips(line, counter, "memories/retrieve", body_of(question, user_id=LINKED), 200)
                memory = json.dumps({"user_id": "saver", "content": "one more thing to remember"}).encode()
                saving = await _trips(line, counter, "memories", memory, 201)
    return [
        Figure("trips.recall_plain", plain),
        Figure("trips.recall_related", related),
        Figure("trips.save", saving),
    ]


async def _trips(line: Line, counter: Counter, path: str, body: bytes, expect: int) -> float:
    """For one call once everything is known and prepared."""
    for _ in range(2):
        await line.post(f"/api/v1/{path}", body, expect=expect)
    before = counter.trips
    for _ in range(_TIMES):
        await line.post(f"/api/v1/{path}", body, expect=expect)
    return (counter.trips - before) / _TIMES
