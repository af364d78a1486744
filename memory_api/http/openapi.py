"""The OpenAPI document, with the one problem that every route may answer."""

from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from memory_api.http.problem import Problem


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
