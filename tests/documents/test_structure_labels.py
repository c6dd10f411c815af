"""``Clause.label`` as printed and ``Clause.values`` for every style of label."""

# ruff: noqa: E501  (a label and what it reads as are easier to check on one line)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.tree.label_printing import print_label
from softlookup.documents.tree.numbering import Reading, is_confusable, parse_label

from .trees import tree

BODY = " The harbour master keeps the list of boats and shows it to the owners.\n\n"


def labelled(*labels: str) -> list[tuple[str, str, tuple[int, ...]]]:
    text = "".join(label + BODY for label in labels)
    return [(clause.label, clause.number, clause.values) for clause in tree(text) if clause.number]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("1.", "2."), [("1.", "1", (1,)), ("2.", "2", (2,))]),
        (("1)", "2)"), [("1)", "1", (1,)), ("2)", "2", (2,))]),
        (("1.1", "1.2"), [("1.1", "1.1", (1, 1)), ("1.2", "1.2", (1, 2))]),
        (("Section 1.01.", "Section 1.02."), [("Section 1.01.", "Section 1.01", (1, 1)), ("Section 1.02.", "Section 1.02", (1, 2))]),
        (("ARTICLE IV", "ARTICLE V"), [("ARTICLE IV", "ARTICLE IV", (4,)), ("ARTICLE V", "ARTICLE V", (5,))]),
        (("Section One.", "Section Two."), [("Section One.", "Section One", (1,)), ("Section Two.", "Section Two", (2,))]),
        (("CLAUSE TWENTIETH:", "CLAUSE TWENTY-FIRST:", "CLAUSE TWENTY SECOND:"), [("CLAUSE TWENTIETH:", "CLAUSE TWENTIETH", (20,)), ("CLAUSE TWENTY-FIRST:", "CLAUSE TWENTY-FIRST", (21,)), ("CLAUSE TWENTY SECOND:", "CLAUSE TWENTY SECOND", (22,))]),
        (("Article Ninety-Eight.", "Article Ninety-Nine."), [("Article Ninety-Eight.", "Article Ninety-Eight", (98,)), ("Article Ninety-Nine.", "Article Ninety-Nine", (99,))]),
        (("Clause 2.", "Clause 2A.", "Clause 3."), [("Clause 2.", "Clause 2", (2,)), ("Clause 2A.", "Clause 2A", (2, 1)), ("Clause 3.", "Clause 3", (3,))]),
        (("Article 2", "Article 2B", "Article 3"), [("Article 2", "Article 2", (2,)), ("Article 2B", "Article 2B", (2, 2)), ("Article 3", "Article 3", (3,))]),
        (("A.", "B.", "C."), [("A.", "A", (1,)), ("B.", "B", (2,)), ("C.", "C", (3,))]),
        (("I.", "II.", "III."), [("I.", "I", (1,)), ("II.", "II", (2,)), ("III.", "III", (3,))]),
        (("5.", "5A.", "5B.", "6."), [("5.", "5", (5,)), ("5A.", "5A", (5, 1)), ("5B.", "5B", (5, 2)), ("6.", "6", (6,))]),
        (("3.", "3A.", "3A.1", "4."), [("3.", "3", (3,)), ("3A.", "3A", (3, 1)), ("3A.1", "3A.1", (3, 1, 1)), ("4.", "4", (4,))]),
        (("第三条", "第三条之一"), [("第三条", "第三条", (3,)), ("第三条之一", "第三条之一", (3, 1))]),
        (("第3条", "第3-1条", "第3-2条", "第4条"), [("第3条", "第3条", (3,)), ("第3-1条", "第3-1条", (3, 1)), ("第3-2条", "第3-2条", (3, 2)), ("第4条", "第4条", (4,))]),
        (("第 一 条", "第 二 条"), [("第 一 条", "第 一 条", (1,)), ("第 二 条", "第 二 条", (2,))]),
        (("第１条", "第２条"), [("第１条", "第１条", (1,)), ("第２条", "第２条", (2,))]),
        (("一、", "二、"), [("一、", "一", (1,)), ("二、", "二", (2,))]),
        (("（一）", "（二）"), [("（一）", "（一）", (1,)), ("（二）", "（二）", (2,))]),
        (("①", "②", "③"), [("①", "①", (1,)), ("②", "②", (2,)), ("③", "③", (3,))]),
        (("⑴", "⑵"), [("⑴", "⑴", (1,)), ("⑵", "⑵", (2,))]),
        (("Ⅰ.", "Ⅱ."), [("Ⅰ.", "Ⅰ", (1,)), ("Ⅱ.", "Ⅱ", (2,))]),
        (("第一千二百五十九条", "第一千二百六十条"), [("第一千二百五十九条",) * 2 + ((1259,),), ("第一千二百六十条",) * 2 + ((1260,),)]),
        (("1259.", "1260."), [("1259.", "1259", (1259,)), ("1260.", "1260", (1260,))]),
    ],
)  # fmt: skip
def test_label_and_values(labels, expected):
    assert labelled(*labels) == expected


