"""Forms of the page: their fields, with the token that proves where they come from; addresses to go back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from softlookup.ui.server.safety import check_csrf

if TYPE_CHECKING:
    from fastapi import Request

    from softlookup.ui.server.state import ServerState

_MOST_FIELDS = 20


async def form_fields(request: Request, state: ServerState) -> dict[str, str]:
    """The text fields of a form. Raises ``RefusedError`` unless it comes from a page of this process."""
    async with request.form(max_files=0, max_fields=_MOST_FIELDS) as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
    check_csrf(state, request.headers.get("x-csrf-token") or fields.get("csrf"))
    return fields


def local_path(address: str) -> str:
    """``address`` when it is a path of this server, else "/": nobody is sent elsewhere."""
    plain = address.isascii() and address.isprintable() and "\\" not in address
    return address if plain and address.startswith("/") and not address.startswith("//") else "/"
