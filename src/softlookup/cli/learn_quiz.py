"""``softlookup learn --quiz``: asks, grades answers from a file, or prints questions for a teacher."""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Sequence

from softlookup.cli.escape import json_line
from softlookup.cli.learn_answers import answers_text
from softlookup.cli.learn_terminal import block, dim, say, typed
from softlookup.cli.learn_words import word
from softlookup.errors import ExitCode, UsageError
from softlookup.learn.quiz.grade import Grade, grade
from softlookup.learn.quiz.question import LETTERS, Asked, Language

# times that an answer which is not understood may be typed again
_TRIES = 3


def quiz(options: argparse.Namespace, language: Language) -> ExitCode:
    """Run the quiz as ``options`` say."""
    from softlookup.learn.quiz.answers import parse_answers
    from softlookup.learn.quiz.round import MOST_SEED, grade_all, question_object, result_object, score_object, select

    asks = options.answers is None and not options.json
    seed = options.seed if options.seed is not None else secrets.randbelow(MOST_SEED) if asks else 0
    asked = select(options.quiz or None, seed, language, lessons=_lessons(options.lessons), only=_only(options))
    if asks:
        return _ask(asked, seed, language)
    head = {"schema": 1, "kind": "quiz", "seed": seed, "language": language}
    if options.answers is None:
        questions = [question_object(each, key=options.key) for each in asked]
        sys.stdout.write(json_line({**head, "questions": questions}) + "\n")
        return ExitCode.OK
    results = grade_all(asked, parse_answers(answers_text(options.answers), [each.id for each in asked]))
    if options.json:
        graded = [result_object(each, key=options.key) for each in results]
        sys.stdout.write(json_line({**head, "results": graded, "score": score_object(results)}) + "\n")
        return ExitCode.OK
    for place, result in enumerate(results, 1):
        show_question(result.asked, place, len(results))
        show_grade(result.asked, result.grade)
    _show_scores(results, language)
    return ExitCode.OK


def _lessons(text: str | None) -> list[int] | None:
    """``2,5`` as numbers."""
    if text is None:
        return None
    parts = [part.strip() for part in text.replace("，", ",").split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 4 for part in parts):
        raise UsageError(f"--lessons takes numbers such as 2,5, got {text[:40]!r}", "leave it out for all")
    return [int(part) for part in parts]


def _only(options: argparse.Namespace) -> tuple[str, ...] | None:
    """The questions of ``--again``: those whose last answer was wrong."""
    from softlookup.cli.learn_progress import known_progress

    if not options.again:
        return None
    wrong = known_progress().wrong
    if not wrong:
        raise UsageError("no question was answered wrongly so far", "ask without --again")
    return wrong


def _ask(asked: Sequence[Asked], seed: int, language: Language) -> ExitCode:
    """Ask one after another; what was answered is kept whatever ends the round."""
    from softlookup.cli.learn_progress import keep
    from softlookup.learn.quiz.round import Result, by_lesson

    results: list[Result] = []
    say(word("quiz", language, count=len(asked), seed=seed))
    try:
        for place, each in enumerate(asked, 1):
            show_question(each, place, len(asked))
            given = answer_of(each)
            if given is None:
                break
            results.append(Result(each, *given))
            show_grade(each, given[1])
    finally:  # also after Ctrl-C, which goes on to `main`
        if results:
            shares = {lesson: right / count for lesson, (right, count) in by_lesson(results).items()}
            answered = {r.asked.id: r.good for r in results if r.grade.verdict in ("right", "wrong")}
            keep(lambda progress: progress.with_quiz(shares, answered))
            _show_scores(results, language)
    return ExitCode.OK


def show_question(asked: Asked, place: int, count: int) -> None:
    """The question with its options."""
    say()
    say(word("question", asked.language, place=place, count=count, lesson=asked.lesson), strong=True)
    say(asked.text)
    if asked.sheet.shown:
        block("\n".join(asked.sheet.shown))
    for letter, option in zip(LETTERS, asked.options, strict=False):
        say(option, first=f"  {letter}) ", indent=5)


def answer_of(asked: Asked) -> tuple[str, Grade] | None:
    """What is typed and its grade; None at the end of input or for q."""
    for attempt in range(_TRIES):
        line = typed(word("answer", asked.language))
        if line is None or line.strip().lower() in ("q", "quit"):
            return None
        found = grade(asked, line)
        if found.verdict != "unreadable" or attempt == _TRIES - 1:
            return line, found
        say(found.note, first="  ", indent=2)
    return None


def show_grade(asked: Asked, found: Grade) -> None:
    """Right or wrong, a hint, the right answer, and the explanation that runs."""
    from softlookup.learn.quiz.explain import explain
    from softlookup.learn.quiz.round import right_text

    colon = "：" if asked.language == "zh" else ": "
    verdict = word(found.verdict, asked.language)
    say(f"{verdict}{colon}{found.note}" if found.note else verdict, first="  ", indent=4)
    if found.verdict != "right":
        say(word("right_is", asked.language, right=right_text(asked)), first="  ", indent=4)
    said = explain(asked)
    say(said.text, first="  ", indent=2)
    show_code(said.code, said.printed, said.answer)


def show_code(code: str, printed: str, answer: str) -> None:
    """The code of an explanation with what it found."""
    for line in code.split("\n"):
        sys.stdout.write(dim(f"      {line}") + "\n")
    if printed:
        block(printed, 6)
    block(f"→ {answer}", 6)


def _show_scores(results: Sequence[object], language: Language) -> None:
    from softlookup.learn.quiz.round import Result, by_lesson

    kept = [each for each in results if isinstance(each, Result)]
    say()
    say(word("score", language, right=sum(each.good for each in kept), asked=len(kept)), strong=True)
    for number, (right, count) in by_lesson(kept).items():
        say(word("lesson_score", language, number=number, right=right, asked=count), first="  ")
