"""The list of documents, uploads, log in, settings of the browser, static files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from fastapi.responses import RedirectResponse, Response

from softlookup.errors import SoftlookupError, UsageError
from softlookup.ui.page.forms import form_fields, local_path
from softlookup.ui.page.preferences import LANGUAGE_COOKIE, LANGUAGES, THEME_COOKIE, THEMES
from softlookup.ui.page.problems import PageRoute
from softlookup.ui.page.rendering import STATIC, is_fragment, rendered, static_bytes
from softlookup.ui.page.state import Page
from softlookup.ui.server.access import Server
from softlookup.ui.server.events import unless_gone
from softlookup.ui.server.problems import NotFoundError
from softlookup.ui.server.safety import check_csrf, logged_in, token_matches
from softlookup.ui.server.settings import MEBIBYTE
from softlookup.ui.server.store import EXTENSIONS
from softlookup.ui.server.uploads import receive_upload

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_YEAR = 365 * 24 * 3600


@router.get("/")
async def home(request: Request, state: Server) -> Response:
    """Every document, the latest first, and the place to add one."""
    documents = list(reversed(state.documents.listed()))
    return rendered(
        request, "page_home.html", documents=documents, extensions=EXTENSIONS,
        limit=f"{state.settings.max_upload / MEBIBYTE:.3g} MB",
    )  # fmt: skip


@router.post("/documents")
async def upload(request: Request, state: Server) -> Response:
    """Add a document, and go to it. The script sends the token before the file, a form in it."""
    header = request.headers.get("x-csrf-token")
    if header is not None:
        check_csrf(state, header)
    received = await receive_upload(request, state.store, state.settings.max_upload)
    if header is None:
        try:
            check_csrf(state, received.fields.get("csrf"))
        except SoftlookupError:
            received.incoming.discard()
            raise
    facts = await unless_gone(request, state.documents.add(received.incoming))
    address = f"/documents/{facts.id}"
    return Response(status_code=201, headers={"Location": address}) if is_fragment(request) else _to(address)


@router.post("/documents/{document}/delete")
async def delete(document: str, request: Request, state: Server, page: Page) -> Response:
    """Delete a document, its questions and answers."""
    await form_fields(request, state)
    await state.delete(document)
    page.forget(document)
    return _to("/")


@router.get("/login")
async def login_form(request: Request) -> Response:
    """Asks for the token."""
    return rendered(request, "page_login.html", wrong=False)


@router.post("/login")
async def login(request: Request, state: Server) -> Response:
    """Log in with the token."""
    fields = await form_fields(request, state)
    if token_matches(state, fields.get("token", "").strip()):
        return logged_in(state, "/")
    return rendered(request, "page_login.html", 403, wrong=True)


@router.get("/settings/language/{language}")
async def set_language(language: str, back: str = "/") -> Response:
    """Remember a language in the browser."""
    if language not in LANGUAGES:
        raise UsageError("this language is not offered", "choose English or Chinese")
    return _remembered(LANGUAGE_COOKIE, language, back)


@router.get("/settings/theme/{theme}")
async def set_theme(theme: str, back: str = "/") -> Response:
    """Remember the colours in the browser."""
    if theme not in THEMES:
        raise UsageError("these colours are not offered", "choose auto, light or dark")
    return _remembered(THEME_COOKIE, theme, back)


@router.get("/static/{name}")
async def static(name: Annotated[str, InPath(max_length=64)]) -> Response:
    """A file of the page itself; the address changes with the file."""
    if name not in STATIC:
        raise NotFoundError("there is no such file", "load the page again")
    return Response(static_bytes(name), media_type=STATIC[name], headers={"Cache-Control": f"private, max-age={_YEAR}"})


def _remembered(cookie: str, value: str, back: str) -> Response:
    response = _to(local_path(back))
    # the page's script sets the same cookie, so it is not hidden from it; there is nothing secret in it
    response.set_cookie(cookie, value, max_age=_YEAR, samesite="strict", path="/")
    return response


def _to(address: str) -> Response:
    return RedirectResponse(address, 303)
