"""What holds for every provider type: blanks, deadlines, cache, single flight, breaker, and no foreign errors."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from embedding_server import EmbeddingServer
from memory_api.embedding.breaker import Breaker
from memory_api.embedding.cache import QueryCache
from memory_api.embedding.factory import build_provider
from memory_api.embedding.guard import GuardedProvider
from memory_api.embedding.openai import OpenAIEmbedder
from memory_api.embedding.provider import EmbeddingProvider, ProviderConfig, Timeouts, Vector
from memory_api.errors import EmbeddingError

MOCK = ProviderConfig(name="demo", type="mock", model="mock-words", dimensions=8)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer(dimensions=8) as running:
        yield running


@pytest.fixture
async def build(server: EmbeddingServer):
    built: list[GuardedProvider] = []

    def a_provider(*, query: float = 5.0, **parts: Any) -> GuardedProvider:
        config = ProviderConfig(
            name="remote",
            type="vllm",
            model="m",
            base_url=server.base_url,
            dimensions=8,
            timeouts=Timeouts(query=query),
        )
        built.append(GuardedProvider(OpenAIEmbedder(config), config, **parts))
        return built[-1]

    yield a_provider
    for provider in built:
        await provider.aclose()


async def fault_of(call: Any) -> str:
    with pytest.raises(EmbeddingError) as caught:
        await call
    return caught.value.fault


async def test_what_the_factory_builds_is_an_embedding_provider() -> None:
    provider: EmbeddingProvider = build_provider(MOCK)
    assert (provider.model, provider.dimensions) == ("mock-words", 8)
    await provider.warm_up()
    await provider.aclose()


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u200b\ufeff", "\u3000\u00a0", "\x00"])
async def test_br_079_a_blank_text_never_reaches_the_model(server, build, blank) -> None:
    provider = build()
    assert await fault_of(provider.embed_query(blank)) == "rejected"
    with pytest.raises(EmbeddingError, match="text 1 is blank"):
        await provider.embed_passages(["fine", blank, "fine too"], deadline=5)
    assert server.requests == []


async def test_br_079_blank_texts_do_not_trip_the_breaker(build) -> None:
    provider = build()
    for _ in range(5):
        assert await fault_of(provider.embed_query(" ")) == "rejected"
    assert not provider.is_paused
    assert len(await provider.embed_query("tea")) == 8


async def test_no_texts_are_no_vectors_and_no_request(server, build) -> None:
    assert await build().embed_passages([], deadline=5) == []
    assert server.requests == []


async def test_a_query_asked_again_comes_from_the_cache(server, build) -> None:
    provider = build()
    first = await provider.embed_query("tea")
    first[0] = 99.0
    second = await provider.embed_query("tea")
    assert second[0] != 99.0
    assert len(server.requests) == 1
    assert (provider.cache_counters.hits, provider.cache_counters.misses) == (1, 1)


async def test_the_same_query_at_the_same_time_is_one_call(server, build) -> None:
    server.delay = 0.05
    provider = build()
    vectors = await asyncio.gather(*(provider.embed_query("tea") for _ in range(10)))
    assert all(vector == vectors[0] for vector in vectors)
    assert len(server.requests) == 1
    assert (provider.cache_counters.joined, provider.cache_counters.inflight) == (9, 0)


async def test_cancelling_one_waiter_leaves_the_call_to_the_others(server, build) -> None:
    server.delay = 0.1
    provider = build()
    first, second = (asyncio.create_task(provider.embed_query("tea")) for _ in range(2))
    await asyncio.sleep(0.02)
    assert provider.cache_counters.inflight == 1
    first.cancel()
    assert len(await second) == 8
    assert first.cancelled()
    assert len(server.requests) == 1


async def test_a_failed_call_is_not_cached(server, build) -> None:
    server.fail(1, status=400)
    provider = build()
    assert await fault_of(provider.embed_query("tea")) == "rejected"
    assert len(await provider.embed_query("tea")) == 8


async def test_passages_are_not_cached(server, build) -> None:
    provider = build()
    await provider.embed_passages(["tea"], deadline=5)
    await provider.embed_passages(["tea"], deadline=5)
    assert len(server.requests) == 2


async def test_the_cache_forgets_after_its_time_and_keeps_a_bounded_number() -> None:
    clock, calls = Clock(), []

    async def embed(text: str) -> Vector:
        calls.append(text)
        return [1.0] * 8

    cache = QueryCache(numbers=16, seconds=60, clock=clock)
    await cache.get("m", "a", embed)
    await cache.get("m", "a", embed)
    clock.now += 61
    await cache.get("m", "a", embed)
    assert calls == ["a", "a"]
    for text in "bcd":
        await cache.get("m", text, embed)
    await cache.get("m", "a", embed)
    assert calls == ["a", "a", "b", "c", "d", "a"]
    await cache.get("other", "a", embed)
    assert calls[-1] == "a"
    assert len(calls) == 7


async def test_a_vector_larger_than_the_whole_cache_is_given_but_not_kept() -> None:
    async def embed(text: str) -> Vector:
        return [float(len(text))] * 8

    assert await QueryCache(numbers=4).get("m", "abc", embed) == [3.0] * 8


async def test_after_three_faults_the_provider_is_left_alone_for_five_seconds(server, build) -> None:
    server.answer = "hang"
    clock = Clock()
    provider = build(query=0.05, breaker=Breaker(clock=clock))
    for number in range(3):
        assert await fault_of(provider.embed_query(f"query {number}")) == "timeout"
    assert provider.is_paused
    asked = len(server.requests)
    assert await fault_of(provider.embed_query("query 3")) == "timeout"
    assert await fault_of(provider.embed_passages(["a save"], deadline=5)) == "timeout"
    assert len(server.requests) == asked
    server.answer = "ok"
    clock.now += 5.1
    assert len(await provider.embed_query("query 4")) == 8
    assert not provider.is_paused


async def failing(breaker: Breaker, fault: Any = "timeout") -> None:
    async def call() -> None:
        async with breaker.call():
            raise EmbeddingError(fault, "told to")

    with pytest.raises(EmbeddingError, match="told to"):
        await call()


async def asking(breaker: Breaker) -> None:
    async with breaker.call():
        pass


async def test_one_probe_goes_through_and_a_failed_one_opens_again() -> None:
    clock = Clock()
    breaker = Breaker(threshold=2, open_seconds=5, clock=clock)
    await failing(breaker)
    assert not breaker.is_open
    await failing(breaker)
    assert breaker.is_open
    clock.now += 5
    assert not breaker.is_open
    await failing(breaker, "rate_limited")
    assert breaker.is_open
    assert await fault_of(asking(breaker)) == "rate_limited"


async def test_while_the_probe_is_under_way_the_others_are_still_refused() -> None:
    clock = Clock()
    breaker = Breaker(threshold=1, clock=clock)
    await failing(breaker)
    clock.now += 6
    async with breaker.call():
        assert await fault_of(asking(breaker)) == "timeout"
    await asking(breaker)


async def test_a_cancelled_probe_leaves_room_for_the_next() -> None:
    clock = Clock()
    breaker = Breaker(threshold=1, clock=clock)
    await failing(breaker)
    clock.now += 6

    async def hanging() -> None:
        async with breaker.call():
            await asyncio.Event().wait()

    probe = asyncio.create_task(hanging())
    await asyncio.sleep(0)
    assert breaker.is_open
    probe.cancel()
    await asyncio.gather(probe, return_exceptions=True)
    await asking(breaker)
    assert not breaker.is_open


async def test_a_rejection_is_an_answer_and_ends_a_row_of_faults() -> None:
    breaker = Breaker(threshold=2)
    for fault in ("timeout", "rejected", "timeout", "rejected"):
        await failing(breaker, fault)
    assert not breaker.is_open


async def test_the_observer_hears_of_every_call_that_was_made(server, build) -> None:
    heard: list[tuple[str, str]] = []
    provider = build(observer=lambda outcome, seconds, operation: heard.append((outcome, operation)) or None)
    await provider.embed_query("tea")
    await provider.embed_query("tea")
    server.fail(1, status=400)
    await fault_of(provider.embed_passages(["coffee"], deadline=5))
    assert heard == [("ok", "query"), ("rejected", "passages")]


async def test_closing_ends_calls_that_are_under_way(server, build) -> None:
    server.answer = "hang"
    provider = build()
    waiting = asyncio.create_task(provider.embed_query("tea"))
    await asyncio.sleep(0.05)
    await provider.aclose()
    assert await fault_of(waiting) == "unavailable"


class Broken:
    """An embedder with a fault of its own."""

    model = "broken"
    dimensions = 8

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def warm_up(self) -> None:
        raise self.answer

    async def embed(self, texts: Sequence[str], *, deadline: float, urgent: bool) -> list[Vector]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def aclose(self) -> None:
        pass


async def test_a_foreign_exception_leaves_as_ours_without_its_words() -> None:
    provider = GuardedProvider(Broken(RuntimeError("Authorization: Bearer sk-1")), MOCK)
    for call in (provider.embed_query("tea"), provider.embed_passages(["tea"], deadline=1), provider.warm_up()):
        with pytest.raises(EmbeddingError, match="RuntimeError") as caught:
            await call
        assert caught.value.fault == "unavailable"
        assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize("answer", [[], [[1.0] * 8] * 2, [[1.0] * 7]])
async def test_a_wrong_count_or_size_never_passes(answer: list[Vector]) -> None:
    assert await fault_of(GuardedProvider(Broken(answer), MOCK).embed_query("tea")) == "bad_vector"
