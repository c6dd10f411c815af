"""GET /healthz and GET /v1/models."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from softlookup import __version__
from softlookup.errors import SoftlookupError
from softlookup.ui.server.access import Server
from softlookup.ui.server.openapi import errors
from softlookup.ui.server.schemas import Health

router = APIRouter()


class ModelBody(BaseModel):
    """A model, as OpenAI's API describes one."""

    id: str
    object: str = "model"
    created: int = Field(description="Always 0: not known.")
    owned_by: str = Field(description="Always local.")
    window: int = Field(description="Tokens that the model was trained to read at once.")
    sha256: str = Field(description="Of its weights.")


class ModelList(BaseModel):
    """The model of this server."""

    object: str = "list"
    data: list[ModelBody]


@router.get("/healthz", responses=errors(), tags=["server"])
async def health(state: Server) -> Health:
    """Whether the server answers; needs no token."""
    try:
        name = state.session.source.name
    except SoftlookupError:
        name = None
    return Health(
        status="stopping" if state.stops else "ok", version=__version__, model=name, waiting=state.jobs.waiting
    )


@router.get("/v1/models", responses=errors(500, 503), response_model=ModelList, tags=["openai"])
async def models(state: Server) -> Any:
    """The one model that answers here."""
    source = state.session.source
    facts = ModelBody(id=source.name, created=0, owned_by="local", window=source.window, sha256=source.sha256)
    return ModelList(data=[facts])
