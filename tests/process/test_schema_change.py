"""A memory-api goes on answering while a migration changes the tables under its prepared statements."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx
from sqlalchemy import text

from api_client import Api, memory_api
from memory_api.db.engine import create_engine
from process.programs import comes_true

# Each is one transaction, as a migration is. A column of another type changes what prepared statements give, which
# PostgreSQL refuses to go on with: "cached plan must not change result type".
STEPS = (
    "alter table memories add column mood text; create index memories_mood on memories (mood)",
    "alter table memories alter column evidence_count type bigint",
    "alter table relations add column note text; alter table relations alter column relation_type type varchar",
    "alter table memories alter column turn_last type bigint;"
    "alter table embedding_queue alter column attempts type bigint",
    "drop index memories_mood; alter table memories alter column turn_first type bigint",
    "alter table memories alter column evidence_count type integer; alter table store add column note text",
)


async def _again_until(done: asyncio.Event, call: Callable[[int], Awaitable[httpx.Response]]) -> list[httpx.Response]:
    answers = []
    while not done.is_set():
        answers.append(await call(len(answers)))
    return answers


async def _work_through(api: Api, url: str) -> list[list[httpx.Response]]:
    first = await api.save("Ada prefers window seats", user_id="ada")
    second = await api.save("Ada prefers tea", user_id="ada")
    edge = {"user_id": "ada", "source_id": first["id"], "target_id": second["id"], "relation_type": "see_also"}
    ada = {"user_id": "ada"}
    calls: list[Callable[[int], Awaitable[httpx.Response]]] = [
        lambda n: api.http.post("memories", json={**ada, "content": f"note number {n}"}),
        lambda _: api.http.post("memories/retrieve", json={**ada, "query": "window seats"}),
        lambda _: api.http.get("memories", params={**ada, "count": True}),
        lambda n: api.http.post("relations", json={**edge, "relation_type": f"r{n % 5}"}),
        lambda n: api.http.patch(f"memories/{second['id']}", json={**ada, "content": f"Ada prefers tea, {n}"}),
        lambda _: api.http.get("relations", params=ada),
    ]
    done = asyncio.Event()
    engine = create_engine(url)

    async def change() -> None:
        try:
            for step in STEPS:
                await asyncio.sleep(0.3)
                async with engine.begin() as connection:
                    for statement in step.split(";"):
                        await connection.execute(text(statement))
            await asyncio.sleep(0.3)
        finally:
            done.set()
            await engine.dispose()

    *answers, _ = await asyncio.gather(*(_again_until(done, call) for call in calls * 2), change())
    return answers


async def test_no_caller_notices_a_migration_and_no_write_is_lost(database: str) -> None:
    async with memory_api(database) as api:
        answers = await _work_through(api, database)
        listed = (await api.http.get("memories", params={"user_id": "ada", "count": True})).json()

        async def all_embedded() -> bool:
            health = (await api.http.get("memory/engine-status")).json()
            return bool(health["embeddings"]["pending"] == 0)

        await comes_true(all_embedded)
    refused = [answer.text for of_one in answers for answer in of_one if not answer.is_success]
    saved = [answer for of_one in (answers[0], answers[6]) for answer in of_one]
    assert refused == []
    assert all(len(of_one) > len(STEPS) for of_one in answers)
    assert listed["total"] == len(saved) + 2


async def test_a_migration_that_waits_for_a_lock_does_not_lose_the_writes_behind_it(database: str) -> None:
    engine = create_engine(database)
    async with memory_api(database) as api:
        await api.save("before", user_id="ada")
        async with engine.connect() as reader, engine.connect() as migration:
            await reader.execute(text("select count(*) from memories"))  # an open transaction of somebody else
            widening = asyncio.create_task(
                migration.execute(text("alter table memories alter column evidence_count type bigint"))
            )
            await asyncio.sleep(0.2)
            saves = [asyncio.create_task(api.save(f"during {n}", user_id="ada")) for n in range(5)]
            await asyncio.sleep(0.2)
            await reader.rollback()
            await widening
            await migration.commit()
        await asyncio.gather(*saves)
        assert (await api.recall("during", user_id="ada"))["total"] >= 5
    await engine.dispose()
