"""Answers, inspections and diagnoses by hand over a real document, for tests of the report; no assertions here."""

from __future__ import annotations

from dataclasses import replace

from softlookup.diagnostics.alerts import Alert
from softlookup.diagnostics.diagnosis import Diagnosis, ExpectedPlace, NamedClause, Test
from softlookup.diagnostics.inspection_result import Inspection, LayerSummary, PassageWeight, StripRow
from softlookup.diagnostics.sinks import Sink
from softlookup.documents.model import Span
from softlookup.evidence.answer import Citation, ClauseScore, CoverageSummary, RankedPassage
from softlookup.ui.report import Record
from tiny_answers import ANSWER

LAYERS, HEADS = 4, 3
STRIP = (
    StripRow("2.1", "The Keeper", 0, 5, 0.03, (0.0, 0.02, 0.08, -0.01)),
    StripRow("", "Prelude", 0, 5, 0.01, (0.01,) * 4),
)


def numbered(document, least=12):
    return [clause for clause in document.clauses if clause.number and len(clause.span) > least]


def citation(document, clause, via="attention", why="", length=120):
    span = Span(clause.span.start, min(clause.span.end, clause.span.start + length))
    scored = via in ("attention", "lexical")
    return Citation(
        clause.path, clause.heading, span.start, span.end, document.page_at(span.start),
        document.text[span.start : span.end], "verbatim", 0.031 if scored else None, 0.02 if scored else None, via, why,
        document.boxes(span),
    )  # fmt: skip


def record(document, question="Who pays?", outcome="answered", *, fed=0.5, inspected=False, diagnosed=False, **changes):
    """A record whose citations are the first clauses: by attention, by words, by reference, by definition."""
    clauses = numbered(document)
    vias = ("attention", "lexical", "reference", "definition")
    cited = tuple(citation(document, clause, via, "why") for clause, via in zip(clauses, vias, strict=False))
    given = {
        "question": question,
        "outcome": outcome,
        "needs_review": outcome != "answered",
        "reasons": ("first reason", "second reason"),
        "answer": "" if outcome == "no_evidence" else "The keeper pays.",
        "citations": () if outcome == "no_evidence" else cited,
        "ranking": tuple(RankedPassage(c.span.start, min(c.span.end, c.span.start + 90), c.path, 1.0) for c in clauses),
        "clauses": tuple(
            ClauseScore(c.path, c.heading, c.span.start, c.span.end, 0.04 - 0.004 * n, 0.02 + 0.1 * n)
            for n, c in enumerate(clauses[:8])
        ),
        "coverage": CoverageSummary(
            None, len(document.text), 900, 450, (), complete=True, tokens_seen=900, clauses_not_fed=("9.9",)
        ),
        **changes,
    }
    half = (Span(0, int(fed * len(document.text))),) if fed else ()
    return Record(
        replace(ANSWER, **given),
        half,
        inspection(document, question) if inspected else None,
        diagnosis(document, question) if diagnosed else None,
    )


def inspection(document, question):
    """Four layers of three heads; the passages are the numbered clauses, the third has most of the attention."""
    heads = tuple(
        {"head": head, "normalized_entropy": 0.1 * head, "first_token": 0.9 - 0.2 * head} for head in range(HEADS)
    )
    layers = tuple(LayerSummary(n, 2.0, 0.1, 0.7, 2.0, 0.1, 0.7, 0.3, heads) for n in range(LAYERS))
    passages = tuple(
        PassageWeight(c.span.start, c.span.end, 0.3 if n == 2 else 0.01) for n, c in enumerate(numbered(document))
    )
    return Inspection(
        question=question, language="en", rows=5, layers=layers, strip=STRIP, heads=(), sink_rows="all",
        alerts=(Alert("head_entropy_low", 0.01, 0.2, 2, 1), Alert("head_sink_high", 0.99, 0.8, 1, 0)),
        sinks=(Sink("first_token", 0, "<|im_start|>", 7, 0.61, ((1, 0, 0.99),)),),
        bank_questions=12, baseline_runs=57, p_value=0.02, alpha=0.05, found=True, answer="x", failure="",
        context_tokens=450, model="tiny", model_sha256="1" * 64, template_sha256="2" * 64, profiled=True,
        passages=passages,
    )  # fmt: skip


def diagnosis(document, question):
    """A clause that was seen and not selected."""
    clause = numbered(document)[2]
    quote = document.text[clause.span.start : clause.span.end]
    return Diagnosis(
        question=question,
        expected=ExpectedPlace(clause.path, clause.path, clause.span.start, clause.span.end, quote),
        answer="the wrong one", answer_given=True, verdict="not_selected", rung="3", sentence="A plain sentence.",
        remedy="A remedy.", tests=(
            Test("0a", "fed", 1.0, 0.5, passed=True, detail="share of the clause"),
            Test("3", "margin", float("nan"), 0.0, passed=False, detail="d"),
            Test("4", "other", None, None, passed=None, detail="not taken"),
        ),
        distractor=NamedClause("1", 0, 5), run=None, not_tested=("this", "that"),
    )  # fmt: skip
