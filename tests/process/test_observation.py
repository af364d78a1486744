"""What can be seen from outside: metrics, logs, and the policy as it is edited."""

import json
import logging
import re
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import httpx
import pytest
import structlog

from api_client import Api, memory_api
from embedding_server import EmbeddingServer
from manifest_table import ROOT
from memory_api.embedded.account import USER_VARIABLE
from memory_api.manifests.secrets import API_KEY, API_KEY_FILE, SECRETS_DIR
from memory_api.settings import Settings
from memory_api.telemetry import Metrics, configure_logs
from process.programs import policy_file, provider_file
from serving_process import served
from waiting import eventually

DOCUMENT = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


async def scraped(api: Api) -> str:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(api.memory_api.metrics_app), base_url="http://memory-api"
    ) as client:
        answer = await client.get("/metrics")
    assert answer.status_code == 200
    return answer.text


def test_every_setting_is_documented_and_no_other() -> None:
    known = {f"KEEPSAKE_{name.upper()}" for name in Settings.model_fields}
    known |= {SECRETS_DIR, API_KEY, API_KEY_FILE, USER_VARIABLE}
    assert set(re.findall(r"^\| `(KEEPSAKE_\w+)`", DOCUMENT, re.MULTILINE)) == known


def test_every_metric_is_documented_with_its_labels_and_no_other() -> None:
    known = set()
    for family in Metrics().registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        known.add((name, family.type))
    documented = re.findall(r"^\| `(keepsake_\w+)` \| (\w+) \|", DOCUMENT, re.MULTILINE)
    assert set(documented) == known


async def test_saves_are_counted_by_the_state_of_their_vector(api: Api) -> None:
    await api.save("Ada prefers window seats", user_id="ada")
    await api.save("Refunds take 30 days")
    assert 'keepsake_saves_total{embedding="ready"} 2.0' in await scraped(api)


async def test_recalls_are_counted_by_the_strategy_that_answered(api: Api) -> None:
    await api.recall("seats", user_id="ada")
    await api.recall("seats", user_id="ada", strategy="keyword")
    text = await scraped(api)
    assert 'keepsake_recalls_total{strategy="hybrid"} 1.0' in text
    assert 'keepsake_recalls_total{strategy="keyword"} 1.0' in text


