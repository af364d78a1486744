"""What is read follows what is asked for: lists and recalls of a few rows beside thousands of shared ones."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text

from api_client import Api, memory_api
from memory_api.db.engine import transaction
from sent_statements import nodes_run, recorded

SHARED, MINE = 6_000, 40


@pytest.fixture
async def store(database: str) -> AsyncIterator[Api]:
    """Give a store of shared rows, a tenth of them about something, and few rows of ada's."""
    async with memory_api(database, provider=None, workers=False) as api:
        async with transaction(api.memory_api.standing.serving().engine) as connection:
            await connection.execute(
                text(
                    "insert into memories (id, user_id, agent_id, kind, content, confidence, about_kind, about_key,"
                    " observed_at, confirmed_at, created_at)"
                    " select gen_random_uuid(), case when n <= :mine then 'ada' else '' end,"
                    " case when n % 3 = 0 then 'bot' else '' end, 'fact', 'zebra ' || n || repeat(' note', 150), 0.7,"
                    " case when n % 10 = 0 then 'person' end, case when n % 10 = 0 then 'p' || n end, now(), now(),"
                    " now() - n * interval '1 second' from generate_series(1, :shared) as n"
                ),
                {"shared": SHARED, "mine": MINE},
            )
        async with api.memory_api.standing.serving().engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.execute(text("vacuum analyze memories"))
        yield api


async def _most_rows_read(api: Api, method: str, path: str, **request: Any) -> float:
    """The most rows of `memories` that any step of the request took, over all statements that it sent."""
    engine = api.memory_api.standing.serving().engine
    with recorded(engine) as sent:
        answer = await api.http.request(method, path, **request)
    assert answer.status_code == 200, answer.text
    ran = [node for one in sent if " memories " in one[0] for node in await nodes_run(engine, one)]
    scans = [node for node in ran if node.get("Relation Name") == "memories"]
    assert scans
    assert "Seq Scan" not in {node["Node Type"] for node in scans}
    return max(node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) for node in scans)


@pytest.mark.parametrize("tiers", [["user"], ["user_for_agent"], ["user", "user_for_agent"]])
async def test_a_recall_of_a_users_tiers_does_not_span_the_shared_rows(store: Api, tiers: list[str]) -> None:
    ask = {"query": "zebra", "user_id": "ada", "agent_id": "bot", "tiers": tiers}
    assert await _most_rows_read(store, "POST", "memories/retrieve", json=ask) <= MINE


@pytest.mark.parametrize(
    "query",
    [
        {"user_id": "ada"},
        {"user_id": "ada", "include_shared": True},
        {"user_id": "ada", "agent_id": "bot", "include_shared": True},
        {"user_id": "ada", "include_shared": True, "tier": "user"},
        {"user_id": "ada", "include_shared": True, "about_kind": "person", "about_key": "p5000"},
        {"user_id": "ada", "include_shared": True, "about_key": "p5000"},
    ],
)
async def test_a_page_of_a_list_reads_little_more_than_it_shows(store: Api, query: dict[str, Any]) -> None:
    assert await _most_rows_read(store, "GET", "memories", params={**query, "limit": 10}) <= MINE + 11


async def test_a_list_about_a_kind_that_is_not_there_reads_nothing(store: Api) -> None:
    query = {"user_id": "ada", "include_shared": True, "about_kind": "nobody"}
    assert await _most_rows_read(store, "GET", "memories", params=query) == 0


@pytest.mark.parametrize("paging", [{"count": True}, {"offset": 3_000}])
async def test_counting_and_skipping_shared_rows_reads_the_index_alone(store: Api, paging: dict[str, Any]) -> None:
    engine = store.memory_api.standing.serving().engine
    with recorded(engine) as sent:
        answer = await store.http.get("institutional/memories", params=paging)
    assert answer.status_code == 200
    ran = [node for one in sent for node in await nodes_run(engine, one)]
    many = [node for node in ran if node.get("Relation Name") == "memories" and node["Actual Rows"] > 100]
    assert {node["Node Type"] for node in many} == {"Index Only Scan"}
