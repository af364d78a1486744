"""The embedder dead, slow or lying: nothing is lost, nobody waits for it, and every answer says what it lacks."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from embedding_server import EmbeddingServer
from memory_api.db.engine import POOL_SIZE
from process.programs import comes_true, keepsake, provider_file
from serving_process import Served, served

DIMENSIONS = 16


@pytest.fixture
async def embedder() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer(dimensions=DIMENSIONS) as server:
        yield server


@contextmanager
def serving(
    database: str, folder: Path, embedder: EmbeddingServer, *arguments: str, model: str = "m", save: str = "3s"
) -> Iterator[Served]:
    spec = (
        f"{{type: vllm, model: {model}, baseURL: '{embedder.base_url}', "
        f"embedding: {{dimensions: {embedder.dimensions}, batchSize: 32}}, timeouts: {{save: {save}, query: 500ms}}}}"
    )
    settings = {"KEEPSAKE_PROVIDER_FILE": provider_file(folder, spec), "KEEPSAKE_LOG_LEVEL": "error"}
    with served(database, settings, *arguments) as place:
        yield place


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, timeout=30) as opened:
        yield opened


async def save(client: httpx.AsyncClient, place: Served, content: str) -> dict[str, Any]:
    answer = await client.post(f"{place.api}/api/v1/memories", json={"content": content, "user_id": "ada"})
    assert answer.status_code == 201, answer.text
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


async def recall(client: httpx.AsyncClient, place: Served, query: str) -> dict[str, Any]:
    answer = await client.post(f"{place.api}/api/v1/memories/retrieve", json={"query": query, "user_id": "ada"})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def vectors(client: httpx.AsyncClient, place: Served) -> dict[str, int]:
    health = (await client.get(f"{place.api}/api/v1/memory/health")).json()["embeddings"]
    return {state: health[state] for state in ("ready", "pending", "failed")}


async def test_a_dead_embedder_leaves_saves_pending_and_recall_by_words_until_it_is_back(
    database: str, tmp_path: Path, embedder: EmbeddingServer, client: httpx.AsyncClient
) -> None:
    with serving(database, tmp_path, embedder) as place:
        await embedder.stop()
        saved = await save(client, place, "Ada keeps bees on her roof")
        assert saved["embedding"] == "pending"
        found = await recall(client, place, "bees")
        assert found["memories"][0]["id"] == saved["id"]
        assert (found["strategy_used"], found["degraded"]) == ("keyword", ["embedding:unavailable"])
        answer = await client.get(f"{place.health}/readyz")
        assert (answer.status_code, answer.json()["degraded"]) == (200, ["embedding:unavailable"])
        async with embedder:

            async def embedded() -> bool:
                return await vectors(client, place) == {"ready": 1, "pending": 0, "failed": 0}

            await comes_true(embedded, within=20)
            found = await recall(client, place, "what insects live on the roof")
            assert (found["strategy_used"], found["degraded"]) == ("hybrid", [])
            answer = await client.get(f"{place.health}/readyz")
            assert answer.json() == {"status": "ready", "degraded": []}


@pytest.mark.parametrize(
    ("lie", "fault"),
    [("nan", "bad_vector"), ("wrong_size", "bad_vector"), ("hang", "timeout"), ("not_json", "unavailable")],
)
async def test_a_lying_embedder_spoils_no_save_and_no_recall(
    database: str, tmp_path: Path, embedder: EmbeddingServer, client: httpx.AsyncClient, lie: Any, fault: str
) -> None:
    with serving(database, tmp_path, embedder, "--no-workers", save="500ms") as place:
        embedder.answer = lie
        saved = await save(client, place, "Ada keeps bees on her roof")
        assert saved["embedding"] == "pending"
        found = await recall(client, place, "bees")
        assert found["memories"][0]["id"] == saved["id"]
        assert found["strategy_used"] == "keyword"
        assert found["degraded"][0].startswith(f"embedding:{fault}")


async def test_br_133_a_slow_embedder_holds_no_connection(
    database: str, tmp_path: Path, embedder: EmbeddingServer, client: httpx.AsyncClient
) -> None:
    with serving(database, tmp_path, embedder, save="30s") as place:
        embedder.delay = 3.0
        count = 2 * POOL_SIZE
        saving = [asyncio.create_task(save(client, place, f"number {n}")) for n in range(count)]

        async def more_than_the_pool_wait() -> bool:
            return embedder.concurrent > POOL_SIZE

        await comes_true(more_than_the_pool_wait)
        listed = await client.get(f"{place.api}/api/v1/memories?user_id=ada", timeout=2.5)
        assert listed.status_code == 200
        assert (await client.get(f"{place.health}/readyz")).status_code == 200
        assert [memory["embedding"] for memory in await asyncio.gather(*saving)] == ["ready"] * count


async def test_br_024_one_refused_text_keeps_no_other_from_its_vector(
    database: str, tmp_path: Path, embedder: EmbeddingServer, client: httpx.AsyncClient
) -> None:
    embedder.refused_word = "unspeakable"
    with serving(database, tmp_path, embedder) as place:
        batch = [{"content": f"fact {n}", "user_id": "ada"} for n in range(9)]
        batch.insert(6, {"content": "an unspeakable fact", "user_id": "ada"})
        answer = await client.post(f"{place.api}/api/v1/memories/batch", json={"memories": batch})
        results = answer.json()["results"]
        assert [result["status"] for result in results] == [201] * 10
        assert {result["memory"]["embedding"] for result in results} == {"pending"}

        async def settled() -> bool:
            return await vectors(client, place) == {"ready": 9, "pending": 0, "failed": 1}

        await comes_true(settled, within=40)
        refused = results[6]["memory"]["id"]
        opened = await client.get(f"{place.api}/api/v1/memories/{refused}?user_id=ada")
        assert opened.json()["memory"]["embedding"] == "failed"
        assert (await client.get(f"{place.health}/readyz")).json() == {"status": "ready", "degraded": []}
        metrics = (await client.get(f"{place.metrics}/metrics")).text
        assert 'keepsake_embedding_queue{state="failed"} 1.0' in metrics
        assert "keepsake_backfill_embedded_total 9.0" in metrics


async def test_br_073_another_model_or_dimension_is_refused_until_reembed_replaces_every_vector(
    database: str, tmp_path: Path, embedder: EmbeddingServer, client: httpx.AsyncClient
) -> None:
    with serving(database, tmp_path, embedder, model="first") as place:
        for n in range(5):
            assert (await save(client, place, f"bees number {n}"))["embedding"] == "ready"
    other = EmbeddingServer(dimensions=24)
    spec = f"{{type: vllm, model: second, baseURL: '{embedder.base_url}', embedding: {{dimensions: 24}}}}"
    refused = keepsake(
        "serve", "--port", "0", KEEPSAKE_DATABASE_URL=database, KEEPSAKE_PROVIDER_FILE=provider_file(tmp_path, spec)
    )
    assert refused.returncode == 2
    assert "first (16 dimensions)" in refused.stderr.splitlines()[-1]
    assert "second (24 dimensions)" in refused.stderr.splitlines()[-1]
    async with other:
        other.fail(1000, status=503)
        with serving(database, tmp_path, other, "--reembed", model="second") as place:
            found = await recall(client, place, "bees")
            assert len(found["memories"]) == 5
            assert (found["strategy_used"], found["degraded"]) == ("keyword", ["embedding:reembedding"])
            assert (await client.get(f"{place.health}/readyz")).json()["degraded"] == ["embedding:reembedding"]
            assert (await vectors(client, place))["pending"] == 5
            status = (await client.get(f"{place.api}/api/v1/memory/engine-status")).json()
            assert status["answering"] == "keyword"
        with serving(database, tmp_path, other, model="second") as place:  # a restart does not forget
            assert (await recall(client, place, "bees"))["degraded"] == ["embedding:reembedding"]
            other.recover()

            async def hybrid() -> bool:
                return (await recall(client, place, "bees"))["strategy_used"] == "hybrid"

            await comes_true(hybrid, within=30)
            assert await vectors(client, place) == {"ready": 5, "pending": 0, "failed": 0}
