"""One answer object by hand, for tests of what is made of answers; no assertions here."""

from __future__ import annotations

from softlookup.evidence.answer import (
    Answer,
    Citation,
    ClauseScore,
    CoverageSummary,
    DocumentSummary,
    ModelSummary,
    PlanSummary,
    RankedPassage,
    Seconds,
)

ANSWER = Answer(
    question="谁付款？",
    outcome="answered",
    needs_review=False,
    reason="r",
    answer="乙方",
    p_value=0.025,
    alpha=0.05,
    citations=(Citation("2.1", "Payment", 4, 9, None, "quote", "verbatim", 0.5, 0.025, "attention"),),
    ranking=(RankedPassage(4, 9, "2.1", 1.5),),
    clauses=(ClauseScore("2.1", "Fees", 0, 40, 0.5, 0.025),),
    ranked_by=("attention", "bm25"),
    evidence_score=0.5,
    plan=PlanSummary("full_context", "fits", 100, 100, 4096),
    coverage=CoverageSummary(None, 500, 100, 100, (), complete=True),
    alerts=(),
    document=DocumentSummary("c.txt", "0" * 64, "text", 9),
    model=ModelSummary("tiny", "1" * 64, "2" * 64, ((1, 2), (3, 4))),
    seconds=Seconds(read=0.1, total=0.1),
)
