"""From scores to what is shown: display order, citations with verbatim quotes, and their closure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from softlookup.documents.model import Document, Span
from softlookup.evidence.abstention import Decision
from softlookup.evidence.answer import Citation, RankedPassage, Via
from softlookup.retrieval.chunks import Chunk, sentences
from softlookup.retrieval.expand import Closure, closure
from softlookup.retrieval.passage_search import SearchScores

FloatArray = npt.NDArray[np.float64]

MAX_QUOTE = 600
MAX_CITATIONS = 3
MAX_CLOSURE = 4
MAX_RANKING = 20
# weight of the lexical z-score beside the attention z-score, chosen on the fit half of
# `benchmarks/evidence.py`: 0.7 to 1.5 differ by less than the noise there
LEXICAL_WEIGHT = 1.0
# weight of the share of the question's words beside the z-scores of attention and embeddings, chosen on the fit half
# and on the paraphrased dev questions of `benchmarks/evidence_questions.py`: 2 to 4 differ by less than the noise
COVERAGE_WEIGHT = 2.0


def fused_scores(attention: FloatArray, search: SearchScores) -> FloatArray:
    """Display order only: the sum of the z-scores of attention and BM25 over one context, all [passages].

    With embeddings their z-score joins, and BM25 counts by the share of the question's words that it finds (score /
    ceiling): where a question is paraphrased, words lead astray and embeddings know better. The decision never uses
    any of it: for abstaining the fusion is worse than the attention alone.
    """
    if search.semantic is None:
        return _standardised(attention) + LEXICAL_WEIGHT * _standardised(search.lexical)
    coverage = search.lexical / search.ceiling
    return _standardised(attention) + _standardised(search.semantic) + COVERAGE_WEIGHT * coverage


def _standardised(values: FloatArray) -> FloatArray:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def ranking(document: Document, chunks: Sequence[Chunk], fused: FloatArray) -> tuple[RankedPassage, ...]:
    """The best passages in display order."""
    order = np.argsort(-fused, kind="stable")[:MAX_RANKING]
    return tuple(
        RankedPassage(
            chunks[i].span.start,
            chunks[i].span.end,
            clause_label(document, chunks[i].clause),
            round(float(fused[i]), 4),
        )
        for i in order
    )


def citations(
    document: Document,
    chunks: Sequence[Chunk],
    attention: FloatArray,
    fused: FloatArray,
    decision: Decision,
    alpha: float,
) -> tuple[Citation, ...]:
    """Passages whose own family-wise p-value is at most alpha, in display order, at most three.

    When BM25 puts another passage first, it is added and marked ``lexical``: its p-value then says that
    the attention did not single it out.
    """
    order = [int(i) for i in np.argsort(-fused, kind="stable")]
    chosen = [i for i in order if decision.passage_p_values[i] <= alpha][:MAX_CITATIONS]
    if order and order[0] not in chosen:
        chosen = [order[0], *chosen[: MAX_CITATIONS - 1]]
    return tuple(
        _citation(
            document,
            chunks[i].span,
            chunks[i].clause,
            score=round(float(attention[i]), 6),
            p_value=round(float(decision.passage_p_values[i]), 4),
            via="attention" if decision.passage_p_values[i] <= alpha else "lexical",
        )
        for i in chosen
    )


def closure_citations(
    document: Document, cited: Sequence[Citation]
) -> tuple[tuple[Citation, ...], tuple[str, ...], Closure]:
    """Clauses that the cited ones need, by typed edges, at most four; each names its edge in ``why``.

    Also the labels of the needed clauses beyond the fourth ("" for one without number), and the closure they all
    come from.
    """
    needed = closure(document, (), within=[Span(c.start, c.end) for c in cited])
    found: list[Citation] = []
    further: dict[str, None] = {}
    for item in needed.added:
        span = quote_span(document.text, item.span)
        if any(span.overlap(Span(c.start, c.end)) for c in (*cited, *found)):
            continue
        if len(found) < MAX_CLOSURE:
            found.append(_citation(document, span, item.clause, score=None, p_value=None, via=item.via, why=item.why))
        else:
            further.setdefault(clause_label(document, item.clause))
    shown = {citation.clause for citation in (*cited, *found)}
    return tuple(found), tuple(label for label in further if label not in shown), needed


def quote_span(text: str, span: Span) -> Span:
    """Leading part of ``span`` of at most 600 characters that ends at a sentence end when one lies in reach."""
    start = span.start + len(text[span.start : span.end]) - len(text[span.start : span.end].lstrip())
    end = start
    for sentence in sentences(text, start, span.end):
        if sentence.end - start > MAX_QUOTE:
            break
        end = sentence.end
    if end <= start:
        end = min(span.end, start + MAX_QUOTE)
    return Span(start, end)


def clause_label(document: Document, clause: int) -> str:
    """Printed path of a clause ("8.2(a)"); of the nearest numbered ancestor for unnumbered text, else ""."""
    for candidate in (document.clauses[clause], *document.ancestors(clause)):
        if candidate.number:
            return candidate.path
    return ""


def _citation(
    document: Document,
    span: Span,
    clause: int,
    *,
    score: float | None,
    p_value: float | None,
    via: Via,
    why: str = "",
) -> Citation:
    quote = document.text[span.start : span.end]
    heading = next((c.heading for c in (document.clauses[clause], *document.ancestors(clause)) if c.heading), "")
    return Citation(
        clause=clause_label(document, clause),
        heading=heading,
        start=span.start,
        end=span.end,
        page=document.page_at(span.start),
        quote=quote,
        quote_check="verbatim",
        score=score,
        p_value=p_value,
        via=via,
        why=why,
        boxes=document.boxes(span),
    )
