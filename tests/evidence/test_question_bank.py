"""The bank: no question stands twice, enough of them for alpha, both languages, and the language of a question."""

from __future__ import annotations

import re

import pytest

from softlookup.evidence.question_bank import language_of, question_bank


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_question_stands_twice_and_the_lists_do_not_overlap(language):
    bank = question_bank(language)
    plain = [re.sub(r"\W", "", question).lower() for question in bank.questions]
    assert len(set(plain)) == len(plain)
    assert not set(bank.ordinary) & set(bank.off_topic)
    assert bank.questions == bank.ordinary + bank.off_topic
    assert all(question == question.strip() and question[-1] in "?？" for question in bank.questions)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_questions_are_in_their_language_and_enough_for_the_usual_alpha(language):
    bank = question_bank(language)
    assert {language_of(question) for question in bank.questions} == {language}
    assert 1 / (len(bank.off_topic) + 1) <= 0.05
    assert len(bank.ordinary) >= 20


def test_both_languages_can_give_the_same_smallest_p_value():
    """The smallest alpha is checked once for both languages."""
    assert len(question_bank("en").off_topic) == len(question_bank("zh").off_topic)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Who pays?", "en"),
        ("谁付款？", "zh"),
        ("Who is 甲方 in this agreement and what must be paid?", "en"),
        ("乙方的 SLA 是多少？", "zh"),
        ("Qui paie?", "en"),
        ("", "en"),
        ("??? 123", "en"),
        ("第3.2条？", "zh"),
    ],
)
def test_language_of(text, language):
    assert language_of(text) == language
