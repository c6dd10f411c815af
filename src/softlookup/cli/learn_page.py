"""``softlookup learn`` and ``softlookup learn N``: the list of lessons, and one of them run in the terminal."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from softlookup.cli.escape import json_line, printable
from softlookup.cli.learn_progress import keep, known_progress
from softlookup.cli.learn_terminal import block, bold, dim, say, somebody_types, typed, width
from softlookup.cli.learn_words import word
from softlookup.errors import ExitCode

if TYPE_CHECKING:
    from softlookup.learn.pages import Lesson
    from softlookup.learn.quiz.question import Language

_ITEM = re.compile(r"(\s*)([-*]|\d+\.)\s+(.*)")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
# a chart is drawn narrower than text: its labels stand beside it
_CHART_WIDTH = 72


def list_lessons(language: Language, *, as_json: bool) -> ExitCode:
    """Number, title, and whether it was run to its end."""
    from softlookup.learn.pages import lesson_pages

    pages, done = lesson_pages(), known_progress().lessons_done
    if as_json:
        rows = [{"number": p.number, "title": _title(p, language), "done": p.number in done} for p in pages]
        sys.stdout.write(json_line({"schema": 1, "lessons": rows}) + "\n")
        return ExitCode.OK
    say(word("lessons" if pages else "no_lessons", language))
    for page in pages:
        mark = f"  ({word('done', language)})" if page.number in done else ""
        say(f"{_title(page, language)}{mark}", first=f"  {page.number:2d}  ", indent=6)
    say(word("more", language))
    return ExitCode.OK


def _language_of(page: Lesson, language: Language) -> Language:
    return language if page.path(language).exists() else "en"


def _title(page: Lesson, language: Language) -> str:
    return page.title(_language_of(page, language))


def run_lesson(number: int, language: Language, *, pause: bool) -> ExitCode:
    """Run the cells of a lesson one by one; pauses before each where somebody sits at a terminal."""
    from softlookup.learn.pages import Cell, FigureLink, Prose, lesson
    from softlookup.learn.run import Ran, play

    page = lesson(number)
    language = _language_of(page, language)
    pause = pause and somebody_types() and sys.stdout.isatty()
    running = play(page, language)
    for part in page.parts(language):
        if isinstance(part, Prose):
            _show_prose(part.text)
        elif isinstance(part, Cell):
            for line in printable(part.code).split("\n"):
                sys.stdout.write(dim(f"    {line}".rstrip()) + "\n")
            sys.stdout.flush()
            if pause and _stops(language):
                return ExitCode.OK
        ran = next(running)
        if isinstance(ran, Ran):
            say()
            if ran.printed:
                block(ran.printed)
            for _, chart in ran.charts:
                block(chart.text(min(_CHART_WIDTH, width() - 4)))
        if not isinstance(part, FigureLink):
            say()
    keep(lambda progress: progress.with_lesson(number))
    say(word("lesson_done", language, number=number))
    return ExitCode.OK


def _stops(language: Language) -> bool:
    """Whether the reader ends the lesson here, by q or by the end of input."""
    line = typed(word("go_on", language))
    return line is None or line.strip().lower() == "q"


def _show_prose(text: str) -> None:
    """Markdown as lines: paragraphs wrapped, headings bold, fences and tables as they are."""
    paragraph: list[str] = []
    fenced = False

    def flush() -> None:
        if paragraph:
            item = _ITEM.match(paragraph[0])
            body = " ".join([item[3] if item else paragraph[0].strip(), *(line.strip() for line in paragraph[1:])])
            first = f"{item[1]}{item[2]} " if item else ""
            say(_LINK.sub(r"\1 (\2)", body), first=first, indent=len(first))
            paragraph.clear()

    for line in text.split("\n"):
        if line.startswith("```"):
            flush()
            fenced = not fenced
        elif fenced or line.startswith(("|", ">")):
            flush()
            block(line, 4 if fenced else 0)
        elif line.startswith("#"):
            flush()
            sys.stdout.write(bold(printable(line.lstrip("# "))) + "\n")
        elif not line.strip():
            flush()
            sys.stdout.write("\n")
        else:
            if _ITEM.match(line):
                flush()
            paragraph.append(line)
    flush()
