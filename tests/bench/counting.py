"""A proxy before PostgreSQL that counts round trips: each ends with the server's ReadyForQuery.

It runs in a thread of its own, so that it goes on while the bench waits for a service to start.
"""

import asyncio
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SOCKET = ".s.PGSQL.5432"
_READY = ord("Z")


@dataclass(slots=True)
class Counter:
    """`trips` grows with every round trip of every connection; statements that set a connection up count as well."""

    folder: Path
    trips: int = 0
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    async def accept(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter, server: Path) -> None:
        reader, to_server = await asyncio.open_unix_connection(str(server / SOCKET))
        onwards = asyncio.create_task(_pass_on(client, to_server))
        try:
            await self._count(reader, to_client)
        finally:
            onwards.cancel()
            to_client.close()
            to_server.close()

    async def _count(self, reader: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readexactly(5)
                (length,) = struct.unpack("!I", head[1:])
                message = head + await reader.readexactly(length - 4)
                self.trips += head[0] == _READY
                to_client.write(message)
                await to_client.drain()


@contextmanager
def counting(server: Path, folder: Path) -> Iterator[Counter]:
    """Listen in `folder` for a server whose socket is in `server`. The driver must not ask for TLS on it."""
    counter = Counter(folder)
    loop = asyncio.new_event_loop()
    started = threading.Event()

    async def listen() -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await counter.accept(reader, writer, server)

        async with await asyncio.start_unix_server(accept, str(folder / SOCKET)) as listener:
            started.set()
            await listener.serve_forever()

    task = loop.create_task(listen())

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        for left in asyncio.all_tasks(loop):
            left.cancel()
        loop.run_until_complete(asyncio.sleep(0.01))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    started.wait(10)
    try:
        yield counter
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)


async def _pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        sink.write(data)
        await sink.drain()
    sink.close()
