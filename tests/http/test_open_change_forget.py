"""One memory: open it, change it, forget it."""

from typing import Any

import pytest

from api_client import Api
from problems import refused

NOWHERE = "018f0000-0000-7000-8000-000000000000"


async def test_a_change_writes_the_stated_fields_as_the_next_revision(api: Api) -> None:
    saved = await api.save("Ada likes aisle seats", user_id="ada", title="Seats", metadata={"n": 1})

    answer = await api.http.patch(
        f"memories/{saved['id']}", json={"user_id": "ada", "content": "Ada likes window seats", "confidence": 1}
    )

    assert answer.status_code == 200, answer.text
    assert answer.headers["etag"] == '"2"'
    assert {key: value for key, value in answer.json().items() if key != "memory"} == {
        "action": "auto_superseded",
        "supersedes": [],
        "supersede_reason": "explicit",
        "potential_duplicates": [],
    }
    memory = answer.json()["memory"]
    changed = {"content", "confidence", "revision", "updated_at", "confirmed_at", "body_size_bytes"}
    assert {name for name in memory if memory[name] != saved[name]} == changed
    assert memory["revision"] == 2
    assert (await api.http.get(f"memories/{saved['id']}?user_id=ada")).json()["memory"] == memory
    assert (await api.recall("window", user_id="ada", strategy="keyword"))["memories"][0]["id"] == saved["id"]
    assert (await api.recall("aisle", user_id="ada", strategy="keyword"))["memories"] == []


async def test_null_clears_an_optional_field(api: Api) -> None:
    optional: dict[str, Any] = {
        "title": "t1",
        "summary": "s1",
        "about": {"kind": "k", "key": "k"},
        "consent_category": "memory:a",
        "valid_from": "2026-03-01T00:00:00Z",
        "valid_until": "2027-03-01T00:00:00Z",
        "expires_at": "2990-03-01T00:00:00Z",
        "session_id": "s",
        "turn_range": [1, 2],
        "provenance": "said",
        "purpose": "support",
    }
    saved = await api.save("x1", user_id="ada", **optional)

    cleared = await api.http.patch(f"memories/{saved['id']}", json={"user_id": "ada", **dict.fromkeys(optional)})

    assert not set(optional) & set(cleared.json()["memory"])
    again = await api.http.patch(f"memories/{saved['id']}", json={"user_id": "ada", **optional})
    assert {name: again.json()["memory"][name] for name in optional} == optional


@pytest.mark.parametrize("field", ["content", "type", "metadata", "confidence", "observed_at"])
async def test_null_cannot_clear_what_every_memory_has(api: Api, field: str) -> None:
    saved = await api.save("x1", user_id="ada")

    body = refused(await api.http.patch(f"memories/{saved['id']}", json={"user_id": "ada", field: None}), 422)

    assert field in body["detail"]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({}, "body"),
        ({"content": " "}, "body.content"),
        ({"type": "rumour"}, "body.type"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "body.expires_at"),
        ({"observed_at": "2990-01-01T00:00:00Z"}, "body.observed_at"),
        ({"valid_until": "2026-01-01T00:00:00Z"}, "body.valid_until"),
        ({"revision": 7}, "body.revision"),
        ({"tier": "institutional"}, "body.tier"),
    ],
)
async def test_a_change_that_cannot_stand_is_refused_by_name(api: Api, fields: dict[str, Any], place: str) -> None:
    saved = await api.save("x1", user_id="ada", valid_from="2026-03-01T00:00:00Z")

    refused(await api.http.patch(f"memories/{saved['id']}", json={"user_id": "ada", **fields}), 422, place)

    assert (await api.http.get(f"memories/{saved['id']}?user_id=ada")).json()["memory"] == saved


@pytest.mark.parametrize("stated", ['"1"', "1", 'W/"1"', "*", ' "1" '])
async def test_if_match_with_the_revision_that_was_read_lets_a_change_through(api: Api, stated: str) -> None:
    saved = await api.save("x1", user_id="ada")
    route = f"memories/{saved['id']}"

    changed = await api.http.patch(route, json={"user_id": "ada", "title": "t1"}, headers={"If-Match": stated})

    assert changed.status_code == 200, changed.text


async def test_if_match_with_another_revision_is_412_and_changes_nothing(api: Api) -> None:
    saved = await api.save("x1", user_id="ada")
    route = f"memories/{saved['id']}"
    await api.http.patch(route, json={"user_id": "ada", "title": "t2"})

    refused(await api.http.patch(route, json={"user_id": "ada", "title": "t3"}, headers={"If-Match": '"1"'}), 412)
    refused(await api.http.delete(f"{route}?user_id=ada", headers={"If-Match": '"1"'}), 412)

    memory = (await api.http.get(f"{route}?user_id=ada")).json()["memory"]
    assert (memory["title"], memory["revision"]) == ("t2", 2)
    assert (await api.http.delete(f"{route}?user_id=ada", headers={"If-Match": '"2"'})).status_code == 200


