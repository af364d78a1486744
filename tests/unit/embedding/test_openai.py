"""Provider types openai, vllm and ollama against a real server that misbehaves on demand."""

import asyncio
import math
import struct
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from embedding_server import EmbeddingServer, vector_of
from memory_api.embedding.factory import build_provider
from memory_api.embedding.guard import GuardedProvider
from memory_api.embedding.provider import ProviderConfig, Timeouts
from memory_api.errors import ConfigurationError, EmbeddingError

SIZE = 8
KEY = "sk-secret-credential-0123456789"


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer(dimensions=SIZE) as running:
        yield running


@pytest.fixture
async def build(server: EmbeddingServer):
    built: list[GuardedProvider] = []

    def a_provider(**changes: Any) -> GuardedProvider:
        settings: dict[str, Any] = {
            "name": "remote", "type": "openai", "model": "some-model", "base_url": server.base_url, "api_key": KEY,
            "dimensions": SIZE, "timeouts": Timeouts(query=5.0),
        }  # fmt: skip
        built.append(build_provider(ProviderConfig(**{**settings, **changes})))
        return built[-1]

    yield a_provider
    for provider in built:
        await provider.aclose()


def unit(text: str) -> list[float]:
    vector = vector_of(text, SIZE)
    length = math.hypot(*vector)
    return [number / length for number in vector]


def assert_same(left: list[float], right: list[float]) -> None:
    assert left == pytest.approx(right, abs=1e-6)


async def fault_of(call: Any) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as caught:
        await call
    assert KEY not in str(caught.value)
    assert "Bearer" not in str(caught.value)
    return caught.value


async def test_a_query_goes_to_the_embeddings_endpoint_with_model_and_key(server, build) -> None:
    assert_same(await build().embed_query("green tea"), unit("green tea"))
    (asked,) = server.requests
    assert (asked.method, asked.path) == ("POST", "/v1/embeddings")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {"model": "some-model", "input": ["green tea"], "dimensions": SIZE}


async def test_passages_go_in_batches_and_come_back_in_order(server, build) -> None:
    texts = [f"text number {number}" for number in range(7)]
    vectors = await build(batch_size=3).embed_passages(texts, deadline=5)
    assert [len(asked.texts) for asked in server.requests] == [3, 3, 1]
    for text, vector in zip(texts, vectors, strict=True):
        assert_same(vector, unit(text))


@pytest.mark.parametrize("answer", ["reversed", "base64"])
async def test_answers_are_placed_by_the_index_they_state_and_may_be_packed(server, build, answer) -> None:
    server.answer = answer
    texts = ["a one", "b two", "c three"]
    for text, vector in zip(texts, await build().embed_passages(texts, deadline=5), strict=True):
        assert_same(vector, unit(text))


@pytest.mark.parametrize(
    "answer", ["zeros", "nan", "infinity", "wrong_size", "one_missing", "double_index", "no_index", "no_data"]
)
async def test_br_072_an_unusable_vector_is_a_failure_of_the_provider(server, build, answer) -> None:
    server.answer = answer
    error = await fault_of(build().embed_passages(["one", "two"], deadline=5))
    assert error.fault == "bad_vector"
    assert len(server.requests) == 1


@pytest.mark.parametrize("answer", ["tiny", "huge"])
async def test_br_072_vectors_survive_the_stores_16_bit_floats(server, build, answer) -> None:
    server.answer = answer
    vector = await build().embed_query("green tea")
    stored = struct.unpack(f"<{SIZE}e", struct.pack(f"<{SIZE}e", *vector))
    assert math.hypot(*stored) == pytest.approx(1.0, abs=1e-2)


async def test_a_wrong_size_is_named_with_the_right_one(server, build) -> None:
    server.dimensions = 5
    assert "5 numbers, not 8" in str(await fault_of(build().embed_query("tea")))


async def test_br_081_a_429_with_retry_after_is_waited_out(server, build) -> None:
    server.fail(1, status=429, headers={"Retry-After": "1"})
    started = time.monotonic()
    await build().embed_query("green tea")
    assert time.monotonic() - started >= 1.0
    assert len(server.requests) == 2


async def test_br_081_a_retry_after_beyond_the_deadline_is_not_waited_for(server, build) -> None:
    server.fail(1, status=429, headers={"Retry-After": "30"})
    started = time.monotonic()
    assert (await fault_of(build().embed_query("green tea"))).fault == "rate_limited"
    assert time.monotonic() - started < 3.0
    assert len(server.requests) == 1


