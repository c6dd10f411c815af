"""Lessons as files: where they lie, what they are called, what a page consists of. Runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from softlookup.errors import SoftlookupError, UsageError

LANGUAGES = ("en", "zh")
_SUFFIX = {"en": ".md", "zh": ".zh-CN.md"}
_FILE = re.compile(r"(\d\d)_(\w+)\.md")
_FIGURE = re.compile(r"^!\[([^\]]*)\]\((figures/[\w.-]+\.svg)\)$")
_PYTHON, _OUTPUT = "```python", "```text"


@dataclass(frozen=True, slots=True)
class Prose:
    """Text between cells, with its line breaks."""

    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """Code to run. ``line``: of its first line in the file, from 1. ``output``: what the page says it prints."""

    code: str
    line: int
    output: str

    @property
    def measured(self) -> bool:
        """Whether the printed numbers depend on the machine (bytes, seconds): the cell says so in its first line."""
        return self.code.startswith("# measured")


@dataclass(frozen=True, slots=True)
class FigureLink:
    """A place where the page shows a figure; ``path`` is relative to the page."""

    alt: str
    path: str


Part = Prose | Cell | FigureLink


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson in two languages. ``name``: of the file, such as ``soft_lookup``."""

    number: int
    name: str
    folder: Path

    def path(self, language: str) -> Path:
        """The page in ``en`` or ``zh``."""
        return self.folder / f"{self.number:02d}_{self.name}{_SUFFIX[language]}"

    def title(self, language: str) -> str:
        """The heading without the number."""
        with self.path(language).open(encoding="utf-8") as file:
            return re.sub(r"^#\s*\d+\s*[.、．]?\s*", "", file.readline()).strip()

    def parts(self, language: str) -> tuple[Part, ...]:
        """The page taken apart, in order."""
        return parts_of(self.path(language).read_text(encoding="utf-8"))


def lessons_folder() -> Path:
    """The pages inside the installed package, or in the repository of an editable installation."""
    package = Path(__file__).resolve().parent
    for folder in (package / "lessons", package.parents[2] / "lessons"):
        if folder.is_dir():
            return folder
    raise SoftlookupError("the lessons are missing from this installation", "install softlookup again")


def lesson_pages() -> tuple[Lesson, ...]:
    """All lessons by number."""
    folder = lessons_folder()
    found = (_FILE.fullmatch(path.name) for path in sorted(folder.glob("*.md")))
    return tuple(Lesson(int(match[1]), match[2], folder) for match in found if match)


def lesson(number: int) -> Lesson:
    """The lesson of that number. Raises ``UsageError`` when there is none."""
    pages = lesson_pages()
    for page in pages:
        if page.number == number:
            return page
    known = f"{pages[0].number} to {pages[-1].number}" if pages else "none"
    raise UsageError(f"there is no lesson {number}", f"lessons: {known}; see `softlookup learn`")


def parts_of(text: str) -> tuple[Part, ...]:
    """Prose, cells (with the output that follows them) and figures of a page, in order."""
    return tuple(_parts(text.split("\n")))


def _parts(lines: list[str]) -> Iterator[Part]:
    prose: list[str] = []
    at = 0
    while at < len(lines):
        figure = _FIGURE.match(lines[at])
        if lines[at] != _PYTHON and not figure:
            # other fences are prose as a whole: what looks like a cell inside them is none
            end = _fence_end(lines, at) if lines[at].startswith("```") else at
            prose += lines[at : end + 1]
            at = end + 1
            continue
        if any(line.strip() for line in prose):
            yield Prose("\n".join(prose).strip("\n"))
        prose = []
        if figure:
            yield FigureLink(figure[1], figure[2])
            at += 1
        else:
            cell, at = _cell(lines, at)
            yield cell
    if any(line.strip() for line in prose):
        yield Prose("\n".join(prose).strip("\n"))


def _cell(lines: list[str], start: int) -> tuple[Cell, int]:
    end = _fence_end(lines, start)
    code = "\n".join(lines[start + 1 : end])
    after = end + 1
    while after < len(lines) and not lines[after].strip():
        after += 1
    if after < len(lines) and lines[after] == _OUTPUT:
        close = _fence_end(lines, after)
        return Cell(code, start + 2, "\n".join(lines[after + 1 : close])), close + 1
    return Cell(code, start + 2, ""), end + 1


def _fence_end(lines: list[str], start: int) -> int:
    for at in range(start + 1, len(lines)):
        if lines[at].rstrip() == "```":
            return at
    raise SoftlookupError(f"a fence that opens on line {start + 1} of the page is never closed", "close it with ```")


def page_text(parts: tuple[Part, ...]) -> str:
    """The page put together again; ``parts_of`` takes it apart to the same parts."""
    return "\n\n".join(map(_as_markdown, parts)) + "\n"


def _as_markdown(part: Part) -> str:
    if isinstance(part, Prose):
        return part.text
    if isinstance(part, FigureLink):
        return f"![{part.alt}]({part.path})"
    output = f"\n\n{_OUTPUT}\n{part.output}\n```" if part.output else ""
    return f"{_PYTHON}\n{part.code}\n```{output}"
