"""The report of a session: gathers what ``ui.report`` needs, off the event loop; the file itself is made there."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from softlookup.errors import ModelError, SoftlookupError
from softlookup.session import OpenDocument
from softlookup.ui.server.events import outcome, unless_gone
from softlookup.ui.server.work import Question, inspect

if TYPE_CHECKING:
    from fastapi import Request

    from softlookup.documents.model import Document
    from softlookup.ui.server.state import ServerState
    from softlookup.ui.server.talks import Talk

ReportLanguage = Literal["en", "zh"]


async def report_html(
    request: Request, state: ServerState, talk: Talk, language: ReportLanguage | None, *, look: bool = False
) -> str:
    """The file as text. ``look``: questions that were not inspected yet are, one job each."""
    document = await unless_gone(request, state.documents.open(talk.document))
    if look:
        await _inspect_all(request, state, talk, document)
    return await unless_gone(request, asyncio.to_thread(_built, state, talk, document, language))


async def _inspect_all(request: Request, state: ServerState, talk: Talk, document: Document) -> None:
    for turn in list(talk.turns):
        if turn.inspection is None:
            asked = Question(talk.document, document, (turn.answer.question,))
            job = state.jobs.submit("report", inspect(state.opened, asked), talk.document)
            try:
                turn.inspection = await outcome(request, state.jobs, job)
            except ModelError:  # a model that cannot be looked into: the report says what there is
                return


def _built(state: ServerState, talk: Talk, document: Document, language: ReportLanguage | None) -> str:
    from softlookup.ui.report import Record, ReportInput, build_report

    facts = state.store.get(talk.document)
    source = state.store.path(facts).read_bytes() if facts.format == "pdf" else None
    planning = state.planning
    estimate: Any = None
    count_tokens: Any = None
    with suppress(SoftlookupError):  # no model any more: the answers are there all the same
        estimate, count_tokens = OpenDocument(planning, document, 0.0).plan, planning.count_tokens
    records = tuple(Record(turn.answer, turn.fed, turn.inspection, turn.diagnosis) for turn in talk.turns)
    return build_report(
        ReportInput(document, records, source, estimate=estimate, count_tokens=count_tokens, language=language)
    )
