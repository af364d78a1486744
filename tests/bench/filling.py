"""Fills a store by COPY with the skew of real ones: a million rows take minutes, through the API hours.

Users come in very different sizes and their rows lie mixed on disk, as they were written; most rows belong to a
session, some are related, a few are long. Indexes are built afterwards from the very definitions that the schema gave.
"""

import io
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np
import numpy.typing as npt
from rich.progress import track

from tests.api_client import memory_api
from tests.bench.place import Place
from tests.bench.texts import MOCK, Language

CALLER = "caller"  # 1 k rows, none of them related
LINKED = "linked"  # 1 k rows, half of them related
HOARDER = "hoarder"  # one user with more rows than are compared one by one
CROWD = "crowd"  # an agent whose rows every user shares
_TURNS = 20
_CHUNK = 10_000
_PERIOD = timedelta(days=90)
_COLUMNS = ("id", "user_id", "agent_id", "facet", "kind", "title", "content", "confidence", "metadata", "session_id")
_COLUMNS += ("turn_first", "turn_last", "observed_at", "created_at", "updated_at", "confirmed_at")
_NOW = datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Shape:
    """How many rows there are, and how many of them every caller with the agent `CROWD` sees."""

    rows: int
    shared: int = 0
    institutional: int = 100
    hoarder: int = 0
    caller: int = 1_000


@dataclass(frozen=True, slots=True)
class Store:
    url: str
    dsn: str
    shape: Shape


async def fill(place: Place, name: str, shape: Shape, language: Language) -> Store:
    """A new database of this shape, analysed, and claimed for the mock embedder."""
    url = await place.new_database(name)
    async with memory_api(url, provider=MOCK, workers=False):
        pass  # claims the store: the vector column gets its size and its index
    store = Store(url, place.cluster.dsn(name), shape)
    connection = await asyncpg.connect(store.dsn)
    try:
        await connection.execute("set session_replication_role = replica")  # the keys are right: we made them
        await connection.execute("set maintenance_work_mem = '3GB'; set max_parallel_maintenance_workers = 1")
        async with without_indexes(connection, "memories", "memory_vectors", "relations"):
            await _copy(connection, shape, language, label=f"Filling {name} with {shape.rows:,} rows")
        await connection.execute("vacuum analyze")
    finally:
        await connection.close()
    return store


async def _copy(connection: "asyncpg.Connection[Any]", shape: Shape, language: Language, *, label: str) -> None:
    chance = np.random.default_rng(shape.rows)
    owners = _owners(shape, chance)
    # What the caller sees is the same in every store, to the word: only the rest differs.
    same = Language(seed=1)
    always = iter(same.sentences(shape.caller + shape.institutional))
    sizes: dict[tuple[str, str], int] = {}
    linked: list[UUID] = []
    for start in track(range(0, shape.rows, _CHUNK), label):
        part = owners[start : start + _CHUNK]
        sentences = language.sentences(len(part))
        for place, owner in enumerate(part):
            if owner in ((CALLER, ""), ("", "")):
                sentences[place] = next(always)
        times = [_NOW - _PERIOD + _PERIOD * ((start + place) / shape.rows) for place in range(len(part))]
        ids = [_id(time, chance) for time in times]
        rows = zip(part, ids, times, map(language.text, sentences), chance.random(len(part)), strict=True)
        await connection.copy_records_to_table("memories", records=_rows(rows, sizes), columns=_COLUMNS)
        vectors = _vectors(ids, await language.vectors(sentences))
        await connection.copy_to_table(
            "memory_vectors", source=vectors, columns=("memory_id", "embedding"), format="binary"
        )
        linked += [id_ for id_, (user, _) in zip(ids, part, strict=True) if user == LINKED]
        others = [id_ for id_, (user, _) in zip(ids, part, strict=True) if user.startswith("user-")]
        await _relate(connection, others[::40])
    await _relate(connection, linked[::2])