def test_double_letters_follow_z():
    letters = [chr(97 + i) for i in range(26)] + ["aa", "bb", "cc"]
    found = labelled("1.", *(f"({letter})" for letter in letters), "2.")
    assert [number for _, number, _ in found[-4:]] == ["(aa)", "(bb)", "(cc)", "2"]
    assert found[-2][2] == (29,)


@pytest.mark.parametrize(
    ("letters", "ends"),
    [("abcdefghijklm", "(m)"), ("uvw", "(w)")],
)
def test_letters_that_are_also_roman_numerals(letters, ends):
    found = labelled("1.", *(f"({letter})" for letter in letters), "2.")
    assert found[-2][1] == ends
    assert found[-2][2] == (ord(ends[1]) - 96,)


def test_roman_items_open_a_level_inside_a_letter():
    text = "".join(label + BODY for label in ("1.", "(a)", "(i)", "(ii)", "(b)", "(i)", "(ii)", "2."))
    assert [c.path for c in tree(text) if c.number] == [
        "1", "1(a)", "1(a)(i)", "1(a)(ii)", "1(b)", "1(b)(i)", "1(b)(ii)", "2",
    ]  # fmt: skip


STYLES = [
    ("decimal1", 1, 1000), ("number)", 1, 99), ("number()", 1, 99), ("lower-letter()", 1, 78), ("upper-letter.", 1, 26),
    ("lower-roman()", 1, 60), ("article", 1, 200), ("section", 1, 200), ("zh-article", 1, 9999), ("zh-chapter", 1, 99),
    ("zh-division", 1, 99), ("zh-part", 1, 20), ("zh-subpart", 1, 20), ("zh-list", 1, 99), ("zh-paren", 1, 99),
    ("circled", 1, 20), ("circled()", 1, 20), ("circled.", 1, 20), ("zh-circled", 1, 10), ("upper-roman-sign", 1, 12),
]  # fmt: skip


@given(st.sampled_from(STYLES).flatmap(lambda s: st.tuples(st.just(s[0]), st.integers(s[1], s[2]))))
def test_a_printed_label_reads_back(case):
    style, value = case
    printed = print_label(Reading(style, (value,)))
    read = parse_label(printed)
    assert read is not None
    assert Reading(style, (value,)) in read.readings
    assert print_label(next(r for r in read.readings if r.style == style)) == printed


@given(st.lists(st.integers(1, 199), min_size=2, max_size=5), st.integers(0, 26))
def test_a_printed_decimal_reads_back(values, inserted):
    reading = Reading(f"decimal{len(values)}", tuple(values), inserted)
    read = parse_label(print_label(reading))
    assert read is not None
    assert read.readings == (reading,)
    assert read.readings[0].place == (*values, inserted) if inserted else tuple(values)


def test_look_alike_letters_are_told():
    assert is_confusable("(а)")
    assert not is_confusable("(a)")
    assert parse_label("(а)").readings[0].values == (1,)


@pytest.mark.parametrize("text", ["2019.", "1987 was", "(the)", "(and)", "12,000", "R2D2"])
def test_years_amounts_and_words_are_no_labels(text):
    assert parse_label(text) is None
