"""/v1/sessions: questions on one document that are remembered; diagnose, inspect, report and hand-over of them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from fastapi.responses import Response

from softlookup.ui.server.access import Server
from softlookup.ui.server.api_ask import ASK_RESPONSES, answered
from softlookup.ui.server.openapi import errors
from softlookup.ui.server.responses import Json
from softlookup.ui.server.schemas import (
    AskFields,
    Deleted,
    SessionBody,
    SessionDetail,
    SessionList,
    SessionStart,
)
from softlookup.ui.server.talks import Talk
from softlookup.ui.server.work import answers_of

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
Id = Annotated[str, InPath(max_length=64, description="Id of a session.")]


def session_body(talk: Talk) -> dict[str, Any]:
    """The public form of a session."""
    return {
        "id": talk.id, "object": "session", "document": talk.document, "created": talk.created,
        "questions": [turn.answer.question for turn in talk.turns],
    }  # fmt: skip


@router.post("", status_code=201, responses=errors(400, 404, 408, 413, 500), response_model=SessionBody)
async def begin(body: SessionStart, state: Server) -> Any:
    """Begin a session on a document."""
    facts = state.store.get(body.document)
    return session_body(await asyncio.to_thread(state.talks.begin, facts.id))


@router.get("", responses=errors(), response_model=SessionList)
async def listing(state: Server) -> Any:
    """Every session, the oldest first."""
    return {"data": [session_body(talk) for talk in state.talks.list()]}


@router.get("/{session}", responses={**errors(404), 200: {"model": SessionDetail}}, response_class=Json)
async def detail(session: Id, state: Server) -> Response:
    """A session with its answers."""
    talk = state.talks.get(session)
    return Json({**session_body(talk), "answers": answers_of(talk.turns)})


@router.delete("/{session}", responses=errors(404))
async def delete(session: Id, state: Server) -> Deleted:
    """Forget a session, on disk too."""
    await asyncio.to_thread(state.talks.delete, session)
    return Deleted(id=session, deleted=True)


@router.post("/{session}/ask", responses=ASK_RESPONSES, response_class=Json)
async def ask_session(session: Id, body: AskFields, request: Request, state: Server) -> Response:
    """Ask, and remember the answers in the session."""
    talk = state.talks.get(session)
    state.talks.room(talk, len(body.asked))
    return await answered(request, state, talk.document, body, lambda _, asked: state.talks.remember(talk, asked))
