"""Every folder that cannot work is refused in one line that names it, and is left exactly as it was."""

import os
import pwd
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from embedded.people import AS_ROOT, Owner, Person
from memory_api.embedded import EmbeddedPostgres, pgserver_binaries
from memory_api.errors import ConfigurationError

root_only = pytest.mark.skipif(not AS_ROOT, reason="needs root")


def refusal(folder: Path, *, settings: dict[str, str] | None = None) -> str:
    postgres = EmbeddedPostgres(folder, crash_safe=False, settings=settings)
    with pytest.raises(ConfigurationError) as caught:
        postgres.start()
    assert not postgres.running()
    line = str(caught.value)
    assert "\n" not in line
    return line


def fill_the_disk(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as writing:
        while writing.write(bytes(2**16)):
            pass


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this root may not mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_second_owner_in_this_process_is_refused(mine: Path) -> None:
    with EmbeddedPostgres(mine, crash_safe=False) as first:
        line = refusal(mine)
        assert f"{mine} is in use by another Keepsake (pid {os.getpid()})" in line
        assert first.query("select 1") == "1"


def test_a_second_owner_elsewhere_is_refused_by_the_pid_of_the_first(
    person: Person, settled: Path, own: Callable[..., Owner]
) -> None:
    first = own(person, settled)
    assert f"in use by another Keepsake (pid {first.pid})" in person.is_refused(settled)
    assert first.query("select 1") == "1"
    assert first.ends() == 0


def test_data_of_another_major_version_is_refused_and_kept(place: Path) -> None:
    with EmbeddedPostgres(place / "data", binaries=pgserver_binaries(16), crash_safe=False) as old:
        old.query("create table kept as select 1 as n")
    line = refusal(place / "data")
    assert "holds data of PostgreSQL 16, and this is PostgreSQL 18" in line
    assert "--data-dir" in line
    with EmbeddedPostgres(place / "data", binaries=pgserver_binaries(16), crash_safe=False) as old:
        assert old.query("select count(*) from kept") == "1"


def test_a_folder_with_other_files_is_refused_and_left_alone(place: Path) -> None:
    (place / "thesis.tex").write_text("42")
    assert f"{place} holds other files (thesis.tex)" in refusal(place)
    assert [path.name for path in place.iterdir()] == ["thesis.tex"]


def test_a_bare_postgresql_folder_is_refused(place: Path) -> None:
    (place / "PG_VERSION").write_text("18\n")
    assert "holds other files (PG_VERSION)" in refusal(place)


def test_files_that_systems_leave_behind_are_no_obstacle(place: Path) -> None:
    (place / "lost+found").mkdir()
    (place / ".gitignore").write_text("*\n")
    with EmbeddedPostgres(place, crash_safe=False) as postgres:
        assert postgres.query("select 1") == "1"


def test_a_folder_in_the_place_of_the_database_is_refused(place: Path) -> None:
    (place / "data" / "postgres").mkdir(parents=True)
    assert f"{place / 'data' / 'postgres'} is no database of PostgreSQL" in refusal(place / "data")


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_a_file_where_the_folder_should_be(place: Path, below: str) -> None:
    file = place / "file"
    file.write_text("mine")
    assert f"{file} is a file" in refusal(file / below if below else file)
    assert file.read_text() == "mine"


def test_a_folder_that_is_not_ours_to_write(ordinary: Person) -> None:
    closed = ordinary.home / "closed"
    closed.mkdir(mode=0o555)
    closed.chmod(0o555)
    assert "it is not yours to write" in ordinary.is_refused(closed)
    assert "it is not yours to write" in ordinary.is_refused(closed / "data")
    closed.chmod(0o755)


@root_only
def test_a_folder_made_by_root_is_refused_to_an_ordinary_user(mine: Path, ordinary: Person) -> None:
    assert "it is not yours to write" in ordinary.is_refused(mine)


@root_only
def test_a_read_only_file_system(place: Path) -> None:
    with mounted(place / "disk", "ro,mode=0755"):
        assert "read-only file system" in refusal(place / "disk" / "data")


@root_only
@pytest.mark.parametrize("size", ["8m", "4k"])
def test_a_full_disk_at_the_first_start(place: Path, size: str) -> None:
    with mounted(place / "disk", f"size={size},mode=0755"):
        if size == "4k":
            (place / "disk" / "data").mkdir()
            (place / "disk" / "data" / "start.log").write_text("x" * 4096)
        assert "no space left on its disk" in refusal(place / "disk" / "data")
        assert not list((place / "disk" / "data").glob("init-*"))


@root_only
def test_a_full_disk_at_a_later_start(place: Path) -> None:
    with mounted(place / "disk", "size=150m,mode=0755"):
        data = place / "disk" / "data"
        with EmbeddedPostgres(data, crash_safe=False) as postgres:
            postgres.query("create table kept as select 1 as n")
        filler = place / "disk" / "filler"
        fill_the_disk(filler)
        assert "no space left on its disk" in refusal(data)
        filler.unlink()
        with EmbeddedPostgres(data, crash_safe=False) as postgres:
            assert postgres.query("select count(*) from kept") == "1"


@root_only
def test_a_folder_that_the_server_cannot_reach_is_named_and_stays_closed(place: Path) -> None:
    closed = place / "home"
    closed.mkdir(mode=0o700)
    line = refusal(closed / "project" / ".keepsake")
    assert f"{closed} is closed to the user 'nobody'" in line
    assert "/var/lib/keepsake/.keepsake-" in line
    assert closed.stat().st_mode & 0o777 == 0o700
    assert list(closed.iterdir()) == []


@root_only
@pytest.mark.parametrize(
    ("name", "words"), [("no-such-user", "There is no user 'no-such-user'"), ("root", "never runs as root")]
)
def test_a_user_who_cannot_run_the_server(place: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    monkeypatch.setenv("KEEPSAKE_POSTGRES_USER", name)
    line = refusal(place / "data")
    assert words in line
    assert "KEEPSAKE_POSTGRES_USER" in line


@root_only
def test_data_that_belongs_to_root_is_refused(place: Path) -> None:
    (place / "data" / "postgres").mkdir(parents=True)
    (place / "data" / "postgres" / "PG_VERSION").write_text("18\n")
    assert "chown -R nobody" in refusal(place / "data")


@root_only
def test_a_user_without_a_name_is_told_so(place: Path, programs: Path) -> None:
    nameless = next(uid for uid in range(54321, 55000) if not _known(uid))
    home = place / "home"
    home.mkdir(mode=0o700)
    os.chown(home, nameless, nameless)
    line = Person(home, (str(nameless), programs)).is_refused(home / "data")
    assert f"user ID {nameless}" in line
    assert "/etc/passwd" in line


def test_a_setting_that_postgresql_refuses_is_named(mine: Path) -> None:
    assert 'invalid value for parameter "work_mem": "plenty"' in refusal(mine, settings={"work_mem": "plenty"})
    assert "start.log" in refusal(mine, settings={"shared_buffers": "1"})


def test_a_library_that_is_missing_is_named_from_the_servers_own_log(mine: Path) -> None:
    line = refusal(mine, settings={"shared_preload_libraries": "no_such_library"})
    assert "no_such_library" in line


def test_somebody_elses_socket_folder_is_not_taken_over(
    place: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = place / "open-to-all"
    elsewhere.mkdir()
    elsewhere.chmod(0o777)
    monkeypatch.setattr("memory_api.embedded.server.Folders.socket_dir", lambda _: elsewhere)
    assert f"{elsewhere} must be a folder of the user" in refusal(mine)


def _known(uid: int) -> bool:
    try:
        return bool(pwd.getpwuid(uid))
    except KeyError:
        return False
