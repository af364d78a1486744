"""One embedded server, as the rest of Keepsake sees it."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from threading import Event, RLock
from types import TracebackType
from typing import Self
from urllib.parse import quote

from memory_api.embedded.account import server_account
from memory_api.embedded.binaries import Binaries, embedded_binaries, usable_binaries
from memory_api.embedded.diagnosis import failure, refusal
from memory_api.embedded.folders import Folders
from memory_api.embedded.initdb import check_version, initialise
from memory_api.embedded.lock import FolderLock
from memory_api.embedded.postmaster import Postmaster, launch
from memory_api.embedded.psql import StatementFailed, identifier, literal, run_statement
from memory_api.embedded.settings import server_settings
from memory_api.errors import ConfigurationError


class EmbeddedPostgres:
    """A PostgreSQL of our own on one data folder, reachable through a private socket only.

    `start` and `stop` block and may be called from any thread; the server does not depend on the thread that started
    it. A `stop` during a `start` ends it early. `start` after the server died starts it anew.
    """

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
        self._postmaster: Postmaster | None = None
        self._turn = RLock()
        self._unwanted = Event()

    @property
    def data_dir(self) -> Path:
        """Where the data is."""
        return self._folders.data

    @property
    def pid(self) -> int | None:
        """The server's process id while we have one."""
        return self._postmaster.pid if self._postmaster else None

    def start(self) -> None:
        """Start the server and wait until it takes connections; nothing when it does already."""
        with self._turn:
            if self.running():
                return
            self._unwanted.clear()
            try:
                self._start()
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """Stop the server in order, by force when it does not follow, and give the folder up."""
        self._unwanted.set()
        with self._turn:
            try:
                self._let_go()
            finally:
                self._lock.release()

    def running(self) -> bool:
        """Say whether our server takes connections now."""
        return self._postmaster is not None and self._postmaster.ready()

    def died(self) -> bool:
        """Say whether the server that we started has ended, though nobody asked it to; knocks at no door."""
        return self._postmaster is not None and self._postmaster.ended()

    def url(self, database: str) -> str:
        """Give SQLAlchemy's URL of a database; known before the start."""
        return f"postgresql+asyncpg://{self._address(database)}"

    def dsn(self, database: str) -> str:
        """Give libpq's URI of a database, which asyncpg and psql take as well."""
        return f"postgresql://{self._address(database)}"

    def ensure_database(self, name: str) -> None:
        """Create a database unless it is there."""
        if self.query(f"select 1 from pg_database where datname = {literal(name)}") != "1":
            self.query(f"create database {identifier(name)}")

    def query(self, statement: str, *, database: str = "postgres") -> str:
        """Run one statement for set-up, without an event loop; give its rows as text."""
        if self._binaries is None or self._postmaster is None:
            raise ConfigurationError(f"The embedded PostgreSQL in {self.data_dir} is not running.")
        try:
            return run_statement(self._binaries.program("psql"), self.dsn(database), statement)
        except StatementFailed as error:
            raise failure("A statement", self.data_dir, str(error)) from error

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def _start(self) -> None:
        folders = self._folders
        account = server_account(folders.postgres)
        folders.prepare(account)
        binaries, major = usable_binaries(self._binaries or embedded_binaries(), account)
        try:
            self._lock.acquire()
        except OSError as error:
            raise refusal(folders.data, error) from error
        self._let_go()
        folders.clear_unfinished()
        if not folders.initialised():
            initialise(folders, binaries, account, major=major, crash_safe=self._crash_safe)
        check_version(folders, major)
        folders.make_private(self._socket_dir, account)
        self._postmaster = launch(
            folders,
            binaries.program("postgres"),
            account,
            settings=server_settings(socket_dir=self._socket_dir, crash_safe=self._crash_safe, extra=self._extra),
            socket_dir=self._socket_dir,
            unwanted=self._unwanted,
        )
        self._binaries = binaries

    def _let_go(self) -> None:
        """End the server that we have, if any; one that died by itself is buried."""
        if self._postmaster is None:
            return
        self._postmaster.end()
        self._postmaster = None
        if self._socket_dir.parent != self._folders.data:
            with contextlib.suppress(OSError):
                self._socket_dir.rmdir()

    def _address(self, database: str) -> str:
        # The port is named because asyncpg and psql would take PGPORT from the environment.
        return f"postgres@/{quote(database, safe='')}?host={quote(str(self._socket_dir))}&port=5432"
