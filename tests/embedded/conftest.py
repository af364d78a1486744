"""Folders that a server can live in, and people who start one there."""

import os
import pwd
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from embedded.people import AS_ROOT, Owner, Person, servers_below
from waiting import eventually


@pytest.fixture
def place() -> Iterator[Path]:
    """Give an empty folder that every user can enter; servers left in it by a failed test are ended."""
    folder = Path(tempfile.mkdtemp(prefix="keepsake-place-"))
    folder.chmod(0o755)
    yield folder
    for process in servers_below(folder):
        with suppress(psutil.Error):
            process.send_signal(signal.SIGQUIT)
    eventually(lambda: not servers_below(folder))
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """Give a folder for copies of PostgreSQL's programs, shared by all tests of a worker."""
    folder = Path(tempfile.mkdtemp(prefix="keepsake-programs-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def myself(place: Path) -> Person:
    return Person(place)


@pytest.fixture
def ordinary(place: Path, programs: Path) -> Person:
    """Give somebody without privileges, with a home of their own: for root a system user that runs nothing else."""
    home = place / "home"
    home.mkdir(mode=0o700)
    if not AS_ROOT:
        return Person(home)
    user = next(user for name in ("games", "news", "lp", "mail", "daemon") if (user := _user(name)))
    os.chown(home, user.pw_uid, user.pw_uid)
    return Person(home, (user.pw_name, programs))


@pytest.fixture
def contained(place: Path) -> Person:
    """Give root with the rights that it has in a container: it may not look into other users' processes."""
    if not (AS_ROOT and shutil.which("setpriv")):
        pytest.skip("needs root and setpriv")
    rights = "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service"
    return Person(place, through=("setpriv", "--bounding-set", rights))


@pytest.fixture(params=["myself", "ordinary"] if AS_ROOT else ["ordinary"])
def person(request: pytest.FixtureRequest) -> Person:
    """Give the current user, and when that is root, an ordinary one as well."""
    chosen: Person = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture(scope="session")
def store() -> Iterator[Path]:
    """Keep made databases between the tests of a worker: making one costs more than most tests."""
    folder = Path(tempfile.mkdtemp(prefix="keepsake-store-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def settled(person: Person, store: Path) -> Iterator[Path]:
    """Give that person a data folder with a database in it, which other tests have used and will use."""
    with _lent(person, store) as folder:
        yield folder


@pytest.fixture
def mine(myself: Person, store: Path) -> Iterator[Path]:
    """Give ourselves such a folder."""
    with _lent(myself, store) as folder:
        yield folder


@pytest.fixture
def own(place: Path) -> Iterator[Callable[..., Owner]]:
    """Start owners; those that a failed test leaves are killed."""
    started: list[Owner] = []

    def start(person: Person, folder: Path, *, safe: bool = False) -> Owner:
        owner = Owner(person.owns(folder) if safe else person.owns(folder, FLEETING="1"))
        started.append(owner)
        return owner

    yield start
    for owner in started:
        if owner.process.poll() is None:
            owner.process.kill()
        owner.ends()


@contextmanager
def _lent(person: Person, store: Path) -> Iterator[Path]:
    stored, folder = store / (person.name or "myself"), person.home / "data"
    if stored.exists():
        stored.rename(folder)
    else:
        with person.owns(folder, FLEETING="1") as process:
            _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    yield folder
    if not servers_below(folder) and not (folder / "postgres" / "postmaster.pid").exists():
        folder.rename(stored)


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None
