"""Structured lookups: rows that come along because of what they are, whatever the query ranks."""

import pytest

from api_client import Api


async def test_looked_up_rows_follow_the_hits_beside_the_limit(api: Api) -> None:
    for number in range(5):
        await api.save(f"zebra {number}", user_id="ada", type="event")
    profile = await api.save("Ada is an engineer", user_id="ada", type="fact", title="Profile: job")
    ask = {"structured_lookups": [{"kinds": ["fact"], "name_prefix": "profile:"}], "types": ["event"]}
    found = await api.recall("zebra", user_id="ada", limit=3, explain=True, **ask)

    assert [memory["type"] for memory in found["memories"]] == ["event", "event", "event", "fact"]
    last = found["memories"][-1]
    assert (last["id"], last["score"], last["explain"]["lookup"]) == (profile["id"], 0, 0)


async def test_a_hit_is_not_given_twice_and_a_purpose_selects(api: Api) -> None:
    hit = await api.save("zebra", user_id="ada", purpose="support")
    other = await api.save("saddle", user_id="ada", purpose="support")
    await api.save("kettle", user_id="ada", purpose="sales")
    ask = {"structured_lookups": [{"purpose": "support"}], "strategy": "keyword"}
    found = await api.recall("zebra", user_id="ada", **ask)
    assert [memory["id"] for memory in found["memories"]] == [hit["id"], other["id"]]


async def test_br_121_wildcards_of_like_are_text(api: Api) -> None:
    await api.save("one", user_id="ada", title="plain")
    percent = await api.save("two", user_id="ada", title="100% sure_thing \\ here")
    for prefix, expected in (("100%", [percent["id"]]), ("%", []), ("_lain", []), ("100% sure_", [percent["id"]])):
        ask = {"structured_lookups": [{"name_prefix": prefix}], "strategy": "keyword"}
        found = await api.recall("zebra", user_id="ada", **ask)
        assert [memory["id"] for memory in found["memories"]] == expected


@pytest.mark.parametrize("field", ["user_id", "agent_id"])
async def test_a_lookup_stays_within_the_requests_subject(api: Api, field: str) -> None:
    await api.save("zebra", user_id="bob")
    body = {"query": "zebra", "user_id": "ada", "structured_lookups": [{field: "bob"}]}
    answer = await api.http.post("memories/retrieve", json=body)
    own = await api.recall("marble", user_id="ada", structured_lookups=[{"user_id": "ada"}])
    assert answer.status_code == 422
    assert own["memories"] == []
