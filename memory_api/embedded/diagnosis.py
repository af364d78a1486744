"""Turn what PostgreSQL or the kernel said into one line with a remedy."""

import errno
import re
import shutil
from pathlib import Path

from memory_api.errors import ConfigurationError

_COMPLAINT = re.compile(r"(?:FATAL|PANIC|ERROR|error): +(.+)")
# Both pass by themselves: a killed server's last backends still hold its memory, or pid 1 has not yet buried it.
_PASSING = ("pre-existing shared memory block", '" already exists', "is still in use")

_FULL = 1024 * 1024


def complaint(said: str) -> str:
    """Pick the line that says why; the first complaint is the cause, later ones are its consequences."""
    found = _COMPLAINT.search(said)
    lines = said.strip().splitlines()
    return found[1].strip() if found else (lines[-1].strip() if lines else "it said nothing")


def passing(said: str) -> bool:
    """Say whether a failed start is worth another try."""
    return any(text in said for text in _PASSING)


def failure(doing: str, folder: Path, said: str, *, log: Path | None = None) -> ConfigurationError:
    """Build the error for a program that failed."""
    # On a full disk the server can often not even log why it stopped.
    if "No space left on device" in said or shutil.disk_usage(folder).free < _FULL:
        return _full(folder)
    if "could not look up effective user ID" in said:
        return ConfigurationError(
            f"{doing} in {folder} failed: {complaint(said)}; give that user a line in /etc/passwd."
        )
    where = f" (log: {log})" if log else ""
    return ConfigurationError(f"{doing} in {folder} failed: {complaint(said)}{where}")


def refusal(folder: Path, error: OSError) -> ConfigurationError:
    """Build the error for a folder that the kernel would not let us use."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(folder)
    remedies = {
        errno.EACCES: "it is not yours to write: name another folder, or give it to the user that runs Keepsake",
        errno.EPERM: "it is not yours to change: name another folder, or give it to the user that runs Keepsake",
        errno.EROFS: "it is on a read-only file system: name a folder that can be written",
        errno.ENOTDIR: "a file is in the way: name a folder",
        errno.EEXIST: "a file is in the way: name a folder",
    }
    remedy = remedies.get(error.errno or 0, f"{error.strerror or error}")
    return ConfigurationError(f"Cannot keep the database in {folder}: {remedy}.")


def _full(folder: Path) -> ConfigurationError:
    return ConfigurationError(f"Cannot keep the database in {folder}: no space left on its disk; free some.")
