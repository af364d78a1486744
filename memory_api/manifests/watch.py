"""The policy in force, followed through edits of its file.

The content is compared, not the time: a ConfigMap mount is swapped by symbolic links and keeps no useful times. A
broken edit or a deleted file never takes rules away; the last good policy stays and `error` says what is wrong.
"""

import asyncio
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import structlog

from memory_api.domain.policy import Policy
from memory_api.errors import ManifestError
from memory_api.manifests.document import LARGEST_FILE
from memory_api.manifests.policy import load_policy

_Look = tuple[bytes | None, Policy | ManifestError]
_log = structlog.get_logger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class PolicySource:
    """Holds the current `policy`.

    `error` says why the file as it stands does not hold, None while it does; `since` is when `policy` or `error` last
    changed.
    """

    def __init__(
        self,
        path: Path,
        *,
        load: Callable[[Path], Policy] = load_policy,
        interval: float = 0.5,
        on_change: Callable[[Policy], None] | None = None,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """Read the file once.

        Raises:
            ManifestError: at the start there is no last good policy to go on with.
        """
        self._path = path
        self._load = load
        self._interval = interval
        self._on_change = on_change
        self._clock = clock
        self._seen = _digest(path)
        self.policy = load(path)
        self.error: str | None = None
        self.since = clock()

    async def run(self) -> None:
        """Look at the file every `interval` seconds, until cancelled."""
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
            outcome = self._load(self._path)
        except ManifestError as error:
            outcome = error
        return (digest, outcome) if _digest(self._path) == digest else None

    def _settle(self, look: _Look | None) -> None:
        """Take over what was read. The callback runs in the event loop's thread, never beside a request's code."""
        if look is None:
            return
        self._seen, outcome = look
        if isinstance(outcome, ManifestError):
            self._note(outcome)
            return
        changed = outcome != self.policy
        self.policy = outcome
        if self.error is None and not changed:
            return
        self.error = None
        self.since = self._clock()
        _log.info("policy in force", policy=outcome.name, file=str(self._path), changed=changed)
        if changed and self._on_change is not None:
            self._on_change(outcome)

    def _note(self, error: ManifestError) -> None:
        if str(error) == self.error:
            return
        if self.error is None:
            fields = [path for path, _ in error.problems if path]
            _log.warning(
                "policy file is broken, the last good one holds", file=error.source, lines=error.lines, fields=fields
            )
        self.error = str(error)
        self.since = self._clock()


def _digest(path: Path) -> bytes | None:
    """What the file holds, in short; None when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.sha256(file.read(LARGEST_FILE + 1)).digest()
    except OSError:
        return None
