"""Two ways to ask the same: over HTTP, and the very statements of a recall without anything around them."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Self
from urllib.parse import urlsplit

from memory_api.db.engine import create_engine
from tests.api_client import memory_api
from tests.bench.texts import MOCK
from tests.sent_statements import Sent, recorded

_AUTO_EXPLAIN = """
load 'auto_explain';
set auto_explain.log_analyze = on;
set auto_explain.log_verbose = on;
set auto_explain.log_buffers = on;
set auto_explain.log_format = json;
set client_min_messages = log;
set auto_explain.log_min_duration = 0;
"""


class Line:
    """One kept-alive HTTP/1.1 connection.

    It costs 0.05 ms a call where a full client costs a whole one, which would count as the server's time and, on two
    cores, be taken from the server.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, base_url: str) -> Self:
        address = urlsplit(base_url)
        return cls(*await asyncio.open_connection(address.hostname, address.port))

    async def post(self, path: str, body: bytes, *, expect: int = 200) -> bytes:
        """The answer's body.

        Raises:
            RuntimeError: the answer is not the expected one; a figure of failed calls would be worth nothing.
        """
        head = ["Host: bench", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        self._writer.write("\r\n".join([f"POST {path} HTTP/1.1", *head, "\r\n"]).encode() + body)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        length = next(int(line[15:]) for line in lines if line.lower().startswith(b"content-length:"))
        answer = await self._reader.readexactly(length)
        if int(lines[0].split(b" ")[1]) != expect:
            raise RuntimeError(f"{path}: {lines[0].decode()} {answer[:300].decode(errors='replace')}")
        return answer

    async def recall(self, body: bytes) -> bytes:
        return await self.post("/api/v1/memories/retrieve", body)

    def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def lines_to(base_url: str, count: int = 1) -> AsyncIterator[list[Line]]:
    opened = [await Line.open(base_url) for _ in range(count)]
    try:
        yield opened
    finally:
        for line in opened:
            line.close()


def body_of(question: str, **fields: Any) -> bytes:
    return json.dumps({"query": question, **fields}).encode()


async def sent_by(url: str, bodies: Sequence[bytes]) -> list[list[Sent]]:
    """What the service sends to the database for each recall once it knows the query's words."""
    async with memory_api(url, provider=MOCK, workers=False) as api:

        async def recall(body: bytes) -> None:
            kind = {"Content-Type": "application/json"}
            (await api.http.post("memories/retrieve", content=body, headers=kind)).raise_for_status()

        recalls = []
        for body in bodies:
            await recall(body)
            with recorded(api.memory_api.standing.serving().engine) as sent:
                await recall(body)
            recalls.append(sent)
        return recalls


class Bare:
    """A driver's connection with the session settings of the service's own, and nothing above it."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    async def run(self, recall: Sequence[Sent]) -> None:
        for statement, parameters in recall:
            await self._driver.fetch(statement, *parameters)

    async def explain(self, sent: Sent) -> dict[str, Any]:
        """The plan as it ran, the second time, so that no first look is counted.

        EXPLAIN of a statement with parameters plans for their values; the service may run a generic plan. auto_explain
        tells the plan of the run itself.
        """
        heard: list[str] = []

        def listen(_connection: object, said: Any) -> None:
            heard.append(said.message)

        statement, parameters = sent
        self._driver.add_log_listener(listen)
        try:
            await self._driver.execute(_AUTO_EXPLAIN)
            for _ in range(2):
                await self._driver.fetch(statement, *parameters)
            await self._driver.execute("set auto_explain.log_min_duration = -1; set client_min_messages = notice")
        finally:
            self._driver.remove_log_listener(listen)
        plans = [message.partition("plan:\n")[2] for message in heard if "plan:\n" in message]
        plan: dict[str, Any] = json.loads(plans[-1])["Plan"]
        return plan

    async def types_of(self, sent: Sent) -> list[str]:
        prepared = await self._driver.prepare(sent[0])
        return [attribute.type.name for attribute in prepared.get_attributes()]


@asynccontextmanager
async def bare_connections(url: str, count: int = 1) -> AsyncIterator[list[Bare]]:
    engine = create_engine(url)
    try:
        async with AsyncExitStack() as stack:
            opened = []
            for _ in range(count):
                connection = await stack.enter_async_context(engine.connect())
                opened.append(Bare((await connection.get_raw_connection()).driver_connection))
            yield opened
    finally:
        await engine.dispose()
