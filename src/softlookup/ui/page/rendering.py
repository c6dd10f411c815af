"""Templates to responses: every string escaped, every invisible character shown, no inline script or style."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi.responses import HTMLResponse

import softlookup
from softlookup.cost.plan.plan_texts import seconds_text
from softlookup.documents.language import language_of
from softlookup.ui.page.preferences import THEMES, preferences
from softlookup.ui.page.words import PAGE_WORDS
from softlookup.ui.report.words import WORDS, clause_name, page_name
from softlookup.ui.templating import UI_FOLDER, template_environment

if TYPE_CHECKING:
    from fastapi import Request
    from jinja2 import Environment

STATIC = {
    "page.css": "text/css", "report.css": "text/css", "page.js": "text/javascript", "htmx.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}  # fmt: skip
# a form that is posted under `no-referrer` names no origin, and would be taken for one of another site
_HEADERS = {"Referrer-Policy": "same-origin", "Vary": "Accept-Language, Cookie, HX-Request"}


def rendered(request: Request, template: str, status: int = 200, **context: Any) -> HTMLResponse:
    """The response of ``template``; the words, the language and the colours are those of the request."""
    return HTMLResponse(text_of(request, template, **context), status, _HEADERS)


def text_of(request: Request, template: str, **context: Any) -> str:
    """The text of ``template``."""
    chosen = preferences(request)
    state = request.app.state.server
    common = {
        "w": WORDS[chosen.language], "t": PAGE_WORDS[chosen.language], "language": chosen.language,
        "lang": "zh-CN" if chosen.language == "zh" else "en", "theme": chosen.theme,
        "next_theme": THEMES[(THEMES.index(chosen.theme) + 1) % len(THEMES)],
        "other_language": "en" if chosen.language == "zh" else "zh", "csrf": state.csrf_token,
        "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        "static": static_address, "version": softlookup.__version__, "has_token": state.settings.token is not None,
        "history": state.settings.history,
        "clause_name": lambda label: clause_name(label, chosen.language),
        "page_name": lambda page: page_name(page, chosen.language),
        "lang_of": lambda text: "zh-CN" if language_of(text) == "zh" else "en",
        "seconds": lambda value: seconds_text(value, chosen.language),
    }  # fmt: skip
    return environment().get_template(template).render(**{**common, **context})


def is_fragment(request: Request) -> bool:
    """Whether the script of the page asks, which wants a piece of HTML instead of a whole page."""
    return request.headers.get("hx-request") == "true"


@cache
def static_bytes(name: str) -> bytes:
    """A static file; ``name`` is one of :data:`STATIC`."""
    return (UI_FOLDER / "static" / name).read_bytes()


@cache
def static_address(name: str) -> str:
    """The address of a static file; it changes with the file, so that browsers may keep it."""
    return f"/static/{name}?v={hashlib.sha256(static_bytes(name)).hexdigest()[:12]}"


@cache
def environment() -> Environment:
    """The templates."""
    made = template_environment()
    made.filters["size"] = _size
    return made


def _size(count: int) -> str:
    """Bytes for people."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
