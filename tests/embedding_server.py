"""A real HTTP server with OpenAI's embeddings API and every fault that such a server was seen to have.

    async with EmbeddingServer(dimensions=8) as server:
        config = ProviderConfig(..., base_url=server.base_url, dimensions=8)
        server.fail(2, status=429, headers={"Retry-After": "1"})

It imports nothing of ours: a stand-in that shares code with its subject proves nothing. Vectors come from hashes: the
same text has the same vector, texts that share words are similar. `requests` holds what was asked.
"""

import asyncio
import base64
import hashlib
import json
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

Answer = Literal[
    "ok", "base64", "reversed", "zeros", "nan", "infinity", "tiny", "huge", "wrong_size", "one_missing", "double_index",
    "no_index", "no_data", "not_json", "truncated", "endless", "compressed", "drop", "hang",
]  # fmt: skip


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


@dataclass(frozen=True)
class Failure:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: str = '{"error": {"message": "told to fail"}}'


class EmbeddingServer:
    """Set the attributes at any time; they act from the next request on."""

    def __init__(self, *, dimensions: int = 384, port: int = 0) -> None:
        self.dimensions = dimensions
        self.delay = 0.0
        self.answer: Answer = "ok"
        self.most_input_bytes: int | None = None
        self.most_texts: int | None = None
        self.refused_word: str | None = None
        self.refuses_dimensions = False
        self.requests: list[Asked] = []
        self.connections = 0
        self.concurrent = 0
        self.most_concurrent = 0
        self._port = port
        self._failures: deque[Failure] = deque()
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        return self._port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def fail(self, times: int, *, status: int, headers: dict[str, str] | None = None, body: str | None = None) -> None:
        """Answer the next requests with a status instead."""
        failure = Failure(status, headers or {}, *([body] if body is not None else []))
        self._failures.extend([failure] * times)

    def recover(self) -> None:
        """Forget what failures were still to come."""
        self._failures.clear()

    def redirect(self, location: str) -> None:
        self.fail(1, status=307, headers={"Location": location})

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Close the port and every connection; `async with` again, or `__aenter__`, opens the same port anew."""
        if self._server is not None:
            self._server.close()
            for task in list(self._serving):
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)
            await self._server.wait_closed()
            self._server = None

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._serving.discard(task)
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(method, path, headers, json.loads(raw) if raw else {})
        self.requests.append(asked)
        self.concurrent += 1
        self.most_concurrent = max(self.most_concurrent, self.concurrent)
        try:
            if self.delay:
                await asyncio.sleep(self.delay)
            return await self._answer(asked, writer)
        finally:
            self.concurrent -= 1

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        if self._failures:
            failure = self._failures.popleft()
            return await _send(writer, failure.status, failure.body.encode(), failure.headers)
        if self.answer == "hang":
            await asyncio.sleep(3600)
        if self.answer == "drop":
            writer.transport.abort()
            return False
        refusal = self._refusal(asked)
        if refusal is not None:
            return await _send(writer, 400, json.dumps({"error": {"message": refusal}}).encode())
        body = json.dumps(self._embeddings(asked)).encode()
        if self.answer == "not_json":
            body = b"<html>a proxy's page</html>"
        if self.answer == "truncated":
            return await _send(writer, 200, body[: len(body) // 2])
        if self.answer == "endless":
            return await _send_endlessly(writer)
        headers = {"Content-Encoding": "gzip"} if self.answer == "compressed" else {}
        return await _send(writer, 200, body, headers)

    def _refusal(self, asked: Asked) -> str | None:
        longest = max((len(text.encode()) for text in asked.texts), default=0)
        if self.most_input_bytes is not None and longest > self.most_input_bytes:
            return (
                f"This model's maximum context length is {self.most_input_bytes} tokens. However, you requested more."
            )
        if self.refused_word is not None and any(self.refused_word in text for text in asked.texts):
            return "Invalid input: the text was flagged."
        if self.most_texts is not None and len(asked.texts) > self.most_texts:
            return f"batch size {len(asked.texts)} > maximum allowed batch size {self.most_texts}"
        if self.refuses_dimensions and "dimensions" in asked.body:
            return "This model does not support matryoshka representation, changing output dimensions is not possible."
        return None

    def _embeddings(self, asked: Asked) -> dict[str, Any]:
        vectors = [self._shaped(vector_of(text, self.dimensions)) for text in asked.texts]
        data: list[dict[str, Any]] = [
            {"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)
        ]
        spoil: dict[str, Callable[[], object]] = {
            "reversed": data.reverse,
            "one_missing": data.pop,
            "double_index": lambda: data[-1].update(index=0),
            "no_index": lambda: data[-1].pop("index"),
            "no_data": data.clear,
        }
        spoil.get(self.answer, lambda: None)()
        if self.answer == "no_data":
            return {"object": "list"}
        return {"object": "list", "model": asked.body.get("model"), "data": data}

    def _shaped(self, vector: list[float]) -> object:
        match self.answer:
            case "zeros":
                return [0.0] * len(vector)
            case "nan":
                return [float("nan"), *vector[1:]]
            case "infinity":
                return [float("inf"), *vector[1:]]
            case "tiny":
                return [number * 1e-30 for number in vector]
            case "huge":
                return [number * 1e30 for number in vector]
            case "wrong_size":
                return [*vector, 0.5]
            case "base64":
                return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            case _:
                return vector


def vector_of(text: str, dimensions: int) -> list[float]:
    """What the server answers for a text when it is well."""
    total = [0.0] * dimensions
    for word in text.lower().split() or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        for start in range(0, 32, 4):
            number = int.from_bytes(digest[start : start + 4], "big")
            total[number % dimensions] += 1.0 if number >> 31 else -1.0
    return total if any(total) else [1.0] * dimensions


async def _send(writer: asyncio.StreamWriter, status: int, body: bytes, headers: dict[str, str] | None = None) -> bool:
    lines = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"HTTP/1.1 {status} Told\r\n{head}\r\n".encode() + body)
    await writer.drain()
    return True


async def _send_endlessly(writer: asyncio.StreamWriter) -> bool:
    writer.write(b"HTTP/1.1 200 Told\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        await writer.drain()
