"""POST /memories: what is stated comes back, what may not be stated is refused."""

from typing import Any

import pytest

from api_client import Api
from problems import refused

WHOLE: dict[str, Any] = {
    "content": "Ada prefers window seats — 窓側, إلى النافذة, 🪟",
    "type": "preference",
    "title": "Seats",
    "summary": "window",
    "metadata": {"source": {"n": 348, "l": [1, None, True]}, "ocr": None, "ratio": 0.25, "": "empty key"},
    "confidence": 0.9,
    "user_id": "ada",
    "agent_id": "concierge",
    "facet": "project:apollo",
    "about": {"kind": "seat", "key": "ada/flights"},
    "consent_category": "memory:preferences",
    "observed_at": "2026-03-01T09:30:00.123456Z",
    "valid_from": "2026-03-01T00:00:00Z",
    "valid_until": "2027-03-01T00:00:00Z",
    "expires_at": "2990-03-01T00:00:00Z",
    "session_id": "session-7",
    "turn_range": [3, 5],
    "provenance": "said",
    "purpose": "support",
}


async def test_br_108_every_field_comes_back_from_save_open_list_and_recall_as_it_was_sent(api: Api) -> None:
    saved = await api.save(**WHOLE)
    opened = (await api.http.get(f"memories/{saved['id']}?user_id=ada")).json()["memory"]
    listed = (await api.http.get("memories?user_id=ada")).json()["memories"]
    hits = (await api.recall("window seats", user_id="ada", agent_id="concierge"))["memories"]

    hits[0].pop("score")
    assert opened == saved
    assert listed == [saved]
    assert hits == [saved]
    assert saved["metadata"].pop("evidence_count") == 1
    assert {name: saved[name] for name in WHOLE} == WHOLE
    assert saved["tier"] == "user_for_agent"
    assert saved["embedding"] == "ready"
    assert saved["revision"] == saved["evidence_count"] == 1
    assert saved["body_size_bytes"] == len(WHOLE["content"].encode())
    assert saved["confirmed_at"] == saved["observed_at"]


async def test_what_is_left_out_takes_its_default_and_fields_without_a_value_are_omitted(api: Api) -> None:
    answer = await api.http.post("memories", json={"content": "short", "user_id": "ada"})

    memory = answer.json()["memory"]
    assert set(memory) == {
        *("id", "tier", "type", "content", "confidence", "metadata", "user_id", "observed_at", "created_at"),
        *("updated_at", "confirmed_at", "evidence_count", "revision", "embedding", "body_size_bytes"),
    }
    assert memory["type"] == "observation"
    assert memory["confidence"] == 0.7
    assert answer.json()["action"] == "added"
    assert answer.json()["supersedes"] == answer.json()["potential_duplicates"] == []


async def test_a_save_says_where_the_memory_is_and_which_revision_it_has(api: Api) -> None:
    answer = await api.http.post("memories", json={"content": "x1", "user_id": "a b&c=é", "facet": "project:a"})

    assert answer.headers["etag"] == '"1"'
    opened = await api.http.get("http://memory-api" + answer.headers["location"])
    assert opened.json()["memory"] == answer.json()["memory"]
    assert opened.headers["etag"] == '"1"'


@pytest.mark.parametrize(
    "subject",
    [
        {"user_id": "ada", "agent_id": "bot", "facet": "project:a"},
        {"virtual_user_id": "ada", "agent": "bot", "facet": "project:a"},
        {"scope": {"user_id": "ada", "agent_id": "bot", "facet": "project:a"}},
        {"scope": {"virtual_user_id": "ada", "agent": "bot"}, "facet": "project:a"},
        {"user_id": "ada", "virtual_user_id": "ada", "scope": {"user_id": "ada", "agent": "bot", "facet": "project:a"}},
        {"user_id": "ada", "agent": "bot", "facet": "project:a", "scope": {}, "workspace": "default"},
        {"user_id": "ada", "agent": "bot", "scope": {"facet": "project:a", "workspace_id": "default"}},
    ],
)
async def test_the_subject_may_stand_in_any_of_its_places(api: Api, subject: dict[str, Any]) -> None:
    answer = await api.http.post("memories", json={"content": "x1", **subject})

    assert answer.status_code == 201, answer.text
    memory = answer.json()["memory"]
    assert (memory["user_id"], memory["agent_id"], memory["facet"]) == ("ada", "bot", "project:a")


@pytest.mark.parametrize(
    "subject",
    [
        {"user_id": "ada", "virtual_user_id": "bob"},
        {"user_id": "ada", "scope": {"user_id": "bob"}},
        {"user_id": "ada", "agent": "x", "scope": {"agent_id": "y"}},
        {"user_id": "ada", "facet": "a", "scope": {"facet": "b"}},
    ],
)
async def test_two_places_that_name_different_subjects_are_refused(api: Api, subject: dict[str, Any]) -> None:
    refused(await api.http.post("memories", json={"content": "x1", **subject}), 422)


