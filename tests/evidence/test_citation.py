"""Citations: verbatim and bounded quotes, display order, and the edges of clauses that are added."""

from __future__ import annotations

import numpy as np
import pytest

from softlookup.documents.model import Span
from softlookup.documents.read import read_document
from softlookup.evidence.abstention import decide
from softlookup.evidence.citation import (
    MAX_CITATIONS,
    MAX_CLOSURE,
    MAX_QUOTE,
    MAX_RANKING,
    citations,
    clause_label,
    closure_citations,
    fused_scores,
    quote_span,
    ranking,
)
from softlookup.retrieval.chunks import passages
from softlookup.retrieval.passage_search import SearchScores
from tiny_models import CONTRACT, CONTRACT_ZH

OFF_TOPIC = np.linspace(0.0, 1.0, 39)


@pytest.fixture(params=[CONTRACT, CONTRACT_ZH], ids=["en", "zh"])
def document(request, tmp_path):
    return make(tmp_path, request.param)


def make(tmp_path, text):
    path = tmp_path / "contract.txt"
    path.write_text(text, "utf-8")
    return read_document(path)


def chunk_with(document, chunks, words):
    return next(i for i, c in enumerate(chunks) if words in document.text[c.span.start : c.span.end])


def cite(document, chunks, attention, lexical=None, alpha=0.05):
    fused = fused_scores(attention, SearchScores(np.zeros(len(chunks)) if lexical is None else lexical))
    return citations(document, chunks, attention, fused, decide(attention, OFF_TOPIC, alpha), alpha)


def check_quotes(document, found):
    for citation in found:
        assert document.text[citation.start : citation.end] == citation.quote
        assert citation.quote_check == "verbatim"
        assert 0 < len(citation.quote) <= MAX_QUOTE
        assert citation.quote == citation.quote.strip()


def test_quotes_are_verbatim_and_labelled(document):
    chunks = passages(document, 120)
    attention = np.linspace(0.0, 2.0, len(chunks))
    found = cite(document, chunks, attention)
    check_quotes(document, found)
    assert [c.via for c in found] == ["attention"] * len(found)
    assert [(c.start, c.end) for c in found] == [
        (chunks[i].span.start, chunks[i].span.end) for i in np.argsort(-attention)[: len(found)]
    ]
    for citation in found:
        assert citation.p_value == 0.025
        assert citation.score == round(float(attention[[c.span.start for c in chunks].index(citation.start)]), 6)
        clause = document.clause_at(citation.start)
        assert citation.clause == clause_label(document, clause.index)


def test_at_most_three_and_only_those_beyond_alpha(document):
    chunks = passages(document, 120)
    attention = np.full(len(chunks), 0.5)
    attention[1] = 3.0
    assert [c.start for c in cite(document, chunks, attention)] == [chunks[1].span.start]
    attention[:] = 3.0 + np.arange(len(chunks))
    assert len(cite(document, chunks, attention)) == MAX_CITATIONS


def test_a_lexical_favourite_is_shown_and_marked(document):
    chunks = passages(document, 120)
    attention, lexical = np.full(len(chunks), 0.5), np.zeros(len(chunks))
    attention[1], attention[2] = 1.1, 1.05
    lexical[-1] = 500.0
    attention[-1] = 0.9
    first, *others = cite(document, chunks, attention, lexical)
    assert (first.start, first.via) == (chunks[-1].span.start, "lexical")
    assert first.p_value > 0.05
    assert [c.via for c in others] == ["attention"] * 2


def test_ranking_is_the_display_order(document):
    chunks = passages(document, 40)
    fused = np.sin(np.arange(len(chunks), dtype=float))
    ranked = ranking(document, chunks, fused)
    assert len(ranked) == min(MAX_RANKING, len(chunks))
    assert [p.score for p in ranked] == sorted((p.score for p in ranked), reverse=True)
    best = chunks[int(fused.argmax())]
    assert (ranked[0].start, ranked[0].end) == (best.span.start, best.span.end)


def test_with_embeddings_words_count_by_the_share_that_they_find():
    attention, semantic = np.array([0.0, 0.1, 0.0]), np.array([0.2, 0.8, 0.1])
    one_word_of_many = SearchScores(np.array([3.0, 0.0, 0.0]), 30.0, semantic)
    assert fused_scores(attention, one_word_of_many).argmax() == 1
    every_word = SearchScores(np.array([3.0, 0.0, 0.0]), 1.0, semantic)
    assert fused_scores(attention, every_word).argmax() == 0