@pytest.mark.parametrize("stated", ["x", '""', "", "-1", '"1", "2"', "1.0", "²", "9" * 40])
async def test_an_if_match_that_names_no_revision_is_unreadable(api: Api, stated: str) -> None:
    saved = await api.save("x1", user_id="ada")
    headers = {"If-Match": stated.encode()}
    answer = await api.http.patch(f"memories/{saved['id']}", json={"user_id": "ada", "title": "t"}, headers=headers)

    refused(answer, 400, "header.If-Match")
    refused(await api.http.delete(f"memories/{saved['id']}?user_id=ada", headers=headers), 400)


async def test_br_025_of_two_writers_that_read_one_revision_one_wins(api: Api) -> None:
    import asyncio

    saved = await api.save("x1", user_id="ada")
    answers = await asyncio.gather(
        *(
            api.http.patch(
                f"memories/{saved['id']}",
                json={"user_id": "ada", "content": f"wording {number}"},
                headers={"If-Match": '"1"'},
            )
            for number in range(6)
        )
    )

    assert sorted(answer.status_code for answer in answers) == [200, 412, 412, 412, 412, 412]


async def test_br_100_a_forgotten_memory_is_gone_with_its_vector_its_queue_entry_and_its_relations(api: Api) -> None:
    saved = await api.save("Ada likes window seats", user_id="ada")
    kept = await api.save("Ada flies on Mondays", user_id="ada")
    ends = {"source_id": saved["id"], "target_id": kept["id"]}
    await api.http.post("relations", json={"user_id": "ada", "relation_type": "about", **ends})

    answer = await api.http.delete(f"memories/{saved['id']}?user_id=ada")

    assert answer.json() == {"id": saved["id"], "outcome": "erased"}
    refused(await api.http.get(f"memories/{saved['id']}?user_id=ada"), 404)
    refused(await api.http.delete(f"memories/{saved['id']}?user_id=ada"), 404)
    assert (await api.http.get("relations?user_id=ada")).json() == {"relations": []}
    assert [hit["id"] for hit in (await api.recall("window seats", user_id="ada"))["memories"]] == [kept["id"]]
    health = (await api.http.get("memory/health")).json()
    assert (health["memories"], health["embeddings"]["ready"]) == (1, 1)


async def test_a_shared_memory_is_not_forgotten_here(api: Api) -> None:
    agent, institution = await api.save("x1", agent_id="bot"), await api.save("x2")

    refused(await api.http.delete(f"memories/{agent['id']}?agent_id=bot"), 422)
    refused(await api.http.delete(f"memories/{institution['id']}"), 422)
    refused(await api.http.delete(f"memories/{institution['id']}?user_id=ada"), 404)


async def test_a_memory_that_is_over_is_answered_like_one_that_never_was(api: Api) -> None:
    from sqlalchemy import text

    saved = await api.save("x1", user_id="ada", expires_at="2990-01-01T00:00:00Z")
    assert api.memory_api.standing.context is not None
    async with api.memory_api.standing.context.engine.begin() as connection:
        await connection.execute(text("update memories set expires_at = now()"))

    refused(await api.http.get(f"memories/{saved['id']}?user_id=ada"), 404)
    refused(await api.http.patch(f"memories/{saved['id']}", json={"user_id": "ada", "title": "t"}), 404)
    refused(await api.http.delete(f"memories/{saved['id']}?user_id=ada"), 404)
    assert (await api.http.get("memories?user_id=ada&count=true")).json() == {"memories": [], "total": 0}
    assert (await api.recall("x1", user_id="ada"))["memories"] == []


@pytest.mark.parametrize("id_", ["1", "not-a-uuid", NOWHERE + "0", "%00", "..%2f"])
async def test_an_id_that_is_no_uuid_is_refused(api: Api, id_: str) -> None:
    answers = [
        await api.http.get(f"memories/{id_}?user_id=ada"),
        await api.http.patch(f"memories/{id_}", json={"user_id": "ada", "title": "t"}),
        await api.http.delete(f"memories/{id_}?user_id=ada"),
        await api.http.delete(f"relations/{id_}?user_id=ada"),
    ]

    assert {answer.status_code for answer in answers} <= {404, 422}
    assert all("problem+json" in answer.headers["content-type"] for answer in answers)


async def test_blank_subjects_are_refused_and_never_widen(api: Api) -> None:
    saved = await api.save("x1", user_id="ada")

    refused(await api.http.get(f"memories/{saved['id']}?user_id="), 422, "query.user_id")
    refused(await api.http.delete(f"memories/{saved['id']}?user_id=ada&agent_id="), 422, "query.agent_id")
    refused(await api.http.patch(f"memories/{saved['id']}", json={"user_id": "", "title": "t"}), 422, "body.user_id")
    refused(await api.http.get(f"memories/{saved['id']}"), 404)
