"""/v1/sessions/{id}/inspect, /diagnose, /report and /handover: what was asked, looked into and taken away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from softlookup.errors import UsageError
from softlookup.evidence.handover import question_record
from softlookup.ui.handover import HandoverFormat, handover_text
from softlookup.ui.server.access import Server
from softlookup.ui.server.api_sessions import Id
from softlookup.ui.server.events import EVENT_STREAM, job_events, outcome, unless_gone
from softlookup.ui.server.jobs import Job, Kind
from softlookup.ui.server.openapi import Responses, errors
from softlookup.ui.server.reports import ReportLanguage, report_html
from softlookup.ui.server.responses import Json
from softlookup.ui.server.schemas import DiagnoseBody, InspectBody
from softlookup.ui.server.state import ServerState
from softlookup.ui.server.talks import Talk
from softlookup.ui.server.work import Question, check, diagnose, inspect

router = APIRouter(prefix="/v1/sessions/{session}", tags=["sessions"])
_ASKED = errors(400, 404, 408, 413, 422, 500, 503)
_TYPES = {"html": "text/html", "csv": "text/csv", "json": "application/json"}
# a file that stands alone has its style inside, and needs nothing of this server
FILE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)


def _result(name: str) -> Responses:
    return {
        **_ASKED,
        200: {
            "content": {"application/json": {"schema": {"type": "object"}}, EVENT_STREAM: {}},
            "description": f"The JSON of `softlookup {name} --json`; or, with `stream`, events that end in `result`.",
        },
    }


def _file(*kinds: str) -> Responses:
    return {**_ASKED, 200: {"content": {kind: {} for kind in kinds}, "description": "The file."}}


@router.post("/inspect", responses=_result("inspect"), response_class=Json)
async def inspect_question(session: Id, body: InspectBody, request: Request, state: Server) -> Response:
    """What every layer and head did with a question."""
    talk = state.talks.get(session)
    asked = await _asked(request, state, talk, body.question)
    work = inspect(state.opened, asked)

    def kept(job: Job) -> Any:
        found = work(job)
        state.talks.attach(talk, body.question, inspection=found)
        return found

    return await _answered(request, state, ("inspect", talk.document), kept, stream=body.stream)


@router.post("/diagnose", responses=_result("diagnose"), response_class=Json)
async def diagnose_question(session: Id, body: DiagnoseBody, request: Request, state: Server) -> Response:
    """Why an answer was wrong, where ``expect`` names the clause that holds the truth."""
    talk = state.talks.get(session)
    asked = await _asked(request, state, talk, body.question)
    work = diagnose(state.opened, asked, body.expect, body.answer)

    def kept(job: Job) -> Any:
        found = work(job)
        state.talks.attach(talk, body.question, diagnosis=found)
        return found

    return await _answered(request, state, ("diagnose", talk.document), kept, stream=body.stream)


@router.get("/report", responses=_file("text/html"), response_class=Response)
async def report(
    session: Id,
    request: Request,
    state: Server,
    lang: Annotated[ReportLanguage | None, Query(description="Of the labels; default: the document's.")] = None,
    look: Annotated[bool, Query(alias="inspect", description="Inspect every question first; takes the model.")] = False,
) -> Response:
    """The session as one self-contained HTML file."""
    text = await report_html(request, state, _answers(state, session), lang, look=look)
    return _download(text, "html", "report", session)


@router.get("/handover", responses=_file(*_TYPES.values()), response_class=Response)
async def handover(
    session: Id,
    request: Request,
    state: Server,
    kind: Annotated[HandoverFormat, Query(alias="format", description="The file's format.")] = "html",
) -> Response:
    """Questions, nearest clauses, reasons and coverage, for the person who decides."""
    talk = _answers(state, session)
    document = await unless_gone(request, state.documents.open(talk.document))
    records = [question_record(document, turn.answer, turn.fed) for turn in talk.turns]
    return _download(await asyncio.to_thread(handover_text, document, records, kind), kind, "handover", session)


def _answers(state: ServerState, session: str) -> Talk:
    """A session that holds at least one answer."""
    talk = state.talks.get(session)
    if not talk.turns:
        raise UsageError("this session holds no answers yet", "ask something in it first")
    return talk


def _download(text: str, kind: str, what: str, session: str) -> Response:
    """A file under a name that the server makes."""
    headers = {
        "Content-Disposition": f'attachment; filename="softlookup-{what}-{session[-6:]}.{kind}"',
        "Content-Security-Policy": FILE_POLICY,
    }
    return Response(text.encode("utf-8", "backslashreplace"), media_type=f"{_TYPES[kind]}", headers=headers)


async def _asked(request: Request, state: ServerState, talk: Talk, question: str) -> Question:
    document = await unless_gone(request, state.documents.open(talk.document))
    asked = Question(talk.document, document, (question,))
    await check(state.planning, asked)
    return asked


async def _answered(
    request: Request, state: ServerState, what: tuple[Kind, str], work: Callable[[Job], Any], *, stream: bool
) -> Response:
    job = state.jobs.submit(what[0], work, what[1])
    if stream:
        return StreamingResponse(job_events(state.jobs, job), media_type=EVENT_STREAM)
    return Json((await outcome(request, state.jobs, job)).to_dict())
