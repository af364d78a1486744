"""Health and engine-status over HTTP."""

from api_client import Api


async def test_health_counts_memories_and_vectors(api: Api) -> None:
    empty = (await api.http.get("memory/health")).json()
    await api.save("x1", user_id="ada")
    after = (await api.http.get("memory/health")).json()

    assert empty == {
        "status": "ok",
        "degraded": [],
        "memories": 0,
        "embeddings": {"ready": 0, "pending": 0, "failed": 0, "coverage": 1.0, "oldest_pending_seconds": 0.0},
    }
    assert (after["memories"], after["embeddings"]["ready"], after["embeddings"]["coverage"]) == (1, 1, 1.0)


async def test_engine_status_says_what_answers_and_why(api: Api) -> None:
    status = (await api.http.get("memory/engine-status")).json()

    assert (status["answering"], status["workspace"]["name"]) == ("hybrid", "default")
    assert status["why"]
    assert status["store"]["extensions"]["vector"]
    assert status["embedding"]["model"] == "mock"
    policy = {"name": "built-in", "state": "active", "error": None, "watch_fault": None, "may_merge": True}
    assert status["policy"] == policy


async def test_the_api_port_says_that_the_process_lives_and_the_health_port_that_it_may_serve(api: Api) -> None:
    alive = await api.http.get("http://memory-api/healthz")
    ready = await api.health.get("readyz")

    assert (alive.status_code, alive.text) == (200, "ok")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "degraded": []})
