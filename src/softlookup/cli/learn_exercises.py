"""``softlookup learn --exercises``: five exercises; numbers are graded, open parts are for the reader to judge."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any

from softlookup.cli.escape import json_line
from softlookup.cli.learn_answers import answers_text
from softlookup.cli.learn_quiz import answer_of, show_code, show_grade
from softlookup.cli.learn_terminal import say, typed
from softlookup.cli.learn_words import word
from softlookup.errors import ExitCode, UsageError
from softlookup.learn.exercises.exercise import Exercise, Part
from softlookup.learn.exercises.five import EXERCISES
from softlookup.learn.quiz.question import Language


def exercises(options: argparse.Namespace, language: Language) -> ExitCode:
    """Run exercise K, or all; the default seed has the sizes of the course page."""
    number, seed = options.exercises, options.seed or 0
    chosen = [each for each in EXERCISES if number in (0, each.number)]
    if not chosen:
        raise UsageError(f"there is no exercise {number}", f"exercises: 1 to {len(EXERCISES)}")
    parts = [part for each in chosen for part in each.parts(seed, language)]
    if options.answers is None and not options.json:
        return _ask(chosen, parts, seed, language)
    head = {"schema": 1, "kind": "exercises", "seed": seed, "language": language}
    if options.answers is None:
        listed = [_part_object(part, key=options.key) for part in parts]
        sys.stdout.write(json_line({**head, "questions": listed}) + "\n")
        return ExitCode.OK
    return _grade_file(parts, options, head)


def _part_object(part: Part, *, key: bool) -> dict[str, Any]:
    from softlookup.learn.quiz.round import question_object

    if part.asked is not None:
        return {**question_object(part.asked, key=key), "exercise": part.exercise}
    said = part.explain() if key else None
    answer = {} if said is None else {
        "model_answer": {"code": said.code, "answer": said.answer, "text": said.text}, "points": list(part.points),
    }  # fmt: skip
    return {"id": part.id, "exercise": part.exercise, "kind": "open", "text": part.text, **answer}


def _grade_file(parts: Sequence[Part], options: argparse.Namespace, head: dict[str, Any]) -> ExitCode:
    """Grade the numbers of ``--answers``; an open answer is returned with its check list, never graded."""
    from softlookup.learn.quiz.answers import parse_answers
    from softlookup.learn.quiz.grade import grade
    from softlookup.learn.quiz.round import Result, result_object

    given = parse_answers(answers_text(options.answers), [part.id for part in parts])
    graded: list[dict[str, Any]] = []
    right = asked = 0
    for part in parts:
        if part.asked is None:
            graded.append({**_part_object(part, key=options.key), "given": given[part.id], "verdict": "open"})
            continue
        result = Result(part.asked, given[part.id], grade(part.asked, given[part.id]))
        right, asked = right + result.good, asked + 1
        graded.append({**result_object(result, key=options.key), "exercise": part.exercise})
        if not options.json:
            _show_part(part)
            show_grade(part.asked, result.grade)
    score = {"right": right, "asked": asked}
    if options.json:
        sys.stdout.write(json_line({**head, "results": graded, "score": score}) + "\n")
    else:
        for part in parts:
            if part.asked is None:
                _show_part(part)
                say(word("open", part.language), first="  ", indent=2)
                _show_model_answer(part)
        say(word("score", parts[0].language, **score), strong=True)
    return ExitCode.OK


def _ask(chosen: Sequence[Exercise], parts: Sequence[Part], seed: int, language: Language) -> ExitCode:
    """Ask part by part; what was answered is kept whatever ends the round."""
    from softlookup.cli.learn_progress import keep

    titles = {each.number: each.title.say(language) for each in chosen}
    shares: dict[int, list[float]] = {}
    say(word("exercises", language, seed=seed))
    try:
        for part in parts:
            if part.exercise not in shares:
                say()
                say(word("exercise", language, number=part.exercise, title=titles[part.exercise]), strong=True)
            share = _ask_part(part)
            if share is None:
                break
            shares.setdefault(part.exercise, []).append(share)
    finally:  # also after Ctrl-C, which goes on to `main`
        if shares:
            means = {number: sum(found) / len(found) for number, found in shares.items()}
            keep(lambda progress: progress.with_exercises(means))
            say()
            for number, share in means.items():
                say(word("exercise_score", language, number=number, share=share))
    return ExitCode.OK


def _ask_part(part: Part) -> float | None:
    """Share of the part that is right, by grading or by the reader's own ticks; None when the reader stops."""
    _show_part(part)
    if part.asked is not None:
        given = answer_of(part.asked)
        if given is None:
            return None
        show_grade(part.asked, given[1])
        return float(given[1].verdict == "right")
    line = typed(word("think", part.language))
    if line is None or line.strip().lower() == "q":
        return None
    _show_model_answer(part)
    return _ticked(part)


def _show_part(part: Part) -> None:
    say(part.text, first=f"{part.id}) ", indent=4)


def _show_model_answer(part: Part) -> None:
    said = part.explain()
    say(word("model_answer", part.language), first="  ", strong=True)
    say(said.text, first="  ", indent=2)
    show_code(said.code, said.printed, said.answer)
    say(word("check_list", part.language), first="  ", strong=True)
    for place, point in enumerate(part.points, 1):
        say(point, first=f"    {place}. ", indent=7)


def _ticked(part: Part) -> float | None:
    """The share of the points that the reader says he had."""
    count = len(part.points)
    while True:
        line = typed(word("tick", part.language))
        if line is None:
            return None
        found = {int(each) if len(each) < 4 else 0 for each in re.findall(r"[0-9]+", line)}
        if found <= set(range(1, count + 1)) and (found or not line.strip()):
            say(word("self", part.language, right=len(found), asked=count), first="  ")
            return len(found) / count
        say(word("not_points", part.language, count=count), first="  ")
