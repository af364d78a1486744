"""The schema: one head, up and down on data, twice at once, cut short, and by any password."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine

from api_client import memory_api
from memory_api.db.engine import create_engine
from memory_api.db.migrate import _config, head, migrate
from memory_api.db.tables import metadata
from memory_api.embedded import EmbeddedPostgres
from memory_api.embedding.provider import ProviderConfig
from memory_api.errors import ConfigurationError
from process.programs import environment, keepsake
from serving_process import KEEPSAKE


@pytest.fixture
async def engine(empty_database: str) -> AsyncIterator[AsyncEngine]:
    opened = create_engine(empty_database)
    yield opened
    await opened.dispose()


async def tables_of(engine: AsyncEngine) -> set[str]:
    async with engine.connect() as connection:
        return set(await connection.run_sync(lambda sync: inspect(sync).get_table_names()))


def test_br_145_there_is_one_head() -> None:
    assert ScriptDirectory.from_config(_config()).get_heads() == [head()]


async def test_br_145_up_down_and_up_again_work_on_data(empty_database: str, engine: AsyncEngine) -> None:
    await migrate(engine)
    async with memory_api(empty_database) as api:
        await api.save("Ada prefers window seats", user_id="ada")
    async with engine.begin() as connection:
        config = _config()
        config.attributes["text_config"] = "english"

        def down(sync: object) -> None:
            config.attributes["connection"] = sync
            command.downgrade(config, "base")

        await connection.run_sync(down)
    assert await tables_of(engine) == {"alembic_version"}
    assert await migrate(engine) == head()
    async with memory_api(empty_database) as api:
        await api.save("Ada prefers window seats", user_id="ada")
        assert (await api.recall("window", user_id="ada"))["total"] == 1


async def test_two_migrations_at_once_both_end_well(empty_database: str) -> None:
    done = await asyncio.gather(
        *(asyncio.to_thread(keepsake, "migrate", KEEPSAKE_DATABASE_URL=empty_database) for _ in range(2))
    )
    assert [(one.returncode, one.stdout) for one in done] == [(0, f"The schema is at revision {head()}.\n")] * 2


async def test_br_150_a_migration_that_was_killed_is_run_again(empty_database: str, engine: AsyncEngine) -> None:
    async with engine.connect() as blocker:
        # The last table of the migration waits for this one, with all the others made and not yet committed.
        await blocker.execute(text("create table store (blocked int)"))
        process = await asyncio.create_subprocess_exec(
            KEEPSAKE, "migrate", env=environment(KEEPSAKE_DATABASE_URL=empty_database)
        )
        waiting = create_engine(empty_database)
        async with waiting.connect() as watcher:
            watched = await watcher.execution_options(isolation_level="AUTOCOMMIT")

            async def blocked() -> bool:
                return bool(await watched.scalar(text("select count(*) from pg_locks where not granted")))

            async with asyncio.timeout(30):
                while not await blocked():  # noqa: ASYNC110 (another process's lock)
                    await asyncio.sleep(0.02)
        await waiting.dispose()
        os.kill(process.pid, signal.SIGKILL)
        assert await process.wait() == -signal.SIGKILL
        await blocker.rollback()
    assert await migrate(engine) == head()
    assert set(metadata.tables) <= await tables_of(engine)


def test_br_148_a_password_of_special_characters_works_and_is_never_shown(place: Path) -> None:
    password = "p%40ss:w/rd@ #?&"
    (place / "hba").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
    with EmbeddedPostgres(place / "server", settings={"hba_file": str(place / "hba")}, crash_safe=False) as server:
        server.query(f"create role mallory login superuser password '{password}'")
        server.ensure_database("keepsake")
        url = make_url(server.url("keepsake")).set(username="mallory")
        right, wrong = (
            url.render_as_string().replace("mallory@", f"mallory:{quote(said, safe='')}@").replace("+asyncpg", "")
            for said in (password, "wrong-" + password)
        )
        refused = keepsake("migrate", KEEPSAKE_DATABASE_URL=wrong)
        assert refused.returncode == 1
        assert "does not accept our user or password" in refused.stderr
        assert "p%40ss" not in refused.stderr + refused.stdout
        done = keepsake("migrate", KEEPSAKE_DATABASE_URL=right)
        assert done.returncode == 0, done.stderr
        assert "p%40ss" not in done.stderr + done.stdout


async def test_the_tables_that_sqlalchemy_knows_are_the_migrated_ones(database: str) -> None:
    engine = create_engine(database)
    async with engine.connect() as connection:
        found = await connection.run_sync(_described)
    await engine.dispose()
    dialect = engine.dialect
    known = {
        table.name: [
            (
                column.name,
                str(column.type.compile(dialect)).split("(")[0],
                bool(column.nullable),
                column.server_default is not None or column.computed is not None,
                [f"{key.column.table.name} {key.ondelete}" for key in column.foreign_keys],
            )
            for column in table.columns
        ]
        for table in metadata.sorted_tables
    }
    assert {name: [column[:3] + column[4:] for column in columns] for name, columns in known.items()} == {
        name: [column[:3] + column[4:] for column in columns] for name, columns in found.items()
    }
    # What the code leaves to the database, the database must fill in.
    left = [(name, column[0]) for name, columns in known.items() for column in columns if column[3]]
    assert set(left) <= {(name, column[0]) for name, columns in found.items() for column in columns if column[3]}


def _described(sync: object) -> dict[str, list[tuple[object, ...]]]:
    inspector = inspect(sync)
    assert inspector is not None
    described: dict[str, list[tuple[object, ...]]] = {}
    for name in inspector.get_table_names():
        if name == "alembic_version":
            continue
        keys = {
            key["constrained_columns"][0]: f"{key['referred_table']} {key['options'].get('ondelete')}"
            for key in inspector.get_foreign_keys(name)
        }
        described[name] = [
            (
                column["name"],
                str(column["type"].compile(inspector.dialect)).split("(")[0],
                column["nullable"],
                column["default"] is not None or "computed" in column,
                [keys[column["name"]]] if column["name"] in keys else [],
            )
            for column in inspector.get_columns(name)
        ]
    return described


@pytest.mark.parametrize("dimensions", [1, 1536, 2001, 4000])
async def test_vectors_of_every_size_up_to_4000_are_stored_and_indexed(database: str, dimensions: int) -> None:
    config = ProviderConfig(name="mock", type="mock", model="mock", dimensions=dimensions)
    async with memory_api(database, provider=config) as api:
        saved = await api.save("Ada prefers window seats", user_id="ada")
        found = await api.recall("window", user_id="ada")
        engine = create_engine(database)
        async with engine.connect() as connection:
            definition = await connection.scalar(
                text("select indexdef from pg_indexes where indexname = 'memory_vectors_nearest'")
            )
        await engine.dispose()
    assert saved["embedding"] == "ready"
    assert found["strategy_used"] == "hybrid"
    assert "hnsw" in str(definition)


async def test_postgresql_16_with_pgvector_alone_is_enough(postgres16_cluster: EmbeddedPostgres) -> None:
    postgres16_cluster.ensure_database("oldest")
    url = postgres16_cluster.url("oldest")
    engine = create_engine(url)
    assert await migrate(engine) == head()
    await engine.dispose()
    async with memory_api(url) as api:
        await api.save("Ada prefers window seats on long flights", user_id="ada")
        found = await api.recall("window seats", user_id="ada")
        status = (await api.http.get("memory/engine-status")).json()
    assert found["memories"][0]["content"] == "Ada prefers window seats on long flights"
    assert found["strategy_used"] == "hybrid"
    assert status["store"]["server_version"].startswith("16.")
    assert set(status["store"]["extensions"]) == {"plpgsql", "vector"}
    assert status["store"]["off"] == []


async def test_the_text_configuration_is_the_one_that_the_schema_was_made_with(
    empty_database: str, engine: AsyncEngine
) -> None:
    await migrate(engine, text_config="german")
    async with memory_api(empty_database) as api:
        status = (await api.http.get("memory/engine-status")).json()
    assert status["store"]["text_config"] == "german"


async def test_a_text_configuration_that_the_server_lacks_is_refused(engine: AsyncEngine) -> None:
    with pytest.raises(ConfigurationError, match="KEEPSAKE_TEXT_CONFIG=klingon"):
        await migrate(engine, text_config="klingon")


async def test_a_role_that_may_not_make_the_extension_is_told_who_may(
    empty_database: str, postgres_cluster: EmbeddedPostgres
) -> None:
    name = make_url(empty_database).database
    postgres_cluster.query(f'create role "{name}_owner" login')
    postgres_cluster.query(f'alter database "{name}" owner to "{name}_owner"')
    done = keepsake("migrate", KEEPSAKE_DATABASE_URL=empty_database.replace("postgres@", f"{name}_owner@"))
    assert done.returncode == 2
    assert "create extension vector" in done.stderr
    postgres_cluster.query(f'alter database "{name}" owner to postgres')
    postgres_cluster.query(f'drop role "{name}_owner"')
