"""Which questions a round asks, how answers are read from a file, and what teachers get as JSON."""

from __future__ import annotations

import json

import pytest

from softlookup.errors import UsageError
from softlookup.learn.quiz.answers import MOST_CHARACTERS, parse_answers
from softlookup.learn.quiz.bank import QUESTIONS
from softlookup.learn.quiz.round import by_lesson, grade_all, question_object, result_object, score_object, select


def test_the_seed_draws_the_round():
    first, again, other = (select(8, seed, "en") for seed in (1, 1, 2))
    assert [each.id for each in first] == [each.id for each in again]
    assert [each.id for each in first] != [each.id for each in other]
    assert [each.lesson for each in first] == sorted(each.lesson for each in first)
    assert len({each.id for each in first}) == 8
    assert len(select(None, 1, "en")) == 10


def test_both_languages_ask_the_same():
    english, chinese = (select(len(QUESTIONS), 3, language) for language in ("en", "zh"))
    assert [(each.id, each.letter, each.sheet.right) for each in english] == [
        (each.id, each.letter, each.sheet.right) for each in chinese
    ]
    assert all(one.text != other.text for one, other in zip(english, chinese, strict=True))


def test_lessons_and_ids_narrow_the_bank():
    assert {each.lesson for each in select(None, 1, "en", lessons=[2, 5])} == {2, 5}
    assert [each.id for each in select(None, 1, "en", only=["mask-late"])] == ["mask-late"]


@pytest.mark.parametrize(
    ("count", "narrow"),
    [(999, {}), (7, {"lessons": [2]}), (None, {"lessons": [12]}), (None, {"lessons": [0]}), (None, {"only": ["x"]})],
)
def test_what_the_bank_lacks_is_a_usage_error(count, narrow):
    with pytest.raises(UsageError):
        select(count, 1, "en", **narrow)


def test_answers_are_read_in_three_forms():
    ids = ["a", "b", "c"]
    assert parse_answers('["B", 2.5, null]', ids) == {"a": "B", "b": "2.5", "c": ""}
    assert parse_answers('{"c": [0.5, 0.5], "a": "六千"}', ids) == {"a": "六千", "b": "", "c": "[0.5, 0.5]"}
    assert parse_answers("B\n\n1.05M\n\n", ids) == {"a": "B", "b": "", "c": "1.05M"}
    assert parse_answers("", ids) == {"a": "", "b": "", "c": ""}


@pytest.mark.parametrize(
    "text",
    [
        '{"d": "A"}',
        "A\nB\nC\nD",
        '["A", "B", "C", "D"]',
        '[{"a": 1}]',
        "x" * (MOST_CHARACTERS + 1),
        '{"a": "A"',
        '["A", "B"',
        '[\n  "A",\n',
    ],
)
def test_answers_that_do_not_fit_are_a_usage_error(text):
    with pytest.raises(UsageError):
        parse_answers(text, ["a", "b", "c"])


def test_answers_that_only_look_like_json_are_lines():
    assert parse_answers("[0.67, 0.33\nB", ["a", "b"]) == {"a": "[0.67, 0.33", "b": "B"}
    assert parse_answers("[" * 100_000, ["a"])["a"].startswith("[[")


def test_scores_count_right_answers_per_lesson():
    asked = select(6, 4, "en", lessons=[1, 3])
    given = {each.id: each.letter or repr(each.sheet.right) for each in asked}
    missed = next(each for each in asked if each.lesson == 3)
    results = grade_all(asked, given | {missed.id: ""})
    assert sum(each.good for each in results) == 5
    right, count = by_lesson(results)[3]
    assert count - right == 1
    score = score_object(results)
    assert score["right"] == 5
    assert sum(each["asked"] for each in score["lessons"].values()) == 6


def test_a_key_is_given_only_when_it_is_asked_for():
    """No question and no graded answer tells the right one by itself, in any field."""
    for question in QUESTIONS:
        asked = question.ask(1, "en")
        result = grade_all([asked], {asked.id: "1"})[0]
        for item in (question_object(asked, key=False), result_object(result, key=False)):
            assert {"right", "explanation"}.isdisjoint(item)
            json.dumps(item)
    with_key = question_object(QUESTIONS[0].ask(1, "en"), key=True)
    assert with_key["right"] == pytest.approx(float(with_key["explanation"]["answer"]), rel=1e-3)
