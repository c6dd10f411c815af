"""Grading: what is accepted, what is refused, and which near misses are named."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.learn.quiz.bank import QUESTIONS
from softlookup.learn.quiz.grade import grade
from softlookup.learn.quiz.question import Asked, Sheet, Text

BY_ID = {question.id: question for question in QUESTIONS}
NOTHING = Text("", "")


def number(right, *, tolerance=0.02, counts="", language="en"):
    sheet = Sheet(NOTHING, "answer = 0", NOTHING, right=right, tolerance=tolerance, counts=counts)
    return Asked("id", 1, "number", language, sheet, (), "")


@pytest.mark.parametrize(
    ("counts", "right", "typed", "verdict", "said"),
    [
        ("multiply-adds", 2**26, "6.7e7", "right", ""),
        ("multiply-adds", 2**26, "六千七百万", "right", ""),
        ("multiply-adds", 2**26, "1.34e8", "wrong", "one multiply-add is 2"),
        ("multiply-adds", 2**26, "1.34e8 FLOPs", "right", "half as many multiply-adds"),
        ("multiply-adds", 2**26, "6.7e7 FLOPs", "wrong", ""),
        ("FLOPs", 2**27, "6.7e7", "wrong", "each of them 2 FLOPs"),
        ("FLOPs", 2**27, "6.7e7 MACs", "right", "twice as many FLOPs"),
        ("FLOPs", 2**27, "1.34e8 bytes", "wrong", "asks for FLOPs, the answer is in bytes"),
        ("", 300, "600", "wrong", "exactly twice the right value"),
        ("", 300, "150", "wrong", "exactly half"),
        ("", 300, "3e5", "wrong", "factor of 10^3"),
        ("", 300, "0.3", "wrong", "factor of 10^-3"),
        ("", 300, "-300", "wrong", "sign"),
        ("", 300, "470", "wrong", ""),
        ("", 300, "305", "right", ""),
        ("", 300, "307", "wrong", ""),
        ("bytes", 48 * 2**30, "51.5 GB", "right", ""),
        ("bytes", 48 * 2**30, "48 GiB", "right", ""),
        ("bytes", 48 * 2**30, "48 GB", "wrong", "GiB taken for GB"),
        ("ms", 17, "0.017 s", "right", ""),
        ("ms", 17, "0.017", "wrong", "10^-3"),
        ("share", 0.25, "25%", "right", ""),
        ("share", 0.25, "1/4", "right", ""),
    ],
)
def test_a_number_is_graded(counts, right, typed, verdict, said):
    tolerance = 0.01 if counts == "bytes" else 0.02
    found = grade(number(right, counts=counts, tolerance=tolerance), typed)
    assert found.verdict == verdict
    assert said in found.note
    assert bool(said) == bool(found.note)


def test_an_exact_count_has_no_tolerance():
    assert grade(number(500500, tolerance=0), "500500").verdict == "right"
    assert grade(number(500500, tolerance=0), "500501").verdict == "wrong"
    assert grade(number(500500, tolerance=0), "5.0e5").verdict == "wrong"


def test_a_note_never_tells_the_right_value():
    for typed in ("134217728", "33554432", "6710886400", "-67108864"):
        note = grade(number(2**26, counts="multiply-adds"), typed).note
        assert note
        assert "67" not in note


def test_notes_come_in_both_languages():
    assert "乘加" in grade(number(2**26, counts="multiply-adds", language="zh"), "1.34e8").note
    assert "字节" in grade(number(5, counts="bytes", language="zh"), "5 ms").note


def test_several_numbers_are_graded_together():
    asked = number((0.67, 0.33))
    assert grade(asked, "[0.67, 0.33]").verdict == "right"
    assert grade(asked, "0.67, 0.34").verdict == "wrong"
    assert grade(asked, "0.67").verdict == "unreadable"


@pytest.mark.parametrize(
    "typed",
    [
        "{letter}",
        " {letter} ",
        "({letter})",
        "{letter}.",
        "（{letter}）",
        "{letter}。",
        "选 {letter}",
        "{small}",
        "{place}",
    ],
)
def test_an_option_is_picked_by_letter_or_place(typed):
    asked = BY_ID["lookup-shape"].ask(5, "en")
    forms = {"letter": asked.letter, "small": asked.letter.lower(), "place": "ABCD".index(asked.letter) + 1}
    assert grade(asked, typed.format(**forms)).verdict == "right"


@pytest.mark.parametrize("typed", ["E", "5", "0", "AB", "1.0", "?", "yes", "99999999999999"])
def test_what_is_no_option_is_not_understood(typed):
    found = grade(BY_ID["lookup-shape"].ask(5, "en"), typed)
    assert found.verdict == "unreadable"
    assert "A, B, C, D" in found.note


def test_nothing_is_no_answer():
    assert grade(number(1), "  ").verdict == "unanswered"


@settings(deadline=None)  # a busy machine is no fault
@given(st.text(max_size=50), st.sampled_from(QUESTIONS))
def test_no_text_breaks_the_grader(text, question):
    asked = question.ask(1, "zh")
    assert grade(asked, text).verdict in ("right", "wrong", "unreadable", "unanswered")
