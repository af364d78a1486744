"""One owner per data folder, for the owner's whole life.

`flock` and not `lockf`: it also tells two owners inside one process apart, and no stray close gives it up. The kernel
drops it with the owner, however that ends, so a lock is never stale.
"""

import fcntl
import os
from pathlib import Path

from memory_api.errors import ConfigurationError


class FolderLock:
    """An exclusive claim on a folder, held through a file in it that names the holder."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Claim the folder, or say who holds it."""
        if self._descriptor is not None:
            return
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise ConfigurationError(
                f"{self._file.parent} is in use by another Keepsake (pid {holder}): stop it, or name another folder."
            ) from error
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the folder up."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