async def test_br_081_retry_after_may_be_a_date_or_milliseconds_or_nonsense(server, build) -> None:
    server.fail(1, status=503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
    server.fail(1, status=503, headers={"retry-after-ms": "20"})
    server.fail(1, status=503, headers={"Retry-After": "soon"})
    await build().embed_query("green tea")
    assert len(server.requests) == 4


@pytest.mark.parametrize(("status", "fault"), [(429, "rate_limited"), (500, "unavailable"), (503, "unavailable")])
async def test_br_081_retries_are_bounded(server, build, status, fault) -> None:
    server.fail(50, status=status)
    assert (await fault_of(build().embed_query("green tea"))).fault == fault
    assert len(server.requests) == 5


async def test_br_081_a_refused_connection_is_tried_again_and_then_unavailable(server, build) -> None:
    provider = build()
    await server.stop()
    assert (await fault_of(provider.embed_query("green tea"))).fault == "unavailable"
    async with server:
        assert_same(await provider.embed_query("green tea"), unit("green tea"))


async def test_a_dropped_connection_is_tried_again(server, build) -> None:
    server.answer = "drop"
    assert (await fault_of(build().embed_query("green tea"))).fault == "unavailable"
    assert len(server.requests) == 5


@pytest.mark.parametrize("status", [400, 422])
async def test_a_text_that_the_provider_refuses_is_rejected_at_once(server, build, status) -> None:
    server.fail(1, status=status, body='{"error": {"message": "invalid characters"}}')
    assert (await fault_of(build().embed_query("green tea"))).fault == "rejected"
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_what_a_mended_key_or_url_would_cure_is_unavailable_not_rejected(server, build, status) -> None:
    server.fail(1, status=status, body=f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}')
    assert (await fault_of(build().embed_query("green tea"))).fault == "unavailable"
    assert len(server.requests) == 1


async def test_a_hanging_provider_is_given_up_at_the_deadline(server, build) -> None:
    server.answer = "hang"
    started = time.monotonic()
    assert (await fault_of(build(timeouts=Timeouts(query=0.2)).embed_query("tea"))).fault == "timeout"
    assert (await fault_of(build().embed_passages(["tea"], deadline=0.2))).fault == "timeout"
    assert time.monotonic() - started < 4.0


async def test_a_slow_provider_cannot_stretch_the_deadline_by_batches(server, build) -> None:
    server.delay = 0.1
    error = await fault_of(build(batch_size=1).embed_passages([f"text {n}" for n in range(20)], deadline=0.35))
    assert error.fault == "timeout"
    assert len(server.requests) <= 4


@pytest.mark.parametrize("answer", ["not_json", "truncated"])
async def test_an_answer_that_is_no_json_is_unavailable(server, build, answer) -> None:
    server.answer = answer
    assert (await fault_of(build().embed_query("tea"))).fault == "unavailable"


async def test_an_answer_without_end_is_cut_off(server, build) -> None:
    server.answer = "endless"
    error = await fault_of(build().embed_query("tea"))
    assert error.fault == "unavailable"
    assert "larger than" in str(error)


async def test_a_compressed_answer_is_refused(server, build) -> None:
    server.answer = "compressed"
    assert "compressed" in str(await fault_of(build().embed_query("tea")))
    assert server.requests[0].headers["accept-encoding"] == "identity"


async def test_redirects_are_not_followed(server, build) -> None:
    server.redirect("http://169.254.169.254/latest/meta-data/")
    error = await fault_of(build().embed_query("tea"))
    assert error.fault == "unavailable"
    assert "redirect" in str(error)
    server.redirect(f"{server.base_url}/elsewhere")
    await fault_of(build().embed_query("tea"))
    assert {asked.path for asked in server.requests} == {"/v1/embeddings"}


async def test_br_082_dimensions_are_sent_by_type_openai_and_only_when_declared(server, build) -> None:
    server.dimensions = 1536
    await build(dimensions=None, model="text-embedding-3-small").embed_query("tea")
    server.dimensions = SIZE
    await build(type="vllm").embed_query("tea")
    await build(type="ollama").embed_query("tea")
    await build().embed_query("tea")
    assert ["dimensions" in asked.body for asked in server.requests] == [False, False, False, True]
    assert not any("encoding_format" in asked.body for asked in server.requests)


async def test_br_082_a_model_of_fixed_size_is_asked_again_without_dimensions(server, build) -> None:
    server.refuses_dimensions = True
    provider = build()
    assert_same(await provider.embed_query("tea"), unit("tea"))
    await provider.embed_query("coffee")
    assert ["dimensions" in asked.body for asked in server.requests] == [True, False, False]


async def test_br_078_a_text_beyond_the_limit_is_read_in_windows_and_its_tail_counts(server, build) -> None:
    server.most_input_bytes = 8_192
    filler = "filler words " * 1_000
    provider = build()
    plain, with_tail = await provider.embed_passages([filler, filler + "saffron " * 400], deadline=5)
    assert all(len(text.encode()) <= 8_000 for asked in server.requests for text in asked.texts)
    assert plain != pytest.approx(with_tail)


async def test_br_078_the_limit_of_a_small_model_is_learnt_from_its_refusal(server, build) -> None:
    server.most_input_bytes = 512
    provider = build()
    await provider.embed_passages(["汇率" * 300, "short"], deadline=5)
    learning = len(server.requests)
    await provider.embed_passages(["汇率" * 300], deadline=5)
    assert len(server.requests) == learning + 1
    assert max(len(text.encode()) for text in server.requests[-1].texts) <= 512


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"),
        (400, "the input length exceeds the context length"),
        (413, "Input validation error: `inputs` must have less than 512 tokens. Given: 534"),
        (500, "input (600 tokens) is too large to process. increase the physical batch size (current batch size: 512)"),
    ],
)
async def test_br_078_every_servers_words_for_too_long_are_understood(server, build, status, words) -> None:
    server.fail(1, status=status, body=f'{{"error": {{"message": "{words}"}}}}')
    await build().embed_passages(["a long text " * 500], deadline=5)
    assert len(server.requests) == 2
    assert max(len(text.encode()) for text in server.requests[1].texts) <= 2_000


