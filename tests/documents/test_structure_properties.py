"""Whatever the text is: the own texts tile it, children nest, paths are unique, and the time is bounded."""

# ruff: noqa: E501  (the pieces are easier to check in few lines)

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softlookup.documents.model import Block, Span
from softlookup.documents.readers.text import paragraphs
from softlookup.documents.tree.candidates import MAX_LABELS
from softlookup.documents.tree.structure import build_clauses, build_structure

from .trees import check_invariants, tree

LABELS = [
    "1. ", "2. ", "3) ", "2.1 ", "2.1A ", "5A. ", "(a) ", "(b) ", "(i) ", "(v) ", "(aa) ", "A. ", "II. ", "第一条 ", "第二条", "第三条之一 ",
    "（一）", "（二）", "一、", "1、", "①", "⑵", "Ⅱ. ", "Schedule 1", "EXHIBIT A-1 ", "附件一", "ARTICLE I ", "Section 4.2 ", "Section Two. ",
    "第一章 总则", "(а) ", "３．", "§ 3 ",
]  # fmt: skip
WORDS = [
    "\n", "\n\n", "\n\n\n\n", "   ", "    ", "\t", "the parties agree. ", "the parties agree as follows:\n", "Governing Law. ", "RENT\n",
    "; and ", "; or ", ", ", ": ", "。", "；", "：\n", "乙方应当付款。", "甲方出租。\n", "“Boat” means a boat", "TABLE OF CONTENTS\n", "目录\n",
    "......... 7\n", "IN WITNESS WHEREOF ", "（以下无正文）\n", "WHEREAS ", "**", "<b>", "____", "\u200b", "\u3000", "provided that ", "is so. ",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(LABELS + WORDS), max_size=80).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_any_text_is_tiled(text):
    tree(text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_any_characters_are_tiled(text):
    tree(text)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_the_same_text_gives_the_same_tree(text):
    assert build_clauses(text, paragraphs(text)) == build_clauses(text, paragraphs(text))


BLOCKS = st.lists(
    st.tuples(
        st.sampled_from(["1.", "(a)", "5A.", "First", "第一条", ""]),
        st.sampled_from(["The rent is due.", "甲方应当付款。", "Rent", "provided that", "“X” means y."]),
        st.integers(0, 4),
        st.sampled_from(["", "1", "2"]),
        st.sampled_from(["paragraph", "heading", "list_item", "table_cell", "footnote", "toc"]),
    ),
    max_size=25,
)


# "5A." between open lists of its style that it does not continue
INSERTED = [
    *[("1.", "The rent is due.", 0, "", "paragraph")] * 5,
    ("1.", "The rent is due.", 0, "2", "paragraph"),
    ("5A.", "The rent is due.", 1, "2", "paragraph"),
    ("1.", "The rent is due.", 2, "", "heading"),
    ("5A.", "The rent is due.", 0, "1", "paragraph"),
    ("5A.", "The rent is due.", 0, "2", "paragraph"),
]


@settings(max_examples=200, deadline=None)
@given(BLOCKS)
@example(INSERTED)
def test_any_blocks_are_tiled(rows):
    text, blocks = "", []
    for label, words, level, list_id, kind in rows:
        start = len(text)
        text += f"{label}\t{words}" if label and list_id else words
        blocks.append(Block(Span(start, len(text)), kind, label if list_id else "", level, list_id=list_id))
        text += "\n"
    check_invariants(text, build_clauses(text, tuple(blocks)))


def test_the_check_catches_planted_faults():
    text = "1. Rent\n\n(a) Ten.\n\n(b) Five.\n\n2. Law\n\nNorway.\n"
    clauses = tree(text)
    for broken in (clauses[:1] + clauses[2:], clauses[:-1], (*clauses, clauses[-1]), clauses[::-1]):
        with pytest.raises(AssertionError):
            check_invariants(text, broken)


DEEP = "".join(f"{'.'.join(['1'] * depth)} One.\n" for depth in range(1, 501))
HOSTILE = {
    "100,000 labels": "1. x\n(a) y\n" * 50_000,
    "labels only": "(a)\n" * (MAX_LABELS - 1),
    "as many labels as are read": "".join(f"{n}. The thing is so;\n\n" for n in range(1, MAX_LABELS // 30)) * 29,
    "one long line": "The party does it. (a) Then (b) that; (iii) the other. 4. End. " * 80_000,
    "one long word": "x" * 5_000_000,
    "blanks": " " * 2_000_000 + "x",
    "500 levels": DEEP,
    "lists in lists": "(a) (i) (A) (1) " * 5_000,
    "articles": "".join(f"第{n}条 甲方。\n乙方应当付款。\n" for n in range(1, 9_000)),
    "items": "第一条 甲\n" + "（一）乙方应当。\n丙方应当付款。\n" * 10_000,
    "definitions": "1. Terms\n" + "“Aa Bb” means a thing (a) one; (b) two.\n" * 10_000,
    "exhibits": "Exhibit A\n\n" * 10_000,
    "contents": "TABLE OF CONTENTS\n1. A ... 3\n" * 5_000,
    "signatures": "（以下无正文）\n" * 10_000 + "1. x\n附件1\n" * 3_000,
    "semicolons": "; " * 300_000,
    "quotes": "“" * 300_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_bounded_time(name):
    text = HOSTILE[name]
    started = time.process_time()
    structure = build_structure(text, paragraphs(text))
    assert time.process_time() - started < 20  # seconds against hangs; about 1 s on an idle core
    check_invariants(text, structure.clauses)


def test_too_many_labels_are_told():
    assert "more than" in build_structure(HOSTILE["100,000 labels"], ()).notes[0]
    assert build_structure(DEEP, paragraphs(DEEP)).notes == ()
