"""Provider types `openai`, `vllm` and `ollama`: the OpenAI embeddings API at any compatible base URL.

A call is cut into batches, each tried again within the deadline where that may help: connection trouble, 429 and 5xx,
with full jitter and never before the Retry-After that the answer states (BR-081). Other 4xx mean that these texts are
refused for good, except those that a mended key, path or model would cure. Error texts are ours alone: what a server or
a library says may quote a credential.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI, Omit
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from memory_api.embedding.addresses import checked_base_url
from memory_api.embedding.answers import retry_after, vectors_of
from memory_api.embedding.dimensions import resolved_dimensions
from memory_api.embedding.provider import ProviderConfig, Vector
from memory_api.embedding.transport import CheckedTransport, RefusedError
from memory_api.embedding.vectors import mean_vector
from memory_api.embedding.windows import byte_windows
from memory_api.errors import ConfigurationError, EmbeddingError, EmbeddingFault

_DEFAULT_BASE_URL = "https://api.openai.com/v1"
_ATTEMPTS = 5
_LONGEST_CONNECT = 2.0
_MOST_BYTES_A_REQUEST = 240_000
# Bytes of one window, the next after each "too long": no tokenizer makes more tokens than bytes, so that these fit
# models of 8,192, 2,048, 512 and 256 tokens.
_WINDOW_BYTES = (8_000, 2_000, 500, 240)
# Answers that a mended key, path or model would cure: the texts are not to blame.
_CURABLE = frozenset({401, 402, 403, 404, 405, 407})
_PASSING = frozenset({408, 409, 425, 429})
# In the words of OpenAI, vLLM, Ollama, llama.cpp (which answers 500) and text-embeddings-inference.
_TOO_LONG = re.compile(
    r"context.?(length|size|window)|(input|prompt|sequence).?length"
    r"|too (large|long) to|too long|than \d+ tokens|max.{0,40}\btokens",
    re.IGNORECASE,
)
_TOO_MANY = re.compile(r"(?<!physical )\bbatch", re.IGNORECASE)
_FIXED_SIZE = re.compile(r"dimension|matryoshka", re.IGNORECASE)
_OWN_HEADERS = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"}
)
_jitter = wait_random_exponential(multiplier=0.1, max=5)


class _MayPassError(EmbeddingError):
    """Worth another try after `seconds` at the earliest."""

    def __init__(self, fault: EmbeddingFault, detail: str, seconds: float = 0.0) -> None:
        self.seconds = seconds
        super().__init__(fault, detail)


class _TooLongError(EmbeddingError):
    """The server refuses a text for its length."""


class _TooManyError(EmbeddingError):
    """The server takes fewer texts at once."""


class _FixedSizeError(EmbeddingError):
    """The server refuses the stated `dimensions`: its model has one size."""


class OpenAIEmbedder:
    def __init__(self, config: ProviderConfig, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        base_url = config.base_url or (_DEFAULT_BASE_URL if config.type == "openai" else None)
        if not base_url:
            raise ConfigurationError(f"Provider {config.name!r}: type {config.type} needs spec.baseURL")
        base_url = checked_base_url(config.name, base_url)
        _check_headers(config)
        self.model = config.model
        self.dimensions = resolved_dimensions(config)
        self._config = config
        # BR-082: asked for only where the manifest states it; the size of what comes back is checked in any case.
        self._sends_dimensions = config.type == "openai" and config.dimensions is not None
        # What the server turns out to take is learnt from its refusals and kept: it is a property of the model.
        self._window_bytes = _WINDOW_BYTES[0]
        self._batch_size = config.batch_size
        transport = transport or CheckedTransport(
            most_bytes=1_000_000 + config.batch_size * self.dimensions * 32, secure=base_url.startswith("https:")
        )
        self._client = _client(config, base_url, transport)

    async def warm_up(self) -> None:
        """Nothing: a call would cost, and readiness must not hang on a provider that is down."""

    async def embed(self, texts: Sequence[str], *, deadline: float, urgent: bool) -> list[Vector]:
        del urgent
        until = asyncio.get_running_loop().time() + deadline
        while True:
            size = self._window_bytes
            try:
                return await self._embed(texts, size, until)
            except _TooLongError as error:
                longest = max(len(text.encode()) for text in texts)
                smaller = [step for step in _WINDOW_BYTES if step < min(size, longest)]
                if not smaller:
                    raise EmbeddingError(error.fault, str(error)) from None
                self._window_bytes = min(self._window_bytes, smaller[0])
            except _TooManyError:
                self._batch_size = max(1, self._batch_size // 2)
            except _FixedSizeError:
                self._sends_dimensions = False

    async def aclose(self) -> None:
        await self._client.close()

    async def _embed(self, texts: Sequence[str], size: int, until: float) -> list[Vector]:
        groups = [byte_windows(text, size) for text in texts]
        vectors: list[Vector] = []
        for batch in _batches([piece for group in groups for piece in group], self._batch_size):
            vectors += await self._request_with_retries(batch, until)
        if len(vectors) == len(texts):
            return vectors
        return await asyncio.to_thread(_regrouped, vectors, [len(group) for group in groups])

    async def _request_with_retries(self, batch: Sequence[str], until: float) -> list[Vector]:
        remaining = until - asyncio.get_running_loop().time()
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_MayPassError),
            wait=_pause,
            stop=stop_after_attempt(_ATTEMPTS) | stop_before_delay(remaining),
            reraise=True,
        )
        vectors: list[Vector] = await retrying(self._request, batch, until)
        return vectors

    async def _request(self, batch: Sequence[str], until: float) -> list[Vector]:
        remaining = max(0.01, until - asyncio.get_running_loop().time())
        body: dict[str, Any] = {"model": self.model, "input": list(batch)}
        if self._sends_dimensions:
            body["dimensions"] = self.dimensions
        timeout = httpx2.Timeout(remaining, connect=min(_LONGEST_CONNECT, remaining / 2))
        try:
            # Not `client.embeddings.create`: that asks for base64 unless told otherwise, and compatible servers may
            # know neither that nor the parameter.
            response = await self._client.post(
                "/embeddings",
                body=body,
                cast_to=httpx2.Response,
                options={"timeout": timeout, "headers": self._authorization(), "follow_redirects": False},
            )
        except APIStatusError as error:
            raise _status_error(error, texts=len(batch), sent_dimensions="dimensions" in body) from None
        except APITimeoutError as error:
            connecting = isinstance(error.__cause__, httpx2.ConnectTimeout)
            kind = _MayPassError if connecting else EmbeddingError
            raise kind("timeout", "the provider did not answer in time") from None
        except APIConnectionError as error:
            if isinstance(error.__cause__, RefusedError):
                raise EmbeddingError("unavailable", str(error.__cause__)) from None
            raise _MayPassError("unavailable", "no connection to the provider, or it broke") from None
        return await asyncio.to_thread(vectors_of, response.content, count=len(batch), dimensions=self.dimensions)

    def _authorization(self) -> dict[str, Any]:
        """The one header that the client would otherwise fill in by itself."""
        if self._config.api_key:
            return {"Authorization": f"Bearer {self._config.api_key}"}
        if any(name.lower() == "authorization" for name in self._config.headers):
            return {}
        return {"Authorization": Omit()}


def _client(config: ProviderConfig, base_url: str, transport: httpx2.AsyncBaseTransport) -> AsyncOpenAI:
    """The official client without its own retries and without what it would take from the environment.

    `OPENAI_ORG_ID`, `OPENAI_CUSTOM_HEADERS` and their like belong to another program of the same machine; a Provider is
    described by its manifest alone. Hence the hook: only known headers leave.
    """
    known = _OWN_HEADERS | {name.lower() for name in config.headers}
    if config.api_key:
        known |= {"authorization"}

    async def keep_known_headers(request: httpx2.Request) -> None:
        for name in set(request.headers) - known:
            del request.headers[name]

    http_client = httpx2.AsyncClient(
        transport=transport,
        trust_env=False,
        follow_redirects=False,
        event_hooks={"request": [keep_known_headers]},
    )
    return AsyncOpenAI(
        api_key=config.api_key or "none",
        base_url=base_url,
        max_retries=0,
        default_headers={**config.headers, "Accept-Encoding": "identity"},
        http_client=http_client,
    )


def _check_headers(config: ProviderConfig) -> None:
    values = {**config.headers, "the credential": config.api_key or ""}
    for name, value in values.items():
        if not value.isascii() or any(ord(char) < 32 or ord(char) == 127 for char in value):
            raise ConfigurationError(
                f"Provider {config.name!r}: {name} holds a line break or another character that no header may hold"
            )


def _batches(pieces: Sequence[str], count: int) -> Iterator[list[str]]:
    """At most `count` pieces and so many bytes each: servers bound the tokens of a request, too."""
    batch: list[str] = []
    size = 0
    for piece in pieces:
        length = len(piece.encode())
        if batch and (len(batch) >= count or size + length > _MOST_BYTES_A_REQUEST):
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += length
    if batch:
        yield batch


def _regrouped(vectors: Sequence[Vector], counts: Sequence[int]) -> list[Vector]:
    numbers = iter(vectors)
    return [mean_vector([next(numbers) for _ in range(count)]) for count in counts]


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    stated = error.seconds if isinstance(error, _MayPassError) else 0.0
    return stated + _jitter(state)


def _status_error(error: APIStatusError, *, texts: int, sent_dimensions: bool) -> EmbeddingError:
    status = error.status_code
    said = f"the provider answered {status}"
    if status < 400:
        return EmbeddingError("unavailable", f"{said}, a redirect, which is not followed: set baseURL to its target")
    if status in _CURABLE:
        remedy = "the credential" if status in (401, 403) else "baseURL and model"
        return EmbeddingError("unavailable", f"{said}: look at {remedy}")
    if status in _PASSING or status > 500:
        fault: EmbeddingFault = "rate_limited" if status == 429 else "unavailable"
        return _MayPassError(fault, said, retry_after(error.response.headers))
    avoidable = _avoidable(status, error.response.text[:4_000], texts=texts, sent_dimensions=sent_dimensions)
    if avoidable is not None:
        return avoidable("rejected", f"{said}: its limits are too narrow for the request")
    if status == 500:
        return _MayPassError("unavailable", said, retry_after(error.response.headers))
    return EmbeddingError("rejected", f"{said}: it refuses these texts")


def _avoidable(status: int, text: str, *, texts: int, sent_dimensions: bool) -> type[EmbeddingError] | None:
    """Tell by its words whether a refusal is one that another request can avoid."""
    if sent_dimensions and _FIXED_SIZE.search(text):
        return _FixedSizeError
    if texts > 1 and (_TOO_MANY.search(text) or (status == 413 and not _TOO_LONG.search(text))):
        return _TooManyError
    return _TooLongError if status == 413 or _TOO_LONG.search(text) else None
