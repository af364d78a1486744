"""Start, use, stop, start again: as root and as an ordinary user, with every setting in force."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import psutil
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from embedded.people import Owner, Person
from memory_api.embedded import EmbeddedPostgres, settings
from memory_api.errors import ConfigurationError
from waiting import eventually


def test_data_survives_a_restart(person: Person, own: Callable[..., Owner]) -> None:
    folder = person.home / "data"
    owner = own(person, folder)
    assert owner.postmaster.uids().real != 0
    owner.query("create table kept as select generate_series(1, 1000) as n")
    assert owner.ends() == 0
    assert not owner.postmaster.is_running()
    again = own(person, folder)
    assert again.query("select count(*) from kept") == "1000"
    assert again.ends() == 0


@contextmanager
def moved(folder: Path, to: Path) -> Iterator[Path]:
    folder.rename(to)
    yield to
    to.rename(folder)


async def test_both_addresses_lead_into_a_folder_with_spaces_and_unicode(
    place: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("PGHOST", "nowhere.invalid")
    name = 'o"dd näme'
    with (
        moved(mine, place / "mein Gedächtnis 记忆") as folder,
        EmbeddedPostgres(folder, crash_safe=False) as postgres,
    ):
        postgres.ensure_database(name)
        postgres.ensure_database(name)
        engine = create_async_engine(postgres.url(name))
        async with engine.connect() as connection:
            assert await connection.scalar(text("select current_database()")) == name
        await engine.dispose()
        direct = await asyncpg.connect(postgres.dsn(name))
        assert await direct.fetchval("select 1") == 1
        await direct.close()
        assert postgres.query("show unix_socket_directories").strip('"').startswith(str(folder))


@pytest.mark.parametrize("name", ["x" * 120, "a,b", "100%", "it's", 'say "so"', "back\\slash"])
def test_a_path_that_no_socket_address_can_hold_is_no_obstacle(place: Path, mine: Path, name: str) -> None:
    with moved(mine, place / name) as folder:
        with EmbeddedPostgres(folder, crash_safe=False) as postgres:
            assert postgres.query("select 1") == "1"
            socket_dir = Path(postgres.query("show unix_socket_directories").strip('"'))
            assert not socket_dir.is_relative_to(place)
            assert socket_dir.stat().st_mode & 0o777 == 0o700
        assert not socket_dir.exists()


def test_start_and_stop_may_be_said_twice(mine: Path) -> None:
    postgres = EmbeddedPostgres(mine, crash_safe=False)
    assert not postgres.running()
    postgres.start()
    first = postgres.pid
    postgres.start()
    assert postgres.pid == first
    assert postgres.running()
    postgres.stop()
    postgres.stop()
    assert not postgres.running()
    with pytest.raises(ConfigurationError, match="is not running"):
        postgres.query("select 1")
    postgres.start()
    assert postgres.running()
    postgres.stop()


def test_the_server_outlives_the_thread_that_started_it(mine: Path) -> None:
    postgres = EmbeddedPostgres(mine, crash_safe=False)
    thread = threading.Thread(target=postgres.start)
    thread.start()
    thread.join()
    assert postgres.running()
    postgres.stop()


def test_a_stop_ends_a_start_that_waits(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def never(_: Path) -> str:
        asked.set()
        return "starting"

    said: list[BaseException] = []

    def start() -> None:
        try:
            postgres.start()
        except ConfigurationError as error:
            said.append(error)

    monkeypatch.setattr("memory_api.embedded.postmaster.probe", never)
    postgres = EmbeddedPostgres(mine, crash_safe=False)
    thread = threading.Thread(target=start)
    thread.start()
    assert asked.wait(20)
    pid = postgres.pid
    postgres.stop()
    thread.join()
    assert "stopped while it was starting" in str(said[0])
    assert pid is None or not psutil.pid_exists(pid)


def test_the_defaults_are_safe_and_suit_a_small_machine(place: Path) -> None:
    with EmbeddedPostgres(place / "data", settings={"work_mem": "17MB", "jit": "on"}) as postgres:
        shown = {
            name: postgres.query(f"show {name}")
            for name in (
                "fsync", "full_page_writes", "synchronous_commit", "shared_buffers", "maintenance_work_mem",
                "max_parallel_maintenance_workers", "random_page_cost", "listen_addresses", "work_mem", "jit",
            )
        }  # fmt: skip
        provider = postgres.query(
            "select datlocprovider, datlocale, datctype from pg_database where datname='postgres'"
        )
    assert shown == {
        "fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "shared_buffers": "256MB",
        "maintenance_work_mem": "512MB", "max_parallel_maintenance_workers": "0", "random_page_cost": "1.1",
        "listen_addresses": "", "work_mem": "17MB", "jit": "on",
    }  # fmt: skip
    assert provider == "b|C.UTF-8|C.UTF-8"


def test_a_cluster_for_tests_waits_for_no_disk(postgres_cluster: EmbeddedPostgres) -> None:
    assert [postgres_cluster.query(f"show {name}") for name in ("fsync", "jit")] == ["off", "off"]


@pytest.mark.parametrize(("size", "kind"), [(64 * 2**20, "mmap"), (8 * 2**30, None)])
def test_a_small_dev_shm_is_left_alone(
    size: int, kind: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("this system has no /dev/shm")

    class Usage:
        total = size

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    chosen = settings.server_settings(socket_dir=tmp_path, crash_safe=True, extra={})
    assert chosen.get("dynamic_shared_memory_type") == kind


def test_the_log_keeps_errors_but_not_what_somebody_remembered(mine: Path) -> None:
    with EmbeddedPostgres(mine, crash_safe=False) as postgres:
        postgres.query("drop table if exists secrets; create table secrets (body text check (length(body) < 5))")
        with pytest.raises(ConfigurationError, match="violates check constraint"):
            postgres.query("do $$ begin insert into secrets values (repeat('hush', 2)); end $$")
        log = next((postgres.data_dir / "postgres" / "log").glob("*.log"))
        eventually(lambda: "violates check constraint" in log.read_text())
    assert "hushhush" not in log.read_text()
    assert "starting up" not in log.read_text()


def test_the_way_in_is_private(mine: Path) -> None:
    with EmbeddedPostgres(mine, crash_safe=False) as postgres:
        assert (postgres.data_dir / "run").stat().st_mode & 0o777 == 0o700
        assert (postgres.data_dir / "postgres").stat().st_mode & 0o777 == 0o700
        assert postgres.pid
        assert psutil.Process(postgres.pid).net_connections("inet") == []
