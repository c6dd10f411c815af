"""/v1/documents: add, list, describe, delete; clauses, text and page images."""

from __future__ import annotations

import asyncio
import stat
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.responses import Response

from softlookup.errors import UsageError
from softlookup.ui.server.access import Server
from softlookup.ui.server.events import unless_gone
from softlookup.ui.server.openapi import errors
from softlookup.ui.server.problems import NotFoundError
from softlookup.ui.server.schemas import ClauseList, Deleted, DocumentBody, DocumentList, PathBody, TextBody
from softlookup.ui.server.state import ServerState
from softlookup.ui.server.store import Incoming, StoredDocument
from softlookup.ui.server.uploads import receive_upload

router = APIRouter(prefix="/v1/documents", tags=["documents"])
Id = Annotated[str, InPath(max_length=64, description="Id of a document.")]
MOST_TEXT = 1_000_000
MOST_CLAUSES = 1000
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object", "required": ["file"], "additionalProperties": False,
                    "properties": {"file": {"type": "string", "format": "binary", "description": "With a file name."}},
                }
            },
            "application/json": {"schema": PathBody.model_json_schema()},
        },
    }
}  # fmt: skip


def document_body(facts: StoredDocument) -> DocumentBody:
    """The public form of a stored document."""
    return DocumentBody.model_validate(asdict(facts))


@router.post(
    "",
    status_code=201,
    responses=errors(400, 408, 413, 422, 500, 503),
    response_model=DocumentBody,
    openapi_extra=_BODY,
)
async def add(request: Request, state: Server) -> Any:
    """Add a document: a form with one file, or the path of a file where the server allows that."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() == "application/json":
        incoming = await asyncio.to_thread(_copied, state, await _path_body(request))
    else:
        incoming = (await receive_upload(request, state.store, state.settings.max_upload)).incoming
    return document_body(await unless_gone(request, state.documents.add(incoming)))


@router.get("", responses=errors())
async def listing(state: Server) -> DocumentList:
    """Every document, the oldest first."""
    return DocumentList(data=[document_body(facts) for facts in state.documents.listed()])


@router.get("/{document}", responses=errors(404, 422, 500, 503))
async def describe(document: Id, state: Server) -> DocumentBody:
    """One document, with the plan for the present model."""
    return document_body(await state.documents.describe(document))


@router.delete("/{document}", responses=errors(404))
async def delete(document: Id, state: Server) -> Deleted:
    """Delete a document, its sessions and what is kept of them."""
    await state.delete(document)
    return Deleted(id=document, deleted=True)


@router.get("/{document}/clauses", responses=errors(400, 404, 422, 500, 503))
async def clauses(
    document: Id,
    state: Server,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_CLAUSES)] = MOST_CLAUSES,
) -> ClauseList:
    """Clauses in document order."""
    opened = await state.documents.open(document)
    found = (await asyncio.to_thread(opened.to_dict))["clauses"]
    return ClauseList(total=len(found), offset=offset, clauses=found[offset : offset + limit])


@router.get("/{document}/text", responses=errors(400, 404, 422, 500, 503))
async def text(
    document: Id,
    state: Server,
    start: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
    end: Annotated[int | None, Query(ge=0, le=100_000_000)] = None,
) -> TextBody:
    """The reading text from ``start`` to ``end``, at most a million characters; offsets as in citations."""
    whole = (await state.documents.open(document)).text
    last = min(len(whole), start + MOST_TEXT, len(whole) if end is None else end)
    first = min(start, last)
    return TextBody(start=first, end=last, text=whole[first:last])


@router.get(
    "/{document}/pages/{page}.png",
    responses={**errors(400, 404, 422, 500, 503), 200: {"content": {"image/png": {}}, "description": "The page."}},
    response_class=Response,
)
async def page_image(document: Id, page: Annotated[int, InPath(ge=1, le=100_000)], state: Server) -> Response:
    """The picture of one page of a PDF."""
    png = await state.documents.page_png(document, page)
    return Response(png, media_type="image/png")


async def _path_body(request: Request) -> PathBody:
    try:
        return PathBody.model_validate_json(await request.body())
    except ValueError as error:
        raise UsageError('a body {"path": "..."} is required', "see /openapi.json") from error


def _copied(state: ServerState, body: PathBody) -> Incoming:
    """The named file, copied: what is asked about does not change under the questions.

    Raises ``UsageError`` for a path outside the allowed folders, before anything there is looked at.
    """
    allowed = [folder.resolve() for folder in state.settings.allowed_paths]
    refused = UsageError("paths of this machine are not taken", "upload the file, or start with --allow-path FOLDER")
    if not allowed:
        raise refused
    try:
        path = Path(body.path).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise refused from error
    if not any(path.is_relative_to(folder) for folder in allowed):
        raise refused
    try:
        facts = path.stat()
    except OSError as error:
        raise NotFoundError("there is no such file in the folders that are allowed", "check the path") from error
    if not stat.S_ISREG(facts.st_mode):
        raise UsageError("a regular file is required", "name one file")
    if facts.st_size > state.settings.max_upload:
        raise UsageError(f"a file of at most {state.settings.max_upload:,} bytes is taken", "raise --max-upload")
    incoming = state.store.begin(path.name)
    try:
        with path.open("rb") as stream:
            while piece := stream.read(1 << 20):
                incoming.write(piece)
    except OSError as error:
        incoming.discard()
        raise NotFoundError(f"the file cannot be read ({error.strerror or error})", "check its rights") from error
    return incoming
