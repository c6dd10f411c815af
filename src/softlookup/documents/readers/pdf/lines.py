"""Printed lines and pages, as the steps of the PDF reader hand them on; no step is done here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from softlookup.documents.model import Flag


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line with its box in points, origin at the lower left.

    ``gaps`` are its wide blanks: (place in the text, right end before, left end after). ``edges`` are those of
    ``TextLine``. ``flag`` (with ``detail``) is true of the line and goes with it into the text; a line with
    ``aside`` stays out of the text for these reasons. ``size`` is the font size of most of it, 0 when unknown.
    """

    text: str
    left: float = 0.0
    bottom: float = 0.0
    right: float = 0.0
    top: float = 0.0
    gaps: tuple[tuple[int, float, float], ...] = ()
    edges: bytes = field(default=b"", repr=False)
    flag: Flag | None = None
    detail: str = ""
    aside: tuple[Flag, ...] | None = None
    size: float = 0.0

    @property
    def height(self) -> float:
        """Height of the characters in points."""
        return self.top - self.bottom

    def part(self, start: int, stop: int) -> Line:
        """The characters ``start`` to ``stop`` as a line of their own; its sides are those of its edges."""
        edges = self.edges[8 * start : 8 * stop]
        left, right = self.left, self.right
        if edges:
            sides = memoryview(edges).cast("f")
            left, right = min(sides[::2]), max(sides[1::2])
        gaps = tuple((at - start, end, begin) for at, end, begin in self.gaps if start < at < stop)
        return replace(self, text=self.text[start:stop], left=left, right=right, gaps=gaps, edges=edges)


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of a page in reading order; ``number`` counts from 1. ``turn``: see ``PageLines``."""

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    turn: int = 0
    flags: tuple[Flag, ...] = ()
    has_fields: bool = False
