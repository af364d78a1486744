"""POST /memories/retrieve and its relatives, GET /memories/search: what a request may say, and what it gets."""

from pathlib import Path
from typing import Any

import pytest

from api_client import Api, memory_api
from problems import refused

ROUTES = ["memories/retrieve", "memories/retrieve/semantic", "memory/retrieve-preview"]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"limit": 0}, "body.limit"),
        ({"limit": 101}, "body.limit"),
        ({"limit": 10**9}, "body.limit"),
        ({"limit": "15"}, "body.limit"),
        ({"limit": 1.5}, "body.limit"),
        ({"limit": None}, "body.limit"),
        ({"limit": True}, "body.limit"),
        ({"token_budget": 0}, "body.token_budget"),
        ({"token_budget": 8001}, "body.token_budget"),
        ({"max_graph_hops": 6}, "body.max_graph_hops"),
        ({"max_graph_hops": -1}, "body.max_graph_hops"),
        ({"min_confidence": -0.1}, "body.min_confidence"),
        ({"min_relevance": 2}, "body.min_relevance"),
        ({"previews": "yes"}, "body.previews"),
        ({"types": "fact"}, "body.types"),
        ({"types": [""]}, "body.types.0"),
        ({"kinds": ["x"] * 51}, "body.kinds"),
        ({"tiers": ["everything"]}, "body.tiers.0"),
        ({"seed_entity_ids": ["x"]}, "body.seed_entity_ids.0"),
        ({"strategy": "psychic"}, "body.strategy"),
        ({"query": None}, "body.query"),
        ({"query": "a\x00b"}, "body.query"),
        ({"query": "x" * 1_048_576}, "body.query"),
        ({"user_id": " "}, "body.user_id"),
        ({"scope": {"facet": ""}}, "body.scope.facet"),
        ({"since": "2026-01-01T00:00:00"}, "body.since"),
    ],
)
async def test_br_034_a_recall_that_cannot_be_carried_out_is_refused_by_name(
    api: Api, route: str, fields: dict[str, Any], place: str
) -> None:
    refused(await api.http.post(route, json={"query": "x", **fields}), 422, place)


async def test_the_semantic_route_takes_no_strategy_and_says_which_it_used(api: Api) -> None:
    await api.save("Ada likes window seats", user_id="ada")

    refused(await api.http.post(ROUTES[1], json={"query": "x", "strategy": "keyword"}), 422, "body.strategy")
    found = await api.http.post(ROUTES[1], json={"query": "window seats", "user_id": "ada"})

    assert found.json()["strategy_used"] == "semantic"


async def test_every_strategy_answers_under_its_name_and_exact_is_recent(api: Api) -> None:
    await api.save("Ada likes window seats", user_id="ada")
    for stated in ("hybrid", "semantic", "keyword", "recent", "exact"):
        found = await api.recall("window", user_id="ada", strategy=stated)
        assert found["strategy_used"] == ("recent" if stated == "exact" else stated)
        assert found["total"] == len(found["memories"]) == 1
        assert set(found) == {
            "memories",
            "total",
            "degraded",
            "strategy_used",
            "no_relevant",
            "asked_times",
            "none_in_time",
        }


async def test_types_kinds_tiers_purposes_and_times_filter(api: Api) -> None:
    await api.save("note one", user_id="ada", type="fact", observed_at="2026-01-01T00:00:00Z", confidence=0.2)
    await api.save("note two", user_id="ada", type="event", purpose="support", observed_at="2026-02-01T00:00:00Z")
    await api.save("note three", agent_id="bot", observed_at="2026-03-01T00:00:00Z")

    async def found(**fields: Any) -> set[str]:
        answer = await api.recall("note", user_id="ada", agent_id="bot", **fields)
        return {memory["content"] for memory in answer["memories"]}

    assert await found() == {"note one", "note two", "note three"}
    assert await found(types=["fact"], kinds=["event"]) == {"note one", "note two"}
    assert await found(tiers=["agent"]) == {"note three"}
    assert await found(purposes=["support"]) == {"note two"}
    assert await found(min_confidence=0.5) == {"note two", "note three"}
    assert await found(since="2026-02-01T00:00:00Z") == {"note two", "note three"}
    assert await found(until="2026-02-01T00:00:00Z") == {"note one"}


