"""What stands before every request: Host, Origin, token, limits on bodies; and the headers of every response.

A page in another tab can send requests to this address, and a name that it controls can be made to point here: so the
Host must be one of ours, a request that changes something must not come from elsewhere, and nothing allows other
origins to read. Plain ASGI, so that bodies stream through it and a client that leaves is seen.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from collections.abc import MutableMapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response

from softlookup.ui.server.openai_request import MOST_INLINE
from softlookup.ui.server.problems import RefusedError, as_typed
from softlookup.ui.server.responses import error_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from softlookup.ui.server.state import ServerState

COOKIE = "softlookup"
LOG = logging.getLogger(__name__)
OPEN_PATHS = ("/healthz", "/login")
OPEN_FOLDER = "/static/"
UPLOAD_PATHS = ("/v1/documents", "/documents")  # multipart bodies as long as a document
INLINE_PATHS = ("/v1/chat/completions",)  # a document in base64 inside JSON
_OVERHEAD = 64 * 1024
MOST_JSON = 1024 * 1024
_BODY_TIMES = 20  # a body takes at most so many times the idle limit
_LINGER_SECONDS = 2.0
_SAFE = ("GET", "HEAD", "OPTIONS")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Safety:
    """The middleware."""

    def __init__(self, app: ASGIApp, state: ServerState) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, limit, and let through; anything but HTTP and the lifespan is refused."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError("only HTTP is answered")
        headers = Headers(scope=scope)
        body = _Body(receive, headers, self._limit(scope["path"], headers), self._state.settings.idle_seconds)
        sender = _Sender(send, body)
        try:
            answer = self._check(scope, headers)
            body.check_length()
        except RefusedError as error:
            answer = error_response(error)
        if answer is not None:
            await answer(scope, body.receive, sender)
            return
        try:
            await self._app(scope, body.receive, sender)
        except ClientDisconnect:
            return
        except Exception as error:  # told to the log, not to the client
            LOG.exception("%s %s failed", scope["method"], scope["path"].split("/")[1:3])
            if sender.begun:
                raise
            await error_response(as_typed(error))(scope, body.receive, sender)

    def _check(self, scope: Scope, headers: Headers) -> Response | None:
        """A response that ends it here, None to go on. Raises ``RefusedError``."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._state.settings.host_names:
            raise RefusedError(
                421, "wrong_host", "this server is not called by the name in the Host header",
                "use its address on this machine, or start it with --allowed-host NAME",
            )  # fmt: skip
        _check_origin(scope, headers, hosts[0])
        return self._check_token(scope, headers)

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        state, path = self._state, scope["path"]
        token = state.settings.token
        if token is None or path in OPEN_PATHS or path.startswith(OPEN_FOLDER):
            return None
        if _same(headers.get("authorization", ""), f"Bearer {token}") or _same(_cookie(headers), cookie_value(state)):
            return None
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        is_page = scope["method"] == "GET" and not path.startswith("/v1/")
        given = [value for name, value in query if name == "token"]
        if is_page and given and _same(given[0], token):  # once: the address is shown, stored and sent on
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            return logged_in(state, "/" + path.lstrip("/") + (f"?{rest}" if rest else ""))
        if is_page and "text/html" in headers.get("accept", "") and path != "/openapi.json":
            return RedirectResponse("/login", 303)
        raise RefusedError(
            401, "token_required", "a token is required", "send it as `Authorization: Bearer TOKEN`, or log in"
        )

    def _limit(self, path: str, headers: Headers) -> int:
        """Bytes of a body at most."""
        most = self._state.settings.max_upload
        if path in UPLOAD_PATHS and headers.get("content-type", "").startswith("multipart/form-data"):
            return most + _OVERHEAD
        if path in INLINE_PATHS:
            return min(most, MOST_INLINE) * 4 // 3 + MOST_JSON
        return MOST_JSON


