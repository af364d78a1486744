"""However the server or its owner ends, the rows are there at the next start, and that start is soon."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from embedded.people import Owner, Person, servers_below
from memory_api.embedded import EmbeddedPostgres, embedded_binaries
from waiting import eventually

Own = Callable[..., Owner]
SOON = 12.0


def write(owner: Owner) -> None:
    owner.query(
        "drop table if exists kept; "
        "create table kept as select n, repeat('x', 200) as filler from generate_series(1, 20000) as n"
    )
    # These owners wait for no disk: a server that is killed the next moment would lose a commit not yet written out.
    owner.query("checkpoint")


def rows_after_restart(own: Own, person: Person, folder: Path, *, safe: bool = False) -> str:
    begun = time.monotonic()
    owner = own(person, folder, safe=safe)
    assert time.monotonic() - begun < SOON
    count = owner.query("select count(*) from kept")
    assert owner.ends() == 0
    return count


def control_state(folder: Path) -> str:
    program = embedded_binaries().program("pg_controldata")
    said = subprocess.run(
        [program, folder / "postgres"], capture_output=True, text=True, check=True, env={"LC_ALL": "C"}
    )
    return next(line.split(":")[1].strip() for line in said.stdout.splitlines() if "cluster state" in line)


def test_a_killed_server_starts_anew_in_the_same_owner(mine: Path) -> None:
    with EmbeddedPostgres(mine) as postgres:
        postgres.query("drop table if exists kept")
        postgres.query("create table kept as select generate_series(1, 20000) as n")
        assert postgres.pid
        os.kill(postgres.pid, signal.SIGKILL)
        eventually(lambda: not postgres.running())
        postgres.start()
        assert postgres.query("select count(*) from kept") == "20000"


def test_a_killed_owner_takes_the_server_down_in_order(person: Person, settled: Path, own: Own) -> None:
    owner = own(person, settled, safe=True)
    write(owner)
    owner.ends(signal.SIGKILL)
    eventually(lambda: not servers_below(settled))
    assert control_state(settled) == "shut down"
    assert rows_after_restart(own, person, settled, safe=True) == "20000"


def test_the_next_owner_need_not_wait_for_that(person: Person, settled: Path, own: Own) -> None:
    owner = own(person, settled)
    write(owner)
    owner.ends(signal.SIGKILL)
    assert rows_after_restart(own, person, settled) == "20000"


def test_a_server_without_owner_and_guard_is_found_and_stopped(person: Person, settled: Path, own: Own) -> None:
    owner = own(person, settled)
    write(owner)
    owner.guard.kill()
    owner.ends(signal.SIGKILL)
    assert owner.postmaster.is_running()
    assert rows_after_restart(own, person, settled) == "20000"
    assert not owner.postmaster.is_running()


def test_root_of_a_container_finds_it_too(mine: Path, contained: Person, own: Own) -> None:
    owner = own(contained, mine)
    write(owner)
    owner.guard.kill()
    owner.ends(signal.SIGKILL)
    assert owner.postmaster.is_running()
    assert rows_after_restart(own, contained, mine) == "20000"
    assert not owner.postmaster.is_running()


def test_backends_without_a_server_are_waited_for(person: Person, settled: Path, own: Own) -> None:
    owner = own(person, settled)
    write(owner)
    psql = embedded_binaries().program("psql")
    # Busy in one call, such a backend notices nothing; it still holds the shared memory.
    busy = "select sum(n) from generate_series(1, 10000000000) as n"
    with subprocess.Popen([psql, "-d", owner.dsn, "-c", busy], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        active = "select count(*) from pg_stat_activity where state = 'active' and query like 'select sum%'"
        eventually(lambda: owner.query(active) == "1")
        owner.guard.kill()
        owner.postmaster.kill()
        owner.process.kill()
        owner.ends()
        assert servers_below(settled)
        assert rows_after_restart(own, person, settled) == "20000"


def test_everything_killed_at_once(person: Person, settled: Path, own: Own) -> None:
    owner = own(person, settled, safe=True)
    write(owner)
    owner.guard.kill()
    owner.process.kill()
    for process in servers_below(settled):
        process.kill()
    owner.ends()
    assert rows_after_restart(own, person, settled, safe=True) == "20000"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_whole_process_group_shuts_down_in_order(
    person: Person, settled: Path, own: Own, how: signal.Signals
) -> None:
    owner = own(person, settled)
    write(owner)
    os.killpg(owner.pid, how)
    assert owner.ends() == (130 if how == signal.SIGINT else -signal.SIGTERM)
    eventually(lambda: not servers_below(settled))
    assert control_state(settled) == "shut down"
    log = next((settled / "postgres" / "log").glob("*.log")).read_text()
    assert "received fast shutdown request" in log
    assert "terminated by signal" not in log


def test_a_pid_file_that_names_an_innocent_process_is_stale(person: Person, settled: Path, own: Own) -> None:
    owner = own(person, settled)
    write(owner)
    owner.guard.kill()
    owner.process.kill()
    for process in servers_below(settled):
        process.kill()
    owner.ends()
    pid_file = settled / "postgres" / "postmaster.pid"
    eventually(lambda: not owner.postmaster.is_running())
    lines = pid_file.read_text().splitlines()
    server_uid = pid_file.stat().st_uid
    become = {"user": server_uid} if os.geteuid() == 0 else {}
    with subprocess.Popen(["/bin/sh", "-c", "read line"], stdin=subprocess.PIPE, cwd="/", **become) as innocent:
        pid_file.write_text("\n".join([str(innocent.pid), *lines[1:]]) + "\n")
        (settled / "run" / ".s.PGSQL.5432.lock").write_text(f"{innocent.pid}\n")
        assert rows_after_restart(own, person, settled) == "20000"
        assert innocent.poll() is None
        innocent.communicate(b"\n")


@pytest.mark.parametrize("content", ["", "not a pid\n", "999999999\n"])
def test_a_broken_pid_file_is_stale(mine: Path, content: str) -> None:
    (mine / "postgres" / "postmaster.pid").write_text(content)
    with EmbeddedPostgres(mine, crash_safe=False) as postgres:
        assert postgres.query("select 1") == "1"


def test_an_owner_killed_while_it_makes_the_database_leaves_nothing_half(person: Person, own: Own) -> None:
    folder = person.home / "data"
    process = person.owns(folder, FLEETING="1")
    eventually(lambda: list(folder.glob("init-*/base")) if folder.exists() else False)
    process.kill()
    process.communicate()
    assert not (folder / "postgres").exists()
    owner = own(person, folder)
    assert owner.query("select 1") == "1"
    assert not any(path.name.startswith("init-") and (path / "PG_VERSION").exists() for path in folder.iterdir())
    owner.ends()


def test_the_owner_of_a_server_that_died_still_ends_well(person: Person, settled: Path, own: Own) -> None:
    owner = own(person, settled)
    write(owner)
    owner.postmaster.kill()
    eventually(lambda: owner.postmaster.status() == psutil.STATUS_ZOMBIE)
    assert owner.ends() == 0
    assert rows_after_restart(own, person, settled) == "20000"


def test_a_folder_that_moves_while_it_rests_is_the_same_database(place: Path, mine: Path) -> None:
    with EmbeddedPostgres(mine, crash_safe=False) as postgres:
        postgres.query("drop table if exists kept; create table kept as select 1 as n")
    mine.rename(place / "after")
    with EmbeddedPostgres(place / "after", crash_safe=False) as postgres:
        assert postgres.query("select count(*) from kept") == "1"
    (place / "after").rename(mine)
