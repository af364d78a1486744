"""The OpenAPI document, with the one problem that every route may answer."""

from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema
from starlette.routing import compile_path

from memory_api.http.problem import Problem


def methods_at(app: FastAPI, path: str) -> str:
    """The methods that a path takes, as the header Allow lists them."""
    paths = app.openapi()["paths"]
    templates = [path] if path in paths else [each for each in paths if compile_path(each)[0].fullmatch(path)]
    taken = {method.upper() for template in templates for method in paths[template]}
    return ", ".join(sorted(taken | {"HEAD"} if "GET" in taken else taken))


def describe(app: FastAPI) -> None:
    """Add the schema of a problem: routes name it by reference, because its media type is not the routes' own."""
    generate = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            said = generate()
            _, extra = models_json_schema([(Problem, "serialization")], ref_template="#/components/schemas/{model}")
            said["components"]["schemas"] |= extra["$defs"]
        assert app.openapi_schema is not None  # noqa: S101 (generate() keeps what it gives)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