class _Body:
    """A request's body with limits on its length, on silence, and on the time for all of it."""

    def __init__(self, receive: Receive, headers: Headers, most: int, idle: float) -> None:
        self._receive, self._most, self._idle = receive, most, idle
        self._announced = headers.get("content-length", "0")
        self._size = 0
        self.over = "content-length" not in headers and "transfer-encoding" not in headers
        self._until = time.monotonic() + _BODY_TIMES * idle

    def check_length(self) -> None:
        """Refuse what announces to be too long; what lies about it is refused on the way."""
        if self._announced.isdecimal() and int(self._announced) > self._most:
            raise self._too_long()

    async def receive(self) -> Message:
        """The next message of the client."""
        if self.over:  # what comes now is the end of the connection, for which nobody hurries
            return await self._receive()
        try:
            message = await asyncio.wait_for(
                self._receive(), max(0.01, min(self._idle, self._until - time.monotonic()))
            )
        except TimeoutError:
            raise RefusedError(
                408, "timeout", f"the request's body did not come within {self._idle:g} seconds", "send it again"
            ) from None
        self._size += len(message.get("body", b""))
        self.over = message["type"] != "http.request" or not message.get("more_body", False)
        if self._size > self._most:
            raise self._too_long()
        return message

    async def hear_out(self) -> None:
        """Take what the client still sends, for a moment: one that is cut while it sends never reads the answer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while not self.over:
                    message = await self._receive()
                    self.over = message["type"] != "http.request" or not message.get("more_body", False)

    def _too_long(self) -> RefusedError:
        return RefusedError(
            413, "too_large", f"a request of at most {self._most:,} bytes is taken here",
            "send a smaller file, or start the server with a larger --max-upload",
        )  # fmt: skip


class _Sender:
    """Adds the headers; where the client is still sending, hears it out before the response ends."""

    def __init__(self, send: Send, body: _Body) -> None:
        self._send, self._body = send, body
        self.begun = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = list(message.get("headers", ()))
            there = {name.lower() for name, _ in headers}
            more = HEADERS if self._body.over else {**HEADERS, "Connection": "close"}
            headers += [(n.lower().encode(), v.encode()) for n, v in more.items() if n.lower().encode() not in there]
            await self._send({**message, "headers": headers})
        elif message["type"] == "http.response.body" and not message.get("more_body", False) and not self._body.over:
            await self._send({**message, "more_body": True})
            await self._body.hear_out()
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._send(message)


def cookie_value(state: ServerState) -> str:
    """What the cookie of a browser that has logged in holds: good for this process and token only."""
    token = (state.settings.token or "").encode()
    return hmac.new(state.secret, token, hashlib.sha256).hexdigest()


def token_matches(state: ServerState, given: str) -> bool:
    """Whether ``given`` is the server's token."""
    return state.settings.token is not None and _same(given, state.settings.token)


def logged_in(state: ServerState, target: str) -> Response:
    """A redirect to ``target`` (a path of ours) that logs the browser in."""
    response = RedirectResponse(target, 303)
    response.set_cookie(COOKIE, cookie_value(state), httponly=True, samesite="strict", path="/")
    return response


def check_csrf(state: ServerState, given: str | None) -> None:
    """Raise ``RefusedError`` unless ``given``, from the header X-CSRF-Token or a form's field, is this process's."""
    if given is None or not _same(given, state.csrf_token):
        raise RefusedError(
            403, "csrf", "this form is not from this server's page, or it is an old one", "load the page again"
        )


def _check_origin(scope: Scope, headers: Headers, host: str) -> None:
    """Refuse what another site has sent."""
    method, path = scope["method"], scope["path"]
    site = headers.get("sec-fetch-site", "none")
    foreign = site not in ("none", "same-origin")  # another port of this machine is "same-site"
    if foreign and not (method == "GET" and path == "/"):
        raise _cross_site()
    origins = headers.getlist("origin")
    if method not in _SAFE and origins and (len(origins) > 1 or not _same_origin(origins[0], host)):
        raise _cross_site()


def _same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:  # such as "http://[", which no browser sends
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _cross_site() -> RefusedError:
    return RefusedError(403, "cross_site", "this request comes from another site", "open this server's own page")


def _cookie(headers: Headers) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if morsel is None else morsel.value


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
