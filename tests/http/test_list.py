"""GET /memories: filters, and pages that neither repeat nor lose a row."""

import base64
import json
from typing import Any

import pytest

from api_client import Api
from problems import refused


async def _contents(api: Api, query: str) -> list[str]:
    answer = await api.http.get(f"memories?{query}")
    assert answer.status_code == 200, answer.text
    return [memory["content"] for memory in answer.json()["memories"]]


async def _pages(api: Api, **query: Any) -> list[list[dict[str, Any]]]:
    pages, cursor = [], {}
    while True:
        page = (await api.http.get("memories", params={**query, **cursor})).json()
        pages.append(page["memories"])
        if "next_cursor" not in page:
            return pages
        cursor = {"cursor": page["next_cursor"]}


async def _save_together(api: Api, count: int, **fields: Any) -> list[str]:
    """Save in one transaction, so that all have one created_at."""
    items = [{"content": f"note {number}", **fields} for number in range(count)]
    results = (await api.http.post("memories/batch", json={"memories": items})).json()["results"]
    assert len({item["memory"]["created_at"] for item in results}) == 1
    return [item["memory"]["id"] for item in results]


async def test_br_139_450_rows_of_one_created_at_are_paged_without_repeats_or_gaps(api: Api) -> None:
    ids = await _save_together(api, 450, user_id="ada")

    pages = await _pages(api, user_id="ada", limit=100)

    assert [len(page) for page in pages] == [100, 100, 100, 100, 50]
    assert [memory["id"] for page in pages for memory in page] == ids[::-1]


async def test_br_139_rows_that_are_forgotten_or_saved_between_pages_move_nothing(api: Api) -> None:
    ids = (await _save_together(api, 30, user_id="ada"))[::-1]
    first = (await api.http.get("memories?user_id=ada&limit=10")).json()

    for gone in (ids[0], ids[9], ids[10]):
        assert (await api.http.delete(f"memories/{gone}?user_id=ada")).status_code == 200
    await api.save("newer than the first page", user_id="ada")
    second = (await api.http.get("memories", params={"user_id": "ada", "cursor": first["next_cursor"]})).json()

    assert [memory["id"] for memory in second["memories"]] == ids[11:]
    assert "next_cursor" not in second


async def test_offset_pages_as_omnia_does_and_cannot_be_mixed_with_a_cursor(api: Api) -> None:
    await _save_together(api, 5, user_id="ada")
    first = (await api.http.get("memories?user_id=ada&limit=2")).json()

    assert await _contents(api, "user_id=ada&limit=2&offset=2") == ["note 2", "note 1"]
    both = {"user_id": "ada", "limit": 2, "offset": 2, "cursor": first["next_cursor"]}
    refused(await api.http.get("memories", params=both), 422)


async def test_a_cursor_of_another_list_or_other_filters_is_unreadable(api: Api) -> None:
    await _save_together(api, 3, user_id="ada")
    await _save_together(api, 3, user_id="bob")
    await api.save("i1")
    await api.save("i2")
    cursor = (await api.http.get("memories?user_id=ada&limit=1")).json()["next_cursor"]
    institutional = (await api.http.get("institutional/memories?limit=1")).json()["next_cursor"]

    for route, query in (
        ("memories", {"user_id": "bob", "cursor": cursor}),
        ("memories", {"user_id": "ada", "type": "fact", "cursor": cursor}),
        ("memories", {"user_id": "ada", "include_shared": "true", "cursor": cursor}),
        ("memories", {"user_id": "ada", "facet": "a", "cursor": cursor}),
        ("institutional/memories", {"cursor": cursor}),
        ("agent-memories", {"agent_id": "ada", "cursor": cursor}),
        ("relations", {"user_id": "ada", "cursor": cursor}),
        ("memories", {"user_id": "ada", "cursor": institutional}),
    ):
        refused(await api.http.get(route, params=query), 400)
    same = await api.http.get("memories", params={"user_id": "ada", "limit": 7, "count": "true", "cursor": cursor})
    assert len(same.json()["memories"]) == 2
    assert same.json()["total"] == 3


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "now", "2026-01-01", "", 3])
async def test_a_cursor_that_was_forged_is_unreadable_or_gives_a_page(api: Api, time: Any) -> None:
    await _save_together(api, 2, user_id="ada")
    cursor = (await api.http.get("memories?user_id=ada&limit=1")).json()["next_cursor"]
    origin, _, id_ = json.loads(base64.urlsafe_b64decode(cursor + "=="))

    forged = base64.urlsafe_b64encode(json.dumps([origin, time, id_]).encode()).decode().rstrip("=")
    answer = await api.http.get("memories", params={"user_id": "ada", "cursor": forged})

    assert answer.status_code in ({200} if time == "2026-01-01" else {400}), answer.text


