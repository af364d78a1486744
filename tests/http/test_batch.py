"""POST /memories/batch: what each save came to, in order."""

from typing import Any

from api_client import Api
from problems import refused


async def test_a_bad_item_never_spoils_the_others_and_results_stand_in_order(api: Api) -> None:
    answer = await api.http.post(
        "memories/batch",
        json={
            "memories": [
                {"content": "first", "user_id": "ada", "metadata": {"n": 1}},
                {"content": "", "user_id": "ada"},
                {"content": "nobody's"},
                "not an object",
                {"content": "unknown kind", "user_id": "ada", "type": "rumour"},
                {"content": "elsewhere", "user_id": "ada", "workspace": "other"},
                {"content": "unknown field", "user_id": "ada", "colour": "red"},
                None,
                {"content": "last", "scope": {"virtual_user_id": "ada", "agent": "bot"}},
            ]
        },
    )

    results: list[dict[str, Any]] = answer.json()["results"]
    assert [item["status"] for item in results] == [201, 422, 422, 422, 422, 404, 422, 422, 201]
    assert [item["memory"]["content"] for item in results if item["status"] == 201] == ["first", "last"]
    assert all(item["action"] == "added" for item in results if item["status"] == 201)
    refusals = [item["error"] for item in results if item["status"] != 201]
    assert all(error["error"] == error["detail"] != "" for error in refusals)
    assert [error.get("errors", [{"loc": None}])[0]["loc"] for error in refusals] == [
        ["content"],
        ["user_id"],
        [],
        ["type"],
        None,
        ["colour"],
        [],
    ]
    listed = (await api.http.get("memories?user_id=ada")).json()["memories"]
    assert [memory["content"] for memory in listed] == ["last", "first"]


async def test_a_thousand_items_are_saved_in_order_and_one_more_is_refused(api: Api) -> None:
    items = [{"content": f"note {number}", "user_id": "ada"} for number in range(1000)]

    answer = await api.http.post("memories/batch", json={"memories": items})

    contents = [item["memory"]["content"] for item in answer.json()["results"]]
    assert contents == [item["content"] for item in items]
    refused(await api.http.post("memories/batch", json={"memories": [*items, items[0]]}), 422, "body.memories")
    listed = (await api.http.get("memories?user_id=ada&limit=3&count=true")).json()
    assert [memory["content"] for memory in listed["memories"]] == ["note 999", "note 998", "note 997"]
    assert listed["total"] == 1000


async def test_an_empty_batch_and_a_batch_that_is_none_are_refused(api: Api) -> None:
    refused(await api.http.post("memories/batch", json={"memories": []}), 422, "body.memories")
    refused(await api.http.post("memories/batch", json={}), 422, "body.memories")
    refused(await api.http.post("memories/batch", json={"memories": {"content": "x"}}), 422, "body.memories")
    refused(await api.http.post("memories/batch", json={"memories": [], "user_id": "a"}), 422, *_BOTH)


_BOTH = ("body.memories", "body.user_id")


async def test_a_batch_of_refused_items_only_is_still_answered(api: Api) -> None:
    answer = await api.http.post("memories/batch", json={"memories": [{}, {}]})

    assert [item["status"] for item in answer.json()["results"]] == [422, 422]
