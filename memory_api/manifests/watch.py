"""The policy in force, followed through edits of its file and, in a cluster, of the ConfigMap that the file comes from.

The content is compared, not the time: a ConfigMap mount is swapped by symbolic links and keeps no useful times. A
broken edit or a deleted file never takes rules away; the last good policy stays and `error` says what is wrong.

The mounted file is there at a cold start without an API server, but an edit takes a minute or two to reach it. So while
the ConfigMap is followed the file only tells that something was missed; once the API server is away the file counts
again, except for what the watch had gone past already.
"""

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import structlog

from memory_api.domain.policy import Policy
from memory_api.errors import ManifestError
from memory_api.manifests.config_map import ConfigMapWatch
from memory_api.manifests.document import read_bytes
from memory_api.manifests.policy import policy_in

# Longer than the kubelet takes to bring an edit into a mounted file.
FILE_LAGS_SECONDS = 180.0
_Digest = bytes | None
_Look = tuple[_Digest, Policy | ManifestError]
_log = structlog.get_logger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class PolicySource:
    """Holds the current `policy`.

    `error` says why what was read last does not hold, None while it does; `since` is when `policy` or `error` last
    changed.
    """

    def __init__(
        self,
        path: Path,
        *,
        read: Callable[[bytes, str], Policy] = policy_in,
        interval: float = 0.5,
        on_change: Callable[[Policy], None] | None = None,
        clock: Callable[[], datetime] = _now,
        config_map: ConfigMapWatch | None = None,
        otherwise: Policy | None = None,
    ) -> None:
        """Read the file once. `otherwise` holds where the file does not at the start.

        Raises:
            ManifestError: at the start there is no last good policy to go on with, and no `otherwise`.
        """
        self._path = path
        self._read = read
        self._interval = interval
        self._on_change = on_change
        self._clock = clock
        self._taken: _Digest = None
        self._passed: deque[_Digest] = deque(maxlen=64)
        self.config_map = config_map
        self.error: str | None = None
        self.since = clock()
        self._seen = _digest(path)
        self._taken = self._seen
        try:
            self.policy = read(read_bytes(path), str(path))
        except ManifestError as error:
            if otherwise is None:
                raise
            self.policy = otherwise
            self._note(error)

    @property
    def may_merge(self) -> bool:
        """Whether memories may be merged: not while the policy, which may forbid it, cannot be read."""
        return self.error is None

    async def run(self) -> None:
        """Follow until cancelled."""
        if self.config_map is None:
            await self._follow_file()
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_file())
            group.create_task(self.config_map.run(self._hear))

    async def _follow_file(self) -> None:
        """Look at the file every `interval` seconds."""
        while True:
            await asyncio.sleep(self._interval)
            self._settle(await asyncio.to_thread(self._look))

    def check_once(self) -> None:
        """Look at the file now."""
        self._settle(self._look())

    def _look(self) -> _Look | None:
        """What the file says; None when that is known, or changes under our eyes and is better read next time."""
        digest = _digest(self._path)
        if digest == self._seen:
            return None
        outcome: Policy | ManifestError
        try:
            outcome = self._read(read_bytes(self._path), str(self._path))
        except ManifestError as error:
            outcome = error
        return (digest, outcome) if _digest(self._path) == digest else None

    def _settle(self, look: _Look | None) -> None:
        if look is None:
            return
        self._seen, outcome = look
        if self._file_counts(self._seen):
            self._take(self._seen, outcome, str(self._path))

    def _file_counts(self, digest: _Digest) -> bool:
        watch = self.config_map
        if watch is None:
            return True
        gone_past = digest in self._passed
        if watch.following:
            if not gone_past:
                watch.look_again()
            return False
        lately = watch.lost_at is not None and time.monotonic() - watch.lost_at < FILE_LAGS_SECONDS
        return not (gone_past and lately)

    async def _hear(self, raw: bytes | None) -> None:
        """Take over what the ConfigMap holds."""
        source = self.config_map.source if self.config_map else ""
        digest = hashlib.sha256(raw).digest() if raw is not None else None
        known = digest == self._taken and not (digest is None and self.error is None)
        if not known:
            self._take(digest, await asyncio.to_thread(self._read_heard, raw, source), source)
        if not self._passed or self._passed[-1] != digest:
            self._passed.append(digest)

    def _read_heard(self, raw: bytes | None, source: str) -> Policy | ManifestError:
        if raw is None:
            return ManifestError(source, [("", "is not there")])
        try:
            return self._read(raw, source)
        except ManifestError as error:
            return error

    def _take(self, digest: _Digest, outcome: Policy | ManifestError, source: str) -> None:
        """Take over what was read. The callback runs in the event loop's thread, never beside a request's code."""
        self._taken = digest
        if isinstance(outcome, ManifestError):
            self._note(outcome)
            return
        changed = outcome != self.policy
        self.policy = outcome
        if self.error is None and not changed:
            return
        self.error = None
        self.since = self._clock()
        _log.info("policy in force", policy=outcome.name, source=source, changed=changed)
        if changed and self._on_change is not None:
            self._on_change(outcome)

    def _note(self, error: ManifestError) -> None:
        if str(error) == self.error:
            return
        if self.error is None:
            fields = [path for path, _ in error.problems if path]
            _log.warning(
                "the policy is broken, the last good one holds", source=error.source, lines=error.lines, fields=fields
            )
        self.error = str(error)
        self.since = self._clock()


def _digest(path: Path) -> _Digest:
    """What the file holds, in short; None when it cannot be read."""
    try:
        return hashlib.sha256(read_bytes(path)).digest()
    except ManifestError:
        return None
