"""Wires the parts: document, plan, reading, evidence, answer. No mathematics and no printing here."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from softlookup.cost.strategy import MAX_QUESTION_TOKENS, RESERVED_TOKENS, Strategy, choose_strategy
from softlookup.documents.model import Document, Span
from softlookup.documents.read import read_document
from softlookup.errors import CapacityError, DocumentError, ModelError, UsageError
from softlookup.evidence.answer import Answer, Seconds
from softlookup.evidence.assembly import RunFacts, assemble_answer, assemble_word_answer, model_summary
from softlookup.evidence.question_bank import language_of, most_compared, question_bank
from softlookup.retrieval.bm25 import BM25Index
from softlookup.retrieval.chunks import Chunk, passages, without_contents
from softlookup.retrieval.context import Context, full_context, select_context
from softlookup.retrieval.passage_search import PassageSearch
from softlookup.runtime.load import LoadedModel, ModelSource, find_model_source, load_model
from softlookup.runtime.progress import Progress, no_progress
from softlookup.runtime.token_count import TokenCounter

if TYPE_CHECKING:
    from softlookup.diagnostics.diagnosis import Diagnosis
    from softlookup.diagnostics.inspection_result import Inspection
    from softlookup.documents.readers import ReadKeywords
    from softlookup.evidence.profile import HeadProfile
    from softlookup.evidence.reading import Reading
    from softlookup.runtime.observation import LayerObservation
    from softlookup.runtime.prompt import PromptTemplate
    from softlookup.runtime.sentence_encoder import SentenceEncoder

DEFAULT_ALPHA = 0.05
DEFAULT_ANSWER_TOKENS = 80
# questions that share one retrieved context: more would leave each too few clauses of its own
QUESTIONS_PER_CONTEXT = 4


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a session. ``max_context_tokens`` limits the document text that the model reads.

    ``embeddings`` names an encoder folder, or "auto" the installed package, whose similarities join the ranking.
    An ``alpha`` below 1/40 runs further off-topic questions. ``cache``: ``ask`` keeps the bank's numbers on disk (no
    text of the document), so that a later run on the same document need not run the bank.
    """

    alpha: float = DEFAULT_ALPHA
    max_answer_tokens: int = DEFAULT_ANSWER_TOKENS
    max_context_tokens: int | None = None
    embeddings: str | None = None
    cache: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha must lie between 0 and 1, got {self.alpha}", "use 0.05, or 0.1 to abstain less")
        if self.alpha < 1 / (most_compared() + 1):
            raise UsageError(
                f"alpha {self.alpha} is below 1/{most_compared() + 1}, the smallest p-value that the question bank "
                "can give",
                "use --alpha 0.01 or more",
            )
        if not 1 <= self.max_answer_tokens <= 1024:
            raise UsageError(f"--max-answer-tokens must be 1 to 1024, got {self.max_answer_tokens}", "use 80")
        if self.max_context_tokens is not None and self.max_context_tokens < 256:
            raise UsageError(f"--max-context-tokens must be at least 256, got {self.max_context_tokens}", "use 4096")


