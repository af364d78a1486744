"""PostgreSQL for the tests: a real server for each xdist worker, a fresh database for each test that asks."""

import itertools
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api_client import Api, memory_api
from databases import prepare_template
from memory_api.embedded import Binaries, EmbeddedPostgres, embedded_binaries, pgserver_binaries
from memory_api.telemetry import configure_logs

pytest_plugins = ["tests.cluster.fixtures", "tests.scheduling"]

TEMPLATE = "keepsake_template"
_numbers = itertools.count(1)


@pytest.fixture(scope="session", autouse=True)
def quiet_logs() -> Iterator[None]:
    """Make every log event and show none, so that a test can listen to any of them."""
    with Path(os.devnull).open("w") as nowhere:
        configure_logs("debug", to=nowhere)
        yield


@contextmanager
def _throwaway_cluster(binaries: Binaries) -> Iterator[EmbeddedPostgres]:
    # pytest's own tmp_path is closed to the user that root runs the server as.
    folder = Path(tempfile.mkdtemp(prefix="keepsake-test-"))
    folder.chmod(0o755)
    try:
        with EmbeddedPostgres(folder / "data", binaries=binaries, crash_safe=False) as cluster:
            yield cluster
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[EmbeddedPostgres]:
    """Run the PostgreSQL that `keepsake dev` runs, one for each worker."""
    with _throwaway_cluster(embedded_binaries()) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def postgres16_cluster() -> Iterator[EmbeddedPostgres]:
    """Run the oldest PostgreSQL that we support; this one has pgvector and no contrib extension."""
    with _throwaway_cluster(pgserver_binaries(16)) as cluster:
        yield cluster


@pytest.fixture(scope="session")
async def database_template(postgres_cluster: EmbeddedPostgres) -> str:
    """Prepare once what every test's database starts from."""
    postgres_cluster.ensure_database(TEMPLATE)
    await prepare_template(postgres_cluster.url(TEMPLATE))
    return TEMPLATE


@pytest.fixture
async def database(postgres_cluster: EmbeddedPostgres, database_template: str) -> AsyncIterator[str]:
    """Give the SQLAlchemy URL of a new database, copied from the template and dropped after the test."""
    name = f"test_{next(_numbers)}"
    postgres_cluster.query(f'create database "{name}" template "{database_template}"')
    yield postgres_cluster.url(name)
    postgres_cluster.query(f'drop database "{name}" with (force)')


@pytest.fixture
async def api(database: str) -> AsyncIterator[Api]:
    """Run a memory-api with the mock embedder on a fresh database."""
    async with memory_api(database) as opened:
        yield opened
