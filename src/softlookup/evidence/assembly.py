"""Puts one :class:`Answer` together from scores, decoded text and document; decides outcome and review.

Wording: attention says where the model looked. Nothing here claims that an answer is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from softlookup.cost.strategy import Strategy
from softlookup.documents.model import Document
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
from softlookup.evidence.near_miss import near_miss_reason, not_mentioned
from softlookup.evidence.question_bank import Language, language_of
from softlookup.evidence.values import unsupported_values

if TYPE_CHECKING:
    from softlookup.evidence.profile import HeadProfile
    from softlookup.evidence.reading import QuestionEvidence, Reading
    from softlookup.retrieval.chunks import Chunk
    from softlookup.retrieval.expand import Closure
    from softlookup.runtime.load import ModelSource
    from softlookup.runtime.prefilled import Decoded

MAX_PAIRS = 3
# more heads than a profile chooses are the middle layers, named by a phrase
MAX_LISTED_HEADS = 32
# of a clause, when its words are searched: the document itself may be its innermost clause
MAX_CLAUSE_CHARS = 4_000
_UNAVAILABLE: dict[Language, str] = {
    "en": "attention evidence is unavailable for this model ({note}): the passages are in the order of BM25, "
    "nothing was tested, and a person must read them",
    "zh": "该模型无法提供注意力依据（{note}）：段落仅按词语匹配排序，未作任何检验，须由人工阅读判断",
}
_UNAVAILABLE_NOTE: dict[Language, str] = {
    "en": "it was not found on planted questions in this language",
    "zh": "在预设问题上未通过检验",
}
_NO_EVIDENCE = {
    "en": "no passage stood out from off-topic questions; please check by hand",
    "zh": "未见突出依据，请人工核对",
}


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the run around a question adds to its answer."""

    strategy: Strategy
    alpha: float
    alerts: tuple[str, ...]
    seconds: Seconds


def assemble_answer(
    document: Document,
    reading: Reading,
    question: str,
    evidence: QuestionEvidence,
    decoded: Decoded,
    lexical: npt.NDArray[np.float64],
    run: RunFacts,
) -> Answer:
    """The answer object. ``lexical`` [all passages of the document] are BM25 scores of the question."""
    strategy, alpha = run.strategy, run.alpha
    chunks, decision = reading.chunks, evidence.decision
    fused = fused_scores(evidence.scores, lexical[[chunk.index for chunk in chunks]])
    cited: tuple[Citation, ...] = ()
    added: tuple[Citation, ...] = ()
    reasons: list[str] = []
    remarks: list[str] = []
    outcome: Outcome = "no_evidence"
    if decision.found:
        cited = citations(document, chunks, evidence.scores, fused, decision, alpha)
        added, further, needed = closure_citations(document, cited)
        if further:
            remarks.append(f"the cited clauses also lead to {', '.join(further)}, not shown")
        outcome, conflict = _outcome(document, reading, evidence, (*cited, *added))
        reasons += conflict
        reasons += _closure_reasons(document.text, needed)
        reasons += _override_reasons(document, cited)
        invented = unsupported_values(decoded.text, [citation.quote for citation in (*cited, *added)])
        if invented:
            reasons.append(f"the answer names values that the cited passages do not contain: {', '.join(invented)}")
        missing = not_mentioned(question, _cited_texts(document, cited, added), document.text)
        if missing:
            reasons.append(near_miss_reason(missing, language_of(question)))
        if not decoded.finished:
            remarks.append(f"the answer was cut after {len(decoded.ids)} tokens (--max-answer-tokens)")
    else:
        reasons.append(_NO_EVIDENCE[language_of(question)])
    reasons += _run_reasons(document, run, found=decision.found)
    if not reading.profile.profiled:
        reasons.append("the evidence heads of this model are not profiled: scores are less reliable")
    tokens_read = reading.prefilled.prefix.document[1] - reading.prefilled.prefix.document[0]
    loaded, template = reading.prefilled.loaded, reading.prefilled.template
    return Answer(
        question=question,
        outcome=outcome,
        needs_review=bool(reasons),
        reason="; ".join([*(reasons or [_found_reason(decision.p_value, reading)]), *remarks]),
        answer=decoded.text if decision.found else "",
        p_value=round(decision.p_value, 4),
        alpha=alpha,
        citations=(*cited, *added),
        ranking=ranking(document, chunks, fused),
        evidence_score=decision.evidence_score,
        plan=PlanSummary(strategy.strategy, strategy.reason, strategy.document_tokens, tokens_read, strategy.window),
        coverage=_coverage(document, strategy, tokens_read),
        alerts=run.alerts,
        document=DocumentSummary(
            document.source.path, document.source.sha256, document.source.format, len(document.clauses)
        ),
        model=model_summary(loaded.source, template.sha256, reading.profile),
        seconds=_rounded(run.seconds),
        reasons=(*reasons, *remarks),
    )


