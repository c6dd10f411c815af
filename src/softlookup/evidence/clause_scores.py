"""Evidence per clause, from the evidence of its passages; no decision here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from softlookup.documents.model import Document
from softlookup.evidence.abstention import Decision
from softlookup.evidence.answer import ClauseScore
from softlookup.evidence.citation import clause_label
from softlookup.retrieval.chunks import Chunk

MOST_CLAUSES = 20


def clause_scores(
    document: Document, chunks: Sequence[Chunk], attention: npt.NDArray[np.float64], decision: Decision
) -> tuple[ClauseScore, ...]:
    """The clauses that the question points to, best first, at most twenty.

    A clause's score is that of its best passage [passages] ``attention``: a sum would favour long clauses. Its
    p-value is that of the same passage and stays family-wise: the largest of the largest is the same maximum. Text
    without a number of its own counts for the nearest numbered clause above it.
    """
    best: dict[int, int] = {}
    for place, chunk in enumerate(chunks):
        clause = _numbered(document, chunk.clause)
        if clause not in best or attention[place] > attention[best[clause]]:
            best[clause] = place
    order = sorted(best, key=lambda clause: (-attention[best[clause]], clause))[:MOST_CLAUSES]
    return tuple(
        ClauseScore(
            clause_label(document, clause),
            document.clauses[clause].heading,
            document.clauses[clause].span.start,
            document.clauses[clause].span.end,
            round(float(attention[best[clause]]), 6),
            round(float(decision.passage_p_values[best[clause]]), 4),
        )
        for clause in order
    )


def _numbered(document: Document, clause: int) -> int:
    for candidate in (document.clauses[clause], *document.ancestors(clause)):
        if candidate.number:
            return candidate.index
    return clause
