"""Labels: what is one, its value, and its printed form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.readers.docx.numbering import print_counter
from softlookup.documents.readers.html.reader import print_number
from softlookup.documents.tree.numbering import (
    FOLD,
    han_number,
    label_at,
    letter_number,
    parse_label,
    roman_number,
)


@pytest.mark.parametrize(
    ("printed", "number", "style", "values"),
    [
        ("5.2", "5.2", "decimal2", (5, 2)),
        ("5.", "5", "decimal1", (5,)),
        ("12)", "12", "number)", (12,)),
        ("(a)", "(a)", "lower-letter()", (1,)),
        ("(iv)", "(iv)", "lower-roman()", (4,)),
        ("(B)", "(B)", "upper-letter()", (2,)),
        ("(3)", "(3)", "number()", (3,)),
        ("Section 4.1", "Section 4.1", "decimal2", (4, 1)),
        ("ARTICLE V", "ARTICLE V", "article", (5,)),
        ("Article Ten", "Article Ten", "article", (10,)),
        ("§ 7", "§ 7", "section", (7,)),
        ("第三条", "第三条", "zh-article", (3,)),
        ("第一百二十条之一", "第一百二十条之一", "zh-article", (120, 1)),
        ("第12章", "第12章", "zh-chapter", (12,)),
        ("二、", "二", "zh-list", (2,)),
        ("（十一）", "（十一）", "zh-paren", (11,)),
        ("３．２", "３．２", "decimal2", (3, 2)),
        ("④", "④", "circled", (4,)),
    ],
)  # fmt: skip
def test_label_forms(printed, number, style, values):
    label = parse_label(printed)
    assert label is not None
    assert label.number == number
    assert (label.readings[0].style, label.readings[0].values) == (style, values)


@pytest.mark.parametrize(
    "text", ["", "Lease", "2019 was", "1,000 dollars", "第一次", "3.5% interest", "(see above)", "10/12/2020"]
)
def test_what_is_no_label(text):
    assert parse_label(text) is None
    assert label_at(text.translate(FOLD), 0, text) is None


def test_ambiguous_letters_keep_both_readings():
    assert {r.style for r in parse_label("(i)").readings} == {"lower-letter()", "lower-roman()"}


@given(st.integers(1, 9999))
def test_chinese_numerals_round_trip(number):
    assert han_number(print_counter(number, "chineseCountingThousand")) == number
    assert han_number(print_counter(number, "chineseLegalSimplified")) == number
    assert han_number(print_counter(number, "ideographDigital")) == number


@given(st.integers(1, 3999))
def test_roman_numerals_round_trip(number):
    assert roman_number(print_number(number, "i")) == number


@given(st.integers(1, 200))
def test_letters_round_trip(number):
    assert letter_number(print_number(number, "A")) == number


@pytest.mark.parametrize("wrong", ["iiii", "vx", "ic", "", "hello"])
def test_wrong_roman_numerals_are_refused(wrong):
    assert roman_number(wrong) is None
