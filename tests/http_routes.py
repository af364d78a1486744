"""The routes of an app as it serves them, however they were put together."""

from collections.abc import Iterable, Iterator

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from memory_api.http.body import StrictRoute


def api_routes(app: FastAPI) -> set[tuple[str, str]]:
    """(method, path) of every route below /api."""
    return {(method, path) for method, path, _ in _walk(app.routes, "") if path.startswith("/api/")}


def lax_routes(app: FastAPI) -> set[str]:
    """The paths below /api whose requests are not checked by `StrictRoute`."""
    return {path for _, path, strict in _walk(app.routes, "") if path.startswith("/api/") and not strict}


def _walk(routes: Iterable[BaseRoute], prefix: str) -> Iterator[tuple[str, str, bool]]:
    for route in routes:
        if isinstance(route, APIRoute):
            for method in route.methods or ():
                yield method, prefix + route.path, isinstance(route, StrictRoute)
        elif hasattr(route, "original_router"):
            yield from _walk(route.original_router.routes, prefix + route.include_context.prefix)
