"""Around every request: an id, a metric, a log line. Routes are named by their template, never by a raw path."""

import time
import uuid

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_api.http.problem import internal_error
from memory_api.telemetry import Metrics

_MAX_REQUEST_ID = 128
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

API_PREFIX = "/api/v1"

log = structlog.get_logger()


class Observe:
    """Counts and logs; takes `X-Request-Id` from the client where it is plain, and gives it back."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        status, started_answer = 500, False
        # What GET answers, HEAD answers without the body.
        method = scope["method"] if scope["method"] in _METHODS else "other"
        is_head = method == "HEAD"
        if is_head:
            scope = {**scope, "method": "GET"}

        async def send_with_id(message: Message) -> None:
            nonlocal status, started_answer
            if message["type"] == "http.response.body" and is_head:
                message = {**message, "body": b""}
            if message["type"] == "http.response.start":
                started_answer = True
                status = message["status"]
                message["headers"] = [*message.get("headers", []), (b"x-request-id", request_id.encode())]
            await send(message)

        started = time.perf_counter()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_id)
            except Exception as error:
                if started_answer:
                    raise
                await internal_error(error)(scope, receive, send_with_id)
            finally:
                self._record(method, _route(scope), status, time.perf_counter() - started)

    def _record(self, method: str, route: str, status: int, seconds: float) -> None:
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.request_seconds.labels(method, route).observe(seconds)
        log.info("request", method=method, route=route, status=status, ms=round(seconds * 1000, 1))


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            said = value.decode("latin-1")
            if 0 < len(said) <= _MAX_REQUEST_ID and said.isascii() and said.isprintable():
                return str(said)
    return str(uuid.uuid4())


def _route(scope: Scope) -> str:
    """The route's template with the prefix under which its router is included, which the route does not know."""
    template = getattr(scope.get("route"), "path", None)
    if template is None:
        return "unmatched"
    return f"{API_PREFIX}{template}" if scope["path"].startswith(f"{API_PREFIX}/") else str(template)
