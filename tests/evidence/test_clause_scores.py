"""Evidence per clause: the best passage of each, text without a number counted for the clause above."""

from __future__ import annotations

import numpy as np
import pytest

from softlookup.documents.read import read_document
from softlookup.evidence.abstention import decide
from softlookup.evidence.clause_scores import MOST_CLAUSES, clause_scores
from softlookup.retrieval.chunks import passages

TEXT = """1. Rent
1.1 The tenant pays rent on the first day of every month. It is paid in advance, to the account that the landlord names.
1.2 Late rent bears interest.
2. Repairs
The landlord repairs the roof, the walls and the heating.
"""


@pytest.fixture
def read(tmp_path):
    path = tmp_path / "lease.txt"
    path.write_text(TEXT, "utf-8")
    document = read_document(path)
    return document, passages(document, 60)


def scored(read, values):
    """Scores planted by words: 0 elsewhere."""
    document, chunks = read
    scores = np.array(
        [
            max((v for words, v in values.items() if words in document.text[c.span.start : c.span.end]), default=0.0)
            for c in chunks
        ]
    )
    return clause_scores(document, chunks, scores, decide(scores, np.linspace(0.1, 0.5, 39), 0.05))


def test_the_best_passage_of_a_clause_is_its_score(read):
    found = scored(read, {"first day": 0.2, "in advance": 0.9, "interest": 0.4})
    assert [(row.clause, row.score) for row in found[:2]] == [("1.1", 0.9), ("1.2", 0.4)]
    assert found[0].p_value == 0.025
    assert found[1].p_value > 0.05
    document = read[0]
    assert document.text[found[0].start : found[0].end].startswith("1.1 The tenant")


def test_text_without_a_number_counts_for_the_clause_above(read):
    best = scored(read, {"roof": 0.8})[0]
    assert (best.clause, best.heading) == ("2", "Repairs")


def test_every_clause_once_and_no_more_than_twenty(read, tmp_path):
    found = scored(read, {})
    assert len({row.clause for row in found}) == len(found)
    path = tmp_path / "long.txt"
    path.write_text("\n".join(f"{n}. Matter {n} is settled by the parties." for n in range(1, 40)), "utf-8")
    document = read_document(path)
    chunks = passages(document)
    scores = np.arange(len(chunks), dtype=float)
    assert len(clause_scores(document, chunks, scores, decide(scores, np.ones(39), 0.05))) == MOST_CLAUSES
