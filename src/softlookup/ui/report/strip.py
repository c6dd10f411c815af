"""The strip: the whole document as one line of cells, wrapped, one row per measure; SVG without colours of its own.

Classes say what a cell is, the style sheet paints them, so that the strip is readable in light, dark and print.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from softlookup.documents.model import Document
from softlookup.ui.escape import html_text
from softlookup.ui.report.cells import Cell

WIDTH = 1000.0
_LEFT = 92.0
_CELL = 8.0  # average width from which another line is begun
_MOST_LINES = 12
_ROW, _GAP, _TICKS = 20.0, 4.0, 26.0
_LEVELS = 6


@dataclass(frozen=True, slots=True)
class Shade:
    """How a cell is drawn in a row: ``level`` 0 (blank) to 1 (full), or a class; an underline; its number in words."""

    level: float
    kind: str = ""
    underlined: bool = False
    value: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One measure of all cells: ``name`` beside it, ``kind`` is the class of its cells, ``data`` names its numbers."""

    name: str
    kind: str
    shades: tuple[Shade, ...]
    data: str = "value"


@dataclass(frozen=True, slots=True)
class _Part:
    """A cell, or the part of it on one line."""

    cell: int
    line: int
    x: float
    width: float


def strip_svg(document: Document, cells: Sequence[Cell], rows: Sequence[Row], titles: Sequence[str], name: str) -> str:
    """The strip; ``titles``: what pointing at a cell shows; ``name``: what the figure is, for those who hear it."""
    parts = list(_parts(cells))
    lines = 1 + max((part.line for part in parts), default=0)
    tall = len(rows) * (_ROW + _GAP) + _TICKS
    out = [
        f'<svg class="strip" viewBox="0 0 {WIDTH:g} {lines * tall:g}" role="group" aria-label="{html_text(name)}">',
    ]
    for line in range(lines):
        for index, row in enumerate(rows):
            y = line * tall + index * (_ROW + _GAP) + _ROW - 5
            out.append(f'<text class="rn" x="{_LEFT - 10:g}" y="{_number(y)}">{html_text(row.name)}</text>')
    for part in parts:
        out.append(_drawn(cells[part.cell], part, rows, titles[part.cell], part.line * tall))
    out += _ticks(document, cells, parts, tall)
    out.append("</svg>")
    return "".join(out)


def _parts(cells: Sequence[Cell]) -> Iterator[_Part]:
    total = sum(cell.length for cell in cells)
    room = WIDTH - _LEFT
    lines = min(_MOST_LINES, max(1, round(len(cells) * _CELL / room)))
    scale = room * lines / max(1, total)
    place = 0.0
    for index, cell in enumerate(cells):
        left = cell.length * scale
        while left > 1e-6:
            line = min(lines - 1, int((place + 1e-6) // room))
            here = min(left, room * (line + 1) - place) if line < lines - 1 else left
            if here > 0.05 or here == left:
                yield _Part(index, line, _LEFT + place - room * line, here)
            place += here
            left -= here


def _drawn(cell: Cell, part: _Part, rows: Sequence[Row], title: str, top: float) -> str:
    """The cell in every row, as one link to its clause."""
    width = max(0.8, part.width - 0.8)
    x, wide = _number(part.x), _number(width)
    numbers = "".join(
        f' data-{row.data}="{row.shades[part.cell].value}"' for row in rows if row.shades[part.cell].value
    )
    body = [f"<title>{html_text(title)}</title>"]
    for index, row in enumerate(rows):
        shade, y = row.shades[part.cell], top + index * (_ROW + _GAP)
        level = max(0, min(_LEVELS, round(shade.level * _LEVELS + (0.499 if shade.level > 0 else 0))))
        kind = shade.kind or f"{row.kind} v{level}"
        body.append(f'<rect class="{kind}" x="{x}" y="{_number(y)}" width="{wide}" height="{_ROW:g}"/>')
        if shade.underlined:
            body.append(f'<rect class="u" x="{x}" y="{_number(y + _ROW)}" width="{wide}" height="2.4"/>')
    about = f'data-cell="{part.cell}" data-length="{cell.length}"{numbers}'
    return f'<a href="#cl-{cell.clauses[0]}" {about}>{"".join(body)}</a>'


def _ticks(document: Document, cells: Sequence[Cell], parts: Sequence[_Part], tall: float) -> Iterator[str]:
    """Numbers of the outermost clauses under the cells where they begin, as far as there is room."""
    free = [0.0] * (1 + max((part.line for part in parts), default=0))
    seen: set[int] = set()
    for part in parts:
        clause = document.clauses[cells[part.cell].clauses[0]]
        if part.cell in seen or not clause.number or clause.level > 0:
            continue
        seen.add(part.cell)
        text = clause.number if len(clause.number) <= 9 else clause.number[:8] + "…"
        width = 7.6 * sum(1 if character < "\u2e80" else 1.8 for character in text)
        if part.x < free[part.line] or part.x + width > WIDTH + 2:
            continue
        free[part.line] = part.x + width + 8
        y = (part.line + 1) * tall - 14
        yield f'<text class="tk" x="{_number(part.x)}" y="{_number(y)}">{html_text(text)}</text>'


def _number(value: float) -> str:
    """One decimal: a tenth of a unit is less than a pixel."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
