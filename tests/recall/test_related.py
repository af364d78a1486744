"""Related memories: along stored relations, under the same visibility, below the hit that brought them."""

from pathlib import Path
from typing import Any

import pytest

from api_client import Api, memory_api
from ranking_files import write_policy


async def _relate(api: Api, source: dict[str, Any], target: dict[str, Any], **fields: Any) -> None:
    edge = {"source_id": source["id"], "target_id": target["id"], "relation_type": "see_also", **fields}
    answer = await api.http.post("relations", json={"user_id": "ada", **edge})
    assert answer.status_code == 201, answer.text


async def test_a_related_memory_stands_below_the_hit_that_brought_it(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        hit = await api.save("zebra", user_id="ada")
        friend = await api.save("copper kettle", user_id="ada")
        await _relate(api, hit, friend, weight=0.8)
        found = await api.recall("zebra", user_id="ada", explain=True)

    first, second = found["memories"]
    assert (first["id"], second["id"]) == (hit["id"], friend["id"])
    assert second["score"] == pytest.approx(first["score"] * 0.8 * 0.5)
    assert second["explain"]["via"] == {"memory_id": hit["id"], "relation_type": "see_also"}
    assert first["related"][0]["target_id"] == friend["id"]


async def test_edges_are_followed_both_ways_as_many_hops_as_allowed(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        chain = [await api.save(word, user_id="ada") for word in ("zebra", "copper", "marble", "violin")]
        await _relate(api, chain[1], chain[0])
        await _relate(api, chain[1], chain[2])
        await _relate(api, chain[3], chain[2])
        reached = [
            [
                memory["content"]
                for memory in (await api.recall("zebra", user_id="ada", max_graph_hops=hops))["memories"]
            ]
            for hops in (0, 1, 2, 3)
        ]
    assert reached == [
        ["zebra"],
        ["zebra", "copper"],
        ["zebra", "copper", "marble"],
        ["zebra", "copper", "marble", "violin"],
    ]


async def test_only_the_relation_types_that_are_asked_for_or_allowed_are_followed(
    database: str, tmp_path: Path
) -> None:
    policy = write_policy(tmp_path, recall={"graphExpansion": {"relationTypes": ["causes"]}})
    async with memory_api(database, provider=None, policy=policy) as api:
        hit, cause, other = [await api.save(word, user_id="ada") for word in ("zebra", "copper", "marble")]
        await _relate(api, hit, cause, relation_type="causes")
        await _relate(api, hit, other, relation_type="mentions")
        by_policy = await api.recall("zebra", user_id="ada")
        by_request = await api.recall("zebra", user_id="ada", relation_types=["mentions"])
    assert [memory["content"] for memory in by_policy["memories"]] == ["zebra", "copper"]
    assert [memory["content"] for memory in by_request["memories"]] == ["zebra", "marble"]


async def test_br_115_expansion_never_leaves_the_container_or_the_subject(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        hit = await api.save("zebra", user_id="ada", facet="project:a")
        inside = await api.save("copper", user_id="ada", facet="project:a")
        outside = await api.save("marble", user_id="ada", facet="project:ab")
        await _relate(api, hit, inside)
        await _relate(api, hit, outside)
        found = await api.recall("zebra", user_id="ada", facet="project:a")
        stranger = await api.recall("zebra", user_id="bob", seed_entity_ids=[hit["id"]])
    assert [memory["content"] for memory in found["memories"]] == ["zebra", "copper"]
    assert [edge["target_id"] for edge in found["memories"][0]["related"]] == [inside["id"]]
    assert stranger["memories"] == []


async def test_a_related_memory_passes_the_requests_filters_or_stays_out(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        hit = await api.save("zebra", user_id="ada", type="fact")
        event = await api.save("copper", user_id="ada", type="event")
        await _relate(api, hit, event)
        found = await api.recall("zebra", user_id="ada", types=["fact"])
    assert [memory["id"] for memory in found["memories"]] == [hit["id"]]


async def test_a_seed_is_walked_from_without_being_a_hit(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        await api.save("zebra", user_id="ada")
        seed, friend = [await api.save(word, user_id="ada") for word in ("copper", "marble")]
        await _relate(api, seed, friend)
        found = await api.recall("zebra", user_id="ada", seed_entity_ids=[seed["id"]])
    assert [memory["content"] for memory in found["memories"]] == ["zebra", "marble"]


async def test_the_token_budget_keeps_the_first_hit_and_skips_what_does_not_fit(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        await api.save("zebra zoo " + "long " * 200, user_id="ada")
        await api.save("zebra " + "long " * 50, user_id="ada")
        await api.save("zebra", user_id="ada")
        everything = await api.recall("zebra zoo", user_id="ada")
        kept = await api.recall("zebra zoo", user_id="ada", token_budget=5)
        room = await api.recall("zebra zoo", user_id="ada", token_budget=260)
    assert len(everything["memories"]) == 3
    assert [memory["id"] for memory in kept["memories"]] == [everything["memories"][0]["id"]]
    assert [len(memory["content"]) < 20 for memory in room["memories"]] == [False, True]
