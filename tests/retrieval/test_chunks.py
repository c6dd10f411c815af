"""Passages tile the document; sentences end where a reader would end them."""

import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.model import Block
from softlookup.errors import UsageError
from softlookup.retrieval.chunks import is_contents, passages, sentences, without_contents

CONTRACT = """Lease of a boat
1 Rent. The rent is 900 a month.
  1.1 Due dates.
    (a) The first day.
    (b) The last day.
2 Term. The term is a year.
"""
BOAT = "The hirer shall keep the boat clean. It shall not leave Sec. 4.2 waters, i.e. the lake; nor sell it. "


def texts(document, limit=600):
    return [document.text[c.span.start : c.span.end] for c in passages(document, limit)]


def check_tiling(document, limit):
    chunks = passages(document, limit)
    covered = [0] * len(document.text)
    for number, chunk in enumerate(chunks):
        part = document.text[chunk.span.start : chunk.span.end]
        assert chunk.index == number
        assert part == part.strip()
        assert 0 < len(part) <= limit
        for offset in range(chunk.span.start, chunk.span.end):
            covered[offset] += 1
    for offset, letter in enumerate(document.text):
        assert covered[offset] <= 1
        if not letter.isspace() and letter not in "\u200b\u2060\ufeff":
            assert covered[offset] == 1, (offset, letter)


def test_short_clauses_join_but_not_across_top_level_clauses(make_document):
    document = make_document(CONTRACT)
    assert texts(document) == [
        "Lease of a boat",
        "1 Rent. The rent is 900 a month.\n  1.1 Due dates.\n    (a) The first day.\n    (b) The last day.",
        "2 Term. The term is a year.",
    ]
    assert [document.clauses[c.clause].number for c in passages(document)] == ["", "1", "2"]


def test_chapter_heading_joins_its_first_article_which_is_cited(make_document):
    document = make_document("第一章 总则\n  第一条 定义。\n  第二条 期限。\n第二章 责任\n  第三条 上限。\n")
    assert texts(document) == [
        "第一章 总则\n  第一条 定义。",
        "第二条 期限。",
        "第二章 责任\n  第三条 上限。",
    ]
    assert [document.clauses[c.clause].number for c in passages(document)] == ["第一条", "第二条", "第三条"]


def test_long_clause_splits_into_balanced_parts_at_sentence_ends(make_document):
    document = make_document("1 Boat. " + BOAT * 7)
    parts = texts(document)
    assert len(parts) == 2
    assert all(part.endswith((".", ";")) for part in parts)
    assert abs(len(parts[0]) - len(parts[1])) < 150


def test_long_chinese_clause_splits_at_sentence_ends(make_document):
    document = make_document("第一条 " + "承租人应当按时支付租金；逾期的，应当支付违约金。" * 30)
    parts = texts(document)
    assert len(parts) == 2
    assert all(part.endswith(("。", "；")) for part in parts)


@pytest.mark.parametrize("filler", ["word " * 300, "x" * 1500, "很长的文字" * 300, "一，" * 700])
def test_text_without_sentences_is_still_cut(make_document, filler):
    document = make_document("1 " + filler)
    check_tiling(document, 600)
    assert all(len(part) > 200 for part in texts(document))


def test_words_are_not_cut_when_there_is_space(make_document):
    document = make_document("1 " + "abcdefghij " * 200)
    assert all(set(part.split()) <= {"1", "abcdefghij"} for part in texts(document))


def test_empty_and_blank_documents(make_document):
    assert passages(make_document("")) == ()
    assert passages(make_document(" \n\u200b\n ")) == ()


def test_limit_too_small(make_document):
    with pytest.raises(UsageError, match="room"):
        passages(make_document("1 A."), 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Section 1.1  The Sale    2 Section 1.2  The Price    2 Section 1.3  Closing    4\n", True),
        ("ARTICLE I The Sale 2\nSection 1.1 Price 3\nSection 1.2 Time 3\n", True),
        ("Price ........ 3\nTerm ......... 5\nNotices ...... 9", True),
        ("第一条 租金……3\n第二条 期限……4\n第三条 通知……7", True),
        ("1.1 Basic boat 100\n1.2 Large boat 200\n1.3 Ferry 300\n", False),
        ("Section 1.1 Price. The price is 9\nand is paid within 30 days.", False),
        ("第一条 租金为 3 元。\n第二条 期限为 4 年。\n第三条 通知。", False),
    ],
)
def test_tables_of_contents(text, expected):
    assert is_contents(text) is expected


