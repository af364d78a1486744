"""The mock provider is deterministic, and shared words make texts similar."""

import math

import pytest

from memory_api.embedding.factory import build_provider
from memory_api.embedding.provider import ProviderConfig


def a_mock(dimensions: int | None = None) -> ProviderConfig:
    return ProviderConfig(name="demo", type="mock", model="mock-words", dimensions=dimensions)


def cosine(left: list[float], right: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


async def test_the_same_text_has_the_same_vector_in_every_provider() -> None:
    first, second = build_provider(a_mock()), build_provider(a_mock())
    assert await first.embed_query("tea at five") == await second.embed_query("tea at five")
    assert await first.embed_passages(["tea at five"], deadline=1) == [await second.embed_query("tea at five")]


async def test_vectors_are_pinned_so_that_other_tests_may_rely_on_them() -> None:
    (vector,) = await build_provider(a_mock(8)).embed_passages(["tea"], deadline=1)
    assert [round(number, 4) for number in vector] == PINNED_TEA


async def test_shared_words_make_texts_similar() -> None:
    near, far, query = await build_provider(a_mock()).embed_passages(
        ["the user drinks green tea", "deploys happen on fridays", "which tea the user drinks"], deadline=1
    )
    assert cosine(query, near) > 0.5 > 0.2 > abs(cosine(query, far))


@pytest.mark.parametrize("dimensions", [1, 2, 3, 8, 384, 4000])
@pytest.mark.parametrize("text", ["a", "!", "🙂", "the quick brown fox", "汇率 换算", "\u0301"])
async def test_any_text_has_a_unit_vector_of_any_size(dimensions: int, text: str) -> None:
    vector = await build_provider(a_mock(dimensions)).embed_query(text)
    assert len(vector) == dimensions
    assert math.isclose(math.hypot(*vector), 1.0)


PINNED_TEA = [-0.5345, -0.2673, 0.0, 0.0, 0.0, 0.5345, 0.2673, 0.5345]
