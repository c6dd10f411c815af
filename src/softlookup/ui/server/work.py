"""What a job does with the model: ask, inspect, diagnose; and the documents that the worker keeps open.

Everything here runs in the worker's thread, so nothing is locked.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from softlookup.session import OpenDocument

if TYPE_CHECKING:
    from softlookup.diagnostics.diagnosis import Diagnosis
    from softlookup.diagnostics.inspection_result import Inspection
    from softlookup.documents.model import Document, Span
    from softlookup.evidence.answer import Answer
    from softlookup.session import Session
    from softlookup.session.options import Options
    from softlookup.ui.server.jobs import Job
    from softlookup.ui.server.settings import Settings

_MOST_QUESTIONS = 500  # per opening: what a document remembers of questions is small, but it is not nothing


@dataclass(frozen=True, slots=True)
class Asked:
    """One answered question, the spans of the document that the model had read for it, and the tokens of its words."""

    answer: Answer
    fed: tuple[Span, ...]
    tokens: int = 0


class OpenDocuments:
    """Documents that the model has read, within a number and a number of bytes; those not used for longest go first."""

    def __init__(self, session: Session, settings: Settings) -> None:
        self.session = session
        self._most, self._bytes = settings.open_documents, settings.open_bytes
        self._open: OrderedDict[str, OpenDocument] = OrderedDict()
        self._questions: dict[str, int] = {}
        self._gone: set[str] = set()

    def open(self, name: str, document: Document) -> OpenDocument:
        """The open document with the id ``name``; a new one has read nothing yet."""
        if name not in self._open:
            self._open[name] = OpenDocument(self.session, document, 0.0)
            self._questions[name] = 0
        self._open.move_to_end(name)
        self._shrink(self._most, self._bytes)
        return self._open[name]

    def count(self, name: str, questions: int) -> None:
        """Count questions of a document."""
        self._questions[name] = self._questions.get(name, 0) + questions

    def shrink(self) -> None:
        """Let go of what is over the limits; after each job."""
        for name in [name for name, count in self._questions.items() if count >= _MOST_QUESTIONS]:
            self.forget(name)
        for name in [name for name in self._open if name in self._gone]:
            self.forget(name)
        self._shrink(self._most, self._bytes)

    def discard(self, name: str) -> None:
        """Let the worker keep nothing of a document that was deleted; from any thread."""
        self._gone.add(name)

    def forget(self, name: str) -> None:
        """Keep nothing of a document."""
        self._open.pop(name, None)
        self._questions.pop(name, None)

    @property
    def held_bytes(self) -> int:
        """Bytes of what the model read of all open documents."""
        return sum(opened.held_bytes for opened in self._open.values())

    def __len__(self) -> int:
        return len(self._open)

    def _shrink(self, most: int, limit: int) -> None:
        while len(self._open) > 1 and (len(self._open) > most or self.held_bytes > limit):
            self.forget(next(iter(self._open)))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one document; None leaves the server's own setting."""

    name: str
    document: Document
    questions: tuple[str, ...]
    alpha: float | None = None
    max_answer_tokens: int | None = None


def ask(
    opened: OpenDocuments, asked: Question, told: Callable[[int, Asked], None] | None = None
) -> Callable[[Job], Any]:
    """A job that answers every question in turn; each answer is told when it is there."""

    def work(job: Job) -> list[Asked]:
        found: list[Asked] = []
        counts = [0] * len(asked.questions)

        def hear(text: str) -> None:  # once per token
            counts[len(found)] += 1
            job.say(len(found), text)

        with _heard(opened.session, job, hear), _set(opened.session, asked):
            document = opened.open(asked.name, asked.document)
            for answer in document.ask_all(asked.questions):
                found.append(Asked(answer, document.fed(answer.question), counts[len(found)]))
                if told is not None:
                    told(len(found) - 1, found[-1])
                job.tell("answer", {"index": len(found) - 1, "answer": answer.to_dict()})
            opened.count(asked.name, len(found))
        return found

    return work


def inspect(opened: OpenDocuments, asked: Question) -> Callable[[Job], Inspection]:
    """A job that tells what every layer and head did with the first question."""

    def work(job: Job) -> Inspection:
        with _heard(opened.session, job), _set(opened.session, asked):
            found = opened.open(asked.name, asked.document).inspect(asked.questions[0])
        job.tell("result", found.to_dict())
        return found

    return work


def diagnose(opened: OpenDocuments, asked: Question, expect: str, answer: str | None) -> Callable[[Job], Diagnosis]:
    """A job that tells why the answer to the first question was wrong, where ``expect`` holds the truth."""

    def work(job: Job) -> Diagnosis:
        with _heard(opened.session, job), _set(opened.session, asked):
            document = opened.open(asked.name, asked.document)
            found = document.diagnose(asked.questions[0], expect, answer=answer)
        job.tell("result", found.to_dict())
        return found

    return work


async def check(planning: Session, asked: Question) -> None:
    """Raise what is wrong with a question before it waits: empty, too long, settings out of range."""

    def every() -> None:
        checked_options(planning.options, asked.alpha, asked.max_answer_tokens)
        opened = OpenDocument(planning, asked.document, 0.0)
        for question in asked.questions:
            opened.check_question(question)

    await asyncio.to_thread(every)


def checked_options(options: Options, alpha: float | None, max_answer_tokens: int | None) -> Options:
    """``options`` with those of one request. Raises ``UsageError`` for one that is out of range."""
    changes: dict[str, Any] = {} if alpha is None else {"alpha": alpha}
    if max_answer_tokens is not None:
        changes["max_answer_tokens"] = max_answer_tokens
    return replace(options, **changes)


@contextmanager
def _heard(session: Session, job: Job, on_text: Callable[[str], None] | None = None) -> Iterator[None]:
    with session.heard_by(job.report, on_text):
        yield


@contextmanager
def _set(session: Session, asked: Question) -> Iterator[None]:
    """The options of one request, for the time of its work."""
    before = session.options
    session.options = checked_options(before, asked.alpha, asked.max_answer_tokens)
    try:
        yield
    finally:
        session.options = before


class Answered(Protocol):
    """Something that holds an answer."""

    @property
    def answer(self) -> Answer:
        """The answer."""


def answers_of(found: Sequence[Answered]) -> list[dict[str, Any]]:
    """The public JSON of each answer."""
    return [one.answer.to_dict() for one in found]
