"""create_app(settings) -> FastAPI: the routes, the middleware and the errors put together."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from softlookup import __version__
from softlookup.errors import SoftlookupError, UsageError
from softlookup.ui.page import routes as page_routes
from softlookup.ui.page.problems import error_page, is_of_page
from softlookup.ui.server import api_about, api_ask, api_documents, api_look, api_sessions, openai_api
from softlookup.ui.server.openapi import describe
from softlookup.ui.server.problems import NotFoundError, error_body
from softlookup.ui.server.responses import Json, error_response
from softlookup.ui.server.safety import Safety
from softlookup.ui.server.settings import Settings
from softlookup.ui.server.state import ServerState

_CODES = {401: "token_required", 403: "refused", 404: "not_found", 405: "method_not_allowed"}
_PLAIN = {
    404: ("there is nothing under this address", "/openapi.json lists what there is"),
    405: ("this address does not take this method", "the header Allow says which it takes"),
}
_NO_OBJECT = ("missing", "model_attributes_type", "model_type", "dict_type")  # pydantic's names


def create_app(settings: Settings | None = None) -> FastAPI:
    """The server as an ASGI app; its parts are made here and started with its lifespan."""
    state = ServerState(settings or Settings())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        state.start()
        try:
            yield
        finally:
            await state.stop()

    app = FastAPI(
        title="softlookup",
        version=__version__,
        summary="Long contracts, asked on your own machine: clause citations, or 'no evidence found'.",
        docs_url=None,  # that page loads scripts from elsewhere
        redoc_url=None,
        default_response_class=Json,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.server = state
    for routes in (api_about, api_documents, api_ask, api_sessions, api_look, openai_api, page_routes):
        app.include_router(routes.router)
    _add_errors(app)
    app.add_middleware(Safety, state=state)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]  # as FastAPI's own documentation does
    return app


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(SoftlookupError)
    async def typed(_: Request, error: SoftlookupError) -> Json:
        return error_response(error)

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        if isinstance(error.__cause__, SoftlookupError):  # raised while the body was read
            return error_response(error.__cause__)
        if error.status_code == 404 and is_of_page(request):  # a person mistyped an address
            return error_page(request, NotFoundError("there is no such page", ""))
        body = error_body(UsageError(*_PLAIN.get(error.status_code, (str(error.detail), "see /openapi.json"))))
        body["error"]["code"] = _CODES.get(error.status_code, "invalid_request")
        return Json(body, error.status_code, dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Json:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        told = error_body(_wrong(request, first, place))
        told["error"]["param"] = place[:200] if place and first["type"] != "json_invalid" else None
        return Json(told, 400)


def _wrong(request: Request, found: dict[str, Any], place: str) -> UsageError:
    """What pydantic has found, for somebody who writes a request by hand."""
    if found["type"] == "json_invalid":
        return UsageError(f"the body is no JSON from character {place} on", "send a JSON object")
    if not place and found["type"] in _NO_OBJECT:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        said = "" if kind == "application/json" else ", with the header content-type: application/json"
        return UsageError("a JSON object is required as the body", f"send one{said}; see /openapi.json")
    message = str(found["msg"]).removeprefix("Value error, ")
    return UsageError(f"{place[:200] or 'the body'}: {message[:300]}", "see /openapi.json")


def openapi_text(app: FastAPI) -> str:
    """The OpenAPI document as it is served, for a file."""
    document: dict[str, Any] = app.openapi()
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
