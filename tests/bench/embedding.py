"""How much of the model's own speed is left behind our provider, as a ratio of two runs on the same machine."""

import asyncio
import random
import statistics
import time
from collections.abc import Sequence
from typing import TypedDict

import numpy as np
import onnxruntime
from rich.progress import track

from memory_api.embedding.factory import build_provider
from memory_api.embedding.guard import GuardedProvider
from memory_api.embedding.minilm import MiniLm, model_file
from memory_api.embedding.provider import ProviderConfig, Timeouts
from tests.bench.budgets import Figure
from tests.bench.filling import Stores
from tests.bench.place import Place

_SENTENCES = (
    "user prefers green tea over coffee in the morning deploy of payment service failed on monday because certificate "
    "expired team decided to use postgres for vectors meeting moved to friday she lives in berlin and works remotely"
)
_WORDS = _SENTENCES.split()
_BARE_BATCH = 32
_CONFIG = ProviderConfig(
    name="bench", type="transformers", model="all-minilm-l6-v2-int8", timeouts=Timeouts(query=60.0)
)


class Figures(TypedDict):
    texts: int
    ours_texts_per_s: float
    bare_texts_per_s: float
    ratio: float
    query_ms_p50: float
    query_ms_p50_under_bulk: float


def sample_texts(count: int, *, seed: int = 7) -> list[str]:
    """Memories as they are: most of one or two sentences, some long."""
    chance = random.Random(seed)
    lengths = [max(4, min(120, int(chance.lognormvariate(2.8, 0.7)))) for _ in range(count)]
    return [" ".join(chance.choices(_WORDS, k=length)) + f" {number}" for number, length in enumerate(lengths)]


def bare_session() -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model_file().read_bytes(), providers=["CPUExecutionProvider"])


def bare_loop(session: onnxruntime.InferenceSession, tokens: Sequence[Sequence[int]]) -> float:
    """Seconds for onnxruntime with its own defaults over texts that are already tokenized and sorted by length."""
    started = time.perf_counter()
    ordered = sorted(tokens, key=len)
    for start in range(0, len(ordered), _BARE_BATCH):
        batch = ordered[start : start + _BARE_BATCH]
        ids = np.zeros((len(batch), max(map(len, batch))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, line in enumerate(batch):
            ids[row, : len(line)] = line
            mask[row, : len(line)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = session.run(["last_hidden_state"], feed)
        pooled = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    return time.perf_counter() - started


async def measure(place: Place, stores: Stores) -> list[Figure]:
    found = await take_turns(texts=100 if place.quick else 600)
    rates = f"{found['ours_texts_per_s']:.0f} and {found['bare_texts_per_s']:.0f} texts/s"
    return [
        Figure("embedding.throughput", found["ratio"], rates),
        Figure("embedding.query_p50", found["query_ms_p50"]),
        Figure("embedding.query_under_bulk_p50", found["query_ms_p50_under_bulk"]),
    ]


async def take_turns(*, texts: int = 600, rounds: int = 3) -> Figures:
    """Take turns, ours and bare, and compare the medians: what else the machine does hits both."""
    sample = sample_texts(texts)
    tokenizer = MiniLm(model_file(), threads=1)
    tokens = [window for text in sample for window in tokenizer.windows(text)]
    session = bare_session()
    provider = build_provider(_CONFIG)
    await provider.warm_up()
    bare_loop(session, tokens[:64])
    ours, bare = [], []
    for _ in track(range(rounds), "Embedding, taking turns"):
        bare.append(bare_loop(session, tokens))
        started = time.perf_counter()
        await provider.embed_passages(sample, deadline=600)
        ours.append(time.perf_counter() - started)
    lone = [await _query_ms(provider, f"what does user {number} drink") for number in range(30)]
    bulk = asyncio.create_task(provider.embed_passages(sample, deadline=600))
    await asyncio.sleep(0.02)
    beside: list[float] = []
    while not bulk.done():
        beside.append(await _query_ms(provider, f"where does user {len(beside)} live"))
        await asyncio.sleep(0.02)
    await provider.aclose()
    return {
        "texts": texts,
        "ours_texts_per_s": texts / statistics.median(ours),
        "bare_texts_per_s": texts / statistics.median(bare),
        "ratio": statistics.median(bare) / statistics.median(ours),
        "query_ms_p50": statistics.median(lone),
        "query_ms_p50_under_bulk": statistics.median(beside),
    }


async def _query_ms(provider: GuardedProvider, text: str) -> float:
    started = time.perf_counter()
    await provider.embed_query(text)
    return (time.perf_counter() - started) * 1000