@pytest.mark.parametrize("cursor", ["x", "é", "AAAA", "bnVsbA", "W10", "e30", "[" * 500, "W1tbW1s"])
async def test_what_is_no_cursor_is_unreadable(api: Api, cursor: str) -> None:
    refused(await api.http.get("memories", params={"user_id": "ada", "cursor": cursor}), 400)


@pytest.mark.parametrize("limit", ["0", "-1", "101", "1000000000", "1e3", "", "ten", "9" * 400])
async def test_a_limit_beyond_1_to_100_is_refused_on_every_list(api: Api, limit: str) -> None:
    for route in ("memories", "memories/search?q=x", "institutional/memories", "agent-memories", "relations"):
        separator = "&" if "?" in route else "?"
        answer = await api.http.get(f"{route}{separator}limit={limit}" + ("&agent_id=a" if "agent" in route else ""))
        refused(answer, 422, "query.limit")


async def test_the_filters_of_a_list_each_do_what_they_say(api: Api) -> None:
    await api.save("plain", user_id="ada", observed_at="2026-01-01T00:00:00Z")
    await api.save("fact", user_id="ada", type="fact", observed_at="2026-02-01T00:00:00Z")
    await api.save("keyed", user_id="ada", type="event", about={"kind": "seat", "key": "a,b%_"})
    await api.save("as bot knows", user_id="ada", agent_id="bot", facet="project:a")
    await api.save("bot's own", agent_id="bot")
    await api.save("the institution's")

    assert await _contents(api, "user_id=ada") == ["as bot knows", "keyed", "fact", "plain"]
    assert await _contents(api, "user_id=ada&tier=user") == ["keyed", "fact", "plain"]
    assert await _contents(api, "user_id=ada&tier=user&tier=user_for_agent&limit=1") == ["as bot knows"]
    assert await _contents(api, "user_id=ada&type=fact,event") == ["keyed", "fact"]
    assert await _contents(api, "user_id=ada&type=fact&type=event") == ["keyed", "fact"]
    assert await _contents(api, "user_id=ada&about_kind=seat") == ["keyed"]
    assert await _contents(api, "user_id=ada&about_key=a,b%25_") == ["keyed"]
    assert await _contents(api, "user_id=ada&about_key=a%25") == []
    assert await _contents(api, "user_id=ada&since=2026-02-01T00:00:00Z&until=2026-02-01T00:00:01Z") == ["fact"]
    assert await _contents(api, "user_id=ada&until=2026-02-01T01:00:00%2B01:00") == ["plain"]
    assert await _contents(api, "user_id=ada&agent_id=bot") == ["as bot knows"]
    assert await _contents(api, "user_id=ada&agent_id=other") == []
    assert await _contents(api, "agent_id=bot") == ["bot's own"]
    assert await _contents(api, "") == ["the institution's"]
    assert await _contents(api, "user_id=ada&include_shared=true&tier=institutional,agent") == ["the institution's"]
    assert await _contents(api, "user_id=ada&agent_id=bot&include_shared=true&tier=institutional,agent") == [
        "the institution's",
        "bot's own",
    ]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("user_id=", "user_id"),
        ("user_id=%20", "user_id"),
        ("user_id=a%00b", "user_id"),
        ("user_id=a%0a", "user_id"),
        ("user_id=a&user_id=b", "user_id"),
        ("facet=", "facet"),
        ("facet=%25", "facet"),
        ("tier=everything", "tier.0"),
        ("type=", "type.0"),
        ("since=2026-01-01T00:00:00", "since"),
        ("since=1700000000", "since"),
        ("until=tomorrow", "until"),
        ("offset=-1", "offset"),
        ("offset=99999999999999999999", "offset"),
        ("count=maybe", "count"),
        ("include_superseded=true", "include_superseded"),
        ("as_of=2026-01-01T00:00:00Z", "as_of"),
        ("userId=a", "userId"),
    ],
)
async def test_a_query_that_cannot_stand_is_refused_by_name(api: Api, query: str, field: str) -> None:
    refused(await api.http.get(f"memories?{query}"), 422, f"query.{field}")


async def test_another_workspace_is_404(api: Api) -> None:
    for route in ("memories", "institutional/memories", "relations", "memories/search"):
        query = "&q=x" if "search" in route else ""
        refused(await api.http.get(f"{route}?workspace=other{query}"), 404)
