"""A round of the quiz: which questions are asked, how the answers did, and both as objects for JSON."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from softlookup.errors import UsageError
from softlookup.learn.quiz.bank import QUESTIONS
from softlookup.learn.quiz.explain import explain, figure_text
from softlookup.learn.quiz.grade import Grade, grade
from softlookup.learn.quiz.question import LETTERS, Asked, Language
from softlookup.learn.quiz.topics import LESSONS

DEFAULT_COUNT = 10
MOST_SEED = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Result:
    """A question, what was answered, and how that did."""

    asked: Asked
    given: str
    grade: Grade

    @property
    def good(self) -> bool:
        """Whether it was right."""
        return self.grade.verdict == "right"


def select(
    count: int | None,
    seed: int,
    language: Language,
    *,
    lessons: Collection[int] | None = None,
    only: Collection[str] | None = None,
) -> tuple[Asked, ...]:
    """``count`` questions (default 10, or all there are) that the seed draws, in the order of the lessons.

    ``lessons`` and ``only`` (ids) narrow the bank. Raises ``UsageError`` for what the bank does not have.
    """
    unknown = sorted(set(lessons or ()) - set(LESSONS))
    if unknown:
        raise UsageError(f"there is no lesson {unknown[0]}", f"lessons: {LESSONS[0]} to {LESSONS[-1]}")
    pool = [
        question
        for question in QUESTIONS
        if (lessons is None or question.lesson in lessons) and (only is None or question.id in only)
    ]
    if not pool:
        raise UsageError("no question fits", "ask without --lessons or --again")
    if count is not None and not 1 <= count <= len(pool):
        raise UsageError(f"{len(pool)} questions fit, {count} were asked for", f"ask for 1 to {len(pool)}")
    chosen = random.Random(f"{seed}/round").sample(pool, min(count or DEFAULT_COUNT, len(pool)))
    return tuple(question.ask(seed, language) for question in pool if question in chosen)


def grade_all(asked: Sequence[Asked], given: dict[str, str]) -> tuple[Result, ...]:
    """A result per question; ``given`` by id."""
    return tuple(Result(each, given.get(each.id, ""), grade(each, given.get(each.id, ""))) for each in asked)


def by_lesson(results: Iterable[Result]) -> dict[int, tuple[int, int]]:
    """(right, asked) per lesson."""
    found: dict[int, tuple[int, int]] = {}
    for result in results:
        right, asked = found.get(result.asked.lesson, (0, 0))
        found[result.asked.lesson] = (right + result.good, asked + 1)
    return dict(sorted(found.items()))


def right_text(asked: Asked) -> str:
    """The right answer as a reader sees it."""
    if asked.letter:
        return f"{asked.letter}) {asked.options[LETTERS.index(asked.letter)]}"
    return figure_text(asked.sheet.right)


def question_object(asked: Asked, *, key: bool) -> dict[str, Any]:
    """A question for JSON; with ``key`` its right answer and explanation too."""
    options = {"options": dict(zip(LETTERS, asked.options, strict=False))} if asked.options else {}
    shown = {"shown": list(asked.sheet.shown)} if asked.sheet.shown else {}
    unit = {} if asked.options else {"counts": asked.sheet.counts or "number", "tolerance": asked.sheet.tolerance}
    return {"id": asked.id, "lesson": asked.lesson, "kind": asked.kind, "text": asked.text, **shown, **options, **unit,
            **(key_object(asked) if key else {})}  # fmt: skip


def key_object(asked: Asked) -> dict[str, Any]:
    """The right answer, and the explanation with what its code found."""
    right = asked.letter or (list(asked.sheet.right) if isinstance(asked.sheet.right, tuple) else asked.sheet.right)
    said = explain(asked)
    return {"right": right, "explanation": {"code": said.code, "answer": said.answer, "text": said.text}}


def result_object(result: Result, *, key: bool) -> dict[str, Any]:
    """A graded answer for JSON."""
    asked = result.asked
    return {"id": asked.id, "lesson": asked.lesson, "kind": asked.kind, "given": result.given,
            "verdict": result.grade.verdict, "note": result.grade.note,
            **(key_object(asked) if key else {})}  # fmt: skip


def score_object(results: Sequence[Result]) -> dict[str, Any]:
    """Scores for JSON: of all questions and per lesson."""
    lessons = {str(n): {"right": right, "asked": asked} for n, (right, asked) in by_lesson(results).items()}
    return {"right": sum(each.good for each in results), "asked": len(results), "lessons": lessons}
