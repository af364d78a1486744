"""One shape for every error: RFC 9457 problem+json, with `error` beside it for clients of Omnia.

Nothing of the inside leaves: no trace, no SQL, no secret, and never the value that was refused.
"""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from memory_api.errors import DependencyDown, InvalidRequest, NotFound, PreconditionFailed, UnreadableRequest

_PLACES = ("body", "query", "path", "header")
_LONGEST_NAME = 100
_SAID_BETTER = {
    "extra_forbidden": "is not a field of this request",
    "missing": "is required",
    "model_attributes_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "uuid_parsing": "must be a UUID",
}
_FRAMEWORK = {404: "no such route; /docs lists them", 405: "this route does not take the method; Allow lists those"}

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


Problems = Sequence[tuple[Sequence[str | int], str]]

_MEANING = {
    400: "The body, a header, the query string or a cursor cannot be read.",
    404: "No such memory, relation or workspace for this subject.",
    412: "If-Match names another revision.",
    413: "The body is larger than 16 MiB.",
    422: "The request can be read, but not carried out; `errors` says where.",
    503: "The database cannot answer now; ask again after Retry-After seconds.",
}


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route that are problems, for the OpenAPI document."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {code: {"description": _MEANING[code], "content": content} for code in codes}


def problem_json(status: int, detail: str, problems: Problems = ()) -> dict[str, Any]:
    detail = detail or summary(problems)
    title = HTTPStatus(status).phrase
    body: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail, "error": detail}
    if problems:
        body["errors"] = [{"loc": [_short(part) for part in loc], "msg": msg} for loc, msg in problems]
    return body


def _short(part: str | int) -> str | int:
    """A part of a location; the name of an unknown field comes from outside and may have any length."""
    return part if isinstance(part, int) or len(part) <= _LONGEST_NAME else part[:_LONGEST_NAME] + "…"


def problem(
    status: int,
    detail: str,
    problems: Problems = (),
    headers: dict[str, str] | None = None,
) -> Response:
    return Response(
        to_json(problem_json(status, detail, problems)),
        status,
        {"Cache-Control": "no-store", **(headers or {})},
        "application/problem+json",
    )


def field_problems(error: ValidationError | RequestValidationError) -> list[tuple[tuple[str | int, ...], str]]:
    """pydantic's findings without the input that caused them."""
    return [
        (
            tuple(found["loc"]),
            _SAID_BETTER.get(found["type"]) or str(found["msg"]).removeprefix("Value error, "),
        )
        for found in error.errors()
    ]


def summary(problems: Problems) -> str:
    """The findings as one sentence; the first ones when there are many."""
    said = [f"{'.'.join(str(_short(part)) for part in loc if part not in _PLACES)}: {msg}" for loc, msg in problems[:3]]
    return "; ".join(part.removeprefix(": ") for part in said)


def _located(problems: Problems, request: Request) -> Problems:
    """The findings of the rules below the edge, with the place where the request stated the field."""
    place = "query" if request.method in ("GET", "HEAD", "DELETE") else "body"
    return [(loc if loc and loc[0] in _PLACES else (place, *loc), msg) for loc, msg in problems]


def install(app: FastAPI, methods_at: Callable[[str], str]) -> None:
    """Answer every error of the tree, of the framework and of ourselves in the one shape.

    `methods_at` gives what Allow must list for a path: the framework knows only the first of the routes that match it.
    """

    @app.exception_handler(RequestValidationError)
    async def _invalid(_request: Request, error: RequestValidationError) -> Response:
        return problem(422, "", field_problems(error))

    @app.exception_handler(InvalidRequest)
    async def _refused(request: Request, error: InvalidRequest) -> Response:
        status = 400 if isinstance(error, UnreadableRequest) else 422
        return problem(status, str(error), _located(error.problems, request))

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
    async def _framework(request: Request, error: HTTPException) -> Response:
        said = _FRAMEWORK.get(error.status_code) if error.detail == _phrase(error.status_code) else None
        headers = dict(error.headers or {})
        if error.status_code == 405 and (methods := methods_at(request.url.path)):
            headers["Allow"] = methods
        return problem(error.status_code, said or str(error.detail), headers=headers)


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase


def internal_error(error: Exception) -> Response:
    """What nobody foresaw: the log has it all, the answer nothing."""
    log.error("request failed", fault=type(error).__name__, exc_info=error)
    return problem(500, "internal error; the log has it under this answer's X-Request-Id")