def _owners(shape: Shape, chance: np.random.Generator) -> list[tuple[str, str]]:
    """(user, agent) of every row, mixed. Other users' sizes fall off as Zipf says, from 2 % of the store downwards."""
    owners = [("", "")] * shape.institutional + [("", CROWD)] * shape.shared
    owners += [(CALLER, "")] * shape.caller + [(LINKED, "")] * shape.caller + [(HOARDER, "")] * shape.hoarder
    rank = 1
    while len(owners) < shape.rows:
        size = max(5, int(0.02 * shape.rows / rank))
        owners += [(f"user-{rank}", CROWD if rank % 4 == 0 else "")] * size
        rank += 1
    del owners[shape.rows :]
    return [owners[place] for place in chance.permutation(shape.rows)]


def _rows(rows: Any, sizes: dict[tuple[str, str], int]) -> Iterator[tuple[Any, ...]]:
    for owner, id_, time, text, chance in rows:
        number = sizes[owner] = sizes.get(owner, -1) + 1
        talks = chance < 0.8 and owner[0]
        session = f"{owner[0]}-{owner[1]}-{number // _TURNS}" if talks else None
        turn = number % _TURNS + 1 if talks else None
        facet = "project:atlas" if chance > 0.97 else ""
        kind = "observation" if talks else "fact"
        metadata = '{"tags": ["bench", "deep"]}' if chance > 0.9 else "{}"
        title = " ".join(text.split(" ", 4)[:3]) if chance > 0.95 else None
        times = (time, time, time, time)
        yield (id_, *owner, facet, kind, title, text, 0.9, metadata, session, turn, turn, *times)


async def _relate(connection: "asyncpg.Connection[Any]", ids: list[UUID]) -> None:
    """Each to the next one."""
    edges = [
        (UUID(int=source.int ^ target.int), source, target, "see_also", 0.8)
        for source, target in itertools.pairwise(ids)
    ]
    columns = ("id", "source_id", "target_id", "relation_type", "weight")
    await connection.copy_records_to_table("relations", records=edges, columns=columns)


def _id(time: datetime, chance: np.random.Generator) -> UUID:
    """UUIDv7: ids that grow with time, as the service makes them."""
    random = int.from_bytes(chance.bytes(10), "big")
    stamp = int(time.timestamp() * 1000)
    return UUID(int=(stamp << 80 | random) & ~(0xF << 76 | 0x3 << 62) | 7 << 76 | 2 << 62)


def _vectors(ids: list[UUID], vectors: npt.NDArray[np.float32]) -> io.BytesIO:
    """PostgreSQL's binary COPY of (uuid, halfvec), laid out as an array: no Python runs for a single row."""
    dimensions = vectors.shape[1]
    head = [("fields", ">i2"), ("id_size", ">i4"), ("id", "V16"), ("size", ">i4")]
    row = np.dtype([*head, ("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", (dimensions,))])
    rows = np.zeros(len(ids), row)
    rows["fields"], rows["id_size"], rows["size"], rows["dimensions"] = 2, 16, 4 + 2 * dimensions, dimensions
    rows["id"] = np.frombuffer(b"".join(id_.bytes for id_ in ids), "V16")
    rows["vector"] = vectors
    return io.BytesIO(b"PGCOPY\n\xff\r\n\0" + bytes(8) + rows.tobytes() + b"\xff\xff")


@asynccontextmanager
async def without_indexes(connection: "asyncpg.Connection[Any]", *tables: str) -> AsyncIterator[None]:
    """Drop what is not a constraint, and build it again at the end: many times quicker than row by row."""
    found = await connection.fetch(
        "select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index"
        " where indrelid = any($1::text[]::regclass[])"
        " and not exists (select from pg_constraint where conindid = indexrelid)",
        list(tables),
    )
    for index in found:
        await connection.execute(f"drop index {index['name']}")
    yield
    for index in track(found, "Building its indexes"):
        await connection.execute(index["definition"], timeout=3600)


class Stores:
    """The stores of a run, each filled when a topic first asks for it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._filled: dict[str, Store] = {}
        self.language = Language(seed=2)
        if place.quick:
            large = Shape(60_000, shared=20_000, hoarder=22_000)
        else:
            large = Shape(1_000_000, shared=20_000, hoarder=200_000)
        self.shapes = {"small": Shape(10_000, shared=5_000), "middle": Shape(100_000, shared=20_000), "large": large}

    async def get(self, name: str) -> Store:
        if name not in self._filled:
            self._filled[name] = await fill(self._place, name, self.shapes[name], self.language)
        return self._filled[name]
