"""``python -m softlookup.learn.build``: runs lessons, compares outputs and figures with the pages or writes them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from softlookup.learn.pages import LANGUAGES, FigureLink, Lesson, Part, lesson_pages, page_text
from softlookup.learn.run import Ran, play
from softlookup.learn.same import same_figure, same_output


def figure_name(lesson: Lesson, name: str, language: str) -> str:
    """Path of a figure relative to the page."""
    return f"figures/{lesson.number:02d}_{name}{'' if language == 'en' else '.zh-CN'}.svg"


def page_faults(lesson: Lesson, language: str, *, write: bool = False, exact: bool = False) -> list[str]:
    """What the page says otherwise than its cells do, one line each; with ``write`` outputs and figures are renewed.

    ``exact``: to the byte. Otherwise last digits may differ, as they do between processors.
    """
    faults: list[str] = []
    parts: list[Part] = []
    drawn: dict[str, str] = {}
    for part in play(lesson, language):
        if isinstance(part, Ran):
            drawn |= {figure_name(lesson, name, language): chart.svg() for name, chart in part.charts}
            # a page is not rewritten for a last digit or a second of another machine
            same = part.cell.output == part.printed if exact else _as_printed(part)
            parts.append(part.cell if same else replace(part.cell, output=part.printed))
            if not same:
                faults.append(_output_fault(lesson, language, part))
        else:
            parts.append(part)
    linked = {part.path for part in parts if isinstance(part, FigureLink)}
    faults += [
        f"{lesson.path(language).name}: shows no {path}, which a cell draws" for path in sorted(drawn.keys() - linked)
    ]
    faults += [f"{lesson.path(language).name}: no cell draws {path}" for path in sorted(linked - drawn.keys())]
    faults += list(_figure_faults(lesson, drawn, write=write, exact=exact))
    if write:
        lesson.path(language).write_text(page_text(tuple(parts)), encoding="utf-8")
    return faults


def _as_printed(ran: Ran) -> bool:
    return same_output(ran.cell.output, ran.printed, measured=ran.cell.measured)


def _output_fault(lesson: Lesson, language: str, ran: Ran) -> str:
    page, printed = ran.cell.output.splitlines(), ran.printed.splitlines()
    for index in range(max(len(page), len(printed))):
        one, other = (lines[index] if index < len(lines) else "(nothing)" for lines in (page, printed))
        if not same_output(one, other, measured=ran.cell.measured):
            return f"{lesson.path(language).name}:{ran.cell.line}: the page has {one!r}, the cell prints {other!r}"
    return f"{lesson.path(language).name}:{ran.cell.line}: the cell prints something else than the page has"


def _figure_faults(lesson: Lesson, drawn: dict[str, str], *, write: bool, exact: bool) -> Iterator[str]:
    for name, svg in drawn.items():
        path = lesson.folder / name
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if before == svg or (not exact and same_figure(before, svg)):
            continue
        yield f"{name}: {'is drawn otherwise than the file shows' if before else 'is missing'}"
        if write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(svg, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Check (or write) the named pages, or all; 1 when something differs."""
    parser = argparse.ArgumentParser(prog="softlookup.learn.build", description=__doc__)
    parser.add_argument("pages", nargs="*", help="files in lessons/ (default: all)")
    parser.add_argument("--write", action="store_true", help="write outputs and figures into the pages")
    parser.add_argument("--exact", action="store_true", help="compare to the byte, not up to last digits")
    options = parser.parse_args(arguments)
    wanted = {Path(name).name for name in options.pages}
    unknown = wanted - {lesson.path(language).name for lesson in lesson_pages() for language in LANGUAGES}
    if unknown:
        parser.error(f"no such page: {', '.join(sorted(unknown))}")
    found = False
    for lesson in lesson_pages():
        for language in LANGUAGES:
            path = lesson.path(language)
            if (wanted and path.name not in wanted) or not path.exists():
                continue
            faults = page_faults(lesson, language, write=options.write, exact=options.exact)
            found = found or bool(faults)
            state = ("written" if options.write else "differs") if faults else "as on the page"
            sys.stdout.write(f"{path.name}: {state}\n" + "".join(f"  {fault}\n" for fault in faults))
            sys.stdout.flush()
    return int(found and not options.write)


if __name__ == "__main__":
    sys.exit(main())
