"""Every question of the quiz, under 50 seeds: right key, distinct options, both languages, an explanation that runs."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from softlookup.learn.pages import lesson_pages
from softlookup.learn.quiz.bank import QUESTIONS
from softlookup.learn.quiz.check import faults
from softlookup.learn.quiz.explain import explain
from softlookup.learn.quiz.question import KINDS, Text
from softlookup.learn.quiz.topics import LESSONS

SEEDS = range(50)
BY_ID = {question.id: question for question in QUESTIONS}


def planted(question, **changes):
    """``question`` whose sheets have ``changes``: values, or functions of the sheet."""

    def make(draw):
        sheet = question.make(draw)
        return replace(
            sheet, **{name: change(sheet) if callable(change) else change for name, change in changes.items()}
        )

    return replace(question, make=make)


def test_the_bank_covers_every_lesson_and_kind():
    assert len(QUESTIONS) >= 30
    assert len(BY_ID) == len(QUESTIONS)
    lessons = Counter(question.lesson for question in QUESTIONS)
    assert set(lessons) == set(LESSONS)
    assert min(lessons.values()) >= 3
    assert {question.kind for question in QUESTIONS} == set(KINDS)
    assert [question.lesson for question in QUESTIONS] == sorted(question.lesson for question in QUESTIONS)


def test_every_lesson_that_exists_has_questions():
    assert {page.number for page in lesson_pages()} <= set(LESSONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_a_question_is_sound_under_every_seed(question):
    assert [fault for seed in SEEDS for fault in faults(question, seed)] == []


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_the_seed_draws_sizes_or_the_order_of_options(question):
    """The same seed asks the same, and among ten there are at least two questions."""
    asked = [question.ask(seed, "en") for seed in range(10)]
    assert asked[3] == question.ask(3, "en")
    assert len({(each.text, each.options) for each in asked}) > 1


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q.kind == "number"], ids=lambda question: question.id)
@pytest.mark.parametrize("factor", [1.1, 2.0, 0.5, -1.0])
def test_a_wrong_key_of_a_number_is_found(question, factor):
    wrong = planted(question, right=lambda sheet: factor * sheet.right + (0.07 if not sheet.right else 0))
    assert any("the key says" in fault for fault in faults(wrong, 1))


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q.kind == "truth"], ids=lambda question: question.id)
def test_a_wrong_verdict_is_found(question):
    found = faults(planted(question, right=lambda sheet: not sheet.right), 1)
    assert any("the key says" in fault for fault in found)
    assert any("other verdict" in fault for fault in found)


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q.kind == "mistake"], ids=lambda question: question.id)
def test_another_matrix_than_the_key_says_is_found(question):
    """The sizes of one seed with the proof of another mistake."""
    wrong = planted(question, proof=lambda sheet: sheet.proof.replace("==", "!="))
    assert any("does not hold" in fault for fault in faults(wrong, 1))


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q.kind == "choice"], ids=lambda question: question.id)
def test_a_choice_whose_proof_fails_is_found(question):
    assert any("does not hold" in fault for fault in faults(planted(question, proof="answer is None"), 1))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"options": lambda sheet: (*sheet.options[:3], sheet.options[0])}, "not distinct"),
        ({"text": Text("What?", "")}, "language is missing"),
        ({"text": Text("What is it 什么?", "这是什么？")}, "Chinese in the English text"),
        ({"text": Text("What should come here?", "What should come here?")}, "no Chinese"),
        ({"why": Text("Because.", "因为。")}, "does not say what the code found"),
    ],
)
def test_a_faulty_text_is_found(changes, said):
    assert any(said in fault for fault in faults(planted(BY_ID["lookup-shape"], **changes), 2))


def test_an_explanation_prints_what_it_computed_and_no_constant():
    """Two seeds, two values: the explanation follows the sizes that were asked."""
    first, second = (explain(BY_ID["mask-pairs"].ask(seed, "en")) for seed in (0, 1))
    assert first.answer != second.answer
    assert first.answer in first.text
    assert "seen_keys(" in first.code


def test_asking_imports_no_torch():
    code = (
        "import sys\nfrom softlookup.learn.quiz.bank import QUESTIONS\n"
        "texts = [question.ask(1, 'zh').text for question in QUESTIONS]\n"
        "sys.exit('torch' in sys.modules or len(texts) < 30)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
