"""``softlookup learn --progress`` and ``--forget``, and how the other modes keep what was done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from softlookup.cli.escape import json_line, printable_line
from softlookup.cli.learn_terminal import say
from softlookup.cli.learn_words import word
from softlookup.errors import ExitCode

if TYPE_CHECKING:
    from softlookup.learn.progress import Progress
    from softlookup.learn.quiz.question import Language


def known_progress() -> Progress:
    """What is kept; a note on stderr when the file was no progress of ours."""
    from softlookup.learn.progress import read_progress

    progress, message = read_progress()
    _note(message)
    return progress


def keep(change: Callable[[Progress], Progress]) -> None:
    """Read what is kept, change it, write it; trouble is a note on stderr."""
    from softlookup.learn.progress import write_progress

    _note(write_progress(change(known_progress())))


def show_progress(language: Language, *, as_json: bool) -> ExitCode:
    """Print what is kept."""
    from softlookup.learn.progress import progress_file

    progress = known_progress()
    if as_json:
        sys.stdout.write(json_line(progress.to_dict()) + "\n")
        return ExitCode.OK
    none, comma = word("none", language), "、" if language == "zh" else ", "
    say(word("progress_lessons", language, list=comma.join(map(str, progress.lessons_done)) or none))
    for number, score in sorted(progress.quiz.items()):
        say(word("progress_quiz", language, number=number, best=score.best, last=score.last))
    for number, score in sorted(progress.exercises.items()):
        say(word("progress_exercises", language, number=number, best=score.best, last=score.last))
    if progress.wrong:
        say(word("progress_wrong", language, list=comma.join(progress.wrong)), indent=2)
    say(word("progress_file", language, file=progress_file()))
    return ExitCode.OK


def forget(language: Language, *, as_json: bool) -> ExitCode:
    """Delete what is kept."""
    from softlookup.learn.progress import forget_progress

    gone = forget_progress()
    if as_json:
        sys.stdout.write(json_line({"schema": 1, "deleted": [str(path) for path in gone]}) + "\n")
        return ExitCode.OK
    for path in gone:
        say(word("forgotten", language, file=path))
    if not gone:
        say(word("nothing", language))
    return ExitCode.OK


def _note(message: str) -> None:
    if message:
        sys.stderr.write(f"note: {printable_line(message)}\n")
