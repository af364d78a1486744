"""memory-api behind Debian's PgBouncer in transaction mode: many clients, few server connections, nothing kept."""

import asyncio
import os
from typing import Any

import pytest
from sqlalchemy import text

from api_client import Api, memory_api
from memory_api.db.engine import create_engine, reading
from memory_api.db.migrate import head
from memory_api.settings import Settings
from pgbouncer import PROGRAM, pooled
from process.programs import comes_true, keepsake, one_line

# Under CI=true the absence of the program is a failure, not a test left out.
pytestmark = pytest.mark.skipif(
    PROGRAM is None and os.environ.get("CI") != "true", reason="needs pgbouncer: apt-get install pgbouncer"
)
ANNOUNCED = Settings(database_pooler="transaction")


async def _use_everything(api: Api, user: str) -> None:
    """The main path of every route, as one user among many."""
    first = await api.save(f"{user} prefers window seats on long flights", user_id=user)
    second = await api.save(f"{user} flies to Lisbon in May", user_id=user, session_id="s", turn_range=[1, 1])
    edge = {"user_id": user, "source_id": first["id"], "target_id": second["id"], "relation_type": "see_also"}
    assert (await api.http.post("relations", json=edge)).status_code == 201
    found = await api.recall("window seats", user_id=user)
    assert [memory["id"] for memory in found["memories"]][:1] == [first["id"]]
    assert found["strategy_used"] == "hybrid"
    assert found["degraded"] == []
    assert (await api.recall("", user_id=user))["total"] == 2
    changed = await api.http.patch(f"memories/{first['id']}", json={"user_id": user, "title": "Seats"})
    assert changed.json()["memory"]["revision"] == 2
    listed = await api.http.get("memories", params={"user_id": user, "count": True})
    assert listed.json()["total"] == 2
    related = await api.http.get("relations", params={"user_id": user})
    assert len(related.json()["relations"]) == 1
    assert (await api.http.get(f"memories/{second['id']}", params={"user_id": user})).status_code == 200
    forgotten = await api.http.delete(f"memories/{second['id']}", params={"user_id": user})
    assert forgotten.status_code in (200, 204)
    assert (await api.recall("Lisbon", user_id=user))["total"] == 1


async def test_many_clients_share_two_server_connections(database: str) -> None:
    with pooled(database, servers=2) as url:
        async with memory_api(url, settings=ANNOUNCED) as one, memory_api(url, settings=ANNOUNCED) as other:
            await asyncio.gather(
                *(_use_everything(api, f"user-{n}") for n in range(12) for api in [(one, other)[n % 2]])
            )
            status = await one.http.get("memory/engine-status")
            ready = await one.health.get("/readyz")
    assert status.status_code == 200
    assert ready.status_code == 200


async def test_each_transaction_has_our_settings_and_leaves_none_behind(database: str) -> None:
    asked = "select current_setting('plan_cache_mode'), current_setting('statement_timeout'), current_setting('jit')"
    index = "select current_setting('hnsw.iterative_scan', true)"
    with pooled(database, servers=1) as url:
        engine, plain = create_engine(url, pooler="transaction"), create_engine(url, pooler="transaction")
        async with reading(engine) as connection:
            # Twice: the second has the same server connection with whatever the first one left.
            inside = [tuple((await connection.execute(text(asked))).one()) for _ in range(2)]
            scan = await connection.scalar(text(index))
        async with plain.connect() as connection:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            outside = await driver.fetchrow(asked)
            named = await driver.fetchval("select count(*) from pg_prepared_statements where name <> ''")
        await engine.dispose()
        await plain.dispose()
    assert inside == [("force_custom_plan", "30s", "off")] * 2
    assert scan == "relaxed_order"
    assert tuple(outside)[:2] == ("auto", "0")
    assert named == 0


async def test_the_worker_embeds_what_was_saved_without_a_vector(database: str) -> None:
    with pooled(database, servers=1) as url:
        async with memory_api(url, settings=ANNOUNCED, provider=None) as api:
            saved = await api.save("Ada prefers window seats", user_id="ada")
        async with memory_api(url, settings=ANNOUNCED) as api:

            async def embedded() -> bool:
                opened = await api.http.get(f"memories/{saved['id']}", params={"user_id": "ada"})
                return bool(opened.json()["memory"]["embedding"] == "ready")

            await comes_true(embedded)


def test_the_schema_is_migrated_through_it_by_two_at_once(empty_database: str) -> None:
    with pooled(empty_database, servers=2) as url:
        plain = url.replace("+asyncpg", "")
        done = keepsake("migrate", KEEPSAKE_DATABASE_URL=plain, KEEPSAKE_DATABASE_POOLER="transaction")
        again = keepsake("migrate", KEEPSAKE_DATABASE_URL=plain, KEEPSAKE_DATABASE_POOLER="transaction")
    assert [(one.returncode, one.stdout, one.stderr) for one in (done, again)] == [
        (0, f"The schema is at revision {head()}.\n", "")
    ] * 2


@pytest.mark.parametrize(
    "pgbouncer",
    [
        {},
        {
            "ignore_startup_parameters": "jit,statement_timeout,idle_in_transaction_session_timeout,plan_cache_mode,"
            "hnsw.iterative_scan,hnsw.ef_search"
        },
    ],
    ids=["that refuses our settings", "that drops our settings"],
)
def test_a_pooler_that_was_not_announced_is_named_with_the_remedy(
    empty_database: str, pgbouncer: dict[str, str]
) -> None:
    with pooled(empty_database, **pgbouncer) as url:
        done = keepsake("migrate", KEEPSAKE_DATABASE_URL=url.replace("+asyncpg", ""))
    assert done.returncode == 2
    assert "KEEPSAKE_DATABASE_POOLER=transaction" in one_line(done)