async def test_only_the_preview_route_and_explain_say_why(api: Api) -> None:
    await api.save("Ada likes window seats", user_id="ada")
    ask = {"query": "window seats", "user_id": "ada"}

    plain, asked, preview = [
        (await api.http.post(route, json=body)).json()["memories"][0]
        for route, body in ((ROUTES[0], ask), (ROUTES[0], {**ask, "explain": True}), (ROUTES[2], ask))
    ]

    assert "explain" not in plain
    assert asked["explain"].keys() == preview["explain"].keys() >= {"lexical", "vector", "fused", "decay"}


async def test_a_token_budget_keeps_the_first_hit_and_what_still_fits(api: Api) -> None:
    for number, length in enumerate((400, 40, 400, 40)):
        await api.save(f"{number} " + "x" * (length - 2), user_id="ada")

    async def kept(budget: int) -> list[str]:
        found = await api.recall("", user_id="ada", token_budget=budget)
        return [memory["content"][0] for memory in found["memories"]]

    order = [memory["content"][0] for memory in (await api.recall("", user_id="ada"))["memories"]]
    assert order == ["3", "2", "1", "0"]
    assert await kept(1) == ["3"]
    assert await kept(20) == ["3", "1"]
    assert await kept(110) == ["3", "2"]
    assert await kept(120) == ["3", "2", "1"]
    assert await kept(8000) == order


async def test_large_bodies_come_as_previews_where_asked_and_open_gives_the_rest(database: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "apiVersion: keepsake.dev/v1alpha1\nkind: MemoryPolicy\nmetadata: {name: small}\n"
        "spec: {recall: {inlineThresholdBytes: 1024}}\n"
    )
    async with memory_api(database, policy=policy) as api:
        large = await api.save("seats " + "é" * 510, user_id="ada")
        just = await api.save("seats " + "é" * 509, user_id="ada")
        shown = {
            memory["id"]: memory for memory in (await api.recall("seats", user_id="ada", previews=True))["memories"]
        }
        whole = {memory["id"]: memory for memory in (await api.recall("seats", user_id="ada"))["memories"]}
        searched = (await api.http.get("memories/search?user_id=ada&q=seats")).json()["memories"]
        opened = (await api.http.get(f"memories/{large['id']}?user_id=ada")).json()["memory"]

    assert (large["body_size_bytes"], just["body_size_bytes"]) == (1026, 1024)
    preview = shown[large["id"]]
    assert (preview["content"], preview["has_full_body"]) == ("", True)
    assert preview["content_preview"] == ("seats " + "é" * 510)[:240]
    assert shown[just["id"]]["content"] == just["content"]
    assert not {"content_preview", "has_full_body"} & (set(shown[just["id"]]) | set(whole[large["id"]]) | set(opened))
    assert whole[large["id"]]["content"] == opened["content"] == large["content"]
    assert {memory["id"] for memory in searched if "has_full_body" in memory} == {large["id"]}


async def test_search_stays_with_the_subjects_own_and_shows_relations(api: Api) -> None:
    mine = await api.save("seats of ada", user_id="ada")
    hers = await api.save("seats of ada with bot", user_id="ada", agent_id="bot")
    await api.save("seats of all")
    body = {"user_id": "ada", "source_id": mine["id"], "target_id": hers["id"], "relation_type": "next"}
    edge = (await api.http.post("relations", json=body)).json()

    found = (await api.http.get("memories/search?user_id=ada&q=seats&limit=5")).json()["memories"]

    assert {memory["id"] for memory in found} == {mine["id"], hers["id"]}
    assert all(memory["related"] == [edge] and memory["score"] > 0 for memory in found)


@pytest.mark.parametrize("query", ["", "q=", "q=" + "x" * 4097, "q=a%00b", "q=x&limit=0", "q=x&min_confidence=2"])
async def test_a_search_that_cannot_be_carried_out_is_refused(api: Api, query: str) -> None:
    refused(await api.http.get(f"memories/search?{query}"), 422)
