"""The OpenAPI document: complete, named, and with nothing of a later issue in it."""

from collections.abc import Iterator
from typing import Any

import pytest

from api_client import Api
from http_routes import api_routes, lax_routes
from memory_api.app import api_app
from memory_api.services.standing import Standing
from memory_api.telemetry import Metrics

APP = api_app(Standing(), Metrics())
DOCUMENT: dict[str, Any] = APP.openapi()
OPERATIONS = [
    (f"{method.upper()} {path}", operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]
ROUTES = {
    *("POST /api/v1/memories", "GET /api/v1/memories", "POST /api/v1/memories/batch", "GET /api/v1/memories/search"),
    *("GET /api/v1/memories/{id}", "PATCH /api/v1/memories/{id}", "DELETE /api/v1/memories/{id}"),
    *("POST /api/v1/memories/retrieve", "POST /api/v1/memories/retrieve/semantic"),
    *("POST /api/v1/memory/retrieve-preview", "GET /api/v1/memory/engine-status", "GET /api/v1/memory/health"),
    *("POST /api/v1/institutional/memories", "GET /api/v1/institutional/memories"),
    *("POST /api/v1/agent-memories", "GET /api/v1/agent-memories"),
    *("POST /api/v1/relations", "GET /api/v1/relations", "DELETE /api/v1/relations/{id}"),
}


def test_the_document_lists_every_route_of_the_api_and_no_other() -> None:
    served = {f"{method} {path}" for method, path in api_routes(APP)}

    assert {name for name, _ in OPERATIONS} == served == ROUTES


@pytest.mark.parametrize(("name", "operation"), OPERATIONS)
def test_an_operation_has_a_summary_a_description_a_tag_and_its_problems(name: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"].endswith(".")
    assert len(operation["tags"]) == 1
    assert operation["operationId"].isidentifier()
    assert "__" not in operation["operationId"]
    problems = {code for code in operation["responses"] if code >= "400"}
    assert {"400", "422", "503"} <= problems
    assert ("413" in problems) == ("requestBody" in operation)
    for code in problems:
        assert list(operation["responses"][code]["content"]) == ["application/problem+json"]


def test_operation_ids_are_unique() -> None:
    ids = [operation["operationId"] for _, operation in OPERATIONS]
    assert len(set(ids)) == len(ids)


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref":
                yield value
            else:
                yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def test_every_reference_leads_to_a_schema_and_every_schema_is_referred_to() -> None:
    referred = {reference.removeprefix("#/components/schemas/") for reference in _references(DOCUMENT)}

    assert referred == set(DOCUMENT["components"]["schemas"])


@pytest.mark.parametrize(
    ("method", "route"),
    [
        ("GET", "memories/018f0000-0000-7000-8000-000000000000/revisions"),
        ("POST", "memories/018f0000-0000-7000-8000-000000000000/restore"),
        ("POST", "memories/supersede"),
        ("POST", "memories/import"),
        ("GET", "trash"),
        ("DELETE", "trash/018f0000-0000-7000-8000-000000000000"),
        ("DELETE", "memories/batch"),
        ("DELETE", "memories"),
        ("DELETE", "institutional/memories/018f0000-0000-7000-8000-000000000000"),
        ("GET", "memory/tool-guidance"),
        ("GET", "memory/jobs"),
        ("POST", "memory/context"),
        ("POST", "memory/reindex"),
        ("POST", "memory/summarize"),
        ("POST", "institutional/ingest"),
        ("GET", "../../mcp"),
        ("POST", "../../v1/chat/completions"),
    ],
)
async def test_what_a_later_issue_brings_is_not_half_there(api: Api, method: str, route: str) -> None:
    answer = await api.http.request(method, route, **({"json": {}} if method == "POST" else {}))

    assert answer.status_code in (404, 405, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("field", ["include_superseded", "deny_cel", "dedup"])
async def test_a_field_of_a_later_issue_is_refused_by_name(api: Api, field: str) -> None:
    for route in ("memories/retrieve", "memory/retrieve-preview", "memories", "institutional/memories"):
        answer = await api.http.post(route, json={"query": "x", "content": "x", "user_id": "a", field: True})
        assert answer.status_code == 422
        assert ["body", field] in [found["loc"] for found in answer.json()["errors"]]


async def test_the_docs_and_the_document_are_served(api: Api) -> None:
    docs = await api.http.get("http://memory-api/docs")
    document = await api.http.get("http://memory-api/openapi.json")
    root = await api.http.get("http://memory-api/")

    assert docs.status_code == 200
    assert "http://" not in docs.text.replace("http://www.w3.org", "")
    assert "https://" not in docs.text
    assert document.json() == DOCUMENT
    assert (root.status_code, root.headers["location"]) == (307, "/docs")


def test_all_routes_of_the_api_check_their_requests_strictly() -> None:
    assert lax_routes(APP) == set()