async def test_a_request_that_a_proxy_finds_too_large_is_halved(server, build) -> None:
    server.fail(1, status=413, body="<html><h1>413 Request Entity Too Large</h1></html>")
    await build(batch_size=10).embed_passages([f"text {number}" for number in range(10)], deadline=5)
    assert [len(asked.texts) for asked in server.requests] == [10, 5, 5]


async def test_a_server_that_takes_fewer_texts_at_once_gets_fewer(server, build) -> None:
    server.most_texts = 3
    provider = build(batch_size=10)
    texts = [f"text number {number}" for number in range(10)]
    for text, vector in zip(texts, await provider.embed_passages(texts, deadline=5), strict=True):
        assert_same(vector, unit(text))
    assert [len(asked.texts) for asked in server.requests] == [10, 5, 2, 2, 2, 2, 2]


async def test_a_text_that_stays_too_long_is_rejected(server, build) -> None:
    server.most_input_bytes = 10
    assert (await fault_of(build().embed_passages(["汇率 words " * 300], deadline=5))).fault == "rejected"


async def test_requests_stay_below_the_bytes_that_servers_take_at_once(server, build) -> None:
    await build(batch_size=2_000).embed_passages([f"{number} " * 1_500 for number in range(100)], deadline=20)
    assert len(server.requests) > 1
    assert all(sum(len(text.encode()) for text in asked.texts) <= 240_000 for asked in server.requests)


async def test_prefixes_go_before_queries_and_passages(server, build) -> None:
    provider = build(query_prefix="query: ", passage_prefix="passage: ")
    await provider.embed_query("tea")
    await provider.embed_passages(["tea"], deadline=5)
    assert [asked.texts for asked in server.requests] == [["query: tea"], ["passage: tea"]]


async def test_headers_of_the_manifest_are_sent_and_without_a_key_no_authorization(server, build) -> None:
    await build(api_key=None, headers={"X-Tenant": "blue"}).embed_query("tea")
    await build(api_key=None, headers={"Authorization": "Token abc"}).embed_query("tea")
    assert server.requests[0].headers["x-tenant"] == "blue"
    assert "authorization" not in server.requests[0].headers
    assert server.requests[1].headers["authorization"] == "Token abc"


async def test_nothing_of_the_environment_reaches_the_provider(server, build, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-program")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-other")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-other")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: yes\nAuthorization: Bearer sk-of-another-program")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    await build().embed_query("tea")
    await build(api_key=None).embed_query("tea")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in server.requests[1].headers
    assert not any(
        "other" in value or "leak" in name for asked in server.requests for name, value in asked.headers.items()
    )


async def test_br_085_half_a_surrogate_pair_reaches_no_request(server, build) -> None:
    await build().embed_query("caf\ud83d")
    assert server.requests[0].texts == ["caf\ufffd"]


async def test_connections_are_kept_and_their_number_is_bounded(server, build) -> None:
    provider = build()
    server.delay = 0.02
    await asyncio.gather(*(provider.embed_passages([f"text {number}"], deadline=5) for number in range(50)))
    assert server.connections <= 16
    assert server.most_concurrent <= 16


async def test_the_credential_is_in_no_representation(build) -> None:
    provider = build(headers={"X-Key": KEY})
    assert KEY not in repr(provider)
    assert KEY not in repr(provider._config)


@pytest.mark.parametrize("kind", ["vllm", "ollama"])
async def test_br_076_there_is_no_default_server_but_that_of_openai(kind) -> None:
    with pytest.raises(ConfigurationError, match="baseURL"):
        build_provider(ProviderConfig(name="p", type=kind, model="m", dimensions=8))


async def test_a_header_with_a_line_break_is_refused_without_its_value() -> None:
    with pytest.raises(ConfigurationError) as caught:
        build_provider(ProviderConfig(name="p", type="openai", model="m", api_key=f"{KEY}\n"))
    assert KEY not in str(caught.value)
