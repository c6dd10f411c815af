"""Puts one :class:`Answer` together from scores, decoded text and document; decides outcome and review.

Wording: attention says where the model looked. Nothing here claims that an answer is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from softlookup.cost.plan.strategy import Strategy
from softlookup.documents.language import Language, language_of
from softlookup.documents.model import Document, Span
from softlookup.evidence.answer import (
    Answer,
    Citation,
    CoverageSummary,
    DocumentSummary,
    ModelSummary,
    Outcome,
    PlanSummary,
    Seconds,
)
from softlookup.evidence.citation import citations, clause_label, closure_citations, fused_scores, ranking
from softlookup.evidence.clause_scores import clause_scores
from softlookup.evidence.near_miss import near_miss_reason, not_mentioned
from softlookup.evidence.not_fed import clauses_not_fed
from softlookup.evidence.reasons import reason
from softlookup.evidence.values import as_written, unsupported_values

if TYPE_CHECKING:
    from softlookup.evidence.profile import HeadProfile
    from softlookup.evidence.reading import QuestionEvidence
    from softlookup.retrieval.chunks import Chunk
    from softlookup.retrieval.expand import Closure
    from softlookup.retrieval.passage_search import SearchScores
    from softlookup.runtime.load import ModelSource
    from softlookup.runtime.prefilled import Decoded

MAX_PAIRS = 3
# more heads than a profile chooses are the middle layers, named by a phrase
MAX_LISTED_HEADS = 32
# of a clause, when its words are searched: the document itself may be its innermost clause
MAX_CLAUSE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the run around a question adds to its answer.

    ``fed`` are the spans of the document that the model answered from, ``tokens_fed`` their tokens; ``tokens_seen``
    counts what it read at all, in windows too.
    """

    strategy: Strategy
    alpha: float
    alerts: tuple[str, ...]
    seconds: Seconds
    model: ModelSummary
    profile: HeadProfile
    fed: tuple[Span, ...] = ()
    tokens_fed: int = 0
    tokens_seen: int = 0


def assemble_answer(
    document: Document,
    question: str,
    evidence: QuestionEvidence,
    decoded: Decoded,
    search: SearchScores,
    run: RunFacts,
) -> Answer:
    """The answer object. ``search`` are the scores of all passages of the document for the question."""
    alpha, language = run.alpha, language_of(question)
    chunks, decision = evidence.chunks, evidence.decision
    fused = fused_scores(evidence.scores, search.of([chunk.index for chunk in chunks]))
    cited: tuple[Citation, ...] = ()
    added: tuple[Citation, ...] = ()
    reasons: list[str] = []
    remarks: list[str] = []
    outcome: Outcome = "no_evidence"
    if decision.found:
        cited = citations(document, chunks, evidence.scores, fused, decision, alpha)
        added, further, needed = closure_citations(document, cited)
        if further:
            labels = [label or reason("unnumbered_clause", language) for label in further]
            remarks.append(reason("further", language, clauses=_listed(labels, language)))
        outcome, conflict = _outcome(document, evidence, (*cited, *added), language)
        reasons += conflict
        reasons += _closure_reasons(document.text, needed, language)
        reasons += _override_reasons(document, cited, language)
        invented = unsupported_values(decoded.text, [citation.quote for citation in (*cited, *added)])
        if invented:
            reasons.append(
                reason("unsupported", language, values=_listed(as_written(decoded.text, invented), language))
            )
        missing = not_mentioned(question, _cited_texts(document, cited, added), document.text)
        if missing:
            reasons.append(near_miss_reason(missing, language))
        if not decoded.finished:
            remarks.append(reason("cut", language, tokens=len(decoded.ids)))
    else:
        reasons.append(reason("no_evidence", language))
    reasons += _run_reasons(document, run, language, found=decision.found)
    if not run.profile.profiled:
        reasons.append(reason("not_profiled", language))
    heads = len(run.profile.heads)
    said = reasons or [reason("found", language, p=f"{decision.p_value:.3f}", heads=heads)]
    return Answer(
        question=question,
        outcome=outcome,
        needs_review=bool(reasons),
        reason="; ".join([*said, *remarks]),
        answer=decoded.text if decision.found else "",
        p_value=round(decision.p_value, 4),
        alpha=alpha,
        citations=(*cited, *added),
        ranking=ranking(document, chunks, fused),
        evidence_score=decision.evidence_score,
        plan=_plan(run),
        coverage=_coverage(document, run),
        alerts=run.alerts,
        document=_document_summary(document),
        model=run.model,
        seconds=_rounded(run.seconds),
        reasons=(*said, *remarks),
        clauses=clause_scores(document, chunks, evidence.scores, decision),
        ranked_by=("attention", "bm25") if search.semantic is None else ("attention", "bm25", "embeddings"),
    )


