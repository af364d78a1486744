"""One shape for every error: RFC 9457 problem+json, with `error` beside it for clients of Omnia.

Nothing of the inside leaves: no trace, no SQL, no secret, and never the value that was refused.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from memory_api.errors import DependencyDown, InvalidRequest, NotFound, PreconditionFailed, UnreadableRequest

log = structlog.get_logger()


class FieldProblem(BaseModel):
    loc: list[str | int]
    msg: str


class Problem(BaseModel):
    """What went wrong and how to mend it."""

    type: str
    title: str
    status: int
    detail: str
    error: str
    errors: list[FieldProblem] | None = None


def problem_json(status: int, detail: str, problems: Sequence[tuple[Sequence[str | int], str]] = ()) -> dict[str, Any]:
    title = HTTPStatus(status).phrase
    body: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail, "error": detail}
    if problems:
        body["errors"] = [{"loc": list(loc), "msg": msg} for loc, msg in problems]
    return body


def problem(
    status: int,
    detail: str,
    problems: Sequence[tuple[Sequence[str | int], str]] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    return Response(
        to_json(problem_json(status, detail, problems)), status, headers, media_type="application/problem+json"
    )


def field_problems(error: ValidationError | RequestValidationError) -> list[tuple[tuple[str | int, ...], str]]:
    """pydantic's findings without the input that caused them."""
    return [(tuple(found["loc"]), str(found["msg"]).removeprefix("Value error, ")) for found in error.errors()]


def summary(problems: Sequence[tuple[Sequence[str | int], str]]) -> str:
    """The findings as one sentence; the first ones when there are many."""
    said = [
        f"{'.'.join(str(part) for part in loc if part not in ('body', 'query'))}: {msg}" for loc, msg in problems[:3]
    ]
    return "; ".join(part.removeprefix(": ") for part in said)


def install(app: FastAPI) -> None:
    """Answer every error of the tree, of the framework and of ourselves in the one shape."""

    @app.exception_handler(RequestValidationError)
    async def _invalid(_request: Request, error: RequestValidationError) -> Response:
        problems = field_problems(error)
        return problem(422, summary(problems), problems)

    @app.exception_handler(InvalidRequest)
    async def _refused(_request: Request, error: InvalidRequest) -> Response:
        return problem(400 if isinstance(error, UnreadableRequest) else 422, str(error), error.problems)

    @app.exception_handler(NotFound)
    async def _missing(_request: Request, error: NotFound) -> Response:
        return problem(404, str(error))

    @app.exception_handler(PreconditionFailed)
    async def _stale(_request: Request, error: PreconditionFailed) -> Response:
        return problem(412, str(error))

    @app.exception_handler(DependencyDown)
    async def _down(_request: Request, error: DependencyDown) -> Response:
        return problem(503, str(error), headers={"Retry-After": str(error.retry_after)})

    @app.exception_handler(HTTPException)
    async def _framework(_request: Request, error: HTTPException) -> Response:
        return problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def _fault(_request: Request, error: Exception) -> Response:
        log.error("request failed", fault=type(error).__name__, exc_info=error)
        return problem(500, "internal error; the log has it under this answer's X-Request-Id")
