"""Provider type transformers: the bundled model, in process."""

import asyncio
import math
import shutil
import time
from pathlib import Path

import pytest

from memory_api.embedding.factory import build_provider
from memory_api.embedding.guard import GuardedProvider
from memory_api.embedding.minilm import MiniLm, model_file
from memory_api.embedding.provider import ProviderConfig, Timeouts
from memory_api.errors import ConfigurationError, EmbeddingError

CONFIG = ProviderConfig(
    name="bundled", type="transformers", model="all-minilm-l6-v2-int8", timeouts=Timeouts(query=30.0)
)


@pytest.fixture(scope="module")
async def provider():
    built = build_provider(CONFIG)
    await built.warm_up()
    yield built
    await built.aclose()


def cosine(left: list[float], right: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


async def test_the_store_learns_model_and_size_before_anything_is_loaded() -> None:
    fresh = build_provider(CONFIG)
    assert (fresh.model, fresh.dimensions) == ("all-minilm-l6-v2-int8", 384)
    await fresh.aclose()


async def test_vectors_are_those_of_the_model(provider: GuardedProvider) -> None:
    """First numbers and cosines as the reference implementation gives them, to the int8 model's precision."""
    mat, rug, stocks = await provider.embed_passages(
        ["A cat sits on the mat", "A feline rests on a rug", "stock prices fell"], deadline=30
    )
    assert math.isclose(math.hypot(*mat), 1.0, rel_tol=1e-5)
    assert cosine(mat, rug) == pytest.approx(0.567, abs=0.02)
    assert cosine(mat, stocks) == pytest.approx(0.071, abs=0.03)


async def test_a_query_and_a_passage_of_the_same_text_have_the_same_vector(provider: GuardedProvider) -> None:
    text = "the deploy of the payment service failed on monday"
    others = [f"filler number {number} " * (number % 40 + 1) for number in range(60)]
    *_, passage = await provider.embed_passages([*others, text], deadline=30)
    assert cosine(await provider.embed_query(text), passage) > 0.9999


async def test_vectors_come_back_in_the_order_of_the_texts(provider: GuardedProvider) -> None:
    texts = ["short", "long " * 100, "a middling text of nine words or so here", "tiny"] * 10
    together = await provider.embed_passages(texts, deadline=30)
    for text, vector in zip(texts[:4], together[:4], strict=True):
        assert cosine(await provider.embed_query(text), vector) > 0.9999
    assert cosine(together[0], together[36]) > 0.9999


async def test_br_078_the_tail_of_a_long_text_counts(provider: GuardedProvider) -> None:
    filler = "The committee met again and discussed the usual matters at some length. " * 300
    tail = "Her favourite dish is mushroom risotto with saffron."
    plain, with_tail, query = await provider.embed_passages(
        [filler, filler + tail * 10, "which dish does she like? mushroom risotto"], deadline=60
    )
    assert cosine(query, with_tail) > cosine(query, plain) + 0.02


async def test_a_text_of_megabytes_costs_no_more_than_a_long_one(provider: GuardedProvider) -> None:
    started = time.monotonic()
    (vector,) = await provider.embed_passages(["汇率 word " * 500_000], deadline=60)
    assert math.isclose(math.hypot(*vector), 1.0, rel_tol=1e-5)
    assert time.monotonic() - started < 10


async def test_the_event_loop_goes_on_while_bulk_is_embedded(provider: GuardedProvider) -> None:
    bulk = asyncio.create_task(provider.embed_passages(["something to embed " * 30] * 100, deadline=60))
    gaps = []
    while not bulk.done():
        before = time.monotonic()
        await asyncio.sleep(0.005)
        gaps.append(time.monotonic() - before)
    assert len(await bulk) == 100
    assert sorted(gaps)[int(len(gaps) * 0.9)] < 0.1


async def test_a_query_does_not_wait_for_the_bulk_before_it(provider: GuardedProvider) -> None:
    bulk = asyncio.create_task(provider.embed_passages(["a line of the backfill " * 20] * 100, deadline=60))
    await asyncio.sleep(0.05)
    await provider.embed_query("what did the user say about tea")
    assert not bulk.done()
    await bulk


async def test_a_save_does_not_wait_for_the_backfill_before_it(provider: GuardedProvider) -> None:
    bulk = asyncio.create_task(provider.embed_passages(["a line of the backfill " * 20] * 100, deadline=60))
    await asyncio.sleep(0.05)
    await provider.embed_passages(["one memory to save"], deadline=60)
    assert not bulk.done()
    await bulk


async def test_a_deadline_ends_a_bulk_call_and_frees_the_thread(provider: GuardedProvider) -> None:
    with pytest.raises(EmbeddingError) as caught:
        await provider.embed_passages(["a long enough text to embed " * 30] * 200, deadline=0.05)
    assert caught.value.fault == "timeout"
    assert len(await provider.embed_passages(["next"], deadline=5)) == 1


async def test_first_callers_share_one_load() -> None:
    fresh = build_provider(CONFIG)
    vectors = await asyncio.gather(*(fresh.embed_query(f"query {number}") for number in range(5)))
    assert len(vectors) == 5
    await fresh.aclose()


async def test_a_closed_provider_says_so() -> None:
    fresh = build_provider(CONFIG)
    await fresh.aclose()
    with pytest.raises(EmbeddingError, match="closed"):
        await fresh.embed_query("anything")


def test_a_model_file_that_is_not_the_known_one_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.onnx"
    shutil.copy(model_file(), other)
    with other.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"changed")
    with pytest.raises(EmbeddingError, match="not the one that Keepsake knows") as caught:
        MiniLm(other, threads=1)
    assert caught.value.fault == "unavailable"


def test_another_model_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match=r"all-minilm-l6-v2-int8.*bge-small"):
        build_provider(ProviderConfig(name="p", type="transformers", model="bge-small"))


def test_another_size_is_refused_naming_both() -> None:
    with pytest.raises(ConfigurationError, match=r"768.*384"):
        build_provider(ProviderConfig(name="p", type="transformers", model="all-minilm-l6-v2-int8", dimensions=768))
