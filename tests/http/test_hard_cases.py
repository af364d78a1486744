"""Hard cases from the field whose faults would live at the HTTP edge; each name says what must hold."""

import asyncio
from typing import Any

import httpx
import pytest
from prometheus_client import generate_latest
from sqlalchemy import text

from api_client import Api
from problems import refused


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("外币汇率换算表", "汇率换算"),
        ("本项目使用机器学习算法", "学习算法"),
        ("明日は東京の会議があります", "東京の会議"),
        ("회의는 서울에서 열립니다", "서울에서"),
        ("ลูกค้าชอบกาแฟเย็นมาก", "กาแฟเย็น"),
    ],
)
async def test_br_084_text_without_spaces_is_found_by_its_words_alone(api: Api, content: str, query: str) -> None:
    saved = await api.save(content, user_id="ada")
    await api.save("something in English", user_id="ada")

    found = await api.recall(query, user_id="ada", strategy="keyword")

    assert [memory["id"] for memory in found["memories"]] == [saved["id"]]


@pytest.mark.parametrize("escape", ["\\ud83d", "\\udc00", "\\ud83dx", "\\udc00\\ud83d"])
async def test_br_085_half_an_emoji_is_refused_at_the_edge_wherever_it_stands(api: Api, escape: str) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (
        f'{{"user_id": "ada", "content": "caf{escape}"}}',
        f'{{"user_id": "a{escape}", "content": "x1"}}',
        f'{{"user_id": "ada", "content": "x1", "metadata": {{"a": ["{escape}"]}}}}',
        f'{{"user_id": "ada", "content": "x1", "metadata": {{"{escape}": 1}}}}',
        f'{{"query": "{escape}"}}',
    ):
        for route in ("memories", "memories/retrieve"):
            refused(await api.http.post(route, content=body, headers=headers), 400)


@pytest.mark.parametrize("name", ["北京", "Ελένη", "🦊", "Zoë", "ﷺ", "أ", "I\u0307"])
async def test_br_088_a_name_in_any_script_is_kept_as_it_is_and_found_again(api: Api, name: str) -> None:
    saved = await api.save("x1", user_id=name, agent_id=name, session_id=name, about={"kind": name, "key": name})

    query = {"user_id": name, "agent_id": name, "about_kind": name, "about_key": name}
    listed = (await api.http.get("memories", params=query)).json()["memories"]

    assert listed == [saved]
    assert (saved["user_id"], saved["session_id"], saved["about"]) == (name, name, {"kind": name, "key": name})


async def test_br_090_tags_with_separators_come_back_and_a_facet_with_them_is_refused(api: Api) -> None:
    tags = ["a,b", "a|b", "a;b", "a'b", 'a"b', "{a,b}", "a b"]
    saved = await api.save("x1", user_id="ada", metadata={"tags": tags}, purpose="a,b|c")

    found = await api.recall("", user_id="ada", purposes=["a,b|c"])

    assert [memory["metadata"]["tags"] for memory in found["memories"]] == [tags] == [saved["metadata"]["tags"]]
    assert (await api.recall("", user_id="ada", purposes=["a"]))["memories"] == []
    for facet in ("a,b", "a|b", "a b", "ä", "-a"):
        refused(await api.http.get("memories", params={"user_id": "ada", "facet": facet}), 422, "query.facet")
        refused(await api.http.post("memories/retrieve", json={"facet": facet}), 422, "body.facet")


async def test_br_091_text_travels_as_utf_8_and_never_as_escapes(api: Api) -> None:
    said = "Привет, 世界 🦊"
    saved = await api.http.post("memories", json={"content": said, "user_id": said, "metadata": {said: said}})
    listed = await api.http.get("memories", params={"user_id": said})
    found = await api.http.post("memories/retrieve", json={"query": said, "user_id": said})

    for answer in (saved, listed, found):
        assert answer.content.count(said.encode()) == 4
        assert b"\\u" not in answer.content