def assemble_word_answer(
    document: Document,
    question: str,
    chunks: Sequence[Chunk],
    lexical: npt.NDArray[np.float64],
    run: RunFacts,
    model: ModelSummary,
    *,
    note: str = "",
) -> Answer:
    """The answer for a model without attention evidence: BM25 order, no p-value, no citation, a person decides.

    ``lexical`` [all passages of the document]; ``note`` says why there is no evidence. The model read nothing.
    """
    language = language_of(question)
    said = note if language == "en" and note else _UNAVAILABLE_NOTE[language]
    reasons = [_UNAVAILABLE[language].format(note=said)]
    if not document.coverage.complete:
        reasons.append("part of the document could not be read")
    strategy = run.strategy
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
        plan=PlanSummary(strategy.strategy, strategy.reason, strategy.document_tokens, 0, strategy.window),
        coverage=_coverage(document, strategy, 0),
        alerts=run.alerts,
        document=DocumentSummary(
            document.source.path, document.source.sha256, document.source.format, len(document.clauses)
        ),
        model=model,
        seconds=_rounded(run.seconds),
        reasons=tuple(reasons),
    )


def _outcome(
    document: Document, reading: Reading, evidence: QuestionEvidence, cited: Sequence[Citation]
) -> tuple[Outcome, list[str]]:
    place = evidence.answer_passage
    if place is None:
        return "answered", []
    span = reading.chunks[place].span
    if any(span.start < citation.end and citation.start < span.end for citation in cited):
        return "answered", []
    name = clause_label(document, reading.chunks[place].clause) or "a passage without number"
    return "conflict", [f"while writing its answer the model looked at {name}, which your question did not point to"]


def _cited_texts(document: Document, cited: Sequence[Citation], added: Sequence[Citation]) -> list[str]:
    """What a reader of the citations sees: the clauses that were cited, their headings, and the added quotes."""
    texts = [f"{citation.heading}\n{citation.quote}" for citation in (*cited, *added)]
    for citation in cited:
        clause = document.clause_at(citation.start)
        texts.append(document.text[clause.span.start : clause.span.end][:MAX_CLAUSE_CHARS])
        texts += [above.heading for above in document.ancestors(clause.index)]
    return texts


def _closure_reasons(text: str, needed: Closure) -> list[str]:
    if not needed.dangling:
        return []
    named = dict.fromkeys(" ".join(text[r.span.start : r.span.end].split()) for r in needed.dangling)
    return [f"the cited clauses refer to what this document does not contain: {', '.join(list(named)[:MAX_PAIRS])}"]


def _override_reasons(document: Document, cited: Sequence[Citation]) -> list[str]:
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
                pairs[f"{source} overrides {target}"] = None
    return [f"read together: {', '.join(list(pairs)[:MAX_PAIRS])}"] if pairs else []


def _run_reasons(document: Document, run: RunFacts, *, found: bool) -> list[str]:
    reasons = []
    if not document.coverage.complete:
        reasons.append("part of the document could not be read")
    if run.strategy.strategy != "full_context" and not found:
        reasons.append("only the retrieved clauses were read, not the whole document")
    if run.alerts:
        reasons.append("monitors raised alerts")
    return reasons


def _found_reason(p_value: float, reading: Reading) -> str:
    return (
        f"while reading the question the model looked at the cited passages more than for off-topic questions "
        f"(p = {p_value:.3f}, {len(reading.profile.heads)} heads); whether they answer it was not tested"
    )


def _coverage(document: Document, strategy: Strategy, tokens_read: int) -> CoverageSummary:
    return CoverageSummary(
        pages=document.coverage.pages,
        characters=len(document.text),
        tokens_total=strategy.document_tokens,
        tokens_read=tokens_read,
        skipped=tuple(str(row) for row in document.coverage.skipped),
        complete=document.coverage.complete,
        notes=document.coverage.notes,
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
