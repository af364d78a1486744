"""The folders of one embedded database, and whether they may be used.

    DATA_DIR/lock        who owns the folder now
    DATA_DIR/postgres/   PostgreSQL's own data, logs in postgres/log/
    DATA_DIR/run/        the socket, unless its path would be too long
    DATA_DIR/start.log   what the server said before its own log began
    DATA_DIR/init-*      a database in the making; renamed to postgres/ when it is whole

Folders that we did not make are never opened or given away.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from memory_api.embedded.account import Account, server_account
from memory_api.embedded.diagnosis import refusal
from memory_api.embedded.state import make_folder, state_dir
from memory_api.errors import ConfigurationError

SOCKET_NAME = ".s.PGSQL.5432"
# The kernel allows 107 bytes on Linux and 103 elsewhere; PostgreSQL adds ".lock".
_LONGEST_SOCKET = 100
# These would need quoting in a connection URL or in PostgreSQL's list of folders, each in its own way.
_AWKWARD = frozenset(",:;\"'%\\@?&#")
_OURS = frozenset({"lock", "postgres", "run", "start.log"})
# Put there by file systems, desktops and version control.
_HARMLESS = frozenset({"lost+found", ".DS_Store", ".gitignore", ".gitkeep"})


class Folders:
    """Paths below one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self.data = Path(os.path.realpath(data_dir))
        self.lock = self.data / "lock"
        self.postgres = self.data / "postgres"
        self.pid_file = self.postgres / "postmaster.pid"
        self.start_log = self.data / "start.log"
        self.logs = self.postgres / "log"

    def prepare(self, account: Account) -> None:
        """Make the data folder, or find out that it cannot be used, before anything is put into it."""
        try:
            existing = next(path for path in (self.data, *self.data.parents) if path.exists())
            if not existing.is_dir():
                raise ConfigurationError(f"Cannot keep the database in {self.data}: {existing} is a file.")
            if account.lent and (closed := account.first_closed(existing)):
                raise ConfigurationError(
                    f"{closed} is closed to the user {account.name!r} that PostgreSQL runs as: "
                    f"name a folder outside it, such as {_state_folder(self.data)}."
                )
            make_folder(self.data, mode=0o755 if account.lent else 0o700)
            self._refuse_foreign()
        except OSError as error:
            raise refusal(self.data, error) from error

    def open_start_log(self) -> int:
        """Open the file for the server's first words, empty; never through a link that somebody laid."""
        return os.open(self.start_log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)

    def initialised(self) -> bool:
        """Say whether a whole database is there."""
        return (self.postgres / "PG_VERSION").is_file()

    def clear_unfinished(self) -> None:
        """Remove what an interrupted initialisation left."""
        for left in self.data.glob("init-*"):
            shutil.rmtree(left, ignore_errors=True)

    def socket_dir(self) -> Path:
        """Give the socket's folder: in the data folder, or where that path is too long or awkward, in a run folder."""
        near = self.data / "run"
        if _fits(near):
            return near
        key = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]
        if os.geteuid() == 0:  # not root's own temporary folders, which the server's user could not enter
            candidates = [Path("/run/keepsake") / key] if os.access("/run", os.W_OK) else []
            temporary = ["/tmp"]  # noqa: S108 (make_private checks the owner)
        else:
            runtime = os.environ.get("XDG_RUNTIME_DIR", "")
            candidates = [Path(runtime) / "keepsake" / key] if runtime and os.access(runtime, os.W_OK) else []
            temporary = [tempfile.gettempdir(), "/tmp"]  # noqa: S108 (make_private checks the owner)
        candidates += [Path(folder) / f"keepsake-{os.geteuid()}-{key}" for folder in temporary]
        return next(filter(_fits, candidates), candidates[-1])

    def make_private(self, folder: Path, account: Account) -> None:
        """Make a folder that is the server user's alone; one that is somebody else's is refused, not taken over."""
        try:
            make_folder(folder.parent, mode=0o755)
            try:
                folder.mkdir(mode=0o700)
                account.give(folder)
            except FileExistsError:
                pass
            found = folder.lstat()
        except OSError as error:
            raise refusal(folder, error) from error
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or stat.S_IMODE(found.st_mode) & 0o077:
            raise ConfigurationError(f"{folder} must be a folder of the user {account.name!r} alone: remove it.")

    def _refuse_foreign(self) -> None:
        if self.initialised():
            return
        if self.postgres.exists():
            raise ConfigurationError(
                f"{self.postgres} is no database of PostgreSQL: move it away, or name another folder."
            )
        names = {path.name for path in self.data.iterdir() if not path.name.startswith("init-")}
        if foreign := sorted(names - _OURS - _HARMLESS):
            raise ConfigurationError(
                f"{self.data} holds other files ({foreign[0]}): name an empty folder, or one that is not there yet."
            )


def default_data_dir(base: Path) -> Path:
    """Give a checkout's data folder: `.keepsake` in it, or a state folder where root's server cannot reach that."""
    base = Path(os.path.realpath(base))
    inside = base / ".keepsake"
    account = server_account(inside / "postgres")
    if account.lent and account.first_closed(inside if inside.exists() else base):
        return _state_folder(base)
    return inside


def _state_folder(base: Path) -> Path:
    key = hashlib.sha256(os.fsencode(base)).hexdigest()[:8]
    return state_dir() / f"{base.name or 'root'}-{key}"


def _fits(folder: Path) -> bool:
    path = str(folder / SOCKET_NAME)
    return len(os.fsencode(path)) < _LONGEST_SOCKET and path.isprintable() and not _AWKWARD.intersection(path)
