"""Cells of the strip: the document cut into clauses, or into groups of them, with what a question saw of each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlookup.documents.model import Document, Span

if TYPE_CHECKING:
    from softlookup.diagnostics.inspection_result import PassageWeight
    from softlookup.evidence.answer import ClauseScore

# shares of attention are per token; a heading of two tokens would outshine every clause
_LEAST_LENGTH = 20


@dataclass(frozen=True, slots=True)
class Cell:
    """One clause's own text (or several, drawn together): ``clauses`` are their indices, ``length`` tokens."""

    clauses: tuple[int, ...]
    name: str
    span: Span
    length: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class CellView:
    """What one question saw of a cell. ``evidence`` None: not among the scored clauses; ``attention``: a share."""

    fed: float
    evidence: float | None = None
    p_value: float | None = None
    attention: float | None = None


def document_cells(document: Document, length: Callable[[str], int], most: int) -> tuple[Cell, ...]:
    """Cells in document order, at most ``most``: deep clauses join their parents, then neighbours one another."""
    pieces = [(i, span) for i, span in document.own_spans() if document.text[span.start : span.end].strip()]
    groups = [[piece] for piece in pieces]
    deepest = max((clause.level for clause in document.clauses), default=0)
    for level in range(deepest, -1, -1):
        if len(groups) <= most:
            break
        groups = _joined(document, pieces, level)
    if len(groups) > most:
        size = -(-len(groups) // most)
        groups = [[p for g in groups[at : at + size] for p in g] for at in range(0, len(groups), size)]
    paged = any(block.page is not None for block in document.blocks)  # else asking for a page looks at every block
    return tuple(_cell(document, group, length, paged=paged) for group in groups)


def _joined(document: Document, pieces: Sequence[tuple[int, Span]], level: int) -> list[list[tuple[int, Span]]]:
    """Pieces whose ancestor of at most ``level`` is the same, as far as they follow one another."""
    groups: list[list[tuple[int, Span]]] = []
    before = -1
    for index, span in pieces:
        above = index
        while document.clauses[above].level > level and (parent := document.clauses[above].parent) is not None:
            above = parent
        if groups and above == before:
            groups[-1].append((index, span))
        else:
            groups.append([(index, span)])
        before = above
    return groups


def _cell(document: Document, group: Sequence[tuple[int, Span]], length: Callable[[str], int], *, paged: bool) -> Cell:
    first = document.clauses[group[0][0]]
    span = Span(group[0][1].start, group[-1][1].end)
    names = " ".join(part for part in (first.path, first.heading) if part)
    name = names or " ".join(document.text[span.start : span.start + 120].split())[:60]
    return Cell(
        tuple(dict.fromkeys(index for index, _ in group)),
        name if len(name) <= 80 else name[:79] + "…",
        span,
        max(1, length(document.text[span.start : span.end])),
        document.page_at(span.start) if paged else None,
    )


def cell_views(
    document: Document,
    cells: Sequence[Cell],
    fed: Sequence[Span],
    scores: Sequence[ClauseScore],
    passages: Sequence[PassageWeight] = (),
) -> tuple[CellView, ...]:
    """One view per cell. A clause's score belongs to its own text, or to the first cell that it is drawn in."""
    covered = _Covered(fed)
    of_cell: dict[int, int] = {}
    for place, cell in enumerate(cells):
        for index in cell.clauses:
            of_cell.setdefault(index, place)
    by_start = {clause.span.start: clause.index for clause in reversed(document.clauses)}
    best: dict[int, ClauseScore] = {}
    for score in scores:
        found = of_cell.get(by_start.get(score.start, -1))
        if found is not None and (found not in best or best[found].score < score.score):
            best[found] = score
    weights = _weights(cells, passages)
    return tuple(
        CellView(
            covered.share(cell.span),
            best[place].score if place in best else None,
            best[place].p_value if place in best else None,
            weights[place] if passages else None,
        )
        for place, cell in enumerate(cells)
    )


def densities(cells: Sequence[Cell], views: Sequence[CellView]) -> list[float]:
    """Attention per token of every cell, the largest is 1; zeros where nothing was inspected."""
    found = [(view.attention or 0.0) / max(cell.length, _LEAST_LENGTH) for cell, view in zip(cells, views, strict=True)]
    top = max(found, default=0.0)
    return [value / top if top > 0 else 0.0 for value in found]


def _weights(cells: Sequence[Cell], passages: Sequence[PassageWeight]) -> list[float]:
    """Share of all passages' weight per cell; a passage in several cells is divided by its characters."""
    total = sum(passage.weight for passage in passages)
    result = [0.0] * len(cells)
    starts = [cell.span.start for cell in cells]
    for passage in passages:
        span = Span(passage.start, passage.end)
        first = max(0, bisect_right(starts, passage.start) - 1)
        touched = range(first, bisect_left(starts, passage.end))
        overlaps = {place: cells[place].span.overlap(span) for place in touched}
        whole = sum(overlaps.values())
        for place, overlap in overlaps.items():
            if whole and total > 0:
                result[place] += passage.weight / total * overlap / whole
    return result


class _Covered:
    """Share of a span that lies in any of the given ones."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans: list[Span] = []
        for span in sorted(spans):
            if self._spans and span.start <= self._spans[-1].end:
                self._spans[-1] = Span(self._spans[-1].start, max(span.end, self._spans[-1].end))
            else:
                self._spans.append(span)
        self._ends = [span.end for span in self._spans]

    def share(self, span: Span) -> float:
        """0 to 1."""
        inside = 0
        for other in self._spans[bisect_right(self._ends, span.start) :]:
            if other.start >= span.end:
                break
            inside += span.overlap(other)
        return inside / len(span) if len(span) else 0.0
