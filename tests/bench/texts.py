"""Words as people use them: a few very often, most of them rarely, and stop words between them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memory_api.embedding.factory import build_provider
from memory_api.embedding.provider import ProviderConfig

Words = npt.NDArray[np.int64]
MOCK = ProviderConfig(name="mock", type="mock", model="mock", dimensions=384)
_STOP = tuple("the a of and to in is was for on with that it as at by from this be are".split())  # noqa: SIM905
_SYLLABLES = tuple("ba ke lo mi nu ra se ti vo du pa ne gi to sha ler min dor kan vel".split())  # noqa: SIM905
_VOCABULARY = 8_000
_STOP_SHARE = 0.35


class Language:
    """A vocabulary with Zipf's skew and the direction that the mock embedder gives each word."""

    def __init__(self, *, seed: int) -> None:
        chance = np.random.default_rng(0)  # every language has the same words; `seed` decides what is said with them
        words: dict[str, None] = {}
        while len(words) < _VOCABULARY:
            words["".join(chance.choice(_SYLLABLES, int(chance.integers(2, 5))))] = None
        self._chance = np.random.default_rng(seed)
        self._words = np.array([*words, *_STOP], dtype=object)
        common = 1.0 / (np.arange(_VOCABULARY) + 2.7)
        self._cumulative = np.cumsum(
            np.concatenate([(1 - _STOP_SHARE) * common / common.sum(), np.full(len(_STOP), _STOP_SHARE / len(_STOP))])
        )
        self._directions: npt.NDArray[np.float32] | None = None

    def sentences(self, count: int, *, long_share: float = 0.002) -> list[Words]:
        """Texts as places in the vocabulary: mostly one or two sentences, now and then pages that lie out of line."""
        usual = np.clip(self._chance.lognormal(2.8, 0.6, count), 4, 90).astype(np.int64)
        long = self._chance.integers(1_000, 2_000, count)
        lengths = np.where(self._chance.random(count) < long_share, long, usual)
        return np.split(self._draw(int(lengths.sum())), np.cumsum(lengths)[:-1])

    def text(self, sentence: Words) -> str:
        return " ".join(self._words[sentence])

    def questions(self, count: int) -> list[str]:
        """Questions of six words, of which one or two are stop words, as in LoCoMo; no two alike."""
        asked: dict[str, None] = {}
        while len(asked) < count:
            asked["what did " + self.text(self._draw(6))] = None
        return list(asked)

    async def vectors(self, sentences: Sequence[Words]) -> npt.NDArray[np.float32]:
        """A text's vector is the sum of its words', as the mock embedder makes it, but thousands at a time."""
        if self._directions is None:
            self._directions = np.array(await _embed(self._words.tolist()), dtype=np.float32)
        starts = np.cumsum([0, *map(len, sentences[:-1])])
        total = np.add.reduceat(self._directions[np.concatenate(sentences)], starts, axis=0)
        norms = np.linalg.norm(total, axis=1, keepdims=True)
        return np.asarray(total / np.where(norms == 0, 1, norms), dtype=np.float32)

    def _draw(self, count: int) -> Words:
        return np.minimum(np.searchsorted(self._cumulative, self._chance.random(count)), len(self._words) - 1)


async def _embed(words: Sequence[str]) -> list[list[float]]:
    provider = build_provider(MOCK)
    try:
        return list(await provider.embed_passages(words, deadline=60))
    finally:
        await provider.aclose()
