"""A cache of programs outside the checkout, keyed by what they are made from.

Nothing in it is trusted: every use checks the sums, and a folder that differs is made anew. Only the standard library
is used, so that a build can start before the environment of the tests is installed.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SUMS = "SHA256SUMS"
_UNUSED_FOR_SECONDS = 30 * 24 * 3600


class MissingNeedError(Exception):
    """Something that cannot be made or installed from here; the text names it and the remedy."""


def cache_root() -> Path:
    """The folder of the cache: KEEPSAKE_TEST_CACHE, or the user's own cache folder."""
    named = os.environ.get("KEEPSAKE_TEST_CACHE")
    if named:
        return Path(named).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "keepsake" / "tests"


def key_of(*parts: str | bytes) -> str:
    """A short name for these contents, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A folder of programs; `produce` fills an empty folder with them."""

    name: str
    key: str
    produce: Callable[[Path], None]

    @property
    def folder(self) -> Path:
        return cache_root() / f"{self.name}-{self.key}"

    def intact(self) -> bool:
        """Whether it is there and every file is what was made."""
        try:
            return (self.folder / SUMS).read_text() == _sums(self.folder)
        except OSError:
            return False

    def obtain(self) -> Path:
        """Its folder, made now or waited for where it is not there."""
        if not self.intact():
            with _locked(cache_root() / f"{self.name}.lock"):
                # Whoever held the lock may have made it meanwhile.
                if not self.intact():
                    self._make()
        os.utime(self.folder)
        return self.folder

    def _make(self) -> None:
        with tempfile.TemporaryDirectory(dir=cache_root(), prefix=f".{self.name}-", ignore_cleanup_errors=True) as made:
            work = Path(made) / "made"
            work.mkdir()
            self.produce(work)
            (work / SUMS).write_text(_sums(work))
            shutil.rmtree(self.folder, ignore_errors=True)
            work.rename(self.folder)
        self._forget_old_ones()

    def _forget_old_ones(self) -> None:
        limit = time.time() - _UNUSED_FOR_SECONDS
        for other in cache_root().glob(f"{self.name}-*"):
            if other != self.folder and other.is_dir() and other.stat().st_mtime < limit:
                shutil.rmtree(other, ignore_errors=True)


def _sums(folder: Path) -> str:
    lines = []
    for path in sorted(folder.iterdir()):
        if path.name == SUMS:
            continue
        if path.is_symlink():
            lines.append(f"-> {path.readlink()}  {path.name}\n")
            continue
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    return "".join(lines)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    # The system lets go of the lock with the process, so that a killed build blocks nobody.
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
