"""The server process: launch it, wait for it, end it."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event

from memory_api.embedded.account import Account
from memory_api.embedded.diagnosis import failure, passing, refusal
from memory_api.embedded.folders import SOCKET_NAME, Folders
from memory_api.embedded.guard import Guard
from memory_api.embedded.orphans import clear_the_way
from memory_api.embedded.probe import probe
from memory_api.errors import ConfigurationError

# Recovery after a crash replays up to max_wal_size of log, which takes minutes on a slow disk.
_READY_SECONDS = 600.0
# After a kill, the last backends may hold shared memory for a moment, and pid 1 may be slow to bury the dead.
_RETRY_SECONDS = 10.0
# A fast shutdown writes all dirty pages first.
_STOP_SECONDS = 60.0
_QUIT_SECONDS = 10.0
_STATUS_LINE = 7


class Postmaster:
    """A running server, and the guard that outlives us."""

    def __init__(self, process: subprocess.Popen[bytes], *, pid_file: Path, socket_file: Path) -> None:
        self._process = process
        self._pid_file = pid_file
        self._socket_file = socket_file
        self._guard = Guard(pid_file=pid_file, pid=process.pid)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def ready(self) -> bool:
        """Say whether it takes connections now."""
        return self._process.poll() is None and probe(self._socket_file) == "ready"

    def ended(self) -> bool:
        """Say whether its process is gone."""
        return self._process.poll() is not None

    def becomes_ready(self, unwanted: Event) -> bool:
        """Wait until it takes connections; false when it ended instead, or when nobody wants it any more."""
        begun = time.monotonic()
        while self._process.poll() is None:
            # Asked earlier, the server would log each refusal, ten a second during a long recovery.
            if self._says_ready() and probe(self._socket_file) == "ready":
                return True
            waited = time.monotonic() - begun
            if unwanted.wait(0.005 if waited < 1 else 0.1) or waited > _READY_SECONDS:
                break
        return False

    def _says_ready(self) -> bool:
        """Read the status that the server keeps in its pid file; only its answer on the socket is proof."""
        try:
            lines = self._pid_file.read_text().splitlines()
        except (OSError, UnicodeDecodeError):
            return False
        return len(lines) > _STATUS_LINE and lines[0] == str(self.pid) and lines[_STATUS_LINE].strip() == "ready"

    def end(self) -> None:
        """Shut it down: in order, then without a last checkpoint, then by force. The data is safe in each case."""
        for number, patience in ((signal.SIGINT, _STOP_SECONDS), (signal.SIGQUIT, _QUIT_SECONDS)):
            try:
                self._process.send_signal(number)
                self._process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                continue
        else:
            self._process.kill()
            self._process.wait()
        self._guard.dismiss()


def launch(
    folders: Folders, program: Path, account: Account, *, settings: Mapping[str, str], socket_dir: Path, unwanted: Event
) -> Postmaster:
    """Start a server on an initialised folder that we hold the lock of, and wait until it takes connections."""
    command: list[str | Path] = [program, "-D", folders.postgres]
    command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    give_up = time.monotonic() + _RETRY_SECONDS
    while True:
        begun = time.time()
        postmaster = _spawn(folders, command, account, socket_dir)
        try:
            if postmaster.becomes_ready(unwanted):
                return postmaster
        except BaseException:
            postmaster.end()
            raise
        postmaster.end()
        said, log = _last_words(folders, since=begun)
        if unwanted.is_set():
            raise ConfigurationError(f"PostgreSQL in {folders.data} was stopped while it was starting.")
        if not passing(said) or time.monotonic() > give_up:
            raise failure("Starting PostgreSQL", folders.data, said, log=log)
        unwanted.wait(0.2)


def _spawn(folders: Folders, command: list[str | Path], account: Account, socket_dir: Path) -> Postmaster:
    try:
        clear_the_way(folders.postgres, socket_dir, account)
        with os.fdopen(folders.open_start_log(), "wb") as log:
            process = account.popen(command, output=log)
    except OSError as error:
        raise refusal(folders.data, error) from error
    return Postmaster(process, pid_file=folders.pid_file, socket_file=socket_dir / SOCKET_NAME)


def _last_words(folders: Folders, *, since: float) -> tuple[str, Path]:
    """Collect what a failed server said: on stderr first, in its own log once it had opened that."""
    said = folders.start_log.read_text(errors="replace")
    written = {path.stat().st_mtime: path for path in folders.logs.glob("*.log")}
    newest = max(written, default=0.0)
    if newest < since - 1:
        return said, folders.start_log
    text = written[newest].read_bytes()[-16384:].decode(errors="replace")
    return said + "\n" + text[max(text.rfind("LOG:  starting PostgreSQL"), 0) :], written[newest]
