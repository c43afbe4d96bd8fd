"""The OpenAPI document: what FastAPI makes of the routes, with the forms of answers and problems added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

if TYPE_CHECKING:
    from fastapi import FastAPI

PLACE = "#/components/schemas/{model}"


def document(app: FastAPI) -> dict[str, Any]:
    """Return the document, made once."""
    if not app.openapi_schema:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        made["components"]["schemas"].update(forms())
        app.openapi_schema = made
    return app.openapi_schema


def forms() -> dict[str, Any]:
    """Return the schema of every answer, by name."""
    from clew.surface.http import documents  # noqa: PLC0415 - dozens of models that no request needs

    known = [each for each in vars(documents).values() if isinstance(each, type) and issubclass(each, documents.Document)]
    _, made = models_json_schema([(each, "serialization") for each in known], ref_template=PLACE)
    found: dict[str, Any] = made["$defs"]
    return found
