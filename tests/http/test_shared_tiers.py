"""/institutional/memories and /agent-memories."""

from typing import Any

import pytest

from api_client import Api
from problems import refused


async def test_an_institutional_memory_belongs_to_nobody_and_everybody_may_recall_it(api: Api) -> None:
    answer = await api.http.post(
        "institutional/memories", json={"content": "Refunds take 30 days", "type": "fact", "scope": {"facet": "shop"}}
    )

    memory = answer.json()["memory"]
    assert (memory["tier"], memory["facet"]) == ("institutional", "shop")
    assert not {"user_id", "agent_id"} & set(memory)
    assert (await api.http.get("http://memory-api" + answer.headers["location"])).json()["memory"] == memory
    assert (await api.http.get("institutional/memories?count=true")).json() == {"memories": [memory], "total": 1}
    for subject in ({}, {"user_id": "ada"}, {"agent_id": "bot"}, {"user_id": "ada", "agent_id": "bot"}):
        assert [hit["id"] for hit in (await api.recall("refunds", **subject))["memories"]] == [memory["id"]]


@pytest.mark.parametrize("agent", [{"agent_id": "bot"}, {"agent": "bot"}, {"scope": {"agent": "bot"}}])
async def test_an_agents_memory_is_for_that_agent_and_all_its_users(api: Api, agent: dict[str, Any]) -> None:
    answer = await api.http.post("agent-memories", json={"content": "Greet in French", **agent})

    memory = answer.json()["memory"]
    assert (memory["tier"], memory["agent_id"]) == ("agent", "bot")
    assert (await api.http.get("agent-memories?agent=bot&type=observation")).json()["memories"] == [memory]
    assert (await api.http.get("agent-memories?agent_id=other")).json() == {"memories": []}
    found = [(await api.recall("greet", **who))["memories"] for who in ({"agent_id": "bot", "user_id": "ada"}, {})]
    assert [[hit["id"] for hit in hits] for hits in found] == [[memory["id"]], []]


@pytest.mark.parametrize(
    ("route", "fields", "place"),
    [
        ("institutional/memories", {"user_id": "ada"}, "body.user_id"),
        ("institutional/memories", {"agent_id": "bot"}, "body.agent_id"),
        ("institutional/memories", {"scope": {"user_id": "ada"}}, "body.scope.user_id"),
        ("institutional/memories", {"facet": ""}, "body.facet"),
        ("institutional/memories", {"type": "rumour"}, "body.type"),
        ("agent-memories", {}, "body.agent_id"),
        ("agent-memories", {"agent_id": ""}, "body.agent_id"),
        ("agent-memories", {"agent_id": "bot", "user_id": "ada"}, "body.user_id"),
    ],
)
async def test_a_subject_of_another_tier_is_refused_by_name(
    api: Api, route: str, fields: dict[str, Any], place: str
) -> None:
    refused(await api.http.post(route, json={"content": "x1", **fields}), 422, place)
    assert (await api.http.get("memory/health")).json()["memories"] == 0


async def test_a_list_of_an_agents_memories_needs_the_agent(api: Api) -> None:
    refused(await api.http.get("agent-memories"), 422, "query.agent_id")
    refused(await api.http.get("institutional/memories?user_id=ada"), 422, "query.user_id")


async def test_the_lists_are_paged(api: Api) -> None:
    for number in range(5):
        await api.save(f"note {number}")
    first = (await api.http.get("institutional/memories?limit=3")).json()
    rest = (await api.http.get("institutional/memories", params={"cursor": first["next_cursor"]})).json()

    contents = [memory["content"] for page in (first, rest) for memory in page["memories"]]
    assert contents == [f"note {number}" for number in (4, 3, 2, 1, 0)]
