"""JSON responses in which no character of a contract or a file name can act: invisible ones are written as escapes."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

from softlookup.errors import SoftlookupError
from softlookup.ui.escape import json_line
from softlookup.ui.server.problems import error_body, error_headers, status_of


class Json(JSONResponse):
    """As JSONResponse; lone surrogates, controls and direction marks are escapes, which mean the same text."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return json_line(content).encode()


def error_response(error: SoftlookupError) -> Json:
    """The JSON response of a typed error."""
    return Json(error_body(error), status_of(error)[0], error_headers(error))
