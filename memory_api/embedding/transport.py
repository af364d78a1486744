"""The way of every request to an embedding API: checked addresses, no proxies, no compression, bounded answers.

A name is resolved here, every address it stands for is checked, and the connection is made to a checked address, so
that no second lookup can lead elsewhere. TLS still verifies the name. Redirects are not followed anywhere: an embedding
endpoint has no reason to answer with one, and each would be a new place to check.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import contextmanager
from typing import Any

import httpcore2
import httpx2

from memory_api.embedding.addresses import is_refused, is_refused_name

_MOST_CONNECTIONS = 16
_SECONDS_KEPT = 30.0
Resolve = Callable[[str, int], Awaitable[list[str]]]


class RefusedError(httpx2.TransportError):
    """This side refused the address or the answer; its text is ours and holds no secret."""


async def resolve(host: str, port: int) -> list[str]:
    """Every address of a host, the preferred first."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to addresses that were looked at, and to no others."""

    def __init__(self, resolver: Resolve = resolve) -> None:
        self._resolve = resolver
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (the signature of httpcore)
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        until = loop.time() + (timeout if timeout is not None else 30.0)
        addresses = await self._checked(host, port, until)
        for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            try:
                return await self._network.connect_tcp(
                    address,
                    port,
                    timeout=max(0.0, until - loop.time()) / left,
                    local_address=local_address,
                    socket_options=socket_options,
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if left == 1:
                    raise
        raise httpcore2.ConnectError("the name has no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 (the signature of httpcore)
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise RefusedError("sockets in the file system are refused")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _checked(self, host: str, port: int, until: float) -> list[str]:
        if is_refused_name(host):
            raise RefusedError("a metadata service is refused")
        try:
            async with asyncio.timeout_at(until):
                addresses = await self._resolve(host, port)
        except TimeoutError:
            raise httpcore2.ConnectTimeout("the name was not resolved in time") from None
        except OSError:
            raise httpcore2.ConnectError("the name cannot be resolved") from None
        if any(map(is_refused, addresses)):
            raise RefusedError("the host of baseURL stands for a link-local or metadata address, which is refused")
        return addresses


class CheckedTransport(httpx2.AsyncBaseTransport):
    """httpcore's connection pool on the checked network, with a bound on the size of an answer."""

    def __init__(self, *, most_bytes: int, secure: bool, network: httpcore2.AsyncNetworkBackend | None = None) -> None:
        self._most_bytes = most_bytes
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpx2.create_ssl_context() if secure else None,
            max_connections=_MOST_CONNECTIONS,
            max_keepalive_connections=_MOST_CONNECTIONS,
            keepalive_expiry=_SECONDS_KEPT,
            network_backend=network or CheckedNetwork(),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        with _translated():
            answer = await self._pool.handle_async_request(
                httpcore2.Request(
                    method=request.method,
                    url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        body = _BoundedBody(answer, self._most_bytes)
        response = httpx2.Response(
            status_code=answer.status, headers=answer.headers, stream=body, extensions=answer.extensions
        )
        # Nothing compressed was asked for, and what a few bytes unpack to has no bound.
        if response.headers.get("content-encoding", "identity") != "identity":
            await body.aclose()
            raise RefusedError("the answer is compressed, which was not asked for")
        return response

    async def aclose(self) -> None:
        await self._pool.aclose()


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, answer: Any, most_bytes: int) -> None:
        self._answer = answer
        self._most_bytes = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        with _translated():
            async for part in self._answer.aiter_stream():
                size += len(part)
                if size > self._most_bytes:
                    raise RefusedError(f"the answer is larger than {self._most_bytes} bytes")
                yield part

    async def aclose(self) -> None:
        await self._answer.aclose()


@contextmanager
def _translated() -> Any:
    """httpcore's errors in httpx's words, for the client above; without its texts."""
    try:
        yield
    except httpcore2.ConnectTimeout as error:
        raise httpx2.ConnectTimeout("connecting took too long") from error
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout("the answer took too long") from error
    except httpcore2.ConnectError as error:
        if _is_about_certificate(error):
            raise RefusedError("the certificate of the provider cannot be verified") from error
        raise httpx2.ConnectError("no connection") from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise httpx2.RemoteProtocolError("the connection broke") from error


def _is_about_certificate(error: BaseException) -> bool:
    """Whether a failed verification is at the root: no use in trying that again."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
