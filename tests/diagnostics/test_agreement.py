"""An answer agrees by its values, else by its words; both ways round."""

from __future__ import annotations

import pytest

from softlookup.diagnostics.agreement import agreement

CLAUSE = "The Owner shall repair the jetty within thirty days after a written notice of the Keeper."
QUESTION = "When must the Owner repair the jetty?"


@pytest.mark.parametrize(
    ("answer", "agrees"),
    [
        ("Within 30 days.", True),
        ("within thirty days after the notice", True),
        ("Within 45 days.", False),
        ("30 days after 2 notices", False),
        ("After a written notice of the Keeper.", True),
        ("Whenever the harbour master wants.", False),
        ("The Owner must repair the jetty.", False),  # says nothing that the question does not
    ],
)
def test_an_english_answer(answer, agrees):
    assert agreement(answer, CLAUSE, QUESTION).agrees is agrees


def test_a_quoted_value_must_be_in_the_answer():
    clause = "It pays 200 in May and 300 in June."
    assert not agreement("It pays 200.", clause, "What is paid in June?", "300 in June").agrees
    found = agreement("It pays 200.", clause, "What is paid in June?", "300 in June")
    assert found.missing
    assert not found.strange
    assert agreement("It pays 300.", clause, "What is paid in June?", "300 in June").agrees


def test_values_of_the_question_are_known():
    assert agreement("In 2031 it is 200.", "It pays 200.", "What is paid in 2031?").agrees


@pytest.mark.parametrize(
    ("answer", "agrees"), [("三十日内修理", True), ("四十日内", False), ("书面通知之后", True), ("由丙方决定", False)]
)
def test_a_chinese_answer(answer, agrees):
    clause = "甲方应当在收到书面通知后三十日内修理屋顶。"
    assert agreement(answer, clause, "甲方何时修理屋顶？").agrees is agrees
