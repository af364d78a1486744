"""What cannot be read, what is too large, and how every refusal looks."""

import json
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text
from starlette.types import ASGIApp, Message

from api_client import Api
from problems import refused

JSON = {"Content-Type": "application/json"}
GOOD = b'{"content": "x1", "user_id": "ada"}'


@pytest.mark.parametrize(
    "body",
    [
        *(b"{", b"", b"  ", b"nul", b"\xff\xfe", b"{}{}", b"{'content': 'x1'}", b'\xef\xbb\xbf{"content": "x1"}'),
        *(b'{"content": NaN}', b'{"content": Infinity}', b'{"content": "\xff"}', b'{"content": "\xed\xa0\x80"}'),
        *(b"[" * 100_000, b'{"a":' * 5_000, b'{"n": ' + b"1" * 5_000 + b"}"),
    ],
    ids=range(15),
)
async def test_a_body_that_is_not_json_is_400(api: Api, body: bytes) -> None:
    for method, route in (("POST", "memories"), ("POST", "memories/batch"), ("POST", "memories/retrieve")):
        refused(await api.http.request(method, route, content=body, headers=JSON), 400)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "", None])
async def test_a_body_that_is_not_sent_as_json_is_400(api: Api, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}

    refused(await api.http.post("memories", content=GOOD, headers=headers), 400)

    assert (await api.http.get("memory/health")).json()["memories"] == 0


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/merge-patch+json"]
)
async def test_every_form_of_the_json_media_type_is_read(api: Api, kind: str) -> None:
    assert (await api.http.post("memories", content=GOOD, headers={"Content-Type": kind})).status_code == 201


@pytest.mark.parametrize("body", [b"null", b"[]", b'"x"', b"7", b"true"])
async def test_json_that_is_no_object_is_422(api: Api, body: bytes) -> None:
    refused(await api.http.post("memories", content=body, headers=JSON), 422, "body")


async def test_a_body_over_16_mib_is_413_whether_its_length_is_stated_or_not(api: Api) -> None:
    async def in_pieces() -> AsyncIterator[bytes]:
        for _ in range(17):
            yield b" " * 1024 * 1024

    for content in (b" " * (16 * 1024 * 1024 + 1), in_pieces()):
        refused(await api.http.post("memories", content=content, headers=JSON), 413)
    just = GOOD + b" " * (16 * 1024 * 1024 - len(GOOD))
    assert (await api.http.post("memories", content=just, headers=JSON)).status_code == 201


@pytest.mark.parametrize("query", ["user_id=%ff", "%ed%a0%80=1", "user_id=a%c3"])
async def test_a_query_string_that_is_not_utf_8_is_400(api: Api, query: str) -> None:
    refused(await api.http.get(f"memories?{query}"), 400)


async def test_a_query_string_in_raw_utf_8_means_what_its_escapes_mean(api: Api) -> None:
    saved = await api.save("x1", user_id="Zoë")
    answer = await _get_raw(api.memory_api.api, "/api/v1/memories", "user_id=Zoë".encode())

    assert [memory["id"] for memory in json.loads(answer)["memories"]] == [saved["id"]]


