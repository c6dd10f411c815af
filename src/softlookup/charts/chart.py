"""What every chart is."""

from __future__ import annotations

from typing import Protocol


class Chart(Protocol):
    """Drawn once, shown on a page (SVG) or in a terminal (text)."""

    @property
    def title(self) -> str:
        """What the chart shows, in words."""
        ...

    def svg(self) -> str:
        """A self-contained SVG document: no script, no style sheet, nothing loaded; every string is escaped."""
        ...

    def text(self, width: int = 72) -> str:
        """The same for a terminal, at most ``width`` columns wide."""
        ...
