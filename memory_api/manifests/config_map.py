"""One ConfigMap followed on the API server, with the right to get and to watch exactly that one.

Every round reads the object and then watches it. The watch begins at the present state and not at the object's own
resource version, which the API server has forgotten a few minutes after the last edit; so 410 Gone, a connection that
was cut and a watch whose time is up all end the same way, by another round. A round is short enough that an event which
got lost on the way is made up for, and a connection that has gone silent is not waited for.
"""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import structlog

from memory_api.manifests.service_account import ServiceAccount

FIRST_SECONDS, LONGEST_SECONDS = 0.25, 15.0
# The API server sends a bookmark about once a minute where nothing else is to be sent.
_SILENT_SECONDS = 90.0
_SHORT_ROUND_SECONDS = 2.0
_log = structlog.get_logger(__name__)
# What the ConfigMap holds under the key; None where there is no such ConfigMap or no such key.
Told = Callable[[bytes | None], Awaitable[None]]


class ConfigMapWatch:
    """`fault` is why nothing is heard from the API server, None while all is well; `following` needs an answer, too."""

    def __init__(
        self,
        account: ServiceAccount,
        name: str,
        key: str,
        *,
        round_seconds: float = 300,
        on_fault: Callable[[str], None] = lambda _fault: None,
    ) -> None:
        """Take the place from the account.

        Raises:
            ConfigurationError: the account does not say which namespace it is in.
        """
        self._account = account
        self._key = key
        self._path = f"/api/v1/namespaces/{account.namespace()}/configmaps"
        self._name = name
        self._round_seconds = round_seconds
        self._again = asyncio.Event()
        self.on_fault = on_fault
        self.source = f"ConfigMap {account.namespace()}/{name}, {key}"
        self.following = False
        self.fault: str | None = None
        self.lost_at: float | None = None

    def look_again(self) -> None:
        """Begin another round now: somebody has seen what we have not been told of."""
        self._again.set()

    async def run(self, told: Told) -> None:
        """Follow until cancelled; `told` hears of each state at least once."""
        failures = 0
        while True:
            started, at_least = time.monotonic(), 0.0
            try:
                await self._round(told)
            except (httpx.HTTPError, OSError, ValueError) as error:
                failures += 1
                self._lost(_fault_of(error))
                at_least = _asked_to_wait(error)
            else:
                # A server that ends every watch at once is not asked without a pause.
                failures = failures + 1 if time.monotonic() - started < _SHORT_ROUND_SECONDS else 0
            await self._pause(failures, at_least)

    async def _round(self, told: Told) -> None:
        client = await asyncio.to_thread(self._account.client)
        async with client:
            self._again.clear()
            await self._tell(await self._read(client), told)
            watching = asyncio.create_task(self._watch(client, told))
            asked = asyncio.create_task(self._again.wait())
            try:
                await asyncio.wait((watching, asked), return_when=asyncio.FIRST_COMPLETED)
                if watching.done():
                    watching.result()
            finally:
                for task in (watching, asked):
                    task.cancel()
                await asyncio.gather(watching, asked, return_exceptions=True)

    async def _read(self, client: httpx.AsyncClient) -> dict[str, Any] | None:
        answer = await client.get(f"{self._path}/{self._name}")
        if answer.status_code == httpx.codes.NOT_FOUND:
            return None
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    async def _watch(self, client: httpx.AsyncClient, told: Told) -> None:
        # A little more or less, so that many that began together do not come back together.
        seconds = max(1, round(self._round_seconds * random.uniform(0.8, 1.0)))  # noqa: S311
        asked = {
            "watch": "true",
            "fieldSelector": f"metadata.name={self._name}",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        silence = httpx.Timeout(10.0, read=min(_SILENT_SECONDS, seconds + 15.0))
        try:
            async with client.stream("GET", self._path, params=asked, timeout=silence) as answer:
                answer.raise_for_status()
                self._found()
                async for kind, body in _events(answer):
                    if kind == "ERROR":
                        return  # 410 Gone, mostly: another round reads anew
                    if kind != "BOOKMARK":
                        await self._tell(None if kind == "DELETED" else body, told)
        except (httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.ReadError):
            return  # silent or cut: whether the API server is away, the next round finds out

    async def _tell(self, body: dict[str, Any] | None, told: Told) -> None:
        value = ((body or {}).get("data") or {}).get(self._key)
        await told(value.encode() if isinstance(value, str) else None)

    def _found(self) -> None:
        if self.fault is not None:
            _log.info("the ConfigMap is followed again", source=self.source)
        self.following, self.fault, self.lost_at = True, None, None

    def _lost(self, fault: str) -> None:
        if fault != self.fault:
            _log.warning("the ConfigMap cannot be followed, the last good one holds", source=self.source, fault=fault)
        if self.lost_at is None:
            self.lost_at = time.monotonic()
        self.following, self.fault = False, fault
        self.on_fault(fault)

    async def _pause(self, failures: int, at_least: float) -> None:
        longest = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(failures - 1, 10)) if failures else 0.1
        await asyncio.sleep(max(at_least, longest * random.uniform(0.5, 1.0)))  # noqa: S311


async def _events(answer: httpx.Response) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    async for line in answer.aiter_lines():
        if line.strip():
            event = json.loads(line)
            yield str(event.get("type")), event.get("object") or {}


def _asked_to_wait(error: Exception) -> float:
    if not isinstance(error, httpx.HTTPStatusError):
        return 0.0
    try:
        return min(float(error.response.headers.get("Retry-After", 0)), 60.0)
    except ValueError:
        return 0.0


def _fault_of(error: Exception) -> str:
    """One of few words, which a metric may bear: never what the API server or a library said."""
    if isinstance(error, httpx.HTTPStatusError):
        status = error.response.status_code
        return {401: "unauthorized", 403: "forbidden", 429: "throttled"}.get(status, f"status_{status // 100}xx")
    if isinstance(error, httpx.TransportError):
        return "unreachable"
    if isinstance(error, OSError):
        return "no_service_account"
    return "unreadable"
