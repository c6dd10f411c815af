"""What the model reads of one document: the whole of it or retrieved clauses, prefilled; keeps the time it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softlookup.cost.plan.document_plan import plan_document
from softlookup.cost.plan.estimate import CostEstimate
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.plan.strategy import Strategy
from softlookup.cost.timing.calibrated import with_calibration
from softlookup.documents.language import language_of
from softlookup.documents.model import Document, Span
from softlookup.errors import CapacityError, ModelError
from softlookup.evidence.question_bank import question_bank
from softlookup.retrieval.bm25 import BM25Index
from softlookup.retrieval.chunks import Chunk, passages, without_contents
from softlookup.retrieval.context import Context, full_context, select_context
from softlookup.retrieval.passage_search import PassageSearch
from softlookup.runtime.timings_folder import fingerprint_of, timings_folder
from softlookup.session.hybrid import HybridReadings
from softlookup.session.plan_source import document_request, own_plan_model

if TYPE_CHECKING:
    from softlookup.evidence.profile import HeadProfile
    from softlookup.evidence.reading import Reading
    from softlookup.runtime.observation import LayerObservation
    from softlookup.session.session import Session


class Readings:
    """Readings of one document with the model of a session; the full one is made once."""

    def __init__(self, session: Session, document: Document, read_seconds: float) -> None:
        self.session = session
        self.document = document
        self.hybrid = HybridReadings(self)
        self.questions = 1  # how many the plan counts on
        self._full: Reading | None = None
        # time spent since the last answer on work that later questions reuse
        self._pending = {"read": read_seconds}

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """Passages of at most 600 characters: the unit of ranking and citing."""
        return passages(self.document)

    @cached_property
    def search(self) -> PassageSearch:
        """Search over the passages by words and, where an encoder was named, by embeddings."""
        texts = [self.document.text[chunk.span.start : chunk.span.end] for chunk in self.chunks]
        return PassageSearch(texts, self.session.encoder)

    @property
    def lexical(self) -> BM25Index:
        """BM25 index over the passages."""
        return self.search.lexical

    @cached_property
    def _document_tokens(self) -> int:
        return self.session.count_tokens(self.document.text)

    @cached_property
    def plan(self) -> CostEstimate:
        """What reading the document costs on this machine, and how it is read; loads no model.

        Counts on ``questions`` being asked. Raises ``CapacityError`` when nothing is possible, or not what was asked
        for.
        """
        options, planned = self.session.options, own_plan_model(self.session.source)
        asked = PlanRequest(
            planned.cost,
            tokens=1,
            answer_tokens=options.max_answer_tokens,
            questions=self.questions,
            max_seconds=options.max_seconds,
            max_context_tokens=options.max_context_tokens,
        )
        request = document_request(planned, asked, self.document.text, self.session.count_tokens)
        timed = with_calibration(request, timings_folder(), fingerprint_of(self.session.model))
        return plan_document(timed.request, strategy=options.strategy or "auto")

    @cached_property
    def strategy(self) -> Strategy:
        """How the document is read, by its plan; raises as :attr:`plan`."""
        plan = self.plan
        chosen = plan.chosen
        if chosen is None:
            raise CapacityError(plan.decision.reason, plan.decision.change)
        hybrid = chosen.name == "hybrid"
        return Strategy(
            chosen.name,
            plan.decision.reason,
            plan.request.tokens,
            chosen.fed,
            self.session.source.window,
            chosen.window_tokens if hybrid else 0,
            chosen.first_answer.value,
            chosen.next_answer.value,
        )

    def reading(self, questions: Sequence[str]) -> Reading:
        """The context that the model reads for ``questions``, prefilled; the full document is read once only.

        The hybrid strategy makes a context for one question: that of the first.
        """
        if self.strategy.strategy == "full_context":
            return self.full()
        return self.read(self.context(questions))

    def context(self, questions: Sequence[str]) -> Context:
        """What an answer to ``questions`` is made from; for the hybrid strategy the windows are read first."""
        if self.strategy.strategy == "full_context":
            return full_context(self.document)
        return self.hybrid.context(questions[0]) if self.strategy.strategy == "hybrid" else self.retrieve(questions)

    def full(self, *, measured: bool = False) -> Reading:
        """The reading of the whole document; ``measured`` as in :meth:`read`."""
        if self._full is None:
            self._full = self.read(full_context(self.document), measured=measured)
        return self._full

    @property
    def held_bytes(self) -> int:
        """Bytes of what the model read that stays in memory: keys and values of the whole document."""
        return 0 if self._full is None else self._full.prefilled.kv_bytes

    def retrieve(self, questions: Sequence[str], tokens: int | None = None) -> Context:
        """Clauses for the questions and for the off-topic bank, in turn; ``tokens`` instead of the plan's budget.

        The off-topic questions get their best passages too: on a context chosen for the user's words
        alone they would have no chance, and the p-value would flatter every question. A budget that holds the document
        gets all of it, as the plan says.
        """
        budget = self.strategy.context_tokens if tokens is None else tokens
        if self._document_tokens <= budget:
            return full_context(self.document)
        return select_context(
            self.document,
            self.chunks,
            self.rankings(questions),
            count_tokens=self.session.count_tokens,
            max_context_tokens=budget,
            asked=len(questions),
        )

    def rankings(self, questions: Sequence[str]) -> list[NDArray[np.float64]]:
        """Scores [passages] of each question, and last those of the off-topic bank."""
        rankings = [self.search.ranking(question) for question in questions]
        bank = question_bank(language_of(questions[0]), self.session.options.alpha)
        background = [self.lexical.scores(question) for question in bank.compared]
        # the fourth power lets each question's best passage come before any second best
        best = np.sum([(scores / (scores.max() or 1.0)) ** 4 for scores in background], axis=0)
        return [*rankings, best]

    def read(self, context: Context, *, measured: bool = False) -> Reading:
        """Prefill ``context``; ``measured``: no number of an earlier run, since this run's health is in question."""
        start = time.perf_counter()
        from softlookup.evidence.reading import Reading
        from softlookup.runtime.prefilled import prefill

        session = self.session
        loaded, template = session.loaded, session.template
        # the import of torch and transformers is part of what loading costs; 0 once the model is there
        self.spend("load", start)
        start = time.perf_counter()
        prefilled = prefill(loaded, template, context.text, progress=session.progress)
        self.spend("prefill", start)
        # a table of contents names every topic and answers none
        ranked = without_contents(self.document, self.chunks)
        return Reading(prefilled, context, ranked, session.profile, cached=session.options.cache and not measured)

    def observed(self, question: str) -> tuple[Reading, Mapping[int, LayerObservation] | None]:
        """A new reading, and the column sums of its prefill; None for these where observation is refused."""
        from softlookup.attention.stats import StatsRequest
        from softlookup.runtime.observe import observe

        context = self.context([question])
        request = StatsRequest(lse=False, entropy=False, max_weight=False, argmax=False, sink_mass=None, key_mass=True)
        try:
            with observe(self.session.loaded, request) as run:
                return self.read(context, measured=True), run.layers
        except ModelError:  # NaN among them: what the question's rows show is told by the monitors
            return self.read(context, measured=True), None

    def rank(self, question: str, span: Span) -> int:
        """Rank from 1 of the best passage of ``span`` in the order in which clauses enter the context."""
        hybrid = self.strategy.strategy == "hybrid"
        scores = self.hybrid.order(question) if hybrid else self.lexical.scores(question)
        best = max((scores[i] for i, chunk in enumerate(self.chunks) if chunk.span.overlap(span)), default=-1.0)
        return 1 + int((scores > best).sum())

    def profile(self) -> HeadProfile:
        """The session's profile; what loading the model for it costs is counted."""
        start = time.perf_counter()
        profile = self.session.profile
        self.spend("load", start)
        return profile

    def spend(self, phase: str, start: float) -> None:
        """Count the seconds since ``start`` (of ``time.perf_counter``) for ``phase``."""
        self._pending[phase] = self._pending.get(phase, 0.0) + time.perf_counter() - start

    def take_seconds(self) -> dict[str, float]:
        """Seconds per phase since the last answer; the next answer does not count them again."""
        spent, self._pending = self._pending, {}
        return spent
