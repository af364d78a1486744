"""Which of several replicas works: the one that holds the Lease, and only while it is sure to.

The holder renews every 2 s and stops writing 10 s after its last renewal; another takes the Lease 15 s after that.
Times are our own monotonic ones: clocks of two machines are never compared, and a process that was stopped for a while
finds its time run out before its next write.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import structlog

from memory_operator.errors import AlreadyExists, ApiError, Conflict, NotFound
from memory_operator.kube.client import KubeClient
from memory_operator.kube.paths import LEASE
from memory_operator.metrics import LEADER

NAME = "keepsake-operator"
LEASE_SECONDS, RENEW_DEADLINE_SECONDS, RETRY_SECONDS = 15, 10.0, 2.0
log = structlog.get_logger()


class Leadership:
    """The Lease of one replica."""

    def __init__(
        self,
        client: KubeClient,
        *,
        identity: str,
        namespace: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._identity = identity
        self._namespace = namespace
        self._clock = clock
        self._renewed: float | None = None
        self._seen: tuple[str, float] = ("", 0.0)

    def holds(self) -> bool:
        """Whether writing is still safe. Asked before every write."""
        return self._renewed is not None and self._clock() - self._renewed < RENEW_DEADLINE_SECONDS

    async def acquire(self) -> None:
        """Wait until the Lease is ours."""
        while not await self._attempt():  # noqa: ASYNC110 (the API server has no event for it)
            await asyncio.sleep(RETRY_SECONDS)
        LEADER.labels(NAME).set(1)
        log.info("leading", identity=self._identity)

    async def keep(self) -> None:
        """Renew until that fails for too long; then return: the process has to end."""
        while self.holds():
            await asyncio.sleep(RETRY_SECONDS)
            await self._attempt()
        LEADER.labels(NAME).set(0)
        log.error("the Lease is lost", identity=self._identity)

    def release(self) -> None:
        """Give the Lease up, so that another need not wait. Blocks."""
        if self._renewed is None:
            return
        self._renewed = None
        try:
            lease = self._client.get(LEASE, NAME, self._namespace)
            if lease["spec"].get("holderIdentity") == self._identity:
                self._client.replace(LEASE, {**lease, "spec": {**lease["spec"], "holderIdentity": ""}})
        except ApiError as error:
            log.warning("the Lease could not be given up", fault=type(error).__name__)

    async def _attempt(self) -> bool:
        started = self._clock()
        try:
            held = await asyncio.to_thread(self._take)
        except Conflict:
            held = False
        except ApiError as error:
            log.warning("the Lease could not be renewed", fault=type(error).__name__)
            return False
        if held:
            self._renewed = started
        elif self._renewed is not None:
            self._renewed = float("-inf")  # somebody else took it
        return held

    def _take(self) -> bool:
        try:
            lease = self._client.get(LEASE, NAME, self._namespace)
        except NotFound:
            try:
                self._client.create_unfenced(LEASE, self._body({}))
            except AlreadyExists:
                return False
            return True
        spec = lease.get("spec") or {}
        holder = spec.get("holderIdentity") or ""
        if holder not in ("", self._identity) and not self._expired(lease):
            return False
        self._client.replace(LEASE, {**lease, "spec": self._body(spec)["spec"]})
        return True

    def _expired(self, lease: dict[str, Any]) -> bool:
        """Whether its holder has been silent for its whole time, by our own clock."""
        version = lease["metadata"]["resourceVersion"]
        if version != self._seen[0]:
            self._seen = (version, self._clock())
        return self._clock() - self._seen[1] >= (lease["spec"].get("leaseDurationSeconds") or LEASE_SECONDS)

    def _body(self, spec: dict[str, Any]) -> dict[str, Any]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        same = spec.get("holderIdentity") == self._identity
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": NAME, "namespace": self._namespace},
            "spec": {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": LEASE_SECONDS,
                "acquireTime": spec.get("acquireTime", now) if same else now,
                "renewTime": now,
                "leaseTransitions": int(spec.get("leaseTransitions") or 0) + (0 if same else 1),
            },
        }
