"""Recall as of an earlier time: what was known, worded and live then."""

from datetime import UTC, datetime, timedelta

import pytest

from api_client import Api, memory_api

NOW = datetime.now(UTC)


def at(days: float) -> str:
    """The time `days` ago."""
    return (NOW - timedelta(days=days)).isoformat()


async def contents(api: Api, query: str, **fields: object) -> list[str]:
    found = await api.recall(query, user_id="ada", **fields)
    return [memory["content"] for memory in found["memories"]]


@pytest.mark.parametrize("strategy", ["hybrid", "semantic", "keyword", "recent"])
async def test_only_what_was_observed_by_then_is_found(api: Api, strategy: str) -> None:
    await api.save("zebra old", user_id="ada", observed_at=at(30))
    await api.save("zebra new", user_id="ada", observed_at=at(1))

    assert await contents(api, "zebra", strategy=strategy, as_of=at(10)) == ["zebra old"]
    assert await contents(api, "zebra", strategy=strategy, as_of=at(40)) == []
    assert set(await contents(api, "zebra", strategy=strategy)) == {"zebra old", "zebra new"}


@pytest.mark.parametrize("strategy", ["hybrid", "semantic", "keyword", "recent"])
async def test_the_wording_is_the_one_that_was_live_then(api: Api, strategy: str) -> None:
    memory = await api.save("zebra lives in Ghent", user_id="ada", observed_at=at(30), title="Home")
    before = datetime.now(UTC).isoformat()
    change = {"content": "zebra lives in Porto", "user_id": "ada", "title": None}
    answer = await api.http.patch(f"memories/{memory['id']}", json=change)
    assert answer.status_code == 200, answer.text
    after = datetime.now(UTC).isoformat()

    found = await api.recall("zebra", user_id="ada", strategy=strategy, as_of=before)
    assert [(m["content"], m["title"], m["revision"]) for m in found["memories"]] == [
        ("zebra lives in Ghent", "Home", 1)
    ]
    assert await contents(api, "zebra", strategy=strategy, as_of=after) == ["zebra lives in Porto"]
    assert await contents(api, "zebra", strategy=strategy) == ["zebra lives in Porto"]


async def test_words_that_came_later_do_not_find_the_earlier_wording(api: Api) -> None:
    memory = await api.save("kettle", user_id="ada", observed_at=at(30))
    before = datetime.now(UTC).isoformat()
    await api.http.patch(f"memories/{memory['id']}", json={"content": "zebra", "user_id": "ada"})

    assert await contents(api, "zebra", strategy="keyword", as_of=before) == []
    assert await contents(api, "kettle", strategy="keyword", as_of=before) == ["kettle"]
    assert await contents(api, "kettle", strategy="keyword") == []


async def test_what_has_expired_since_was_live_then(api: Api) -> None:
    memory = await api.save(
        "zebra", user_id="ada", observed_at=at(30), expires_at=(NOW + timedelta(days=1)).isoformat()
    )
    later = (NOW + timedelta(days=2)).isoformat()
    assert await contents(api, "zebra", as_of=at(2)) == ["zebra"]
    assert await contents(api, "zebra", as_of=later) == []
    why = {"query": "zebra", "user_id": "ada", "as_of": later, "why_not": memory["id"]}
    assert (await api.http.post("memory/retrieve-preview", json=why)).json()["why_not"]["reason"] == "expired"


async def test_a_forgotten_memory_is_not_found_at_any_time(api: Api) -> None:
    memory = await api.save("zebra", user_id="ada", observed_at=at(30))
    await api.http.patch(f"memories/{memory['id']}", json={"content": "zebra two", "user_id": "ada"})
    await api.http.delete(f"memories/{memory['id']}", params={"user_id": "ada"})
    assert await contents(api, "zebra", as_of=at(10)) == []


async def test_decay_counts_from_then(api: Api) -> None:
    await api.save("zebra", user_id="ada", observed_at=at(60))
    decays = [
        (await api.recall("zebra", user_id="ada", as_of=at(days), explain=True))["memories"][0]["explain"]["decay"]
        for days in (60, 30, 0)
    ]
    assert decays == pytest.approx([1.0, 0.5, 0.25], rel=1e-6)


async def test_another_users_past_stays_hidden(api: Api) -> None:
    memory = await api.save("zebra", user_id="bob", observed_at=at(30))
    await api.http.patch(f"memories/{memory['id']}", json={"content": "zebra two", "user_id": "bob"})
    assert await contents(api, "zebra", as_of=at(10)) == []


async def test_lookups_and_why_not_look_back_too(api: Api) -> None:
    memory = await api.save("zebra", user_id="ada", observed_at=at(1), purpose="support")
    ask = {"structured_lookups": [{"purpose": "support"}], "strategy": "keyword"}
    assert await contents(api, "kettle", **ask) == ["zebra"]
    assert await contents(api, "kettle", **ask, as_of=at(10)) == []
    why = {"query": "zebra", "user_id": "ada", "as_of": at(10), "why_not": memory["id"]}
    answer = (await api.http.post("memory/retrieve-preview", json=why)).json()["why_not"]
    assert (answer["reason"], "as_of" in answer["detail"]) == ("filtered", True)


async def test_a_large_scope_looks_back_too(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_api.db import recall

    lowered = recall._STATEMENT.replace(f"limit {recall.LARGE_SCOPE} + 1", "limit 10 + 1")
    lowered = lowered.replace(f"count(*) > {recall.LARGE_SCOPE}", "count(*) > 10")
    assert lowered.count("10 + 1") == lowered.count("count(*) > 10") == 1
    monkeypatch.setattr(recall, "_STATEMENT", lowered)
    async with memory_api(database) as api:
        for number in range(30):
            await api.save(f"zebra {number}", user_id="ada", observed_at=at(30 - number))
        memory = await api.save("zebra thirty", user_id="ada", observed_at=at(40))
        before = datetime.now(UTC).isoformat()
        await api.http.patch(f"memories/{memory['id']}", json={"content": "zebra many", "user_id": "ada"})
        for strategy in ("hybrid", "semantic", "keyword"):
            found = await contents(api, "zebra", strategy=strategy, as_of=before, limit=50)
            assert ("zebra thirty" in found, "zebra many" in found, len(found)) == (True, False, 31)
            past = await contents(api, "zebra", strategy=strategy, as_of=at(20.5), limit=50)
            assert len(past) == 11
