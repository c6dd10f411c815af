"""The five exercises: keys against softlookup's own values, near misses, open parts that nobody grades."""

from __future__ import annotations

import math

import pytest

from softlookup.learn.exercises.exercise import Open
from softlookup.learn.exercises.five import EXERCISES
from softlookup.learn.quiz.explain import run_code
from softlookup.learn.quiz.grade import grade

SEEDS = range(25)


def numeric(seed, language="en"):
    return [part for each in EXERCISES for part in each.parts(seed, language) if part.asked is not None]


def agree(right, answer):
    """Whether a key is what the code finds."""
    one = right if isinstance(right, tuple) else (right,)
    other = answer if isinstance(answer, list) else [answer]
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_every_key_is_what_softlookup_computes(seed):
    for part in numeric(seed):
        sheet = part.asked.sheet
        answer = run_code(sheet)["answer"]
        assert agree(sheet.right, answer), part.id
        typed = ", ".join(map(repr, sheet.right)) if isinstance(sheet.right, tuple) else repr(sheet.right)
        assert grade(part.asked, typed).verdict == "right"
        # planted: a key that is off by a tenth is seen by the same comparison
        off = tuple(1.1 * each for each in sheet.right) if isinstance(sheet.right, tuple) else 1.1 * sheet.right
        assert not agree(off, answer)


def test_seed_0_has_the_sizes_of_the_course_page():
    elements, products = (part for part in numeric(0) if part.exercise == 2)
    assert (elements.asked.sheet.right, products.asked.sheet.right) == (1024**2, 1024**2 * 64)
    assert all(form in products.explain().text for form in ("67,108,864",))
    scores, weights, output = (part.asked.sheet.right for part in numeric(0) if part.exercise == 3)
    assert scores == pytest.approx((1.41421, 0, 0, 1.41421), abs=1e-5)
    assert weights == output == pytest.approx((0.80443, 0.19557, 0.19557, 0.80443), abs=1e-5)


def test_seeds_draw_other_sizes():
    assert len({part.text for seed in SEEDS for part in numeric(seed) if part.id == "2a"}) > 5
    assert len({part.text for seed in SEEDS for part in numeric(seed) if part.id == "3a"}) > 5


@pytest.mark.parametrize(
    ("part", "typed", "verdict", "said"),
    [
        ("2a", "1.05M", "right", ""),
        ("2a", "1048576", "right", ""),
        ("2a", "2^20", "right", ""),
        ("2a", "一百零五万", "right", ""),
        ("2a", "1024", "wrong", ""),
        ("2a", "10.5M", "wrong", "10^1"),
        ("2b", "6.7e7", "right", ""),
        ("2b", "六千七百万", "right", ""),
        ("2b", "1.34×10^8", "wrong", "one multiply-add is 2"),
        ("2b", "1.34×10^8 FLOPs", "right", "half as many"),
        ("2b", "6.7e8", "wrong", "10^1"),
        ("3a", "[1.41 0 0 1.41]", "right", ""),
        ("3a", "√2, 0, 0, √2", "right", ""),
        ("3b", "0.8 0.2 0.2 0.8", "wrong", ""),
        ("3b", "0.804, 0.196, 0.196, 0.804", "right", ""),
        ("4a", "0.27", "right", ""),
        ("5a", "32", "right", ""),
        ("5a", "64", "wrong", "twice"),
    ],
)
def test_answers_to_the_page_sizes(part, typed, verdict, said):
    asked = next(each.asked for each in numeric(0) if each.id == part)
    found = grade(asked, typed)
    assert found.verdict == verdict
    assert said in found.note


@pytest.mark.parametrize("language", ["en", "zh"])
def test_open_parts_have_a_model_answer_that_quotes_what_was_computed(language):
    found = [part for each in EXERCISES for part in each.parts(3, language) if isinstance(part.body, Open)]
    assert [part.exercise for part in found] == [1, 4, 5]
    for part in found:
        said = part.explain()
        assert said.answer in said.text
        assert "{" not in said.text
        assert len(part.points) >= 3
        assert part.asked is None


def test_the_model_answers_hold():
    """What the prose claims of the numbers, checked on the numbers."""
    answers = {
        part.exercise: run_code(part.body)["answer"]
        for each in EXERCISES
        for part in each.parts(0, "en")
        if isinstance(part.body, Open)
    }
    symmetric, projected = answers[1]
    assert symmetric < 1e-9
    assert projected > 0.1
    assert answers[4][-1] == pytest.approx(1)
    assert answers[4] == sorted(answers[4])
    assert answers[4][0] < 0.5
    assert answers[5] == [3, 12, 1]


def test_every_text_is_in_both_languages():
    for each in EXERCISES:
        assert each.title.en
        assert each.title.zh
        for english, chinese in zip(each.parts(1, "en"), each.parts(1, "zh"), strict=True):
            assert english.id == chinese.id
            assert english.text
            assert any("\u4e00" <= character <= "\u9fff" for character in chinese.text)
            assert not any("\u4e00" <= character <= "\u9fff" for character in english.text + english.explain().text)
            assert len(english.points) == len(chinese.points)
