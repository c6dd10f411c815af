"""``softlookup learn``: lessons, exercises, a quiz, the audit of the course page, and what a learner has done."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from softlookup.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from softlookup.learn.quiz.question import Language

_MODES = ("exercises", "quiz", "audit", "progress", "forget")
_MOST_SEED = (1 << 31) - 1


def add_learn_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``softlookup learn`` alone offers."""
    parser.add_argument("lesson", nargs="?", type=int, metavar="N", help="run lesson N; without it, list the lessons")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument(
        "--exercises", nargs="?", type=_count, const=0, metavar="K", help="the five exercises, or the K-th"
    )
    modes.add_argument("--quiz", nargs="?", type=_count, const=0, metavar="COUNT", help="a quiz (default 10 questions)")
    modes.add_argument(
        "--audit", nargs="?", const="", metavar="ID", help="the course page's claims against what is computed"
    )
    modes.add_argument("--progress", action="store_true", help="what you have done so far")
    modes.add_argument("--forget", action="store_true", help="delete that")
    parser.add_argument(
        "--lang", choices=("en", "zh"), help="English or Chinese (default: by LC_ALL, LC_MESSAGES, LANG)"
    )
    parser.add_argument("--no-pause", action="store_true", help="do not wait before the cells of a lesson")
    parser.add_argument("--seed", type=int, metavar="S", help="draws sizes, questions and the order of options")
    parser.add_argument("--lessons", metavar="2,5", help="quiz of these lessons only")
    parser.add_argument("--again", action="store_true", help="quiz of what was answered wrongly")
    parser.add_argument("--answers", metavar="FILE|-", help="grade these answers: JSON, or one answer per line")
    parser.add_argument("--json", action="store_true", help="one JSON object: questions, graded answers, lists")
    parser.add_argument("--key", action="store_true", help="with --json: the right answers and explanations too")


def _count(text: str) -> int:
    """A number from 1; 0 stands for the option without a number."""
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"a number from 1 is needed, got {text[:20]!r}")
    return int(text)


def learn(options: argparse.Namespace) -> ExitCode:
    """Dispatch. Raises ``UsageError`` for options that do not go together."""
    language = _language(options.lang)
    _check(options)
    if options.quiz is not None:
        from softlookup.cli.learn_quiz import quiz

        return quiz(options, language)
    if options.exercises is not None:
        from softlookup.cli.learn_exercises import exercises

        return exercises(options, language)
    if options.audit is not None:
        from softlookup.cli.learn_audit import audit

        return audit(options.audit, language, as_json=options.json)
    if options.progress or options.forget:
        from softlookup.cli.learn_progress import forget, show_progress

        return (forget if options.forget else show_progress)(language, as_json=options.json)
    from softlookup.cli.learn_page import list_lessons, run_lesson

    if options.lesson is None:
        return list_lessons(language, as_json=options.json)
    return run_lesson(options.lesson, language, pause=not options.no_pause)


def _check(options: argparse.Namespace) -> None:
    quiz, exercises = options.quiz is not None, options.exercises is not None
    # 0 is an option without its number
    mode = next(
        (name for name in _MODES if getattr(options, name) is not None and getattr(options, name) is not False), None
    )
    if options.lesson is not None and mode:
        raise UsageError(f"a lesson and --{mode} were given", "use one of them")
    if options.lesson is not None and options.json:
        raise UsageError("a lesson is text for a terminal, --json does not go with it", "its page is in lessons/")
    if not (quiz or exercises) and (options.seed is not None or options.answers is not None or options.key):
        raise UsageError("--seed, --answers and --key belong to --quiz and --exercises", "add one of them")
    if not quiz and (options.lessons is not None or options.again):
        raise UsageError("--lessons and --again belong to --quiz", "add it")
    if options.key and not options.json:
        raise UsageError("--key needs --json", "add it")
    if options.seed is not None and not 0 <= options.seed <= _MOST_SEED:
        raise UsageError(f"--seed must lie between 0 and {_MOST_SEED:,}, got {options.seed}", "correct it")


def _language(wanted: str | None) -> Language:
    """``--lang``, else the first of the locale's variables that is set."""
    if wanted is None:
        found = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
        wanted = "zh" if found.lower().startswith("zh") else "en"
    return "zh" if wanted == "zh" else "en"
