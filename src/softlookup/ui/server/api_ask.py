"""POST /v1/ask: questions on one document, answered at once or as server-sent events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from softlookup.ui.server.access import Server
from softlookup.ui.server.events import EVENT_STREAM, job_events, outcome, unless_gone
from softlookup.ui.server.openapi import Responses, errors
from softlookup.ui.server.responses import Json
from softlookup.ui.server.schemas import Answers, AskBody, AskFields
from softlookup.ui.server.state import ServerState
from softlookup.ui.server.work import Asked, Question, answers_of, ask, check

router = APIRouter(prefix="/v1", tags=["ask"])

EVENTS = (
    "With `stream`: events `progress` {phase, fraction, queue_position}, `delta` {question, text}, `answer` "
    "{index, answer}, `error` {error}, and last `done` {state}."
)
ASK_RESPONSES: Responses = {
    **errors(400, 404, 408, 413, 422, 500, 503),
    200: {"model": Answers, "content": {EVENT_STREAM: {}}, "description": f"The answers. {EVENTS}"},
}


@router.post("/ask", responses=ASK_RESPONSES, response_class=Json)
async def ask_document(body: AskBody, request: Request, state: Server) -> Response:
    """Ask one or several questions about a document; nothing is remembered."""
    return await answered(request, state, body.document, body)


async def answered(
    request: Request,
    state: ServerState,
    document: str,
    body: AskFields,
    told: Callable[[int, Asked], None] | None = None,
) -> Response:
    """The response to ``body`` on ``document``; ``told`` hears every answer in the worker."""
    parsed = await unless_gone(request, state.documents.open(document))
    asked = Question(document, parsed, body.asked, body.alpha, body.max_answer_tokens)
    await check(state.planning, asked)  # what is wrong with the request is told with its status, not in a stream
    job = state.jobs.submit("ask", ask(state.opened, asked, told), document)
    if body.stream:
        return StreamingResponse(job_events(state.jobs, job), media_type=EVENT_STREAM)
    found: Any = await outcome(request, state.jobs, job)
    return Json({"answers": answers_of(found)})
