"""The OpenAPI document: FastAPI's, with the errors that the server really gives; no routes here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

from softlookup.ui.server.schemas import ErrorBody

if TYPE_CHECKING:
    from fastapi import FastAPI

Responses = dict[int | str, dict[str, Any]]
_WHAT = {
    400: "The request is not what is described here.",
    401: "A token is required.",
    403: "The request comes from another site.",
    404: "There is no such thing.",
    408: "The body did not come in time.",
    413: "Too long or too large, or no room is left.",
    421: "The Host header names another server.",
    422: "The document cannot be read.",
    500: "The model or the server is at fault.",
    503: "Too many wait, the server stops, or there is no model yet; Retry-After says when to come again.",
}
# what stands before every route can answer
_ALWAYS = (401, 403, 421)


def errors(*codes: int) -> Responses:
    """``responses`` of a route that may end with these statuses."""
    return {code: {"model": ErrorBody, "description": _WHAT[code]} for code in sorted({*codes, *_ALWAYS})}


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes, openapi_version="3.1.0"
    )
    for path in document["paths"].values():
        for operation in path.values():
            _without_validation(operation)
    parts = document["components"]
    for name in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(name, None)
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": "With --token-file."}}
    document["security"] = [{}, {"token": []}]
    app.openapi_schema = document
    return document


def _without_validation(operation: dict[str, Any]) -> None:
    """A body that is not as described is answered with 400, in the shape of every error."""
    found = operation.get("responses", {}).get("422")
    if found and "HTTPValidationError" in str(found):
        del operation["responses"]["422"]
