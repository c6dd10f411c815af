"""Errors of page routes as HTML: a whole page for a browser, a note for the page's script."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from softlookup.errors import SoftlookupError, UsageError
from softlookup.ui.page.rendering import is_fragment, rendered
from softlookup.ui.server.problems import error_headers, status_of

if TYPE_CHECKING:
    from fastapi import Request
    from fastapi.responses import HTMLResponse, Response


class PageRoute(APIRoute):
    """A route whose errors are shown to a person."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with typed errors turned into HTML."""
        handler = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handler(request)
            except SoftlookupError as error:
                return error_page(request, error)
            except RequestValidationError:
                return error_page(
                    request, UsageError("this address or form is not understood", "go back and try again")
                )
            except HTTPException as error:
                if isinstance(error.__cause__, SoftlookupError):  # raised while the body was read
                    return error_page(request, error.__cause__)
                raise

        return handled


def error_page(request: Request, error: SoftlookupError) -> HTMLResponse:
    """What went wrong, and what helps."""
    status, code = status_of(error)
    template = "_page_note.html" if is_fragment(request) else "page_error.html"
    response = rendered(
        request, template, status, code=code, message=" ".join(error.message.split()), remedy=error.remedy
    )
    response.headers.update(error_headers(error))
    return response