class Session:
    """A model and its settings; loads the model once, when the first question is asked.

    >>> answer = Session().open("contract.docx").ask("Who may terminate?")  # doctest: +SKIP
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        options: Options | None = None,
        progress: Progress = no_progress,
    ) -> None:
        self.options = options or Options()
        self.progress = progress
        self._model = model

    @cached_property
    def source(self) -> ModelSource:
        """The model's files; a GGUF file is converted on first use."""
        return find_model_source(self._model, progress=self.progress)

    @cached_property
    def count_tokens(self) -> TokenCounter:
        """The model's own tokenizer."""
        return TokenCounter(self.source)

    @cached_property
    def loaded(self) -> LoadedModel:
        """The model in memory."""
        return load_model(self.source.folder if self._model is None else self._model, progress=self.progress)

    @cached_property
    def encoder(self) -> SentenceEncoder | None:
        """The encoder of ``options.embeddings``, None without. Raises ``ModelError`` when it cannot be loaded."""
        if self.options.embeddings is None:
            return None
        from softlookup.runtime.sentence_encoder import SentenceEncoder, encoder_folder

        return SentenceEncoder(encoder_folder(self.options.embeddings))

    @cached_property
    def template(self) -> PromptTemplate:
        """The prompt template of the model's tokenizer."""
        from softlookup.runtime.prompt import PromptTemplate

        return PromptTemplate(self.loaded.tokenizer)

    @cached_property
    def profile(self) -> HeadProfile:
        """The heads that are read as evidence: built in, stored by ``softlookup model profile``, or the middle layers.

        Raises ``ModelError`` for a stored profile that is damaged or was measured with something else.
        """
        from softlookup.evidence.profile_store import find_profile

        return find_profile(self.loaded, self.template)

    def open(self, path: str | Path, **reading: Unpack[ReadKeywords]) -> OpenDocument:
        """Read a document with the options of :func:`softlookup.read_document`.

        Raises ``DocumentError`` when it cannot be read.
        """
        start = time.perf_counter()
        document = read_document(path, **reading)
        return OpenDocument(self, document, time.perf_counter() - start)


