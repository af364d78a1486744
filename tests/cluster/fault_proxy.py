"""A proxy in front of the real API server that loses, delays, refuses and cuts as it is told, and counts requests.

Its clients show a token, which is passed on; the proxy has no rights of its own but for `Stale`. Answers are asked for
in JSON, so that watch events can be told apart. It runs in a thread of its own: tests may block or not.
"""

import asyncio
import json
import ssl
import threading
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp
from aiohttp import web

from tests.cluster.control_plane import ControlPlane
from tests.cluster.faults import (
    WATCH_FAULTS,
    CutWatch,
    Delay,
    ExpireWatch,
    FailAfter,
    Fault,
    LoseAnswer,
    LoseEvents,
    Refuse,
    Request,
    Rule,
    Stale,
    WorldStop,
    read_request,
)
from tests.serving_process import free_port

_T = TypeVar("_T")
_REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
# Of one connection only, or no longer true of a body that was unpacked on the way.
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "content-length", "content-encoding"}


class FaultProxy:
    """Stand between a client and the API server from `with` to its end."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self._port = free_port()
        self._rules: list[Rule] = []
        self._requests: list[Request] = []
        self._world: WorldStop | None = None
        self._writes = 0
        self._watchers: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy", daemon=True)

    # -- what tests say -----------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    def kubeconfig(self, token: str, *, namespace: str = "") -> Path:
        """A kubeconfig that goes through this proxy with this token."""
        file = self._control_plane.folder / f"proxy-{self._port}.kubeconfig"
        return self._control_plane.write_kubeconfig(file, token=token, url=self.url, namespace=namespace)

    def inject(self, fault: Fault, *verbs: str, **match: Any) -> Rule:
        """Do this to requests with one of these verbs (none: any) that match, as `Rule` says. Latest rule first."""
        rule = Rule(fault, frozenset(verbs), **match)
        self._rules.insert(0, rule)
        return rule

    def heal(self) -> None:
        """Remove every rule and let the world go on."""
        self._rules.clear()
        self.release()

    def stop_world_after(self, writes: int, *, hang: bool = False) -> None:
        """Let so many more writes through, then fail every request by a closed connection, or hang it; cut watches.

        Writes of Leases do not count.
        """

        async def arrange() -> None:
            self._world = WorldStop(self._writes + writes, hang)
            self._stop_if_due()

        self._call(arrange())

    @property
    def world_stopped(self) -> bool:
        return self._world is not None and self._world.stopped

    def release(self) -> None:
        """Let the world go on; what hung is passed on now."""

        async def let_go() -> None:
            if self._world is not None:
                self._world.released.set()
                self._world = None

        self._call(let_go())

    def cut_watches(self) -> int:
        """Close every watch that runs now; says how many they were."""

        async def cut() -> int:
            running = list(self._watchers)
            for task in running:
                task.cancel()
            return len(running)

        return self._call(cut())

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order of arrival."""
        return list(self._requests)

    def forget_requests(self) -> None:
        """Count from zero."""
        self._requests.clear()

    def counts(self) -> Counter[tuple[str, str]]:
        """How many requests there were by verb and resource (`deployments`, `deployments/status`)."""
        return Counter(
            (request.verb, "/".join(part for part in (request.resource, request.subresource) if part))
            for request in self._requests
        )

    def writes(self) -> list[Request]:
        """The requests that would change something."""
        return [request for request in self._requests if request.is_write]

    # -- life ---------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._thread.start()
        self._call(self._open())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.heal()
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _open(self) -> None:
        trust = ssl.create_default_context(cafile=self._control_plane.ca)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trust, limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=True,
        )
        application = web.Application(client_max_size=64 * 2**20)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
        await self._runner.setup()
        shown = self._control_plane.server_certificate()
        serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        serving.load_cert_chain(shown.certificate, shown.key)
        await web.TCPSite(self._runner, "127.0.0.1", self._port, ssl_context=serving).start()

    async def _close(self) -> None:
        for task in self._watchers:
            task.cancel()
        await self._runner.cleanup()
        await self._session.close()

    # -- one request --------------------------------------------------------------------------------------------

    async def _handle(self, incoming: web.Request) -> web.StreamResponse:
        request = read_request(
            incoming.method, incoming.path, dict(incoming.query), incoming.headers.get("User-Agent", "")
        )
        self._requests.append(request)
        if not await self._world_lets_pass(request):
            return _dropped(incoming)
        fault = self._fault_for(request)
        if isinstance(fault, Refuse):
            return self._said(request, fault.status, fault.retry_after)
        if isinstance(fault, Delay):
            await asyncio.sleep(fault.seconds)
        query = list(incoming.query.items())
        if isinstance(fault, Stale):
            return await self._stale(incoming, request, fault)
        if request.counts:
            self._writes += 1
        async with self._session.request(
            incoming.method,
            self._control_plane.url + incoming.raw_path.partition("?")[0],
            params=query,
            headers=_passed_on(incoming),
            # An empty body must stay none: aiohttp would call it a stream of bytes, which discovery refuses with 415.
            data=await incoming.read() or None,
            skip_auto_headers=("Content-Type",),
            allow_redirects=False,
        ) as answer:
            if request.verb == "watch" and answer.status == 200:
                return await self._watch(incoming, request, answer)
            body = await answer.read()
            if request.counts:
                self._stop_if_due()
            if isinstance(fault, FailAfter):
                return self._said(request, fault.status)
            if isinstance(fault, LoseAnswer):
                return await self._cut(incoming, answer, body[: fault.after_bytes], len(body))
            request.status = answer.status
            return web.Response(status=answer.status, body=body, headers=_handed_back(answer))

    def _fault_for(self, request: Request) -> Fault | None:
        for rule in list(self._rules):
            if not isinstance(rule.fault, WATCH_FAULTS) and rule.covers(request) and rule.strikes():
                return rule.fault
        return None

    async def _world_lets_pass(self, request: Request) -> bool:
        world = self._world
        # Writes that arrive together must not get past the last one that was let through.
        if world is None or not (world.stopped or (request.counts and self._writes >= world.writes)):
            return True
        if world.hang:
            await world.released.wait()
        return world.hang

    def _stop_if_due(self) -> None:
        world = self._world
        if world is not None and not world.stopped and self._writes >= world.writes:
            world.stopped = True
            for task in self._watchers:
                task.cancel()

    def _said(self, request: Request, status: int, retry_after: int | None = None) -> web.Response:
        request.status = status
        headers = {"Retry-After": str(retry_after)} if retry_after is not None else {}
        return web.json_response(_status(status, retry_after), status=status, headers=headers)

    async def _cut(
        self, incoming: web.Request, answer: aiohttp.ClientResponse, start: bytes, length: int
    ) -> web.StreamResponse:
        if not start:
            return _dropped(incoming)
        cut = web.StreamResponse(status=answer.status, headers=_handed_back(answer))
        cut.content_length = length
        await cut.prepare(incoming)
        await cut.write(start)
        _drop(incoming)
        return cut

    async def _stale(self, incoming: web.Request, request: Request, fault: Stale) -> web.Response:
        """Ask etcd's own history, which the API server gives out by lists alone."""
        query = {key: value for key, value in request.query.items() if key not in ("resourceVersion", "limit")}
        query |= {"resourceVersion": fault.resource_version, "resourceVersionMatch": "Exact"}
        path = incoming.path
        if request.name:
            path = path.removesuffix(f"/{request.name}")
            query["fieldSelector"] = f"metadata.name={request.name}"
        async with self._session.get(
            self._control_plane.url + path, params=query, headers=_passed_on(incoming)
        ) as answer:
            found = await answer.json()
            status = answer.status
        if status == 200 and request.name:
            if not found["items"]:
                return self._said(request, 404)
            kind = found["kind"].removesuffix("List")
            found = {"kind": kind, "apiVersion": found["apiVersion"], **found["items"][0]}
        request.status = status
        return web.json_response(found, status=status)

    # -- watches ------------------------------------------------------------------------------------------------

    async def _watch(
        self, incoming: web.Request, request: Request, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        outgoing = web.StreamResponse(status=200, headers=_handed_back(answer))
        await outgoing.prepare(incoming)
        request.status = 200
        passing = asyncio.ensure_future(self._pass_events(request, answer, outgoing))
        self._watchers.add(passing)
        try:
            whole = await passing
        except (asyncio.CancelledError, aiohttp.ClientError):
            # Cut by a test, or by the API server that went away; a client that left cancels this handler itself.
            whole = False
        finally:
            passing.cancel()
            self._watchers.discard(passing)
        if not whole:
            _drop(incoming)
        return outgoing

    async def _pass_events(
        self, request: Request, answer: aiohttp.ClientResponse, outgoing: web.StreamResponse
    ) -> bool:
        """Pass events on; False when the connection is to be closed without an end."""
        async for line in _lines(answer):
            kind = json.loads(line)["type"]
            fault = None if kind == "BOOKMARK" else self._watch_fault(request, kind)
            if isinstance(fault, LoseEvents):
                continue
            if isinstance(fault, CutWatch):
                return False
            if isinstance(fault, ExpireWatch):
                await outgoing.write(json.dumps({"type": "ERROR", "object": _status(410)}).encode() + b"\n")
                return True
            await outgoing.write(line)
        return True

    def _watch_fault(self, request: Request, kind: str) -> Fault | None:
        for rule in list(self._rules):
            fault = rule.fault
            if not isinstance(fault, WATCH_FAULTS) or not rule.covers(request):
                continue
            if isinstance(fault, LoseEvents) and fault.types and kind not in fault.types:
                continue
            if rule.strikes():
                return fault
        return None


def _status(code: int, retry_after: int | None = None) -> dict[str, Any]:
    """The body that the API server gives to a refusal."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"{_REASONS.get(code, 'Unknown')}: injected by the fault proxy",
        "reason": _REASONS.get(code, "Unknown"),
        "details": {"retryAfterSeconds": retry_after} if retry_after is not None else {},
        "code": code,
    }


def _passed_on(incoming: web.Request) -> dict[str, str]:
    headers = {
        name: value
        for name, value in incoming.headers.items()
        if name.lower() not in _HOP_BY_HOP | {"host", "accept-encoding"}
    }
    wanted = [part for part in headers.get("Accept", "").split(",") if "json" in part or "*" in part]
    headers["Accept"] = ",".join(wanted) or "application/json"
    return headers


def _handed_back(answer: aiohttp.ClientResponse) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP}


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Whole lines; an object may be longer than what a stream's own readline allows."""
    begun = b""
    async for chunk in answer.content.iter_any():
        *whole, begun = (begun + chunk).split(b"\n")
        for line in whole:
            if line:
                yield line + b"\n"


def _dropped(incoming: web.Request) -> web.Response:
    """What a handler may return after the connection is closed; nobody gets it."""
    _drop(incoming)
    return web.Response(status=503)


def _drop(incoming: web.Request) -> None:
    """Close the connection in the middle of things."""
    if incoming.transport is not None:
        incoming.transport.abort()
