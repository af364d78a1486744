"""/relations: typed edges between memories."""

import asyncio
import itertools
from typing import Any

import pytest

from api_client import Api
from problems import refused

NOWHERE = "018f0000-0000-7000-8000-000000000000"


async def _two(api: Api) -> dict[str, str]:
    source, target = await api.save("Ada moved to Lyon", user_id="ada"), await api.save("Lyon office opens at nine")
    return {"source_id": source["id"], "target_id": target["id"]}


async def test_an_edge_comes_back_as_it_was_stated(api: Api) -> None:
    ends = await _two(api)

    saved = await api.http.post(
        "relations", json={**ends, "relation_type": "located_in", "weight": 0.25, "user_id": "ada"}
    )

    assert saved.status_code == 201, saved.text
    edge = saved.json()
    assert set(edge) == {"id", "source_id", "target_id", "relation_type", "weight", "created_at"}
    assert {key: edge[key] for key in ("relation_type", "weight", *ends)} == {
        "relation_type": "located_in",
        "weight": 0.25,
        **ends,
    }
    for memory_id in (None, ends["source_id"], ends["target_id"]):
        query = {"user_id": "ada", **({"memory_id": memory_id} if memory_id else {})}
        assert (await api.http.get("relations", params=query)).json() == {"relations": [edge]}


async def test_an_edge_that_is_stated_again_keeps_its_id_and_takes_the_new_weight(api: Api) -> None:
    body = {**await _two(api), "relation_type": "next", "scope": {"user_id": "ada"}}
    first = (await api.http.post("relations", json=body)).json()

    again = await api.http.post("relations", json={**body, "weight": 0})

    assert again.status_code == 200
    assert again.json() == {**first, "weight": 0}
    assert (await api.http.get("relations?user_id=ada")).json() == {"relations": [again.json()]}


@pytest.mark.parametrize(
    ("fields", "status", "place"),
    [
        ({"relation_type": "1st"}, 422, "body.relation_type"),
        ({"relation_type": "a b"}, 422, "body.relation_type"),
        ({"relation_type": "é"}, 422, "body.relation_type"),
        ({"relation_type": "x" * 64}, 422, "body.relation_type"),
        ({"weight": 1.5}, 422, "body.weight"),
        ({"weight": "1"}, 422, "body.weight"),
        ({"source_id": "x"}, 422, "body.source_id"),
        ({"target_id": None}, 422, "body.target_id"),
        ({"colour": "red"}, 422, "body.colour"),
        ({"user_id": ""}, 422, "body.user_id"),
        ({"source_id": NOWHERE}, 404, None),
        ({"target_id": NOWHERE}, 404, None),
        ({"user_id": "bob"}, 404, None),
        ({"workspace": "other"}, 404, None),
    ],
)
async def test_an_edge_that_cannot_stand_is_refused(
    api: Api, fields: dict[str, Any], status: int, place: str | None
) -> None:
    body = {**await _two(api), "relation_type": "next", "user_id": "ada", **fields}

    refused(await api.http.post("relations", json=body), status, *([place] if place else []))

    assert (await api.http.get("relations?user_id=ada")).json() == {"relations": []}


async def test_a_memory_is_not_related_to_itself(api: Api) -> None:
    ends = await _two(api)
    body = {**ends, "target_id": ends["source_id"], "relation_type": "next", "user_id": "ada"}

    refused(await api.http.post("relations", json=body), 422, "body.target_id")


async def test_edges_are_paged_newest_first_without_repeats_or_gaps(api: Api) -> None:
    hub = await api.save("hub", user_id="ada")
    edges = []
    for number in range(23):
        memory = await api.save(f"spoke {number}", user_id="ada")
        body = {"user_id": "ada", "source_id": hub["id"], "target_id": memory["id"], "relation_type": "next"}
        edges.append((await api.http.post("relations", json=body)).json()["id"])

    seen, query = [], {"user_id": "ada", "memory_id": hub["id"], "limit": "10"}
    while True:
        page = (await api.http.get("relations", params=query)).json()
        seen += [edge["id"] for edge in page["relations"]]
        if "next_cursor" not in page:
            break
        query["cursor"] = page["next_cursor"]

    assert seen == edges[::-1]
    refused(await api.http.get("relations", params={"user_id": "ada", "cursor": query["cursor"]}), 400)


async def test_an_edge_is_deleted_once_by_the_owner_of_either_end(api: Api) -> None:
    ends = await _two(api)
    for body in ({**ends}, {"source_id": ends["target_id"], "target_id": ends["source_id"]}):
        edge = (await api.http.post("relations", json={**body, "relation_type": "next", "user_id": "ada"})).json()
        route = f"relations/{edge['id']}"
        refused(await api.http.delete(f"{route}?user_id=bob"), 404)
        assert (await api.http.delete(f"{route}?user_id=ada")).json() == {"id": edge["id"], "outcome": "erased"}
        refused(await api.http.delete(f"{route}?user_id=ada"), 404)


async def test_memories_that_point_at_each_other_are_forgotten_at_once(api: Api) -> None:
    ids = [(await api.save(f"note {number}", user_id="ada"))["id"] for number in range(8)]
    for source, target in itertools.permutations(ids, 2):
        edge = {"user_id": "ada", "source_id": source, "target_id": target, "relation_type": "next"}
        assert (await api.http.post("relations", json=edge)).status_code == 201

    answers = await asyncio.gather(*(api.http.delete(f"memories/{id_}?user_id=ada") for id_ in ids))

    assert [answer.status_code for answer in answers] == [200] * len(ids)
    assert (await api.http.get("relations?user_id=ada")).json() == {"relations": []}