def test_fused_scores_do_not_depend_on_units_and_survive_constants():
    attention, lexical = np.array([0.1, 0.4, 0.2]), np.array([3.0, 0.0, 9.0])
    fused = fused_scores(attention, SearchScores(lexical))
    np.testing.assert_allclose(fused, fused_scores(attention * 1000 + 5, SearchScores(lexical * 0.01)))
    assert np.isfinite(fused_scores(np.ones(3), SearchScores(np.zeros(3)))).all()
    np.testing.assert_allclose(np.argsort(fused_scores(attention, SearchScores(np.zeros(3)))), np.argsort(attention))


def test_added_clauses_name_their_edge(tmp_path):
    document = make(tmp_path, CONTRACT)
    chunks = passages(document, 120)
    attention = np.zeros(len(chunks))
    attention[chunk_with(document, chunks, "2.2 Late payment")] = 5.0
    cited = cite(document, chunks, attention)
    added, _, needed = closure_citations(document, cited)
    check_quotes(document, added)
    assert not needed.dangling
    by_clause = {citation.clause: citation for citation in added}
    assert by_clause["4.1"].via == "reference"
    assert "2.2" in by_clause["4.1"].why
    assert "subject" in by_clause["4.1"].why
    for citation in added:
        assert citation.via in ("reference", "definition")
        assert citation.why
        assert citation.score is None
        assert citation.p_value is None
    assert len(added) <= MAX_CLOSURE
    spans = [Span(c.start, c.end) for c in (*cited, *added)]
    assert not any(a.overlap(b) for i, a in enumerate(spans) for b in spans[i + 1 :])


def test_a_defined_term_brings_its_definition(tmp_path):
    text = (
        CONTRACT
        + '\n7. Crew. The Barge may be sailed by a Deckhand only.\n\n8. Words. "Deckhand" means a sober sailor.\n'
    )
    document = make(tmp_path, text)
    chunks = passages(document, 120)
    attention = np.zeros(len(chunks))
    attention[chunk_with(document, chunks, "sailed by")] = 5.0
    added, _, _ = closure_citations(document, cite(document, chunks, attention))
    definition = next(c for c in added if "sober sailor" in c.quote)
    assert definition.via == "definition"
    assert "Deckhand" in definition.why


def test_needed_clauses_beyond_the_limit_are_named(tmp_path):
    targets = "".join(f"{n}. Topic {n}. The rule of topic {n} is stated here in one sentence.\n\n" for n in range(1, 8))
    text = targets + "8. Main. This clause is subject to clauses 1, 2, 3, 4, 5, 6 and 7.\n"
    document = make(tmp_path, text)
    chunks = passages(document, 120)
    attention = np.zeros(len(chunks))
    attention[chunk_with(document, chunks, "subject to clauses")] = 5.0
    added, further, needed = closure_citations(document, cite(document, chunks, attention))
    assert len(added) == MAX_CLOSURE
    assert set(further) | {citation.clause for citation in added} == {str(n) for n in range(1, 8)}
    assert len(needed.added) == 7


def test_dangling_references_are_counted(tmp_path):
    document = make(tmp_path, CONTRACT + "\n7. Fines. Fines follow clause 44.\n")
    chunks = passages(document, 120)
    attention = np.zeros(len(chunks))
    attention[chunk_with(document, chunks, "Fines follow")] = 5.0
    _, _, needed = closure_citations(document, cite(document, chunks, attention))
    assert len(needed.dangling) == 1


@pytest.mark.parametrize("unit", ["A sentence of moderate length ends here. ", "这一句话有一定的长度，到此为止。"])
def test_long_quotes_end_at_a_sentence(unit):
    text = "  \n" + unit * 60
    span = quote_span(text, Span(0, len(text)))
    quote = text[span.start : span.end]
    assert MAX_QUOTE - 60 < len(quote) <= MAX_QUOTE
    assert quote.startswith(unit[:3])
    assert quote.rstrip()[-1] in ".。"


def test_a_quote_without_a_sentence_end_is_cut_and_a_short_one_is_whole():
    text = "x" * 2000
    assert quote_span(text, Span(10, 1500)) == Span(10, 610)
    assert quote_span("short", Span(0, 5)) == Span(0, 5)


def test_unnumbered_text_is_named_by_its_ancestor(document):
    for clause in document.clauses:
        label = clause_label(document, clause.index)
        numbered = [c.path for c in (clause, *document.ancestors(clause.index)) if c.number]
        assert label == (numbered[0] if numbered else "")