async def test_category_is_an_alias_that_may_not_differ(api: Api) -> None:
    said = await api.save("x1", user_id="ada", category="memory:health")
    both = {"content": "x", "user_id": "ada", "category": "memory:a", "consent_category": "memory:b"}

    assert said["consent_category"] == "memory:health"
    refused(await api.http.post("memories", json=both), 422, "body")


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({}, "body.user_id"),
        ({"user_id": ""}, "body.user_id"),
        ({"user_id": "   "}, "body.user_id"),
        ({"user_id": "\u200b\u3164"}, "body.user_id"),
        ({"user_id": " ada"}, "body.user_id"),
        ({"user_id": "a\x00b"}, "body.user_id"),
        ({"user_id": "a\nb"}, "body.user_id"),
        ({"user_id": "x" * 254}, "body.user_id"),
        ({"user_id": 7}, "body.user_id"),
        ({"user_id": "ada", "agent_id": "\t"}, "body.agent_id"),
        ({"user_id": "ada", "scope": {"agent": ""}}, "body.scope.agent"),
        ({"user_id": "ada", "facet": ""}, "body.facet"),
        ({"user_id": "ada", "facet": "a b"}, "body.facet"),
        ({"user_id": "ada", "facet": "project:a\n"}, "body.facet"),
        ({"user_id": "ada", "session_id": ""}, "body.session_id"),
        ({"user_id": "ada", "content": ""}, "body.content"),
        ({"user_id": "ada", "content": "… —"}, "body.content"),
        ({"user_id": "ada", "content": "a\x00b"}, "body.content"),
        ({"user_id": "ada", "content": "x" * 1_048_577}, "body.content"),
        ({"user_id": "ada", "title": " "}, "body.title"),
        ({"user_id": "ada", "summary": "\x00x"}, "body.summary"),
        ({"user_id": "ada", "type": "rumour"}, "body.type"),
        ({"user_id": "ada", "confidence": 1.01}, "body.confidence"),
        ({"user_id": "ada", "confidence": "0.5"}, "body.confidence"),
        ({"user_id": "ada", "confidence": True}, "body.confidence"),
        ({"user_id": "ada", "metadata": []}, "body.metadata"),
        ({"user_id": "ada", "metadata": {"a": "\x00"}}, "body.metadata"),
        ({"user_id": "ada", "metadata": {"\x00": 1}}, "body.metadata"),
        ({"user_id": "ada", "metadata": {"a": "x" * 65_536}}, "body.metadata"),
        (
            {"user_id": "ada", "metadata": {"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},
            "body.metadata",
        ),
        ({"user_id": "ada", "about": {"kind": "seat"}}, "body.about.key"),
        ({"user_id": "ada", "about": {"kind": " ", "key": "k"}}, "body.about.kind"),
        ({"user_id": "ada", "turn_range": [5, 3]}, "body"),
        ({"user_id": "ada", "turn_range": [1]}, "body.turn_range.1"),
        ({"user_id": "ada", "turn_range": [0, 2_147_483_648]}, "body.turn_range.1"),
        ({"user_id": "ada", "observed_at": "2026-03-01T09:30:00"}, "body.observed_at"),
        ({"user_id": "ada", "observed_at": "2026-03-01"}, "body.observed_at"),
        ({"user_id": "ada", "observed_at": 1_700_000_000}, "body.observed_at"),
        ({"user_id": "ada", "observed_at": "1700000000"}, "body.observed_at"),
        ({"user_id": "ada", "observed_at": "2990-03-01T09:30:00Z"}, "body.observed_at"),
        ({"user_id": "ada", "observed_at": "0001-01-01T00:00:00+14:00"}, "body.observed_at"),
        ({"user_id": "ada", "observed_at": "2026-02-30T00:00:00Z"}, "body.observed_at"),
        ({"user_id": "ada", "expires_at": "2020-03-01T09:30:00Z"}, "body.expires_at"),
        (
            {"user_id": "ada", "valid_from": "2026-03-02T00:00:00Z", "valid_until": "2026-03-02T01:00:00+01:00"},
            "body.valid_until",
        ),
        ({"user_id": "ada", "dedup": False}, "body.dedup"),
        ({"user_id": "ada", "tier": "institutional"}, "body.tier"),
        ({"user_id": "ada", "id": "018f0000-0000-7000-8000-000000000000"}, "body.id"),
        ({"user_id": "ada", "scope": {"team": "red"}}, "body.scope.team"),
    ],
)
async def test_a_field_that_cannot_stand_is_refused_by_name(api: Api, fields: dict[str, Any], place: str) -> None:
    refused(await api.http.post("memories", json={"content": "x1", **fields}), 422, place)
    assert (await api.http.get("memory/health")).json()["memories"] == 0


async def test_a_type_that_nobody_knows_is_refused_with_the_list_of_types(api: Api) -> None:
    answer = await api.http.post("memories", json={"content": "x1", "user_id": "ada", "type": "rumour"})

    body = refused(answer, 422, "body.type")
    assert "fact, preference, observation, event, decision" in body["detail"]
    assert "rumour" not in answer.text


async def test_nanoseconds_as_go_writes_them_and_any_offset_are_read(api: Api) -> None:
    saved = await api.save("x1", user_id="ada", observed_at="2026-03-01T11:30:00.123456789+02:00")

    assert saved["observed_at"] == "2026-03-01T09:30:00.123456Z"


async def test_a_memory_for_another_workspace_is_404_and_nothing_is_saved(api: Api) -> None:
    for place in ({"workspace": "other"}, {"workspace_id": "other"}, {"scope": {"workspace": "other"}}):
        refused(await api.http.post("memories", json={"content": "x1", "user_id": "ada", **place}), 404)

    assert (await api.http.get("memory/health")).json()["memories"] == 0


async def test_this_workspace_answers_to_its_name_and_its_uid(api: Api) -> None:
    workspace = (await api.http.get("memory/engine-status")).json()["workspace"]

    await api.save("x1", user_id="ada", workspace=workspace["name"])
    await api.save("x2", user_id="ada", workspace_id=workspace["uid"])


async def test_a_body_of_a_mebibyte_is_kept_whole(api: Api) -> None:
    content = "lorem ipsum " * 87_381

    saved = await api.save(content, user_id="ada")

    assert (await api.http.get(f"memories/{saved['id']}?user_id=ada")).json()["memory"]["content"] == content
