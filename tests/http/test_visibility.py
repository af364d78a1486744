"""Who may see and change what, on every route there is, against a reference of a few lines.

A new route fails the first test until it is classified here.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from api_client import Api
from http_routes import api_routes
from memory_api.app import api_app
from memory_api.services.standing import Standing
from memory_api.telemetry import Metrics
from visibility_world import ASKERS, NOWHERE, SOME_ASKERS, Asker, Row, a_world, opens, owns, plain, recalls

Check = Callable[[Api, list[Row]], Awaitable[None]]
Rule = Callable[[Row, Asker], bool]


def _ids(rows: list[Row], rule: Rule, asker: Asker) -> set[str]:
    return {row.id for row in rows if rule(row, asker)}


async def _listed(api: Api, route: str, **query: Any) -> set[str]:
    answer = await api.http.get(route, params={**query, "limit": 100})
    assert answer.status_code == 200, answer.text
    ids = [memory["id"] for memory in answer.json()["memories"]]
    assert len(set(ids)) == len(ids)
    return set(ids)


async def list_memories(api: Api, rows: list[Row]) -> None:
    for asker in ASKERS:
        assert await _listed(api, "memories", **asker.fields) == _ids(rows, owns, asker), asker
        shared = await _listed(api, "memories", include_shared="true", **asker.fields)
        assert shared == _ids(rows, opens, asker), asker


async def search_memories(api: Api, rows: list[Row]) -> None:
    for asker in ASKERS:
        assert await _listed(api, "memories/search", q="seats", **asker.fields) == _ids(rows, owns, asker), asker


async def list_institutional(api: Api, rows: list[Row]) -> None:
    for asker in (asker for asker in ASKERS if asker.user is asker.agent is None):
        assert await _listed(api, "institutional/memories", **asker.fields) == _ids(rows, owns, asker), asker


async def list_agent(api: Api, rows: list[Row]) -> None:
    for asker in (asker for asker in ASKERS if asker.user is None and asker.agent):
        assert await _listed(api, "agent-memories", **asker.fields) == _ids(rows, owns, asker), asker


def recalled_by(route: str) -> Check:
    async def check(api: Api, rows: list[Row]) -> None:
        for asker in ASKERS:
            for query in ("notes about seats", ""):
                answer = await api.http.post(route, json={"query": query, "limit": 100, **asker.fields})
                found = {memory["id"] for memory in answer.json()["memories"]}
                assert found == _ids(rows, recalls, asker), (asker, query)

    return check


async def open_memory(api: Api, rows: list[Row]) -> None:
    for asker in SOME_ASKERS:
        nothing = plain(await api.http.get(f"memories/{NOWHERE}", params=asker.fields))
        for row in rows:
            answer = await api.http.get(f"memories/{row.id}", params=asker.fields)
            assert answer.status_code == 200 if opens(row, asker) else plain(answer) == nothing, (row, asker)


async def change_memory(api: Api, rows: list[Row]) -> None:
    """An owner is told that the revision is another one, everybody else that there is nothing."""
    for asker in SOME_ASKERS:
        body, other = {"title": "t1", **asker.fields}, {"If-Match": '"7"'}
        nothing = plain(await api.http.patch(f"memories/{NOWHERE}", json=body, headers=other))
        for row in rows:
            answer = await api.http.patch(f"memories/{row.id}", json=body, headers=other)
            assert answer.status_code == 412 if owns(row, asker) else plain(answer) == nothing, (row, asker)


async def forget_memory(api: Api, rows: list[Row]) -> None:
    for asker in SOME_ASKERS:
        other = {"If-Match": '"7"'}
        nothing = plain(await api.http.delete(f"memories/{NOWHERE}", params=asker.fields, headers=other))
        for row in rows:
            answer = await api.http.delete(f"memories/{row.id}", params=asker.fields, headers=other)
            assert answer.status_code == 412 if owns(row, asker) else plain(answer) == nothing, (row, asker)


def _root(rows: list[Row]) -> Row:
    return next(row for row in rows if not row.over and row.user is row.agent is row.facet is None)


async def _edge(api: Api, row: Row, root: Row) -> str:
    body = {"source_id": row.id, "target_id": root.id, "relation_type": "about"}
    answer = await api.http.post("relations", json={**body, **Asker(row.user, row.agent, None).fields})
    assert answer.status_code in (200, 201), answer.text
    return str(answer.json()["id"])


async def save_relation(api: Api, rows: list[Row]) -> None:
    root = _root(rows)
    for asker in SOME_ASKERS:
        body = {"relation_type": "about", **asker.fields}
        ends = {"source_id": NOWHERE, "target_id": root.id}
        nothing = plain(await api.http.post("relations", json={**body, **ends}))
        for row in (row for row in rows if row != root):
            for ends in ({"source_id": row.id, "target_id": root.id}, {"source_id": root.id, "target_id": row.id}):
                answer = await api.http.post("relations", json={**body, **ends})
                seen = opens(row, asker)
                assert answer.status_code in (200, 201) if seen else plain(answer) == nothing, (row, asker)


async def list_relations(api: Api, rows: list[Row]) -> None:
    root = _root(rows)
    edges = {await _edge(api, row, root): row for row in rows if row != root and not row.over}
    for asker in ASKERS:
        expected = {id_ for id_, row in edges.items() if opens(row, asker)}
        for query in ({}, {"memory_id": root.id}):
            answer = await api.http.get("relations", params={"limit": 100, **query, **asker.fields})
            assert {relation["id"] for relation in answer.json()["relations"]} == expected, asker
        for id_, row in edges.items():
            answer = await api.http.get("relations", params={"memory_id": row.id, **asker.fields})
            assert [relation["id"] for relation in answer.json()["relations"]] == [id_] * opens(row, asker)


async def delete_relation(api: Api, rows: list[Row]) -> None:
    root = _root(rows)
    edges = {row: await _edge(api, row, root) for row in rows if row != root and not row.over}
    for asker in SOME_ASKERS:
        nothing = plain(await api.http.delete(f"relations/{NOWHERE}", params=asker.fields))
        for row, id_ in edges.items():
            answer = await api.http.delete(f"relations/{id_}", params=asker.fields)
            if owns(row, asker) or owns(root, asker):
                assert answer.status_code == 200, (row, asker)
                edges[row] = await _edge(api, row, root)
            else:
                assert plain(answer) == nothing, (row, asker)


async def saves(api: Api, rows: list[Row]) -> None:
    """A save adds one row, for exactly the subject that it states, and touches no other."""
    for asker in ASKERS:
        memory = await api.save("a new note about seats", **asker.fields)
        subject = {name: memory[name] for name in ("user_id", "agent_id", "facet") if name in memory}
        assert subject == asker.fields
    for row in rows:
        if not row.over:
            fields = Asker(row.user, row.agent, row.facet).fields
            assert (await api.http.get(f"memories/{row.id}", params=fields)).json()["memory"]["revision"] == 1


async def save_batch(api: Api, rows: list[Row]) -> None:
    named = [asker for asker in ASKERS if asker.user or asker.agent]
    items = [{"content": "a new note about seats", **asker.fields} for asker in named]
    results = (await api.http.post("memories/batch", json={"memories": items})).json()["results"]
    for asker, item in zip(named, results, strict=True):
        memory = item["memory"]
        assert {name: memory[name] for name in ("user_id", "agent_id", "facet") if name in memory} == asker.fields


async def nothing_of_any_memory(api: Api, rows: list[Row]) -> None:
    for route in ("memory/health", "memory/engine-status"):
        answer = await api.http.get(route)
        assert answer.json()["memories"] == len(rows)
        assert "seats" not in answer.text
        assert not any(row.id in answer.text for row in rows)


CHECKS: dict[tuple[str, str], Check] = {
    ("POST", "memories"): saves,
    ("POST", "institutional/memories"): saves,
    ("POST", "agent-memories"): saves,
    ("POST", "memories/batch"): save_batch,
    ("GET", "memories"): list_memories,
    ("GET", "memories/search"): search_memories,
    ("GET", "memories/{id}"): open_memory,
    ("PATCH", "memories/{id}"): change_memory,
    ("DELETE", "memories/{id}"): forget_memory,
    ("POST", "memories/retrieve"): recalled_by("memories/retrieve"),
    ("POST", "memories/retrieve/semantic"): recalled_by("memories/retrieve/semantic"),
    ("POST", "memory/retrieve-preview"): recalled_by("memory/retrieve-preview"),
    ("GET", "institutional/memories"): list_institutional,
    ("GET", "agent-memories"): list_agent,
    ("POST", "relations"): save_relation,
    ("GET", "relations"): list_relations,
    ("DELETE", "relations/{id}"): delete_relation,
    ("GET", "memory/health"): nothing_of_any_memory,
    ("GET", "memory/engine-status"): nothing_of_any_memory,
}


def test_every_route_is_classified() -> None:
    served = api_routes(api_app(Standing(), Metrics()))

    assert {(method, f"/api/v1/{route}") for method, route in CHECKS} == served


@pytest.mark.parametrize("check", dict.fromkeys(CHECKS.values()), ids=lambda check: check.__qualname__)
async def test_br_107_br_109_br_111_a_route_shows_and_changes_what_the_reference_says(api: Api, check: Check) -> None:
    await check(api, await a_world(api))