async def test_br_132_saves_changes_edges_and_forgetting_at_once_never_lock_each_other_out(api: Api) -> None:
    hub = [(await api.save(f"note {number}", user_id="ada"))["id"] for number in range(4)]

    async def turn(number: int) -> list[httpx.Response]:
        one, two = hub[number % 4], hub[(number + 1 + number // 4) % 4]
        ends = {"source_id": one, "target_id": two if two != one else hub[(number + 1) % 4]}
        return [
            await api.http.post("memories", json={"user_id": "ada", "content": f"more {number}"}),
            await api.http.post("relations", json={"user_id": "ada", "relation_type": "next", **ends}),
            await api.http.patch(f"memories/{two}", json={"user_id": "ada", "title": f"t{number}"}),
            await api.http.delete(f"memories/{one}?user_id=ada") if number > 24 else saved,
        ]

    saved = await api.http.get("memories?user_id=ada")
    answers = [answer for turns in await asyncio.gather(*map(turn, range(32))) for answer in turns]

    assert {answer.status_code for answer in answers} <= {200, 201, 404}
    assert (await api.http.get("relations?user_id=ada")).json() == {"relations": []}


@pytest.mark.parametrize(
    "metadata",
    [
        {"ocr": None, "n": 348, "l": [1]},
        {"deep": {"a": [{"b": [None, [], {}, ""]}]}},
        {"big": 2**63, "small": -(2**63), "exact": 0.1, "tiny": 5e-324, "off": False},
        {"$ne": None, "x' OR 1=1 --": "%", "__proto__": {}},
        {"tags": None},
        {"tags": {"a": "b"}},
        {"evidence_count": "many"},
    ],
)
async def test_br_136_any_json_comes_back_as_it_was_sent_and_spoils_no_list(api: Api, metadata: dict[str, Any]) -> None:
    await api.save("beside it", user_id="ada")
    saved = await api.save("x1", user_id="ada", metadata=metadata)

    listed = (await api.http.get("memories?user_id=ada")).json()["memories"]
    found = (await api.recall("x1", user_id="ada"))["memories"]

    assert len(listed) == 2
    for memory in (saved, listed[0], found[0]):
        assert memory["metadata"] == {**metadata, "evidence_count": 1}


@pytest.mark.parametrize("value", [{"a": 1}, ["x"], 7, True])
async def test_br_138_an_object_where_text_belongs_is_refused_on_save_and_change(api: Api, value: Any) -> None:
    saved = await api.save("x1", user_id="ada")
    for field in ("content", "title", "summary", "session_id", "provenance", "purpose", "consent_category", "type"):
        body = {"user_id": "ada", "content": "x1", field: value}
        refused(await api.http.post("memories", json=body), 422, f"body.{field}")
        refused(await api.http.patch(f"memories/{saved['id']}", json=body), 422, f"body.{field}")
    assert (await api.http.get("memories?user_id=ada")).json()["memories"] == [saved]


async def test_br_057_a_time_without_an_offset_is_refused_wherever_times_stand(api: Api) -> None:
    saved = await api.save("x1", user_id="ada")
    for naive in ("2027-03-29T02:30:00", "2027-03-29", "2027-03-29 02:30:00"):
        for field in ("observed_at", "valid_from", "valid_until", "expires_at"):
            body = {"user_id": "ada", "content": "x1", field: naive}
            refused(await api.http.post("memories", json=body), 422, f"body.{field}")
            refused(await api.http.patch(f"memories/{saved['id']}", json=body), 422, f"body.{field}")
        for field in ("since", "until"):
            refused(await api.http.post("memories/retrieve", json={field: naive}), 422, f"body.{field}")
            refused(await api.http.get("memories", params={field: naive}), 422, f"query.{field}")


async def test_br_069_metrics_name_routes_by_their_template_and_nobody(api: Api) -> None:
    saved = await api.save("x1", user_id="ada", agent_id="bot")
    for user in range(30):
        await api.http.get(f"memories/{saved['id']}?user_id=user-{user}")
        await api.http.get(f"nowhere/{user}")

    metrics = generate_latest(api.memory_api.metrics.registry).decode()

    requests = [line for line in metrics.splitlines() if line.startswith("keepsake_http_requests_total")]
    assert len(requests) == 3
    for name in ("user-", "ada", "bot", "nowhere", saved["id"]):
        assert name not in metrics


async def test_br_112_metadata_never_says_whose_a_memory_is(api: Api) -> None:
    claims = {"user_id": "bob", "agent_id": "x", "tier": "institutional", "facet": "f", "scope": {"user_id": "bob"}}
    saved = await api.save("x1", user_id="ada", metadata=claims)
    body = {"user_id": "ada", "metadata": {**claims, "id": "1"}}

    changed = (await api.http.patch(f"memories/{saved['id']}", json=body)).json()["memory"]

    for memory in (saved, changed):
        assert (memory["user_id"], memory["tier"]) == ("ada", "user")
        assert not {"agent_id", "facet"} & set(memory)
    assert (await api.http.get("memories?user_id=bob")).json() == {"memories": []}
    assert (await api.http.get("institutional/memories")).json() == {"memories": []}


@pytest.mark.parametrize("value", ["x' OR 1=1 --", '{"$ne": null}', "%", "_", "a:*", "\\", "';drop table memories;--"])
async def test_br_121_a_filter_is_compared_and_never_read_as_a_query(api: Api, value: str) -> None:
    await api.save("another", user_id="ada", type="fact", about={"kind": "k", "key": "other"}, purpose="p1")
    mine = await api.save("mine", user_id=value, about={"kind": value, "key": value}, purpose=value)

    for query in ({"about_kind": value}, {"about_key": value}, {"type": value}):
        listed = (await api.http.get("memories", params={"user_id": "ada", **query})).json()["memories"]
        assert listed == []
    listed = (await api.http.get("memories", params={"user_id": value, "about_key": value})).json()["memories"]
    assert listed == [mine]
    assert (await api.recall("", user_id=value, purposes=[value]))["memories"][0]["id"] == mine["id"]
    refused(await api.http.get("memories", params={"user_id": "ada", f"metadata.{value}": "x"}), 422)
    refused(await api.http.post("memories/retrieve", json={"user_id": {"$ne": None}}), 422, "body.user_id")


async def test_br_117_requests_at_once_each_keep_to_their_own_subject(api: Api) -> None:
    users = [f"user-{number}" for number in range(12)]
    await asyncio.gather(*(api.save(f"the note of {user}", user_id=user) for user in users for _ in range(3)))

    found = await asyncio.gather(*(api.recall("note", user_id=user) for user in users for _ in range(3)))

    for user, answer in zip((user for user in users for _ in range(3)), found, strict=True):
        assert [memory["user_id"] for memory in answer["memories"]] == [user] * 3


@pytest.mark.parametrize("content", ["...", "--", "🙂", " \n\t ", "\u200b\u200b", "?!", "，。"])
async def test_br_130_content_without_a_letter_or_digit_is_refused(api: Api, content: str) -> None:
    for route, subject in (("memories", {"user_id": "ada"}), ("institutional/memories", {})):
        refused(await api.http.post(route, json={"content": content, **subject}), 422, "body.content")


async def test_br_147_an_id_is_at_most_253_characters_on_every_way_in(api: Api) -> None:
    longest = "🦊" * 253
    saved = await api.save("x1", user_id=longest, agent_id=longest, session_id=longest)

    assert (await api.http.get("memories", params={"user_id": longest})).json()["memories"] == [saved]
    for field in ("user_id", "agent_id", "virtual_user_id", "agent"):
        refused(await api.http.get("memories", params={field: longest + "x"}), 422, f"query.{field}")
        refused(await api.http.post("memories/retrieve", json={field: longest + "x"}), 422, f"body.{field}")


async def test_br_102_a_vector_that_comes_late_brings_no_forgotten_memory_back(api: Api) -> None:
    from memory_api.db import embeddings
    from memory_api.db.engine import transaction

    context = api.memory_api.standing.context
    assert context is not None
    saved = await api.save("x1", user_id="ada")
    late = embeddings.Job(saved["id"], 1, 0, None, "x1")
    async with transaction(context.engine) as connection:
        (vector,) = (await connection.execute(text("select cast(embedding as text) from memory_vectors"))).scalars()
    await api.http.delete(f"memories/{saved['id']}?user_id=ada")

    async with transaction(context.engine) as connection:
        numbers = [float(part) for part in vector[1:-1].split(",")]
        written = await embeddings.finish(connection, [late], [numbers], model=context.model)

    assert written == 0
    assert (await api.http.get("memory/health")).json()["memories"] == 0
