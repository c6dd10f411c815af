"""What routes ask of the running server."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from softlookup.ui.server.state import ServerState


def server(request: Request) -> ServerState:
    """The state of the server that got ``request``."""
    state: ServerState = request.app.state.server
    return state


Server = Annotated[ServerState, Depends(server)]
