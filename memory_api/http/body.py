"""Bodies are read strictly: what is not JSON is 400, and nothing that JSON does not know slips through."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json

MAX_BODY_BYTES = 16 * 1024 * 1024


class _StrictRequest(Request):
    async def json(self) -> Any:
        """The body. NaN, Infinity, lone surrogates, broken UTF-8 and nesting beyond 200 are not JSON."""
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise HTTPException(400, f"the body is not JSON: {error}") from None


class StrictRoute(APIRoute):
    """A route whose body goes through `_StrictRequest`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strict