def assemble_word_answer(
    document: Document,
    question: str,
    chunks: Sequence[Chunk],
    lexical: npt.NDArray[np.float64],
    run: RunFacts,
) -> Answer:
    """The answer for a model without attention evidence: BM25 order, no p-value, no citation, a person decides.

    ``lexical`` [all passages of the document]; the profile's note says why there is no evidence. The model read
    nothing.
    """
    language, note = language_of(question), run.profile.note
    said = note if language == "en" and note else reason("unavailable_note", language)
    reasons = [reason("unavailable", language, note=said)]
    if not document.coverage.complete:
        reasons.append(reason("partly_read", language))
    return Answer(
        question=question,
        outcome="no_evidence",
        needs_review=True,
        reason="; ".join(reasons),
        answer="",
        p_value=None,
        alpha=run.alpha,
        citations=(),
        ranking=ranking(document, chunks, lexical[[chunk.index for chunk in chunks]]),
        evidence_score=None,
        plan=_plan(run),
        coverage=_coverage(document, run),
        alerts=run.alerts,
        document=_document_summary(document),
        model=run.model,
        seconds=_rounded(run.seconds),
        reasons=tuple(reasons),
        ranked_by=("bm25",),
    )


def _outcome(
    document: Document, evidence: QuestionEvidence, cited: Sequence[Citation], language: Language
) -> tuple[Outcome, list[str]]:
    span = evidence.answer_span
    if span is None or any(span.start < citation.end and citation.start < span.end for citation in cited):
        return "answered", []
    place = next(chunk for chunk in evidence.chunks if chunk.span == span)
    name = clause_label(document, place.clause) or reason("unnumbered", language)
    return "conflict", [reason("conflict", language, clause=name)]


def _cited_texts(document: Document, cited: Sequence[Citation], added: Sequence[Citation]) -> list[str]:
    """What a reader of the citations sees: the clauses that were cited, their headings, and the added quotes."""
    texts = [f"{citation.heading}\n{citation.quote}" for citation in (*cited, *added)]
    for citation in cited:
        clause = document.clause_at(citation.start)
        texts.append(document.text[clause.span.start : clause.span.end][:MAX_CLAUSE_CHARS])
        texts += [above.heading for above in document.ancestors(clause.index)]
    return texts


def _closure_reasons(text: str, needed: Closure, language: Language) -> list[str]:
    if not needed.dangling:
        return []
    named = dict.fromkeys(" ".join(text[r.span.start : r.span.end].split()) for r in needed.dangling)
    return [reason("dangling", language, named=_listed(list(named)[:MAX_PAIRS], language))]


def _override_reasons(document: Document, cited: Sequence[Citation], language: Language) -> list[str]:
    """A cited clause that overrides another, or is overridden: both must be read, whatever the model answers."""
    pairs: dict[str, None] = {}
    for reference in document.references:
        if reference.effect != "overrides":
            continue
        source = clause_label(document, reference.source_clause)
        says = any(citation.start <= reference.span.start < citation.end for citation in cited)
        for index in reference.targets:
            span, target = document.clauses[index].span, clause_label(document, index)
            told = any(span.start <= citation.start < span.end for citation in cited)
            if (says or told) and source != target:
                pairs[reason("override", language, source=source, target=target)] = None
    return [reason("read_together", language, pairs=_listed(list(pairs)[:MAX_PAIRS], language))] if pairs else []


def _run_reasons(document: Document, run: RunFacts, language: Language, *, found: bool) -> list[str]:
    reasons = []
    if not document.coverage.complete:
        reasons.append(reason("partly_read", language))
    if run.strategy.strategy == "retrieval" and not found:
        reasons.append(reason("retrieved", language))
    if run.alerts:
        reasons.append(reason("alerts", language))
    return reasons


def _listed(names: Sequence[str], language: Language) -> str:
    return reason("joint", language).join(names)


def _plan(run: RunFacts) -> PlanSummary:
    strategy = run.strategy
    seconds = (
        None if value is None else round(value, 3)
        for value in (strategy.first_answer_seconds, strategy.next_answer_seconds)
    )
    return PlanSummary(
        strategy.strategy, strategy.reason, strategy.document_tokens, run.tokens_fed, strategy.window, *seconds
    )


def _document_summary(document: Document) -> DocumentSummary:
    source = document.source
    return DocumentSummary(source.path, source.sha256, source.format, len(document.clauses))


def _coverage(document: Document, run: RunFacts) -> CoverageSummary:
    return CoverageSummary(
        pages=document.coverage.pages,
        characters=len(document.text),
        tokens_total=run.strategy.document_tokens,
        tokens_read=run.tokens_fed,
        skipped=tuple(str(row) for row in document.coverage.skipped),
        complete=document.coverage.complete,
        notes=document.coverage.notes,
        tokens_seen=run.tokens_seen,
        clauses_not_fed=clauses_not_fed(document, run.fed),
    )


def model_summary(source: ModelSource, template_sha256: str, profile: HeadProfile) -> ModelSummary:
    """Identity of the model and of the heads that were read."""
    layers = sorted({layer for layer, _ in profile.heads})
    heads: tuple[tuple[int, int], ...] | str = profile.heads
    if not profile.profiled or len(heads) > MAX_LISTED_HEADS:
        state = "no choice of heads did better on planted questions" if profile.profiled else "not profiled"
        heads = f"all heads of layers {layers[0]} to {layers[-1]} ({state})"
    return ModelSummary(source.name, source.sha256, template_sha256, heads)


def _rounded(seconds: Seconds) -> Seconds:
    return Seconds(**{name: round(getattr(seconds, name), 3) for name in seconds.__dataclass_fields__})
