"""What every refusal looks like (contract, section 2)."""

from typing import Any

import httpx


def refused(answer: httpx.Response, status: int, *fields: str) -> dict[str, Any]:
    """The problem, once its shape is proved; `fields` must be the ones that `errors` names."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"]
    body: dict[str, Any] = answer.json()
    assert (
        {"type", "title", "status", "detail", "error"}
        <= set(body)
        <= {
            "type",
            "title",
            "status",
            "detail",
            "error",
            "errors",
        }
    )
    assert body["status"] == status
    assert body["error"] == body["detail"] != ""
    if fields:
        assert sorted(".".join(str(part) for part in found["loc"]) for found in body["errors"]) == sorted(fields)
        assert all(set(found) == {"loc", "msg"} for found in body["errors"])
    return body
