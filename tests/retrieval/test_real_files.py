"""Passages, closure and context on real contracts and statutes: promises that must hold on any file."""

import os
from pathlib import Path

import numpy as np
import pytest

from softlookup.documents.read import read_document
from softlookup.retrieval.bm25 import BM25Index
from softlookup.retrieval.chunks import MAX_CHARS, passages
from softlookup.retrieval.context import select_context
from softlookup.retrieval.expand import ClauseGraph

SHARED = Path(os.environ.get("SOFTLOOKUP_SHARED", Path(__file__).parents[3] / "shared")) / "data"
FILES = (
    "law_zh/*.md",
    "contracts_zh/autocity_leases/*.txt",
    "contracts_en/commonpaper/*.md",
    "cuad/contracts/A*.txt",
)


def shared_files(limit=12):
    found = [path for pattern in FILES for path in sorted(SHARED.glob(pattern))[:3]]
    return found[:limit]


@pytest.fixture(scope="module")
def documents():
    if not SHARED.is_dir():
        pytest.skip(f"no evaluation data at {SHARED}; set SOFTLOOKUP_SHARED")
    return [read_document(path) for path in shared_files()]


@pytest.mark.shared_data
def test_every_character_is_in_exactly_one_passage(documents):
    blank = "\u200b\u2060\ufeff"
    for document in documents:
        count = np.zeros(len(document.text), dtype=int)
        for chunk in passages(document):
            assert 0 < len(chunk.span) <= MAX_CHARS
            count[chunk.span.start : chunk.span.end] += 1
        assert count.max() == 1
        missed = {document.text[i] for i in np.flatnonzero(count == 0)}
        assert all(letter.isspace() or letter in blank for letter in missed)


@pytest.mark.shared_data
def test_context_maps_back_and_keeps_its_budget(documents):
    for document in documents:
        chunks = passages(document)
        index = BM25Index([document.text[c.span.start : c.span.end] for c in chunks])
        scores = [index.scores("Who pays the fees? 谁应当支付费用？")]
        context = select_context(document, chunks, scores, count_tokens=len, max_context_tokens=3000)
        assert context.tokens == len(context.text) <= 3000
        for offset in range(0, len(context.text), 7):
            place = context.to_document(offset)
            assert place is None or document.text[place] == context.text[offset]


@pytest.mark.shared_data
def test_closure_of_every_clause_ends_within_its_budget(documents):
    for document in documents:
        graph = ClauseGraph(document)
        for clause in document.clauses[::9]:
            result = graph.closure([clause.index], budget=4000)
            assert sum(len(item.span) for item in result.added) <= 4000


@pytest.mark.shared_data
def test_most_references_of_a_statute_are_resolved(documents):
    statute = next(d for d in documents if "公司法" in d.source.path)
    explicit = [r for r in statute.references if r.status != "inferred"]
    assert len(explicit) > 80
    assert sum(r.status == "resolved" for r in explicit) / len(explicit) > 0.95
