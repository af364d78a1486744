"""The playground's second question: why is this memory not among the hits."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import text

from api_client import Api, memory_api
from memory_api.db.engine import transaction


async def _why_not(api: Api, id_: str, **ask: Any) -> dict[str, Any]:
    answer = await api.http.post("memory/retrieve-preview", json={"user_id": "ada", "why_not": id_, **ask})
    assert answer.status_code == 200, answer.text
    why: dict[str, Any] = answer.json()["why_not"]
    return why


async def test_a_hit_is_said_to_be_one_with_its_place(api: Api) -> None:
    memory = await api.save("zebra", user_id="ada")
    why = await _why_not(api, memory["id"], query="zebra")
    assert (why["reason"], why["place"]) == ("hit", 1)


async def test_a_memory_that_ranks_below_the_limit_is_given_its_place_and_both_arms(api: Api) -> None:
    old = datetime.now(UTC) - timedelta(days=300)
    last = await api.save("zebra", user_id="ada", observed_at=old.isoformat())
    for number in range(4):
        await api.save(f"zebra lantern {number}", user_id="ada")
    why = await _why_not(api, last["id"], query="zebra lantern", limit=2)
    assert (why["reason"], why["place"], why["of"]) == ("ranked_below", 5, 5)
    assert {"lexical", "vector", "decay"} <= why["explain"].keys()


async def test_each_way_of_being_left_out_has_its_reason(api: Api) -> None:
    stranger = await api.save("zebra", user_id="bob")
    event = await api.save("zebra", user_id="ada", type="event")
    expired = await api.save("zebra", user_id="ada", expires_at=(datetime.now(UTC) + timedelta(days=1)).isoformat())
    async with transaction(api.memory_api.standing.serving().engine) as connection:
        await connection.execute(
            text("update memories set expires_at = now() - interval '1 hour' where id = cast(:id as uuid)"),
            {"id": expired["id"]},
        )
    found = {
        "stranger": await _why_not(api, stranger["id"], query="zebra"),
        "expired": await _why_not(api, expired["id"], query="zebra"),
        "event": await _why_not(api, event["id"], query="zebra", types=["fact"]),
        "irrelevant": await _why_not(api, event["id"], query="zebra marble copper", min_relevance=0.99),
    }
    assert {name: why["reason"] for name, why in found.items()} == {
        "stranger": "not_visible",
        "expired": "expired",
        "event": "filtered",
        "irrelevant": "below_relevance",
    }


async def test_without_a_word_in_common_and_without_vectors_nothing_matches(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        memory = await api.save("marble", user_id="ada")
        why = await _why_not(api, memory["id"], query="zebra")
    assert why["reason"] == "no_match"
    assert "still to come" in why["detail"]


async def test_the_token_budget_is_named(api: Api) -> None:
    await api.save("zebra zoo " + "long " * 100, user_id="ada")
    second = await api.save("zebra " + "long " * 100, user_id="ada")
    why = await _why_not(api, second["id"], query="zebra zoo", token_budget=10)
    assert why["reason"] == "over_token_budget"


async def test_an_id_that_does_not_exist_is_404(api: Api) -> None:
    ask = {"user_id": "ada", "query": "zebra", "why_not": str(uuid4())}
    answer = await api.http.post("memory/retrieve-preview", json=ask)
    assert answer.status_code == 404
