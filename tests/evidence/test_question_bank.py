"""The bank: no question stands twice or nearly so, enough of them for alpha, both languages, language of a question."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from softlookup.documents.language import language_of
from softlookup.evidence.question_bank import most_compared, question_bank

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
# words that shape a question in contract style and do not say what it is about
STYLE = re.compile(
    r"\b(an?|the|of|in|on|to|for|by|from|at|with|when|what|which|whom?|how|must|may|is|are|be|his|her|their|and|or"
    r"|after|before|during|against|within|where|than|many|much|long|often|high|most|pa(y|id)|deliver(ed|y)?|maintain"
    r"|insure|notify|assign|terminate|disclose|s)\b"
)
STYLE_ZH = (
    "应当|必须|可以|多少|哪些|哪种|什么|如何|由谁|支付|交付|维护|通知|投保|转让|解除|终止|披露|赔偿|多久|谁|吗|的|了"
)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_question_stands_twice_and_the_lists_do_not_overlap(language):
    bank = question_bank(language, 0.01)
    every = bank.questions + bank.further
    plain = [re.sub(r"\W", "", question).lower() for question in every]
    assert len(set(plain)) == len(plain)
    assert not set(bank.ordinary) & set(bank.off_topic)
    assert bank.questions == bank.ordinary + bank.off_topic
    assert bank.compared == bank.off_topic + bank.further
    assert all(question == question.strip() and question[-1] in "?？" for question in every)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_questions_are_in_their_language_and_enough_for_the_usual_alpha(language):
    bank = question_bank(language, 0.01)
    assert {language_of(question) for question in bank.questions + bank.further} == {language}
    assert 1 / (len(bank.off_topic) + 1) <= 0.05
    assert len(bank.ordinary) >= 16
    assert len(bank.further) >= 80
    assert 1 / (len(bank.compared) + 1) <= 0.01


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_further_questions_run_only_where_alpha_needs_them_and_leave_the_null_alone(language):
    standard = question_bank(language)
    smallest = 1 / (len(standard.off_topic) + 1)
    for alpha in (None, 0.5, 0.05, smallest):
        assert question_bank(language, alpha) == standard
    assert standard.further == ()
    for alpha in (smallest - 1e-9, 0.01):
        bank = question_bank(language, alpha)
        assert bank.questions == standard.questions
        assert bank.compared[: len(standard.compared)] == standard.compared
        assert len(bank.compared) == most_compared() > len(standard.compared)


def test_both_languages_can_give_the_same_smallest_p_value():
    """The smallest alpha is checked once for both languages."""
    for alpha in (0.05, 0.01):
        assert len(question_bank("en", alpha).compared) == len(question_bank("zh", alpha).compared)


def topic(question, language):
    """What a question is about: its words, or pairs of characters, without those of contract style."""
    if language == "en":
        return {word.removesuffix("s") for word in re.findall(r"[a-z]+", STYLE.sub("", question.lower()))}
    plain = re.sub(STYLE_ZH + r"|\W", "", question)
    return {plain[place : place + 2] for place in range(len(plain) - 1)}


def alike(one, other, language):
    """Share of the shorter topic that the other question has as well."""
    left, right = topic(one, language), topic(other, language)
    return len(left & right) / max(1, min(len(left), len(right)))


def check_differ(questions, others, language):
    for place, question in enumerate(questions):
        assert len(topic(question, language)) >= 2, question
        for other in (*others, *questions[:place]):
            assert alike(question, other, language) < 0.4, (question, other)


def named_list(file, name):
    """A constant of a benchmark, without running it."""
    for node in ast.parse((BENCHMARKS / file).read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"{file} has no {name}")


def asked_elsewhere(language):
    """The bank's off-topic questions, and those by which benchmarks count false evidence."""
    lines = (BENCHMARKS / "labels" / f"{language}_questions.jsonl").read_text("utf-8").splitlines()
    labelled = {row["question"] for row in map(json.loads, lines) if row["kind"] == "off_topic"}
    assert labelled
    english = named_list("cuad.py", "OFF_TOPIC") if language == "en" else ()
    planted = named_list("planted_contracts.py", "UNRELATED")[language]
    return (*question_bank(language).off_topic, *planted, *english, *sorted(labelled))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_further_questions_are_about_other_things_than_all_others(language):
    check_differ(question_bank(language, 0.01).further, asked_elsewhere(language), language)


@pytest.mark.parametrize(
    ("language", "questions"),
    [
        ("en", ["Who must insure the lamp of the lighthouse?"]),
        ("en", ["Who must insure the alpine choir?", "May the alpine choir terminate its tour?"]),
        ("zh", ["屋顶遭受暴风雨由谁投保？"]),
        ("zh", ["雪山合唱团由谁投保？", "谁必须通知雪山合唱团？"]),
    ],
)
def test_a_question_that_nearly_stands_elsewhere_is_found(language, questions):
    """Planted fault: the same topic in other words of contract style, of another list or of the same."""
    with pytest.raises(AssertionError):
        check_differ(questions, asked_elsewhere(language), language)


def test_the_further_questions_speak_like_a_contract():
    """Otherwise they would draw less attention to clauses than the questions that users ask."""
    verbs = r"must|may|maintain|deliver|pay|notify|insure|assign|terminate|disclose"
    bank = question_bank("en", 0.01)
    assert all(re.search(rf"\b({verbs})", question, re.IGNORECASE) for question in bank.further)
    duties = "应当|必须|可以|由谁|支付|交付|通知|投保"
    assert all(re.search(duties, question) for question in question_bank("zh", 0.01).further)


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
