"""Start, watch over and stop one embedded server."""

import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from memory_api.embedded.account import Account, server_account
from memory_api.embedded.binaries import Binaries, embedded_binaries, usable_binaries
from memory_api.embedded.diagnosis import failure, passing, refusal
from memory_api.embedded.folders import SOCKET_NAME, Folders
from memory_api.embedded.guard import Guard
from memory_api.embedded.initdb import check_version, initialise
from memory_api.embedded.lock import FolderLock
from memory_api.embedded.orphans import clear_the_way
from memory_api.embedded.probe import probe
from memory_api.embedded.settings import server_settings
from memory_api.errors import ConfigurationError

# Recovery after a crash replays up to max_wal_size of log, which takes minutes on a slow disk.
_READY_SECONDS = 600.0
_RETRY_SECONDS = 10.0
_STOP_SECONDS = 60.0
_QUIT_SECONDS = 10.0


class EmbeddedPostgres:
    """A PostgreSQL of our own on one data folder, reachable through a private socket only."""

    def __init__(
        self,
        data_dir: Path,
        *,
        binaries: Binaries | None = None,
        settings: Mapping[str, str] | None = None,
        crash_safe: bool = True,
    ) -> None:
        self._folders = Folders(data_dir)
        self._socket_dir = self._folders.socket_dir()
        self._binaries = binaries
        self._extra = dict(settings or {})
        self._crash_safe = crash_safe
        self._lock = FolderLock(self._folders.lock)
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None

    @property
    def data_dir(self) -> Path:
        """Where the data is."""
        return self._folders.data

    @property
    def pid(self) -> int | None:
        """The postmaster's process id while we have one."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the server and wait until it takes connections; no-op when it does already."""
        if self.running():
            return
        account = server_account(self._folders.postgres)
        self._folders.prepare(account)
        binaries, major = usable_binaries(self._binaries or embedded_binaries(), account)
        try:
            self._lock.acquire()
        except OSError as error:
            raise refusal(self._folders.data, error) from error
        try:
            self._abandon()
            if self._folders.initialised():
                self._folders.clear_unfinished()
            else:
                initialise(self._folders, binaries, account, major=major, crash_safe=self._crash_safe)
            check_version(self._folders, major)
            self._folders.make_private(self._socket_dir, account)
            self._launch(binaries, account)
        except BaseException:
            self.stop()
            raise
        self._binaries = binaries

    def stop(self) -> None:
        """Stop the server in order, by force when it does not follow, and give the folder up."""
        try:
            if self._process is not None:
                self._end(self._process)
            self._abandon()
        finally:
            self._lock.release()

    def running(self) -> bool:
        """Say whether our server takes connections now."""
        alive = self._process is not None and self._process.poll() is None
        return alive and probe(self._socket_dir / SOCKET_NAME) == "ready"

    def url(self, database: str) -> str:
        """Give SQLAlchemy's URL of a database; the port is named because PGPORT would win otherwise."""
        return f"postgresql+asyncpg://{self._address(database)}"

    def dsn(self, database: str) -> str:
        """Give libpq's URI of a database, which asyncpg and psql take as well."""
        return f"postgresql://{self._address(database)}"

    def ensure_database(self, name: str) -> None:
        """Create a database unless it is there."""
        if self.query(f"select 1 from pg_database where datname = {_literal(name)}") == "1":
            return
        identifier = '"' + name.replace('"', '""') + '"'
        self.query(f"create database {identifier}")

    def query(self, statement: str, *, database: str = "postgres") -> str:
        """Run one statement with psql: for set-up around the event loop, never for what users send."""
        if self._binaries is None or self._process is None:
            raise ConfigurationError("The embedded PostgreSQL has not been started.")
        psql = subprocess.run(  # noqa: S603 (our own psql)
            [
                self._binaries.program("psql"),
                "-XAtqw",
                "-v",
                "ON_ERROR_STOP=1",
                "-d",
                self.dsn(database),
                "-c",
                statement,
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env={"PGCONNECT_TIMEOUT": "30", "PGCLIENTENCODING": "UTF8"},
        )
        if psql.returncode:
            raise failure("A statement", self._folders.data, psql.stderr)
        return psql.stdout.strip()

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def _address(self, database: str) -> str:
        return f"postgres@/{quote(database, safe='')}?host={quote(str(self._socket_dir))}&port=5432"

    def _launch(self, binaries: Binaries, account: Account) -> None:
        settings = server_settings(socket_dir=self._socket_dir, crash_safe=self._crash_safe, extra=self._extra)
        command: list[str | Path] = [binaries.program("postgres"), "-D", self._folders.postgres]
        command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        give_up = time.monotonic() + _RETRY_SECONDS
        while True:
            begun = time.time()
            try:
                clear_the_way(self._folders.postgres, self._socket_dir)
                with self._folders.start_log.open("wb") as log:
                    self._process = account.popen(command, output=log)
            except OSError as error:
                raise refusal(self._folders.data, error) from error
            self._guard = Guard(pid_file=self._folders.pid_file, pid=self._process.pid)
            if self._becomes_ready(self._process):
                return
            self._abandon()
            said, log_file = self._last_words(since=begun)
            if not passing(said) or time.monotonic() > give_up:
                raise failure("Starting PostgreSQL", self._folders.data, said, log=log_file)
            time.sleep(0.2)

    def _becomes_ready(self, process: subprocess.Popen[bytes]) -> bool:
        begun = time.monotonic()
        while process.poll() is None:
            if probe(self._socket_dir / SOCKET_NAME) == "ready":
                return True
            waited = time.monotonic() - begun
            if waited > _READY_SECONDS:
                raise ConfigurationError(f"PostgreSQL in {self._folders.data} was not ready after {waited:.0f} s.")
            time.sleep(0.005 if waited < 1 else 0.1)
        return False

    def _last_words(self, *, since: float) -> tuple[str, Path]:
        """Collect what a failed server said: on stderr first, in its own log once it had opened that."""
        said = self._folders.start_log.read_text(errors="replace")
        logs = [path for path in self._folders.logs.glob("*.log") if path.stat().st_mtime >= since - 1]
        for path in sorted(logs, key=lambda path: path.stat().st_mtime)[-1:]:
            return said + "\n" + _since_start(path), path
        return said, self._folders.start_log

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        for number, patience in ((signal.SIGINT, _STOP_SECONDS), (signal.SIGQUIT, _QUIT_SECONDS)):
            try:
                process.send_signal(number)
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
            return
        process.kill()
        process.wait()

    def _abandon(self) -> None:
        """Let go of a server that has ended."""
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None
        if self._process is not None:
            self._process.wait()
            self._process = None


def _since_start(log: Path) -> str:
    """Read the part of a server log that belongs to the last start."""
    text = log.read_bytes()[-16384:].decode(errors="replace")
    return text[max(text.rfind("LOG:  starting PostgreSQL"), 0) :]


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
