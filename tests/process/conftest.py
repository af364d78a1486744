"""Folders that PostgreSQL's user can enter, databases of a test's own, and clients."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from embedded.people import servers_below
from memory_api.embedded import EmbeddedPostgres
from waiting import eventually


@pytest.fixture
def place() -> Iterator[Path]:
    """Give an empty folder that every user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="keepsake-process-"))
    folder.chmod(0o755)
    yield folder
    for process in servers_below(folder):
        with suppress(psutil.Error):
            process.send_signal(signal.SIGQUIT)
    eventually(lambda: not servers_below(folder))
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def mortal(place: Path) -> Iterator[EmbeddedPostgres]:
    """Give a server of the test's own, which it may kill."""
    with EmbeddedPostgres(place / "server") as server:
        server.ensure_database("keepsake")
        yield server


@pytest.fixture
def empty_database(postgres_cluster: EmbeddedPostgres, request: pytest.FixtureRequest) -> Iterator[str]:
    """Give the URL of a database without a schema."""
    name = f"empty_{abs(hash(request.node.nodeid))}"
    postgres_cluster.query(f'create database "{name}"')
    yield postgres_cluster.url(name)
    postgres_cluster.query(f'drop database "{name}" with (force)')
