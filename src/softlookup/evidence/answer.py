"""The result of one question: answer, citations, ranking, plan, coverage; frozen, JSON-ready, no computation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from softlookup.documents.model import Box
from softlookup.errors import ExitCode

SCHEMA = 1

Outcome = Literal["answered", "no_evidence", "conflict"]
Via = Literal["attention", "lexical", "reference", "definition"]
RankSource = Literal["attention", "bm25", "embeddings"]
StrategyName = Literal["full_context", "retrieval", "hybrid"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A clause and a verbatim quote: ``document.text[start:end] == quote``.

    ``score`` and ``p_value`` are those of the calibrated attention; None for clauses added because a
    cited clause needs them (``via`` reference or definition; ``why`` names the link). ``boxes`` are the lines of the
    quote on its page, for formats with pages.
    """

    clause: str
    heading: str
    start: int
    end: int
    page: int | None
    quote: str
    quote_check: Literal["verbatim"]
    score: float | None
    p_value: float | None
    via: Via
    why: str = ""
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """One passage of the display order; ``score`` is the fused score, comparable within one question only."""

    start: int
    end: int
    clause: str
    score: float


@dataclass(frozen=True, slots=True)
class ClauseScore:
    """Calibrated attention of a clause: ``score`` and family-wise ``p_value`` of its best passage.

    ``start`` and ``end`` are those of the whole clause.
    """

    clause: str
    heading: str
    start: int
    end: int
    score: float
    p_value: float


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """What was fed to the model and why. Counts are tokens of the model's own tokenizer.

    The seconds are those that the plan predicts for an answer, without loading the model.
    """

    strategy: StrategyName
    reason: str
    document_tokens: int
    context_tokens: int
    window: int
    first_answer_seconds: float | None = None
    next_answer_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CoverageSummary:
    """What of the document was read: by the reader (characters, pages) and by the model (tokens).

    ``tokens_read`` were in the context that the answer comes from, ``tokens_seen`` in any that was scored against the
    question (the windows of the hybrid strategy). ``clauses_not_fed``: numbered clauses that the answer's context
    leaves out, in document order.
    """

    pages: int | None
    characters: int
    tokens_total: int
    tokens_read: int
    skipped: tuple[str, ...]
    complete: bool
    notes: tuple[str, ...] = ()
    tokens_seen: int = 0
    clauses_not_fed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """Identity of the document."""

    path: str
    sha256: str
    format: str
    clauses: int


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """Identity of the model. ``heads`` are (layer, head) pairs from 0, or a phrase when not profiled."""

    name: str
    sha256: str
    template_sha256: str
    heads: tuple[tuple[int, int], ...] | str


@dataclass(frozen=True, slots=True)
class Seconds:
    """Wall time per phase; a phase that served an earlier question as well is 0 in the later ones."""

    read: float = 0.0
    load: float = 0.0
    prefill: float = 0.0
    calibrate: float = 0.0
    question: float = 0.0
    answer: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What softlookup says to one question; the JSON object of ``softlookup ask --json``.

    ``answer`` is the model's text, unverified; ``evidence_score`` the calibrated attention score that
    the decision uses; ``p_value`` its rank among off-topic questions on the same document, both None when
    the model has no attention evidence. ``reasons`` are the parts of
    ``reason``: why a person should look, or what was tested; remarks.
    ``ranked_by`` are the scores whose z-scores give the display order; the decision uses attention alone.
    ``clauses`` are the clauses that the question points to, by attention alone.
    """

    question: str
    outcome: Outcome
    needs_review: bool
    reason: str
    answer: str
    p_value: float | None
    alpha: float
    citations: tuple[Citation, ...]
    ranking: tuple[RankedPassage, ...]
    evidence_score: float | None
    plan: PlanSummary
    coverage: CoverageSummary
    alerts: tuple[str, ...]
    document: DocumentSummary
    model: ModelSummary
    seconds: Seconds
    reasons: tuple[str, ...] = ()
    ranked_by: tuple[RankSource, ...] = ()
    clauses: tuple[ClauseScore, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """4 for a partly read document, else 3 without evidence, else 0 (precedence of the command line)."""
        if not self.coverage.complete:
            return ExitCode.DOCUMENT
        return ExitCode.NO_EVIDENCE if self.outcome == "no_evidence" else ExitCode.OK

    def to_dict(self) -> dict[str, Any]:
        """The JSON object, with ``schema`` first."""
        return {"schema": SCHEMA, **asdict(self)}
