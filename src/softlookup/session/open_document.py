"""A document that is open for questions: asks, inspects, diagnoses; checks what it is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from softlookup.cost.plan.losses import DocumentOutline
from softlookup.cost.plan.strategy import MAX_QUESTION_TOKENS, Strategy
from softlookup.documents.language import language_of
from softlookup.documents.model import Document, Span
from softlookup.errors import CapacityError, DocumentError, ModelError, UsageError
from softlookup.evidence.answer import Answer
from softlookup.evidence.question_bank import question_bank
from softlookup.retrieval.bm25 import BM25Index
from softlookup.retrieval.chunks import Chunk
from softlookup.retrieval.context import full_context
from softlookup.session.answering import answer_by_words, answer_from_windows, answer_question
from softlookup.session.options import QUESTIONS_PER_CONTEXT
from softlookup.session.outline import document_outline
from softlookup.session.readings import Readings

if TYPE_CHECKING:
    from softlookup.cost.plan.estimate import CostEstimate
    from softlookup.diagnostics.diagnosis import Diagnosis
    from softlookup.diagnostics.inspection_result import Inspection
    from softlookup.evidence.reading import QuestionEvidence, Reading
    from softlookup.session.session import Session


class OpenDocument:
    """A document that was read by the reader, and by the model as far as questions needed it."""

    def __init__(self, session: Session, document: Document, read_seconds: float) -> None:
        self.session = session
        self.document = document
        self.read_seconds = read_seconds
        self._readings = Readings(session, document, read_seconds)
        self._fed: dict[str, tuple[Span, ...]] = {}
        self._compared = False

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """Passages of at most 600 characters: the unit of ranking and citing."""
        return self._readings.chunks

    @property
    def lexical(self) -> BM25Index:
        """BM25 index over the passages."""
        return self._readings.lexical

    @property
    def strategy(self) -> Strategy:
        """How the document is read, by its plan; loads no model."""
        return self._readings.strategy

    def expect(self, questions: int) -> None:
        """Plan for ``questions``; without effect once a plan was made, which then stays."""
        self._readings.questions = max(1, questions)

    @property
    def plan(self) -> CostEstimate:
        """What the document costs on this machine, and how it is read; loads no model."""
        return self._readings.plan

    @cached_property
    def outline(self) -> DocumentOutline:
        """The document in numbers, by which a plan tells what each strategy loses of it; loads no model."""
        language = language_of(self.document.text)
        return document_outline(
            self.document,
            self.session.count_tokens,
            lambda question, tokens: self._readings.retrieve([question], tokens),
            question_bank(language).ordinary,
        )

    @property
    def kept_bytes(self) -> int:
        """Bytes of what the model read of this document that this object has put on disk (``Options.cache``)."""
        return self._readings.hybrid.kept_bytes

    def seconds_compared(self, answer: Answer) -> str:
        """One line: the seconds that reading took for ``answer`` beside those that rates measured here predict.

        "" where nothing was measured (``softlookup plan --calibrate``), where reading was paid for by an earlier
        question or run, and where the model read nothing.
        """
        from softlookup.cost.seconds import sum_figure
        from softlookup.cost.timing.prediction import compare

        chosen, rates = self.plan.chosen, self.plan.request.efficiency
        if chosen is None or rates.kind != "measured" or self._compared or not answer.seconds.prefill:
            return ""
        self._compared = True
        if self._readings.hybrid.found_on_disk:
            return ""
        final = 1.0 if chosen.name == "hybrid" and answer.coverage.tokens_read else 0.0
        predicted = sum_figure([(1.0, chosen.reading), (final, chosen.final)], "s", "reading")
        return compare(replace(predicted, source=rates.source), answer.seconds.prefill)

    @property
    def held_bytes(self) -> int:
        """Bytes of what the model read of this document that this object keeps in memory."""
        return self._readings.held_bytes

    def reading(self, questions: Sequence[str]) -> Reading:
        """The context that the model reads for ``questions``, prefilled; the full document is read once only."""
        return self._readings.reading(questions)

    def ask(self, question: str) -> Answer:
        """Ask one question. Raises ``UsageError`` for an empty one, ``CapacityError`` for one too long."""
        return next(self.ask_all([question]))

    def ask_all(self, questions: Sequence[str]) -> Iterator[Answer]:
        """Ask several questions; the document is read once for all of them (or once per group when retrieved)."""
        for question in questions:
            self.check_question(question)
        self._check_text()
        _ = self.session.encoder  # one that is missing is told before the model reads for a minute
        readings = self._readings
        self.expect(len(questions))
        served = [question for question in questions if readings.profile().serves(language_of(question))]
        if self.strategy.strategy == "hybrid" and served:
            readings.hybrid.evidence(served)
        size = QUESTIONS_PER_CONTEXT if self.strategy.strategy == "retrieval" else max(1, len(questions))
        for start in range(0, len(questions), size):
            group = questions[start : start + size]
            reading: Reading | None = None
            for question in group:
                self._fed[question] = ()
                if question not in served:
                    yield answer_by_words(readings, question)
                elif self.strategy.strategy == "hybrid":
                    yield self._told(question, answer_from_windows(readings, question))
                else:
                    reading = reading or self.reading(group)
                    yield self._told(question, answer_question(readings, question, reading))

    def _told(self, question: str, told: tuple[Answer, tuple[Span, ...]]) -> Answer:
        """The answer, whose spans are remembered."""
        answer, self._fed[question] = told
        return answer

    def evidence(self, questions: Sequence[str]) -> list[QuestionEvidence]:
        """What the question's rows point to, without an answer, for a document that is read in windows.

        Raises ``UsageError`` for another strategy, whose evidence comes with a reading (:meth:`reading`).
        """
        if self.strategy.strategy != "hybrid":
            raise UsageError(
                f"evidence without an answer needs the hybrid strategy, this is {self.strategy.strategy}",
                "use Options(strategy='hybrid')",
            )
        for question in questions:
            self.check_question(question)
        self._check_text()
        return self._readings.hybrid.evidence(questions)

    def take_seconds(self) -> dict[str, float]:
        """Seconds per phase since the last answer or the last call; the next answer does not count them again."""
        return self._readings.take_seconds()

    def inspect(self, question: str) -> Inspection:
        """What every layer and head did with ``question``; raises as :meth:`ask`.

        Reads the document once more under observation where the model can be observed.
        """
        from softlookup.diagnostics.baseline import load_baseline
        from softlookup.diagnostics.inspection import InspectOptions, inspect_reading

        self.check_question(question)
        self._check_text()
        session, options = self.session, self.session.options
        profile = self._readings.profile()
        if not profile.serves(language_of(question)):
            raise ModelError(
                f"a model whose attention is evidence is required, this one has none ({profile.note})",
                "use another model; `softlookup ask` still ranks the clauses by words",
            )
        reading, prefill = self._readings.observed(question)
        return inspect_reading(
            self.document,
            reading,
            question,
            InspectOptions(
                options.alpha,
                options.max_answer_tokens,
                load_baseline(session.source.sha256, session.template.sha256),
                prefill,
                session.progress,
            ),
        )

    def diagnose(self, question: str, expect: str, *, answer: str | None = None, whole: bool = False) -> Diagnosis:
        """Why an answer was wrong: walks the ladder of ``softlookup.diagnostics`` for one question.

        ``expect`` names the clause that holds the truth, quotes its words, or is "none". ``answer`` None: the model's
        own. ``whole``: as if the whole document had been fed, whether it fits the model's window or not.
        Raises ``UsageError`` for a place that is unknown or not unique.
        """
        from softlookup.diagnostics.case import Case, Fed
        from softlookup.diagnostics.diagnose import diagnose
        from softlookup.diagnostics.place import expected_place

        self.check_question(question)
        place = expected_place(self.document, expect)
        if place is None or place.span is not None:  # else the words are known to be outside the text
            self._check_text()
        readings = self._readings
        retrieved = self.strategy.strategy != "full_context" and not whole
        context = readings.context([question]) if retrieved else full_context(self.document)
        tokens = self.strategy.document_tokens
        read = self.session.count_tokens(context.text) if retrieved else tokens
        rank = readings.rank(question, place.span) if retrieved and place is not None and place.span else None
        case = Case(
            self.document,
            Fed(context, retrieved, tokens, read, rank),
            question,
            place,
            loaded=self.session.loaded,
            template=self.session.template,
            open_reading=lambda: readings.read(context, measured=True) if retrieved else readings.full(measured=True),
        )
        options = self.session.options
        return diagnose(case, answer=answer, alpha=options.alpha, max_new_tokens=options.max_answer_tokens)

    def _check_text(self) -> None:
        if not self.chunks:  # a scanned file, for instance: the reader accounts for it in the coverage
            skipped = [f"{row.unit}: {row.reason or row.state}" for row in self.document.coverage.skipped[:2]]
            raise DocumentError(
                f"no text could be read from {self.document.source.path} ({'; '.join(skipped)})",
                "ask a file with text: run OCR on a scanned one first",
            )

    def fed(self, question: str) -> tuple[Span, ...]:
        """Spans of the document that the model had read when it last answered ``question``; () if it read none."""
        return self._fed.get(question, ())

    def check_question(self, question: str) -> None:
        """Raise ``UsageError`` for a question that is empty or not text, ``CapacityError`` for one too long."""
        if not question.strip():
            raise UsageError("the question is empty", "write the question")
        if any("\ud800" <= character <= "\udfff" for character in question):
            raise UsageError("the question is not valid UTF-8", "check the encoding of your terminal")
        tokens = self.session.count_tokens(question)
        if tokens > MAX_QUESTION_TOKENS:
            raise CapacityError(
                f"the question that begins {question.strip()[:40]!r} has {tokens:,} tokens, at most "
                f"{MAX_QUESTION_TOKENS} are read together with a document",
                "shorten it; a longer text belongs in a document",
            )
