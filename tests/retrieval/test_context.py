"""Context selection: budget, order, reasons, and the mapping of every character."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.errors import UsageError
from softlookup.retrieval.bm25 import BM25Index
from softlookup.retrieval.chunks import passages
from softlookup.retrieval.context import SEPARATOR, full_context, select_context

PAD = "The parties keep records of the boats and the lake for the time being and act with care. " * 3
EN = (
    '1 Definitions\n  1.1 "Losses" means harm, costs and fees of any kind.\n  1.2 "Lake" means water.\n'
    + "".join(f"{n} Filler\n  {n}.1 {PAD}\n" for n in range(2, 12))
    + "12 Liability\n  12.1 The hirer shall indemnify the owner for such Losses.\n"
    + "13 Cap\n  13.1 Notwithstanding Section 12.1, the sum is capped at 10.\n"
    + "14 Insurance\n  14.1 The hirer shall insure the boat.\n"
)
ZH = (
    "第一条 “损失”是指一切损害和费用。\n"
    + "".join(f"第{n}条 双方应当妥善保管船舶并保存记录。{'维护船舶并记录使用情况。' * 12}\n" for n in "二三四五六七八")
    + "第九条 承租人应当赔偿出租人的损失。\n第十条 尽管有第九条的规定，赔偿总额以租金为限。\n"
)


def words(text):
    return len(text.split()) if text.isascii() else len(text)


def select(document, questions, limit, count=words):
    chunks = passages(document)
    index = BM25Index([document.text[c.span.start : c.span.end] for c in chunks])
    rankings = [index.scores(question) for question in questions]
    return select_context(document, chunks, rankings, count_tokens=count, max_context_tokens=limit)


def check_mapping(document, context):
    parts = [document.text[s.start : s.end] for s in context.spans]
    assert context.text == SEPARATOR.join(parts)
    for offset, letter in enumerate(context.text):
        place = context.to_document(offset)
        if place is not None:
            assert document.text[place] == letter
            assert context.to_context(place) == offset
    mapped = {context.to_document(offset) for offset in range(len(context.text))} - {None}
    for offset in range(len(document.text)):
        assert (context.to_context(offset) is not None) == (offset in mapped)
    assert context.to_document(-1) is None
    assert context.to_document(len(context.text)) is None
    assert all(a.end < b.start for a, b in zip(context.spans, context.spans[1:], strict=False))


def test_answer_passage_definition_and_override_are_chosen(make_document):
    document = make_document(EN)
    context = select(document, ["Who shall indemnify the owner?"], 90)
    assert context.tokens == words(context.text) <= 90
    assert "indemnify the owner" in context.text
    assert '"Losses" means harm' in context.text
    assert "capped at 10" in context.text
    reasons = {document.clauses[p.clause].number: (p.reason, p.why) for p in context.pieces}
    assert reasons["12"][0] == "bm25"
    assert reasons["1.1"] == ("definition", 'defines "Losses"')
    assert reasons["13.1"] == ("reference", "overrides clause 12.1")
    check_mapping(document, context)


def test_chinese(make_document):
    document = make_document(ZH)
    context = select(document, ["谁赔偿损失？"], 160)
    assert context.tokens == len(context.text) <= 160
    for needed in ("应当赔偿出租人", "“损失”是指", "以租金为限"):
        assert needed in context.text
    check_mapping(document, context)


def test_questions_take_turns(make_document):
    document = make_document(EN)
    context = select(document, ["Who shall indemnify?", "Who shall insure?"], 60)
    assert "indemnify" in context.text
    assert "insure" in context.text


def test_heading_of_a_distant_parent_comes_along(make_document):
    document = make_document("1 Care of boats\n  1.1 " + PAD * 3 + "\n  1.2 Sails are folded.\n2 Other\n  2.1 " + PAD)
    context = select(document, ["Are sails folded?"], 24)
    assert context.text == "1 Care of boats" + SEPARATOR + "1.2 Sails are folded."
    assert [p.reason for p in context.pieces] == ["heading", "bm25"]


def test_pieces_are_disjoint_parts_of_the_spans_in_order(make_document):
    context = select(make_document(EN), ["boat lake Losses"], 200)
    assert all(a.span.end <= b.span.start for a, b in zip(context.pieces, context.pieces[1:], strict=False))
    assert all(any(s.start <= p.span.start and p.span.end <= s.end for s in context.spans) for p in context.pieces)


def test_what_does_not_fit_is_reported(make_document):
    document = make_document(EN)
    context = select(document, ["Who shall indemnify the owner?"], 16)
    assert "indemnify" in context.text
    assert {e.why for e in context.cut} >= {"overrides clause 12.1"}


def test_question_without_any_match_reads_from_the_start(make_document):
    context = select(make_document(EN), ["xyzzy"], 40)
    assert context.text.startswith("1 Definitions")
    assert {p.reason for p in context.pieces} == {"document"}


def test_passages_without_a_match_are_not_claimed_to_match(make_document):
    context = select(make_document(EN), ["Who shall indemnify the owner?"], 400)
    assert "keep records" not in context.text


def test_table_of_contents_is_not_read(make_document):
    contents = "Section 1  Rent of the boat    2 Section 2  Use of the boat    3 Section 3  Care of the boat    9\n"
    document = make_document(contents + "1 Rent\n  1.1 The rent of the boat is 9.\n")
    context = select(document, ["What is the rent of the boat?"], 60)
    assert context.text == "1 Rent\n  1.1 The rent of the boat is 9."


def test_full_context_is_the_identity(make_document):
    document = make_document(EN)
    context = full_context(document, count_tokens=words)
    assert context.text == document.text
    assert context.tokens == words(document.text)
    assert full_context(document).tokens is None
    check_mapping(document, context)


def test_wrong_rankings_and_no_room(make_document):
    document = make_document(EN)
    chunks = passages(document)
    with pytest.raises(UsageError, match="one score per passage"):
        select_context(document, chunks, [np.zeros(1)], count_tokens=words, max_context_tokens=99)
    with pytest.raises(UsageError, match="one score per passage"):
        select_context(document, chunks, [], count_tokens=words, max_context_tokens=99)
    with pytest.raises(UsageError, match="room for one passage"):
        select(document, ["boat"], 2)


def test_a_counter_that_is_not_additive_cannot_break_the_limit(make_document):
    document = make_document(EN)
    context = select(document, ["boat insure indemnify"], 120, count=lambda text: max(1, len(text.split()) ** 2 // 20))
    assert context.tokens <= 120


@given(
    st.lists(st.sampled_from(["boat", "lake", "Losses", "xyzzy", "insure the boat"]), min_size=1, max_size=3),
    st.integers(60, 400),
)
def test_budget_and_mapping_hold_for_any_question(make_document, questions, limit):
    document = make_document(EN)
    context = select(document, questions, limit)
    assert context.tokens <= limit
    check_mapping(document, context)
    assert select(document, questions, limit) == context