def test_contents_are_left_out_and_the_others_keep_their_index(make_document):
    contents = "Section 1  Rent of it    2 Section 2  Use of it    3 Section 3  Care of it    9\n"
    document = make_document(contents + "1 Rent\n  1.1 The rent of the boat is 9.\n2 Use\n  2.1 " + BOAT * 3 + "\n")
    chunks = passages(document)
    kept = without_contents(document, chunks)
    assert [chunk.index for chunk in kept] == [chunk.index for chunk in chunks][1:]
    assert "Care of it" in document.text[chunks[0].span.start : chunks[0].span.end]


def test_contents_in_chinese_and_contents_that_the_reader_marked(make_document):
    document = make_document("第一章 总则……2\n第二章 租金……3\n第三章 其他……9\n第一条 租金为九元。\n")
    kept = without_contents(document, passages(document))
    assert [document.text[c.span.start : c.span.end] for c in kept] == ["第一条 租金为九元。"]
    plain = make_document("1 Rent\n  1.1 " + BOAT * 3 + "\n2 Care\n  2.1 " + BOAT * 3 + "\n")
    chunks = passages(plain)
    marked = replace(plain, blocks=(Block(chunks[0].span, "toc"), Block(chunks[1].span)))
    assert without_contents(plain, chunks) == chunks
    assert without_contents(marked, chunks) == chunks[1:]


def test_a_document_that_is_all_contents_keeps_its_chunks(make_document):
    document = make_document("Section 1  Rent    2 Section 2  Use    3 Section 3  Care    9\n")
    assert without_contents(document, passages(document)) == passages(document)


@pytest.mark.parametrize("text", ["." * 200_000, "…" * 200_000, "." * 3 + " 9" * 70_000, "第一章" * 60_000])
def test_hostile_text_is_judged_fast(text):
    start = time.process_time()
    assert is_contents(text) is False
    assert time.process_time() - start < 2


LINES = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["1 ", "2.1 ", "(a) ", "第三条 ", "第二章 ", "", "Schedule 2 "]),
        st.text(alphabet="ab .;:\u200b租金。；，\u3000Inc.", max_size=140),
    ),
    max_size=12,
)


@given(LINES, st.sampled_from([40, 77, 200, 600]))
def test_passages_tile_any_outline(make_document, lines, limit):
    document = make_document("\n".join("  " * level + label + body for level, label, body in lines))
    check_tiling(document, limit)


def test_sentences():
    text = "Acme Inc. sells. No. 5 of Sec. 4.2 applies in the U.S. market! Is it so? It is: yes; and more"
    parts = [text[s.start : s.end] for s in sentences(text)]
    assert parts == [
        "Acme Inc. sells.",
        "No. 5 of Sec. 4.2 applies in the U.S. market!",
        "Is it so?",
        "It is:",
        "yes;",
        "and more",
    ]


def test_sentences_in_chinese():
    text = "甲方付款。乙方交货；“验收”后付清。逾期1.5日？"
    assert [text[s.start : s.end] for s in sentences(text)] == [
        "甲方付款。",
        "乙方交货；",
        "“验收”后付清。",
        "逾期1.5日？",
    ]


def test_sentences_at_line_ends():
    text = "A HEADING\nThe lessee shall pay the rent that is due for the month in which\nit begins.\n\nLast one"
    assert [text[s.start : s.end] for s in sentences(text)] == [
        "A HEADING",
        "The lessee shall pay the rent that is due for the month in which\nit begins.",
        "Last one",
    ]


def test_sentences_of_a_part():
    text = "One. Two. Three."
    assert [text[s.start : s.end] for s in sentences(text, 5, 9)] == ["Two."]


@given(st.text(alphabet="aA. \n;。”Inc1", max_size=80))
def test_sentences_cover_the_text(text):
    spans = sentences(text)
    assert "".join(text[s.start : s.end] for s in spans).split() or not text.strip()
    assert "".join("".join(text[s.start : s.end].split()) for s in spans) == "".join(text.split())
    assert all(a.end <= b.start for a, b in pairwise(spans))