async def test_degraded_recalls_are_counted_by_their_reason(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        await api.recall("seats", user_id="ada")
        assert 'keepsake_recall_degraded_total{reason="embedding:not_configured"} 1.0' in await scraped(api)


async def test_calls_to_the_embedder_are_counted_and_timed(api: Api) -> None:
    await api.save("Ada prefers window seats", user_id="ada")
    await api.recall("seats", user_id="ada")
    text = await scraped(api)
    for operation in ("passages", "query"):
        assert f'keepsake_embedding_calls_total{{operation="{operation}",outcome="ok"}} 1.0' in text
        assert f'keepsake_embedding_seconds_count{{operation="{operation}"}} 1.0' in text


async def test_the_queue_is_measured_when_it_is_asked_for(database: str) -> None:
    async with memory_api(database, workers=False) as api:
        many = [{"content": f"fact {n}", "user_id": "ada"} for n in range(33)]  # more than are embedded at once
        assert (await api.http.post("memories/batch", json={"memories": many})).status_code == 200
        text = await scraped(api)
        assert 'keepsake_embedding_queue{state="pending"} 33.0' in text
        assert 'keepsake_embedding_queue{state="failed"} 0.0' in text
        assert "keepsake_ready 1.0" in text


async def test_br_069_requests_are_counted_by_template_and_nobody_is_named(api: Api) -> None:
    for n in range(20):
        saved = await api.save("something", user_id=f"person-{n}")
        await api.http.get(f"memories/{saved['id']}", params={"user_id": f"person-{n}"})
    text = await scraped(api)
    assert 'memories/{id}",status="200"} 20.0' in text
    assert "person-" not in text
    assert saved["id"] not in text


async def test_head_is_counted_as_head(api: Api) -> None:
    assert (await api.http.head("memory/engine-status")).status_code == 200
    text = await scraped(api)
    assert 'method="HEAD",route="/api/v1/memory/engine-status",status="200"} 1.0' in text
    assert 'method="GET",route="/api/v1/memory/engine-status"' not in text


async def test_no_long_word_stays_in_memory_for_having_been_asked(api: Api) -> None:
    await api.recall(" ".join("x" * length for length in (5, 64, 65, 5_000)), user_id="ada")
    kept = api.memory_api.standing.serving().words._counts
    assert sorted(map(len, kept)) == [5, 64]


def test_an_edit_of_the_policy_acts_within_two_seconds_and_a_broken_one_changes_nothing(
    database: str, tmp_path: Path
) -> None:
    policy = policy_file(tmp_path, "{recall: {halfLife: {user: none}}}")
    settings = {
        "KEEPSAKE_PROVIDER_FILE": provider_file(tmp_path),
        "KEEPSAKE_POLICY_FILE": str(policy),
        "KEEPSAKE_LOG_LEVEL": "error",
    }
    with served(database, settings) as place, httpx.Client(base_url=f"{place.api}/api/v1/", trust_env=False) as http:
        learnt = "2020-01-01T00:00:00Z"
        body = {"content": "Ada prefers window seats", "user_id": "ada", "observed_at": learnt}
        assert http.post("memories", json=body).status_code == 201

        def first() -> dict[str, float]:
            ask = {"query": "window", "user_id": "ada", "explain": True}
            (hit,) = http.post("memories/retrieve", json=ask).json()["memories"]
            explained: dict[str, float] = hit["explain"]
            return explained

        assert first()["decay"] == 1
        policy_file(tmp_path, "{recall: {halfLife: {user: 30d}}, tierPrecedence: {multiplicative: {user: '2'}}}")
        edited = time.monotonic()
        eventually(lambda: first()["decay"] < 0.01 and first()["tier_weight"] == 2)
        assert time.monotonic() - edited < 2

        def ready() -> tuple[int, list[str]]:
            answer = httpx.get(f"{place.health}/readyz", trust_env=False)
            return answer.status_code, answer.json()["degraded"]

        def valid() -> bool:
            return "keepsake_policy_valid 1.0" in httpx.get(f"{place.metrics}/metrics", trust_env=False).text

        assert valid()
        policy_file(tmp_path, "{recall: {halfLife: {user: 2w}}}")
        eventually(lambda: ready() == (200, ["policy:invalid"]))
        assert not valid()
        error = http.get("memory/engine-status").json()["policy"]["error"]
        assert re.search(r"policy\.yaml:\d+: spec\.recall\.halfLife\.user: Invalid value", error)
        assert first()["tier_weight"] == 2
        policy_file(tmp_path, "{recall: {halfLife: {user: none}}}")
        eventually(lambda: ready() == (200, []))
        assert valid()
        assert first()["decay"] == 1


async def test_logs_are_json_with_request_ids_and_hold_no_content_and_no_secret(database: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with EmbeddingServer(dimensions=8) as embedder:
        embedder.fail(100, status=401, body='{"error": {"message": "bad key canary-key"}}')
        spec = (
            f"{{type: openai, model: m, baseURL: '{embedder.base_url}', embedding: {{dimensions: 8}}, "
            "credential: {secretRef: {name: a, key: b}}}"
        )
        settings = {
            "KEEPSAKE_PROVIDER_FILE": provider_file(tmp_path, spec),
            "KEEPSAKE_PROVIDER_API_KEY": "canary-key",
            "KEEPSAKE_LOG_LEVEL": "debug",
        }
        with log.open("wb") as out, served(database, settings, log=out) as place:
            async with httpx.AsyncClient(base_url=f"{place.api}/api/v1/", trust_env=False, timeout=20) as http:
                named = {"X-Request-Id": "my-request"}
                memory = {"content": "canary-content", "user_id": "canary-user", "title": "canary-title"}
                assert (await http.post("memories", json=memory, headers=named)).status_code == 201
                await http.post("memories/retrieve", json={"query": "canary-query", "user_id": "canary-user"})
                await http.get("memories?user_id=canary-user&type=canary-type")
                await http.post("memories", content=b'{"content": "canary-broken')
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert all({"event", "level", "timestamp"} <= set(line) for line in lines)
    assert {"my-request"} == {line["request_id"] for line in lines if line.get("request_id", "").startswith("my")}
    assert [line for line in lines if line["event"] == "saved without a vector"]
    assert "canary" not in log.read_text()


@pytest.fixture
def stream() -> Iterator[StringIO]:
    """Give what is logged, and put logging back afterwards."""
    stream, root = StringIO(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    configure_logs(to=stream)
    yield stream
    logging.basicConfig(handlers=handlers, level=level, force=True)
    structlog.reset_defaults()


def test_an_exception_is_logged_by_its_way_and_not_by_its_words(stream: StringIO) -> None:
    try:
        raise ValueError("canary") from KeyError("canary")
    except ValueError as error:
        structlog.get_logger().error("request failed", exc_info=error)
    line = json.loads(stream.getvalue())
    assert line["trace"][0] == "builtins.ValueError"
    assert "builtins.KeyError" in line["trace"]
    assert any(__file__ in place for place in line["trace"])
    assert "canary" not in stream.getvalue()


@pytest.mark.parametrize("logger", ["uvicorn.error", "asyncio", "sqlalchemy.pool"])
def test_what_libraries_warn_of_is_json_too(logger: str, stream: StringIO) -> None:
    logging.getLogger(logger).warning("said by %s", "a library")
    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"]) == ("said by a library", "warning")
