"""Requests are read strictly: a body is JSON or 400, a query string is UTF-8, and nothing unknown slips through."""

import re
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, get_origin
from urllib.parse import parse_qsl

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import from_json
from starlette.requests import ClientDisconnect

from memory_api.errors import InvalidRequest, RolledBack, UnreadableRequest

MAX_BODY_BYTES = 16 * 1024 * 1024
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;|\Z)", re.IGNORECASE)
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


class _StrictRequest(Request):
    async def body(self) -> bytes:
        """The whole body; one of more than 16 MiB is refused as soon as that is known."""
        if not hasattr(self, "_body"):
            stated = self.headers.get("content-length", "")
            if stated.isdigit() and int(stated) > MAX_BODY_BYTES:
                raise _too_large()
            chunks, size = [], 0
            try:
                async for chunk in self.stream():
                    size += len(chunk)
                    if size > MAX_BODY_BYTES:
                        raise _too_large()
                    chunks.append(chunk)
            except ClientDisconnect:
                raise HTTPException(400, "the body ended before it was complete") from None
            self._body = b"".join(chunks)
        return self._body

    async def json(self) -> Any:
        """The body. NaN, Infinity, lone surrogates, broken UTF-8 and nesting beyond 200 are not JSON."""
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise HTTPException(400, f"the body is not JSON: {error}") from None

    async def require_json(self) -> None:
        """Refuse what is not sent as JSON: a web page of another origin can post text and forms, but not that."""
        if not await self.body():
            raise HTTPException(400, "the body is empty; send a JSON object")
        if not _JSON.match(self.headers.get("content-type", "")):
            raise HTTPException(400, "the body must be JSON; send it with Content-Type: application/json")


def _too_large() -> HTTPException:
    return HTTPException(413, f"the body is larger than {MAX_BODY_BYTES} bytes; split it")


class StrictRoute(APIRoute):
    """A route whose request goes through the checks of this module."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        repeatable = _query_fields(self)

        async def strict(request: Request) -> Response:
            # curl sends é as it is; what reads the query string takes such bytes for Latin-1.
            query = _NOT_ASCII.sub(lambda byte: b"%%%02X" % byte[0][0], request.scope["query_string"])
            _check_query(query, repeatable)
            checked = _StrictRequest({**request.scope, "query_string": query}, request.receive)
            if self.body_field is not None:
                await checked.require_json()
            for _ in range(RolledBack.TRIES - 1):
                # The transaction was taken back whole, and the body is read already: the same call once more.
                with suppress(RolledBack):
                    return await handle(checked)
            return await handle(checked)

        return strict


def _query_fields(route: APIRoute) -> dict[str, bool]:
    """The fields of the route's query string, and whether each may be stated more than once."""
    models = [field.field_info.annotation for field in route.dependant.query_params]
    return {
        name: get_origin(field.annotation) is list
        for model in models
        if isinstance(model, type) and issubclass(model, BaseModel)
        for name, field in model.model_fields.items()
    }


def _check_query(query: bytes, repeatable: dict[str, bool]) -> None:
    """Refuse what the reading of a query string would pass over: broken UTF-8, a second value, an unknown name."""
    try:
        stated = [name for name, _ in parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")]
    except UnicodeDecodeError:
        raise UnreadableRequest("the query string is not UTF-8") from None
    except ValueError:
        raise UnreadableRequest("the query string has too many fields") from None
    twice = {name for name in stated if stated.count(name) > 1 and not repeatable.get(name, True)}
    unknown = {name for name in stated if name not in repeatable}
    problems = [(("query", name), "is stated more than once") for name in sorted(twice)] + [
        (("query", name), "is not a field of this request") for name in sorted(unknown)
    ]
    if problems:
        raise InvalidRequest("", list(problems))
