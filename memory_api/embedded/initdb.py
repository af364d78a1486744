"""Make a new database folder: aside, then renamed, so that a whole one is there or none."""

import os
import tempfile
from pathlib import Path

from memory_api.embedded.account import Account
from memory_api.embedded.binaries import Binaries
from memory_api.embedded.diagnosis import failure, refusal
from memory_api.embedded.folders import Folders
from memory_api.errors import ConfigurationError

_BUILTIN_LOCALE_SINCE = 17


def initialise(folders: Folders, binaries: Binaries, account: Account, *, major: int, crash_safe: bool) -> None:
    """Run initdb into a sibling folder and move it into place."""
    try:
        new = Path(tempfile.mkdtemp(prefix="init-", dir=folders.data))  # 0700
        account.give(new)
    except OSError as error:
        raise refusal(folders.data, error) from error
    code, said = account.run([binaries.program("initdb"), *_options(new, major=major, crash_safe=crash_safe)])
    if code:
        folders.clear_unfinished()
        raise failure("Making the database", folders.data, said)
    try:
        new.rename(folders.postgres)
        if crash_safe:
            _sync(folders.data)
    except OSError as error:
        raise refusal(folders.data, error) from error


def check_version(folders: Folders, major: int) -> None:
    """Refuse the data of another major version, which this server cannot read."""
    try:
        found = (folders.postgres / "PG_VERSION").read_text().strip()
    except OSError as error:
        raise refusal(folders.data, error) from error
    if found != str(major):
        raise ConfigurationError(
            f"{folders.data} holds data of PostgreSQL {found}, and this is PostgreSQL {major}: run the Keepsake that "
            "wrote it, or name an empty folder with --data-dir; this one stays as it is"
        )


def _options(new: Path, *, major: int, crash_safe: bool) -> list[str | Path]:
    # The same character classes everywhere: case folding and trigrams of non-ASCII text hang on LC_CTYPE.
    locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if major >= _BUILTIN_LOCALE_SINCE else []
    syncing = [] if crash_safe else ["--no-sync"]
    # Trust goes with the socket, which lives in a folder that nobody else may enter.
    access = ["-U", "postgres", "--auth-local=trust", "--auth-host=reject"]
    return ["-D", new, *access, "-E", "UTF8", "--locale=C.UTF-8", *locale, *syncing]


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
