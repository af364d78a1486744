"""Provider type `transformers`: the bundled model in this process, on its own threads.

Queries and bulk share one model but no queue. Bulk work runs on one thread in short sub-batches of similar length;
between two of them it stands aside while a query is at work, and for the moment after it in which the database looks
for that query's vector. So a recall shares the cores with one sub-batch at most, and a save waits for one sub-batch
of a backfill rather than for the backfill. Nothing here blocks the event loop.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from memory_api.embedding.cores import usable_cores
from memory_api.embedding.minilm import DIMENSIONS, MODEL_ID, MiniLm, model_file
from memory_api.embedding.provider import ProviderConfig, Vector
from memory_api.errors import ConfigurationError, EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Padded tokens of a sub-batch: about 20 ms on two cores, and larger ones are hardly faster for each text.
_SUB_BATCH_TOKENS = 256
_TOKENIZED_AT_ONCE = 8
_LONGEST_ASIDE = 0.25
# What the database and the answer take of a recall once the query's vector is there.
_REST_OF_A_RECALL = 0.03
_MOST_THREADS = 8
_QUERY_THREADS = 2
_Result = TypeVar("_Result")


class LocalEmbedder:
    """all-MiniLM-L6-v2 in process; loads at the first call, or at `warm_up`."""

    model = MODEL_ID
    dimensions = DIMENSIONS

    def __init__(self, config: ProviderConfig) -> None:
        if config.model != MODEL_ID:
            raise ConfigurationError(
                f"Provider {config.name!r}: type transformers has one model, {MODEL_ID!r}, not {config.model!r}. "
                "Serve another model with vllm or ollama and name that type."
            )
        if config.dimensions not in (None, DIMENSIONS):
            raise ConfigurationError(
                f"Provider {config.name!r}: embedding.dimensions is {config.dimensions}, but {MODEL_ID} has "
                f"{DIMENSIONS}. Leave the field out."
            )
        self._file = model_file()
        self._bulk = ThreadPoolExecutor(1, thread_name_prefix="embed-bulk")
        self._queries = ThreadPoolExecutor(_QUERY_THREADS, thread_name_prefix="embed-query")
        self._loading: asyncio.Task[MiniLm] | None = None
        self._recalls_at_work = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._closed = False

    async def warm_up(self) -> None:
        """Load the model and run it once, so that the first recall finds it warm."""
        await self.embed(["warm"], deadline=0, urgent=True)

    async def embed(self, texts: Sequence[str], *, deadline: float, urgent: bool) -> list[Vector]:
        del deadline  # the guard cancels; what a thread has begun it finishes, one sub-batch at most
        model = await self._loaded()
        if not urgent:
            return await self._embed_bulk(model, texts)
        self._recalls_at_work += 1
        self._quiet.clear()
        try:
            return await self._on(self._queries, lambda: [_pooled(model.run(model.windows(text))) for text in texts])
        finally:
            asyncio.get_running_loop().call_later(_REST_OF_A_RECALL, self._go_on)

    def _go_on(self) -> None:
        self._recalls_at_work -= 1
        if not self._recalls_at_work:
            self._quiet.set()

    async def aclose(self) -> None:
        self._closed = True
        for pool in (self._queries, self._bulk):
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)

    async def _embed_bulk(self, model: MiniLm, texts: Sequence[str]) -> list[Vector]:
        pieces: list[list[int]] = []
        counts: list[int] = []
        for start in range(0, len(texts), _TOKENIZED_AT_ONCE):
            await self._stand_aside()
            some = texts[start : start + _TOKENIZED_AT_ONCE]
            for windows in await self._on(self._bulk, partial(_tokenized, model, some)):
                pieces += windows
                counts.append(len(windows))
        rows: dict[int, NDArray[np.float32]] = {}
        for batch in _sub_batches([len(piece) for piece in pieces]):
            await self._stand_aside()
            vectors = await self._on(self._bulk, partial(model.run, [pieces[number] for number in batch]))
            rows.update(zip(batch, vectors, strict=True))
        return await self._on(self._bulk, partial(_regrouped, rows, counts))

    async def _stand_aside(self) -> None:
        """Let queries go first, yet not for ever: a busy service must still embed what it saved."""
        if not self._quiet.is_set():
            try:
                async with asyncio.timeout(_LONGEST_ASIDE):
                    await self._quiet.wait()
            except TimeoutError:
                return

    async def _loaded(self) -> MiniLm:
        """Load once for all callers; a cancelled one leaves the load to the others, a failed load is tried anew."""
        if self._loading is None or (self._loading.done() and _failed(self._loading)):
            threads = min(usable_cores(), _MOST_THREADS)
            self._loading = asyncio.create_task(self._on(self._bulk, partial(MiniLm, self._file, threads=threads)))
            self._loading.add_done_callback(_failed)
        return await asyncio.shield(self._loading)

    async def _on(self, pool: ThreadPoolExecutor, work: Callable[[], _Result]) -> _Result:
        if self._closed:
            raise EmbeddingError("unavailable", "the embedding provider is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work)
        except asyncio.CancelledError:
            waiter = asyncio.current_task()
            if self._closed and waiter is not None and not waiter.cancelling():
                raise EmbeddingError("unavailable", "the embedding provider is closed") from None
            raise


def _failed(task: asyncio.Task[MiniLm]) -> bool:
    """Whether a finished load failed; asking also marks its exception as seen."""
    return task.cancelled() or task.exception() is not None


def _tokenized(model: MiniLm, texts: Sequence[str]) -> list[list[list[int]]]:
    return [model.windows(text) for text in texts]


def _sub_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions grouped by similar length, longest first: little padding, and the last batches are the short ones."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > _SUB_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _pooled(rows: "NDArray[np.float32]") -> Vector:
    """The mean of a text's windows, at unit length."""
    import numpy as np

    mean = rows.mean(axis=0)
    length = float(np.linalg.norm(mean))
    if not np.isfinite(length) or length < 1e-6:
        raise EmbeddingError("bad_vector", "the bundled model gave a vector without direction")
    vector: Vector = (mean / length).tolist()
    return vector


def _regrouped(rows: "dict[int, NDArray[np.float32]]", counts: Sequence[int]) -> list[Vector]:
    import numpy as np

    numbers = iter(range(len(rows)))
    return [_pooled(np.stack([rows[next(numbers)] for _ in range(count)])) for count in counts]
