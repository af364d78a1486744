"""The system user that PostgreSQL runs as: it refuses to run as root, so root lends it an unprivileged one."""

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypedDict

from memory_api.errors import ConfigurationError

USER_VARIABLE = "KEEPSAKE_POSTGRES_USER"
# A search right is asked of the kernel, as the user itself: modes alone would miss ACLs and mount options.
_FIRST_CLOSED = 'for d in "$@"; do [ -x "$d" ] || { printf %s "$d"; exit 1; }; done'


class _Identity(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """A uid and gid to start processes as; `lent` when it is not our own."""

    uid: int
    gid: int
    name: str
    lent: bool

    def popen(self, args: Sequence[str | Path], *, output: int | IO[bytes]) -> subprocess.Popen[bytes]:
        """Start a program as this user, out of reach of the terminal's Ctrl-C and of our PG* variables."""
        identity: _Identity = {"user": self.uid, "group": self.gid, "extra_groups": []} if self.lent else {}
        return subprocess.Popen(  # noqa: S603 (programs and arguments are our own)
            args,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            # TZ spares initdb a search through every time zone; the locale is named on the command line.
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            start_new_session=True,
            **identity,
        )

    def run(self, args: Sequence[str | Path]) -> tuple[int, str]:
        """Run a program as this user to its end; give its exit code and what it said."""
        with self.popen(args, output=subprocess.PIPE) as process:
            try:
                said, _ = process.communicate()
            except BaseException:
                process.kill()
                raise
        return process.returncode, said.decode(errors="replace")

    def first_closed(self, folder: Path) -> Path | None:
        """Find the topmost folder on the way to `folder` (itself included) that this user may not enter."""
        way = [*reversed(folder.parents), folder]
        try:
            code, said = self.run(["/bin/sh", "-c", _FIRST_CLOSED, "sh", *way])
        except OSError as error:
            raise ConfigurationError(
                f"Cannot start processes as the user {self.name!r} ({error.strerror}): "
                f"run Keepsake as an ordinary user, or name another one in {USER_VARIABLE}."
            ) from error
        return Path(said) if code and said else None

    def give(self, path: Path) -> None:
        """Hand a file or folder that we made to this user."""
        if self.lent:
            os.chown(path, self.uid, self.gid)


def own_account() -> Account:
    """Give the account that this process runs as."""
    uid = os.geteuid()
    return Account(uid, os.getegid(), _name(uid), lent=False)


def server_account(postgres_dir: Path) -> Account:
    """Choose who runs PostgreSQL: ourselves, or for root the owner of the data, else an unprivileged user.

    PostgreSQL starts only as the owner of its data, so the owner goes before the configured user.
    """
    if os.geteuid() != 0:
        return own_account()
    wanted = os.environ.get(USER_VARIABLE) or "nobody"
    try:
        owner = (postgres_dir / "PG_VERSION").stat()
    except (FileNotFoundError, NotADirectoryError):
        return _configured(wanted)
    except OSError as error:
        raise ConfigurationError(f"Cannot read {postgres_dir}: {error.strerror}.") from error
    if owner.st_uid == 0:
        raise ConfigurationError(
            f"{postgres_dir} belongs to root, which PostgreSQL never runs as: chown -R {wanted} {postgres_dir}"
        )
    return Account(owner.st_uid, owner.st_gid, _name(owner.st_uid), lent=True)


def _configured(name: str) -> Account:
    try:
        entry = pwd.getpwnam(name)
    except KeyError as error:
        raise ConfigurationError(
            f"There is no user {name!r} to run PostgreSQL as: name an unprivileged one in {USER_VARIABLE}."
        ) from error
    if entry.pw_uid == 0:
        raise ConfigurationError(f"PostgreSQL never runs as root: name an unprivileged user in {USER_VARIABLE}.")
    return Account(entry.pw_uid, entry.pw_gid, name, lent=True)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
