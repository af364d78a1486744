"""Serves the apps of one memory-api on its ports until it is told to stop."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from memory_api.app import MemoryApi
from memory_api.errors import ConfigurationError

GRACE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Ports:
    """Where to listen. The health and metrics ports follow the API port unless they are stated."""

    host: str
    api: int
    health: int
    metrics: int

    @classmethod
    def beside(cls, host: str, api: int, health: int | None, metrics: int | None) -> "Ports":
        """8080 gives 8081 and 9090; 0 gives any free ports."""
        step = 1 if api + 1010 <= 65535 else -1
        follow = (0, 0) if api == 0 else (api + step, api + step * 1010)
        return cls(host, api, follow[0] if health is None else health, follow[1] if metrics is None else metrics)


@contextmanager
def bound(ports: Ports) -> Iterator[list[socket.socket]]:
    """Sockets of the API, the health and the metrics port, taken before anything starts.

    Raises:
        ConfigurationError: a port is busy, or the address is not this machine's.
    """
    with contextlib.ExitStack() as stack:
        taken = []
        for port in (ports.api, ports.health, ports.metrics):
            family = socket.AF_INET6 if ":" in ports.host else socket.AF_INET
            # asyncio sets TCP_NODELAY only where the protocol is named; without it long answers wait 40 ms for an ACK.
            listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((ports.host, port))
                listener.listen(512)
            except (OSError, OverflowError) as error:
                raise ConfigurationError(
                    f"cannot listen on {ports.host}:{port}: {getattr(error, 'strerror', None) or error}; "
                    "choose another with --port, --health-port or --metrics-port"
                ) from error
            taken.append(listener)
        yield taken


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


async def serve(
    memory_api: MemoryApi, listeners: list[socket.socket], *, once_up: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Serve until SIGINT or SIGTERM, or until the memory-api cannot go on. `once_up` runs when all ports answer.

    Raises:
        ConfigurationError: what ended it, when that was a configuration that can never work.
    """
    with _stop_signals(memory_api.ended):
        async with memory_api:
            servers = [_server(app) for app in (memory_api.api, memory_api.health, memory_api.metrics_app)]
            running = [
                asyncio.create_task(server.serve([listener]))
                for server, listener in zip(servers, listeners, strict=True)
            ]
            ended = asyncio.create_task(memory_api.ended.wait())
            greeting = asyncio.create_task(_greet(servers, once_up))
            try:
                await asyncio.wait([ended, greeting, *running], return_when=asyncio.FIRST_COMPLETED)
                if greeting.done():
                    greeting.result()
                    await asyncio.wait([ended, *running], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for server in servers:
                    server.should_exit = True
                greeting.cancel()
                ended.cancel()
                await asyncio.gather(*running)
    if memory_api.fatal:
        raise memory_api.fatal


async def _greet(servers: "list[_Server]", once_up: Callable[[], Awaitable[None]] | None) -> None:
    while not all(server.started for server in servers):  # noqa: ASYNC110 (uvicorn has no event for it)
        await asyncio.sleep(0.01)
    if once_up:
        await once_up()


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to us: there are two of them and one way to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _server(app: ASGIApp) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            timeout_keep_alive=75,
        )
    )


@contextmanager
def _stop_signals(ended: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
