"""The frame that charts with axes share: title, grid, tick labels, axis names, legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from softlookup.charts.scale import Scale, tick_text
from softlookup.charts.svg import DASHES, PALETTE, element, label

WIDTH, HEIGHT = 720.0, 400.0
_GRID = "#dddddd"


@dataclass(frozen=True, slots=True)
class Frame:
    """The rectangle in which data is drawn, in SVG units; ``rows`` lines of legend stand above it."""

    left: float = 84.0
    right: float = WIDTH - 20.0
    top: float = 60.0
    bottom: float = HEIGHT - 54.0

    def across(self, share: float) -> float:
        """Horizontal place of a share 0..1."""
        return self.left + share * (self.right - self.left)

    def up(self, share: float) -> float:
        """Vertical place of a share 0..1 (SVG counts downward)."""
        return self.bottom - share * (self.bottom - self.top)


def heading(title: str) -> str:
    """The title line."""
    return label(20, 24, title, size=15, font_weight="600")


def y_axis(frame: Frame, scale: Scale, name: str) -> list[str]:
    """Grid lines, their labels and the axis name."""
    parts = []
    for value in scale.ticks():
        y = frame.up(scale.place(value))
        parts.append(element("line", x1=frame.left, y1=y, x2=frame.right, y2=y, stroke=_GRID))
        parts.append(label(frame.left - 8, y + 4, tick_text(value), anchor="end"))
    middle = (frame.top + frame.bottom) / 2
    parts.append(label(16, middle, name, anchor="middle", transform=f"rotate(-90 16 {middle:g})"))
    return parts


def x_axis(frame: Frame, scale: Scale, name: str, ticks: Sequence[float]) -> list[str]:
    """Base line, labelled ticks and the axis name."""
    parts = [element("line", x1=frame.left, y1=frame.bottom, x2=frame.right, y2=frame.bottom, stroke="#888888")]
    for value in ticks:
        x = frame.across(scale.place(value))
        parts.append(element("line", x1=x, y1=frame.bottom, x2=x, y2=frame.bottom + 5, stroke="#888888"))
        parts.append(label(x, frame.bottom + 19, tick_text(value), anchor="middle"))
    parts.append(label((frame.left + frame.right) / 2, frame.bottom + 40, name, anchor="middle"))
    return parts


def legend(frame: Frame, names: Sequence[str], *, dashed: bool) -> list[str]:
    """One entry per series, left to right under the title, in further rows when they do not fit."""
    parts, x, y = [], frame.left, 44.0
    for index, name in enumerate(names):
        colour = PALETTE[index % len(PALETTE)]
        if dashed:
            dash = DASHES[index % len(DASHES)] or None
            parts.append(
                element(
                    "line", x1=x, y1=y - 4, x2=x + 24, y2=y - 4, stroke=colour, stroke_width=2.5, stroke_dasharray=dash
                )
            )
        else:
            parts.append(element("rect", x=x + 10, y=y - 10, width=12, height=12, fill=colour))
        parts.append(label(x + 29, y, name))
        x += 44 + text_width(name)
        if index + 1 < len(names) and x + 29 + text_width(names[index + 1]) > frame.right:
            x, y = frame.left, y + 18
    return parts


def legend_rows(names: Sequence[str]) -> int:
    """Rows that the legend takes: the frame begins below them."""
    frame, rows, x = Frame(), 1, Frame().left
    for index, name in enumerate(names):
        if index and x + 29 + text_width(name) > frame.right:
            rows, x = rows + 1, frame.left
        x += 44 + text_width(name)
    return rows


def text_width(text: str, size: float = 12) -> float:
    """Roughly the width of a line: fonts are the viewer's own."""
    from rich.cells import cell_len

    return cell_len(text) * size * 0.55
