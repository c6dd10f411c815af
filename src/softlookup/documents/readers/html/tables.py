"""Tables of a page: which hold data and which only lay out text, and where the next cell goes; reads no text.

In a data table a row is a line, whatever breaks its cells hold. In a layout table ("(a)" in a cell beside its
text) the lines of a cell stay lines, and the first one joins the short cell before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

_MAX_CELL = 300  # characters in a cell of data
_MAX_LINES = 3  # in a cell of data
_MAX_TABLE = 400_000  # characters; a larger one is not looked into
_DEEP = 12


@dataclass(slots=True)
class _Table:
    is_data: bool
    number: int
    row: int = 0
    first_line: int = 0


@dataclass(slots=True)
class Tables:
    """The tables that are open; ``count`` is the number of data tables."""

    open: list[_Table] = field(default_factory=list)
    count: int = 0
    _seen: int = 0

    def enter(self, element: etree._Element) -> None:
        """Begin a table."""
        self._seen += 1
        is_data = len(self.open) < _DEEP and _is_data(element)
        self.count += is_data
        self.open.append(_Table(is_data, self._seen))

    def leave(self) -> None:
        """End the innermost table."""
        if self.open:
            self.open.pop()

    def next_row(self, line: int) -> None:
        """Begin a row; ``line`` is the number of lines before it."""
        if self.open:
            self.open[-1].row += 1
            self.open[-1].first_line = line

    def next_cell(self, line: int) -> bool:
        """True when the next cell goes on in the line of the cell before it."""
        return bool(self.open) and (self.open[-1].is_data or self.open[-1].first_line == line)

    @property
    def in_data(self) -> bool:
        """True inside a data table."""
        return bool(self.open) and self.open[-1].is_data

    @property
    def where(self) -> str:
        """Such as "table 2 row 3"."""
        return f"table {self.open[-1].number} row {self.open[-1].row}" if self.open else ""


def _is_data(table: etree._Element) -> bool:
    """True for rows of short cells: three filled cells in a row, or two in every row of several with a frame."""
    if next(table.iter("ol", "ul", "pre"), None) is not None or sum(1 for _ in table.iter("table")) > 1:
        return False
    widest = rows = paired = size = 0
    for row in table.iter("tr"):
        filled = 0
        for cell in row:
            if cell.tag not in ("td", "th"):
                continue
            length = 0
            for piece in cell.itertext():
                length += len(piece) if isinstance(piece, str) and piece.strip() else 0
            size += length
            if length > _MAX_CELL or size > _MAX_TABLE or sum(1 for _ in cell.iter("br", "p", "div")) > _MAX_LINES:
                return False
            filled += length > 0
        rows += filled > 0
        paired += filled >= 2
        widest = max(widest, filled)
    if next(table.iter("th"), None) is not None or (table.get("border") or "0").strip() not in ("", "0"):
        return paired >= 2
    return widest >= 3 and rows >= 2 and paired >= 2
