"""The fixtures that every other test of the database stands on."""

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from memory_api.embedded import EmbeddedPostgres
from memory_api.errors import ConfigurationError

ROUNDS = (1, 2)


@pytest.mark.parametrize("round_number", ROUNDS)
async def test_each_test_gets_its_own_database_with_vectors(database: str, round_number: int) -> None:
    engine = create_async_engine(database)
    async with engine.begin() as connection:
        await connection.execute(text("create table only_mine (embedding vector(3))"))
        await connection.execute(text("insert into only_mine values ('[1,2,3]')"))
        distance = await connection.scalar(text("select embedding <-> '[1,2,4]' from only_mine"))
    await engine.dispose()
    assert distance == 1.0


def test_the_server_has_every_extension_that_the_schema_may_use(postgres_cluster: EmbeddedPostgres) -> None:
    wanted = "('vector', 'pg_trgm', 'unaccent', 'btree_gin')"
    assert postgres_cluster.query(f"select count(*) from pg_available_extensions where name in {wanted}") == "4"


def test_postgresql_16_has_vectors_and_lacks_pg_trgm(postgres16_cluster: EmbeddedPostgres) -> None:
    postgres16_cluster.ensure_database("old")
    assert postgres16_cluster.query("show server_version", database="old").startswith("16.")
    postgres16_cluster.query("create extension vector", database="old")
    assert postgres16_cluster.query("select '[3,4]'::vector <-> '[0,0]'", database="old") == "5"
    with pytest.raises(ConfigurationError, match="pg_trgm"):
        postgres16_cluster.query("create extension pg_trgm", database="old")


@pytest.mark.parametrize("cluster", ["postgres_cluster", "postgres16_cluster"])
def test_text_of_every_language_folds_its_case(cluster: str, request: pytest.FixtureRequest) -> None:
    server: EmbeddedPostgres = request.getfixturevalue(cluster)
    assert server.query("select lower('ÉÄÑ') || current_setting('server_encoding')") == "éäñUTF8"
    assert server.query("select datctype from pg_database where datname = 'postgres'").lower().startswith("c.utf")
