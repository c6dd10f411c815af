"""What each tool does: opens the document, queues what needs the model, tells progress, ends when the client cancels.

Runs in the event loop; the model runs in the one worker of ``ui/server/jobs.py``. Knows nothing of the protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softlookup.session import Session
from softlookup.ui.mcp.claim import Claim, find_claim
from softlookup.ui.mcp.claim_words import CheckResult, check_result, text_verdict
from softlookup.ui.mcp.outline import read_result
from softlookup.ui.mcp.rows import ReadResult
from softlookup.ui.mcp.schemas import AskArguments, CheckArguments, ReadArguments, arguments_of, content_of, shown
from softlookup.ui.mcp.seen import Look, look_at
from softlookup.ui.mcp.shelf import Shelf, Shelved
from softlookup.ui.mcp.texts import answer_text, check_text, read_text
from softlookup.ui.server.jobs import Job, Jobs
from softlookup.ui.server.work import OpenDocuments, Question, ask, check, checked_options

if TYPE_CHECKING:
    from softlookup.evidence.answer import Answer
    from softlookup.ui.server.settings import Settings

_MOST_LISTED = 200  # clauses and parts of a file that an answer lists
_MOST_TEXT = 5000  # characters of one text; 1,024 tokens are about as many
_NAMES, _MOST_NAME = frozenset({"clause", "heading", "why", "clauses_not_fed", "skipped"}), 300
# hears a number that only grows, and what is done now
Report = Callable[[float, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Told:
    """A result: short text, and the JSON object of the tool's output schema."""

    text: str
    content: dict[str, Any]


class Calls:
    """The tools on documents below ``roots`` (resolved); document and model stay open between calls."""

    def __init__(self, roots: Sequence[Path], settings: Settings) -> None:
        self.shelf = Shelf(roots, settings)
        session = Session(settings.model, options=settings.options)
        # counts tokens in other threads than the worker's; loads no model
        self._planning = Session(settings.model, options=settings.options)
        self._opened = OpenDocuments(session, settings)
        self.jobs = Jobs(settings.queue, self._opened.shrink)
        self.jobs.start()

    async def read(self, given: dict[str, Any] | None, report: Report) -> Told:
        """``read_document``."""
        wanted = arguments_of(ReadArguments, given)
        await report(0.0, "read")
        shelved = await self.shelf.open(wanted.path)
        found: ReadResult = await asyncio.to_thread(read_result, shelved, wanted.clause, wanted.part)
        return Told(read_text(found), content_of(found))

    async def ask(self, given: dict[str, Any] | None, report: Report) -> Told:
        """``ask_document``."""
        wanted = arguments_of(AskArguments, given)
        await report(0.0, "read")
        shelved = await self.shelf.open(wanted.path)
        asked = Question(shelved.name, shelved.document, (wanted.question,), wanted.alpha, wanted.max_answer_tokens)
        await check(self._planning, asked)
        job = self.jobs.submit("ask", ask(self._opened, asked), shelved.name)
        (found,) = await self._outcome(job, report)
        answer: Answer = found.answer
        return Told(answer_text(answer), shown(_shortened(answer.to_dict())))

    async def check(self, given: dict[str, Any] | None, report: Report) -> Told:
        """``check_clause``."""
        wanted = arguments_of(CheckArguments, given)
        await report(0.0, "read")
        shelved = await self.shelf.open(wanted.path)
        asked = Question(shelved.name, shelved.document, (wanted.question,), wanted.alpha)
        await check(self._planning, asked)
        claim = await asyncio.to_thread(find_claim, shelved.document, wanted.expect_clause, wanted.quote)
        look = None if text_verdict(claim) is not None else await self._look(shelved, claim, asked, report)
        found: CheckResult = check_result(shelved.document, wanted.question, claim, look)
        return Told(check_text(found), content_of(found))

    def close(self) -> None:
        """Cancel what runs, leave nothing behind; blocks until the worker has heard it, for five seconds at most."""
        self.shelf.close()
        self.jobs.close(0.0)

    async def _look(self, shelved: Shelved, claim: Claim, asked: Question, report: Report) -> Look:
        def work(job: Job) -> Look:
            session = self._opened.session
            alpha = checked_options(session.options, asked.alpha, None).alpha
            place = claim.place
            if place is None or place.span is None:
                return Look(None, "no_passage")
            with session.heard_by(job.report):
                return look_at(
                    self._opened.open(shelved.name, shelved.document), asked.questions[0], place, place.span, alpha
                )

        found: Look = await self._outcome(self.jobs.submit("diagnose", work, shelved.name), report)
        return found

    async def _outcome(self, job: Job, report: Report) -> Any:
        """What the job returns. A call that is cancelled cancels its job."""
        steps = _Steps()
        try:
            async for event in job.follow():
                if event is not None and event.name == "progress" and (step := steps.next(event.data)) is not None:
                    await report(*step)
        except BaseException:
            self.jobs.cancel(job)
            raise
        return await job.outcome()


class _Steps:
    """Progress as one number that only grows: finished phases and the fraction of the present one."""

    def __init__(self) -> None:
        self._phase, self._before, self._last = "read", 0, 0.0

    def next(self, data: dict[str, Any]) -> tuple[float, str] | None:
        """Number and words, None where a client would learn nothing new."""
        phase, fraction = str(data["phase"]), float(data["fraction"])
        new = phase != self._phase
        if new:
            self._phase, self._before = phase, self._before + 1
        number = round(self._before + min(1.0, fraction) * 0.99, 4)  # the next phase is more than all of this one
        if number <= self._last or (not new and number < self._last + 0.01):
            return None
        self._last = number
        waiting = f", {data['queue_position']} before it" if data["queue_position"] else ""
        return number, f"{phase} {fraction:.0%}{waiting}"


def _shortened(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with what grows with the document cut: two lists, where a note says so, and headings."""
    coverage = dict(answer["coverage"])
    for name in ("clauses_not_fed", "skipped"):
        rows = coverage[name]
        if len(rows) > _MOST_LISTED:
            coverage[name] = rows[:_MOST_LISTED]
            coverage["notes"] = (*coverage["notes"], f"{name} lists the first {_MOST_LISTED} of {len(rows):,}")
    return {key: _limited(value) for key, value in {**answer, "coverage": coverage}.items()}


def _limited(value: Any, most: int = _MOST_TEXT) -> Any:
    """``value`` whose texts have a length that a result can hold; quotes are shorter anyway, headings need not be."""
    if isinstance(value, str):
        return value if len(value) <= most else value[: most - 3] + "..."
    if isinstance(value, dict):
        return {key: _limited(inner, _MOST_NAME if key in _NAMES else most) for key, inner in value.items()}
    return [_limited(inner, most) for inner in value] if isinstance(value, (list, tuple)) else value
