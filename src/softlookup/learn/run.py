"""Runs the cells of a lesson, in order and in one namespace."""

from __future__ import annotations

import io
import linecache
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlookup.errors import SoftlookupError
from softlookup.learn.pages import Cell, Part
from softlookup.learn.show import shown_to

if TYPE_CHECKING:
    from softlookup.charts import Chart
    from softlookup.learn.pages import Lesson


@dataclass(frozen=True, slots=True)
class Ran:
    """A cell that has run: what it printed and the charts that it showed, by name."""

    cell: Cell
    printed: str
    charts: tuple[tuple[str, Chart], ...]


class LessonError(SoftlookupError):
    """A cell of a lesson failed."""


def play(lesson: Lesson, language: str) -> Iterator[Part | Ran]:
    """The parts of the page, each cell as ``Ran``, which runs when its turn comes.

    Raises ``LessonError`` at a cell that fails, with the place in the page; softlookup's own errors pass.
    """
    namespace: dict[str, object] = {"__name__": "lesson"}
    name = lesson.path(language).name
    for part in lesson.parts(language):
        yield _ran(part, name, namespace) if isinstance(part, Cell) else part


def _ran(cell: Cell, page: str, namespace: dict[str, object]) -> Ran:
    charts: list[tuple[str, Chart]] = []
    printed = io.StringIO()
    place = f"<{page}:{cell.line}>"
    # so that a traceback shows the line of the cell
    linecache.cache[place] = (len(cell.code), None, cell.code.splitlines(keepends=True), place)
    try:
        with redirect_stdout(printed), shown_to(lambda chart, name: charts.append((name, chart))):
            exec(compile(cell.code, place, "exec"), namespace)  # noqa: S102 - the pages are part of the program
    except SoftlookupError:
        raise
    except Exception as error:
        raise LessonError(
            f"the cell at {page}:{cell.line} failed ({type(error).__name__}: {error})",
            "run again with --debug and report it",
        ) from error
    return Ran(cell, printed.getvalue().rstrip("\n"), tuple(charts))
