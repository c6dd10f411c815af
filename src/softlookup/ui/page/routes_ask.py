"""Questions from the page: ask, follow, cancel, diagnose, compare; they go on although nobody looks."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from softlookup.errors import CancellationError, UsageError
from softlookup.ui.page.answers import answer_view, comparison_strip, shared
from softlookup.ui.page.expect import expectation
from softlookup.ui.page.forms import form_fields, local_path
from softlookup.ui.page.preferences import preferences
from softlookup.ui.page.problems import PageRoute
from softlookup.ui.page.rendering import is_fragment, rendered
from softlookup.ui.page.state import Page, PageState, Run
from softlookup.ui.report import facts
from softlookup.ui.server.access import Server
from softlookup.ui.server.events import EVENT_STREAM, job_events
from softlookup.ui.server.jobs import Job
from softlookup.ui.server.problems import NotFoundError, status_of
from softlookup.ui.server.state import ServerState
from softlookup.ui.server.work import Asked, Question, ask, check, diagnose

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_Document = "/documents/{document}"


@router.post(_Document + "/ask")
async def ask_question(document: str, request: Request, state: Server, page: Page) -> Response:
    """Queue a question; the answer is followed by the script, or shown when the page is loaded again."""
    fields = await form_fields(request, state)
    talk = page.talk(document, fields.get("session", ""))
    asked = await _question(state, document, fields.get("question", ""))
    if talk is None:
        talk = await asyncio.to_thread(state.talks.begin, state.store.get(document).id)
    state.talks.room(talk, 1 + len(page.unfinished(talk)))
    run = Run("ask", talk, asked.questions[0])

    def told(_: int, found: Asked) -> None:
        state.talks.remember(talk, found)
        run.turn = len(talk.turns) - 1  # one worker: nobody adds a turn between

    page.begin(run, state.jobs.submit("ask", ask(state.opened, asked, told), document, background=True))
    return await _begun(request, page, run)


@router.post(_Document + "/diagnose")
async def diagnose_turn(document: str, request: Request, state: Server, page: Page) -> Response:
    """Queue a diagnosis of a turn: ``clause`` is one that was clicked, ``expect`` its name or words, or none."""
    fields = await form_fields(request, state)
    talk = page.talk(document, fields.get("session", ""))
    number = int(fields["turn"]) if fields.get("turn", "").isdecimal() else -1
    if talk is None or not 0 <= number < len(talk.turns):
        raise NotFoundError("this answer is not known any more", "ask again")
    opened = await state.documents.open(document)
    expect = fields.get("expect", "").strip()
    if fields.get("clause", "").isdecimal():
        expect = await asyncio.to_thread(expectation, opened, int(fields["clause"]))
    if not expect:
        raise UsageError("the expected clause is missing", "click on it, or write its number or its words")
    turn = talk.turns[number]
    asked = await _question(state, document, turn.answer.question)
    work = diagnose(state.opened, asked, expect, turn.answer.answer or None)

    def kept(job: Job) -> object:
        found = work(job)
        turn.diagnosis = found
        return found

    run = Run("diagnose", talk, asked.questions[0], number, expect)
    page.begin(run, state.jobs.submit("diagnose", kept, document, background=True))
    return await _begun(request, page, run)


@router.get("/jobs/{job}/events")
async def events(job: str, state: Server, page: Page) -> Response:
    """Progress, words, and the end of a question, as server-sent events."""
    return StreamingResponse(job_events(state.jobs, page.run(job).job), media_type=EVENT_STREAM)


@router.get("/jobs/{job}")
async def show_run(job: str, request: Request, page: Page) -> Response:
    """A question or diagnosis as it stands now."""
    return await _shown(request, page, page.run(job))


@router.post("/jobs/{job}/cancel")
async def cancel(job: str, request: Request, state: Server, page: Page) -> Response:
    """End a question, whether it waits or runs; what was read so far stays read."""
    fields = await form_fields(request, state)
    run = page.run(job)
    state.jobs.cancel(run.job, CancellationError("the question was stopped", "ask it again when you like"))
    return Response(status_code=204) if is_fragment(request) else _to(fields.get("back", "/"))


@router.post(_Document + "/restart")
async def restart(document: str, request: Request, state: Server) -> Response:
    """Begin an empty session; the earlier one stays where the API lists it."""
    await form_fields(request, state)
    await asyncio.to_thread(state.talks.begin, state.store.get(document).id)
    return _to(f"/documents/{document}")


@router.get(_Document + "/files/{kind}")
async def files(document: str, kind: str, request: Request, page: Page, session: str = "") -> Response:
    """Leads to the report or hand-over of a session, which the API makes."""
    talk = page.talk(document, session)
    if talk is None or kind not in ("report", "handover"):
        raise UsageError("there are no answers to take away yet", "ask something first")
    rest = urlencode([(name, value) for name, value in request.query_params.items() if name != "session"])
    return RedirectResponse(f"/v1/sessions/{talk.id}/{kind}?{rest}", 303)


@router.get(_Document + "/compare")
async def compare(
    document: str,
    request: Request,
    page: Page,
    q: Annotated[list[int] | None, Query(max_length=20)] = None,
    session: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Two questions side by side."""
    talk, chosen = page.talk(document, session), list(dict.fromkeys(q or ()))
    if talk is None or len(chosen) != 2 or not all(0 <= number < len(talk.turns) for number in chosen):
        raise UsageError("two answers are compared at a time", "go back and choose two")
    shown, language = await page.shown(document), preferences(request).language
    address = f"/documents/{document}"

    def views() -> dict[str, Any]:
        found = [answer_view(shown, n, talk.turns[n], language, address) for n in sorted(chosen)]
        strip = comparison_strip(shown, found, language, address)
        return {"views": found, "strip": strip, "shared": shared(found)}

    stored = page.server.store.get(document)
    return rendered(
        request, "page_compare.html", document=document, document_lang=shown.lang, stored=stored, talk=talk,
        shown=shown,
        **await asyncio.to_thread(views),
    )  # fmt: skip


async def _begun(request: Request, page: PageState, run: Run) -> Response:
    if is_fragment(request):
        return await _shown(request, page, run)
    return _to(f"/documents/{run.talk.document}?session={run.talk.id}")


async def _shown(request: Request, page: PageState, run: Run) -> Response:
    """The fragment of a run: what runs, what came of it, or what went wrong."""
    job, talk = run.job, run.talk
    context: dict[str, Any] = {"document": talk.document, "talk": talk, "run": run, "code": "", "error": job.error}
    if job.error is not None:
        context["code"] = status_of(job.error)[1]
    if job.state != "done" or run.turn is None:
        return rendered(request, "_page_run.html", **context)
    turn = talk.turns[run.turn]
    if run.kind == "diagnose":
        return rendered(request, "_page_diagnosis.html", facts=facts, found=job.result, **context)
    shown, language = await page.shown(talk.document), preferences(request).language
    view = await asyncio.to_thread(answer_view, shown, run.turn, turn, language, f"/documents/{talk.document}")
    return rendered(
        request, "_page_answer.html", answer=view, shown=shown, facts=facts, document_lang=shown.lang, **context
    )


async def _question(state: ServerState, document: str, question: str) -> Question:
    asked = Question(document, await state.documents.open(document), (question.strip(),))
    await check(state.planning, asked)
    return asked


def _to(address: str) -> Response:
    return RedirectResponse(local_path(address), 303)