async def _get_raw(app: ASGIApp, path: str, query: bytes) -> bytes:
    """What a client that escapes nothing gets: httpx cannot send such an address."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "headers": [], "root_path": ""}
    await app({**scope, "http_version": "1.1", "scheme": "http", "server": ("memory-api", 80)}, receive, send)
    return b"".join(message.get("body", b"") for message in sent)


@pytest.mark.parametrize(
    ("method", "route"), [("POST", "memories"), ("PATCH", "memories/018f0000-0000-7000-8000-000000000000")]
)
async def test_a_query_field_that_the_route_does_not_know_is_refused_by_name(api: Api, method: str, route: str) -> None:
    answer = await api.http.request(method, f"{route}?user_id=ada", json={"content": "x1", "user_id": "ada"})

    refused(answer, 422, "query.user_id")


async def test_what_was_refused_is_never_said_again(api: Api) -> None:
    secret = "sk_live_51_do_not_repeat"
    answers = [
        await api.http.post("memories", json={"content": "x1", "user_id": "ada", field: secret})
        for field in ("type", "confidence", "metadata", "about", "observed_at", "turn_range", "scope", "facet ")
    ]
    answers += [
        await api.http.post("memories", content=f'{{"content": {secret}}}'.encode(), headers=JSON),
        await api.http.post("memories/retrieve", json={"query": secret, "strategy": secret, "limit": secret}),
        await api.http.get("memories", params={"since": secret, "limit": secret, "cursor": secret}),
        await api.http.get(f"memories/{secret}"),
        await api.http.post("memories/batch", json={"memories": [{"type": secret}, secret]}),
    ]

    assert all(answer.status_code in (200, 400, 422) for answer in answers)
    assert not any(secret in answer.text for answer in answers)


async def test_the_name_of_an_unknown_field_is_said_but_not_at_any_length(api: Api) -> None:
    answer = await api.http.post("memories", json={"content": "x1", "user_id": "ada", "x" * 100_000: 1})

    refused(answer, 422)
    assert len(answer.content) < 1_000


@pytest.mark.parametrize(
    ("method", "route", "status"),
    [
        ("GET", "nowhere", 404),
        ("GET", "memories/", 404),
        ("GET", "http://memory-api/nowhere", 404),
        ("PUT", "memories", 405),
        ("DELETE", "memories/batch/x", 404),
        ("OPTIONS", "memories", 405),
        ("TRACE", "relations", 405),
    ],
)
async def test_a_route_or_method_that_is_not_there_is_a_problem_too(
    api: Api, method: str, route: str, status: int
) -> None:
    refused(await api.http.request(method, route), status)


async def test_allow_lists_the_methods_of_the_path(api: Api) -> None:
    id_ = "018f0000-0000-7000-8000-000000000000"

    assert (await api.http.put("memories")).headers["allow"] == "GET, HEAD, POST"
    assert (await api.http.put(f"memories/{id_}")).headers["allow"] == "DELETE, GET, HEAD, PATCH"
    assert (await api.http.put("memories/batch")).headers["allow"] == "POST"


async def test_head_answers_what_get_answers_without_the_body(api: Api) -> None:
    saved = await api.save("x1", user_id="ada")
    for route in (f"memories/{saved['id']}?user_id=ada", "memory/health", f"memories/{saved['id']}", "relations?x=1"):
        got, head = await api.http.get(route), await api.http.head(route)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers["content-length"] == got.headers["content-length"]


async def test_a_plain_request_id_comes_back_and_another_is_replaced(api: Api) -> None:
    for said, kept in (("trace-7/b", True), ("x" * 128, True), ("x" * 129, False), ("é", False), ("a\tb", False)):
        for route in ("memory/health", "nowhere"):
            answer = await api.http.get(route, headers={"X-Request-Id": said.encode()})
            assert (answer.headers["x-request-id"] == said) is kept
    assert len({(await api.http.get("nowhere")).headers["x-request-id"] for _ in range(3)}) == 3


async def test_no_answer_may_be_kept_by_a_proxy(api: Api) -> None:
    saved = await api.save("x1", user_id="ada")
    for route in (f"memories/{saved['id']}?user_id=ada", "memories?user_id=ada", f"memories/{saved['id']}"):
        assert (await api.http.get(route)).headers["cache-control"] == "no-store"


async def test_a_fault_of_ours_is_a_problem_without_anything_of_the_inside(api: Api) -> None:
    await api.save("x1", user_id="ada")
    assert api.memory_api.standing.context is not None
    async with api.memory_api.standing.context.engine.begin() as connection:
        await connection.execute(text("alter table memories rename to lost"))

    answer = await api.http.get("memories?user_id=ada", headers={"X-Request-Id": "find-me"})

    body = refused(answer, 500)
    assert body["detail"] == "internal error; the log has it under this answer's X-Request-Id"
    assert answer.headers["x-request-id"] == "find-me"