class OpenDocument:
    """A document that was read by the reader, and by the model as far as questions needed it."""

    def __init__(self, session: Session, document: Document, read_seconds: float) -> None:
        self.session = session
        self.document = document
        self.read_seconds = read_seconds
        self._full: Reading | None = None
        self._fed: dict[str, tuple[Span, ...]] = {}
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
    def strategy(self) -> Strategy:
        """How the document is read, decided from token counts alone; loads no model."""
        window = self.session.source.window
        tokens = self.session.count_tokens(self.document.text)
        try:
            return choose_strategy(
                tokens,
                window,
                max_context_tokens=self.session.options.max_context_tokens,
                reserved=RESERVED_TOKENS + max(0, self.session.options.max_answer_tokens - DEFAULT_ANSWER_TOKENS),
            )
        except ValueError as error:
            raise CapacityError(str(error), "use a model with a longer window") from error

    def ask(self, question: str) -> Answer:
        """Ask one question. Raises ``UsageError`` for an empty one, ``CapacityError`` for one too long."""
        return next(self.ask_all([question]))

    def ask_all(self, questions: Sequence[str]) -> Iterator[Answer]:
        """Ask several questions; the document is read once for all of them (or once per group when retrieved)."""
        for question in questions:
            self._check_question(question)
        self._check_text()
        _ = self.session.encoder  # one that is missing is told before the model reads for a minute
        size = max(1, len(questions)) if self.strategy.strategy == "full_context" else QUESTIONS_PER_CONTEXT
        for start in range(0, len(questions), size):
            group = questions[start : start + size]
            reading: Reading | None = None
            for question in group:
                if not self._profile().serves(language_of(question)):
                    yield self._by_words(question)
                    continue
                reading = reading or self.reading(group)
                yield self._ask(question, reading)

    def inspect(self, question: str) -> Inspection:
        """What every layer and head did with ``question``; raises as :meth:`ask`.

        Reads the document once more under observation where the model can be observed.
        """
        from softlookup.diagnostics.baseline import load_baseline
        from softlookup.diagnostics.inspection import InspectOptions, inspect_reading

        self._check_question(question)
        self._check_text()
        session, options = self.session, self.session.options
        profile = self._profile()
        if not profile.serves(language_of(question)):
            raise ModelError(
                f"a model whose attention is evidence is required, this one has none ({profile.note})",
                "use another model; `softlookup ask` still ranks the clauses by words",
            )
        reading, prefill = self._observed_reading(question)
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

    def _observed_reading(self, question: str) -> tuple[Reading, Mapping[int, LayerObservation] | None]:
        """A new reading, and the column sums of its prefill; None for these where observation is refused."""
        from softlookup.attention.stats import StatsRequest
        from softlookup.runtime.observe import observe

        full = self.strategy.strategy == "full_context"
        context = full_context(self.document) if full else self._retrieve([question])
        request = StatsRequest(lse=False, entropy=False, max_weight=False, argmax=False, sink_mass=None, key_mass=True)
        try:
            with observe(self.session.loaded, request) as run:
                return self._read(context, measured=True), run.layers
        except ModelError:  # NaN among them: what the question's rows show is told by the monitors
            return self._read(context, measured=True), None

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

    def _profile(self) -> HeadProfile:
        """The session's profile; what loading the model for it costs is counted."""
        start = time.perf_counter()
        profile = self.session.profile
        self._pending["load"] = self._pending.get("load", 0.0) + time.perf_counter() - start
        return profile

    def _by_words(self, question: str) -> Answer:
        """The answer of a model whose attention is no evidence: passages by BM25, a person decides."""
        session = self.session
        spent, self._pending = self._pending, {}
        self._fed[question] = ()
        run = RunFacts(self.strategy, session.options.alpha, (), Seconds(**spent, total=sum(spent.values())))
        model = model_summary(session.source, session.template.sha256, session.profile)
        return assemble_word_answer(
            self.document,
            question,
            without_contents(self.document, self.chunks),
            self.lexical.scores(question),
            run,
            model,
            note=session.profile.note,
        )

    def _check_question(self, question: str) -> None:
        if not question.strip():
            raise UsageError("the question is empty", "write a question after the file name")
        if any("\ud800" <= character <= "\udfff" for character in question):
            raise UsageError("the question is not valid UTF-8", "check the encoding of your terminal")
        tokens = self.session.count_tokens(question)
        if tokens > MAX_QUESTION_TOKENS:
            raise CapacityError(
                f"the question that begins {question.strip()[:40]!r} has {tokens:,} tokens, at most "
                f"{MAX_QUESTION_TOKENS} are read together with a document",
                "shorten it; a longer text belongs in a document",
            )

    def reading(self, questions: Sequence[str]) -> Reading:
        """The context that the model reads for ``questions``, prefilled; the full document is read once only."""
        if self.strategy.strategy == "full_context":
            return self._full_reading()
        return self._read(self._retrieve(questions))

    def _full_reading(self, *, measured: bool = False) -> Reading:
        if self._full is None:
            self._full = self._read(full_context(self.document), measured=measured)
        return self._full

    def _retrieve(self, questions: Sequence[str]) -> Context:
        """Clauses for the questions and for the off-topic bank, in turn.

        The off-topic questions get their best passages too: on a context chosen for the user's words
        alone they would have no chance, and the p-value would flatter every question.
        """
        rankings = [self.search.ranking(question) for question in questions]
        bank = question_bank(language_of(questions[0]), self.session.options.alpha)
        background = [self.lexical.scores(question) for question in bank.compared]
        # the fourth power lets each question's best passage come before any second best
        best = np.sum([(scores / (scores.max() or 1.0)) ** 4 for scores in background], axis=0)
        return select_context(
            self.document,
            self.chunks,
            [*rankings, best],
            count_tokens=self.session.count_tokens,
            max_context_tokens=self.strategy.context_tokens,
        )

    def _read(self, context: Context, *, measured: bool = False) -> Reading:
        """Prefill ``context``; ``measured``: no number of an earlier run, since this run's health is in question."""
        start = time.perf_counter()
        from softlookup.evidence.reading import Reading
        from softlookup.runtime.prefilled import prefill

        session = self.session
        loaded, template = session.loaded, session.template
        # the import of torch and transformers is part of what loading costs; 0 once the model is there
        self._pending["load"] = self._pending.get("load", 0.0) + time.perf_counter() - start
        start = time.perf_counter()
        prefilled = prefill(loaded, template, context.text, progress=session.progress)
        self._pending["prefill"] = time.perf_counter() - start
        # a table of contents names every topic and answers none
        ranked = without_contents(self.document, self.chunks)
        return Reading(prefilled, context, ranked, session.profile, cached=session.options.cache and not measured)

    def diagnose(self, question: str, expect: str, *, answer: str | None = None, whole: bool = False) -> Diagnosis:
        """Why an answer was wrong: walks the ladder of ``softlookup.diagnostics`` for one question.

        ``expect`` names the clause that holds the truth, quotes its words, or is "none". ``answer`` None: the model's
        own. ``whole``: as if the whole document had been fed, whether it fits the model's window or not.
        Raises ``UsageError`` for a place that is unknown or not unique.
        """
        from softlookup.diagnostics.case import Case, Fed
        from softlookup.diagnostics.diagnose import diagnose
        from softlookup.diagnostics.place import expected_place

        self._check_question(question)
        place = expected_place(self.document, expect)
        if place is None or place.span is not None:  # else the words are known to be outside the text
            self._check_text()
        retrieved = self.strategy.strategy == "retrieval" and not whole
        context = self._retrieve([question]) if retrieved else full_context(self.document)
        tokens = self.strategy.document_tokens
        read = self.session.count_tokens(context.text) if retrieved else tokens
        rank = self._rank(question, place.span) if retrieved and place is not None and place.span else None
        case = Case(
            self.document,
            Fed(context, retrieved, tokens, read, rank),
            question,
            place,
            loaded=self.session.loaded,
            template=self.session.template,
            open_reading=lambda: self._read(context, measured=True) if retrieved else self._full_reading(measured=True),
        )
        options = self.session.options
        return diagnose(case, answer=answer, alpha=options.alpha, max_new_tokens=options.max_answer_tokens)

    def _rank(self, question: str, span: Span) -> int:
        """Rank from 1 of the best passage of ``span`` by the words of ``question``."""
        scores = self.lexical.scores(question)
        best = max((scores[i] for i, chunk in enumerate(self.chunks) if chunk.span.overlap(span)), default=-1.0)
        return 1 + int((scores > best).sum())

    def _ask(self, question: str, reading: Reading) -> Answer:
        from softlookup.diagnostics.alerts import condensed
        from softlookup.diagnostics.baseline import load_baseline
        from softlookup.diagnostics.monitors import AttentionMonitor
        from softlookup.diagnostics.symptoms import answer_pieces, symptoms

        options, loaded = self.session.options, self.session.loaded
        start = time.perf_counter()
        reading.calibration(language_of(question), self.session.progress, alpha=options.alpha)
        self._pending["calibrate"] = time.perf_counter() - start
        monitor = AttentionMonitor(
            self.session.template.suffix(question).question_length,
            loaded.model.config,
            load_baseline(loaded.source.sha256, self.session.template.sha256),
        )
        evidence, decoded = reading.ask(
            question,
            alpha=options.alpha,
            max_new_tokens=options.max_answer_tokens,
            monitor=monitor,
            on_token=lambda count: self.session.progress("answer", count / options.max_answer_tokens),
        )
        self.session.progress("answer", 1.0)
        spent = {**self._pending, "question": decoded.question_seconds, "answer": decoded.answer_seconds}
        self._pending = {}
        pieces = answer_pieces(loaded.tokenizer, decoded.ids)
        noticed = symptoms(pieces, decoded.text, self.document, monitor.layers, monitor.baseline)
        self._fed[question] = reading.context.spans
        run = RunFacts(
            self.strategy,
            options.alpha,
            tuple(
                alert.in_chinese() if language_of(question) == "zh" else str(alert)
                for alert in condensed((*monitor.alerts(), *noticed))
            ),
            Seconds(**spent, total=sum(spent.values())),
        )
        lexical, semantic = self.search.lexical.scores(question), self.search.similarities(question)
        return assemble_answer(self.document, reading, question, evidence, decoded, lexical, run, semantic)
