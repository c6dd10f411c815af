"""Heat maps: a matrix as coloured cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from softlookup.charts.frame import heading, text_width
from softlookup.charts.scale import finite, tick_text
from softlookup.charts.svg import element, label, picture, tooltip

Value = float | None
# from white over blue to near black: dark is much, also in grey print
_STOPS = ((255, 255, 255), (158, 202, 225), (49, 130, 189), (8, 40, 90))
_SHADES = " .:-=+*#%@"
_BLANK = "#f0f0f0"


@dataclass(frozen=True, slots=True)
class HeatMap:
    """``rows``: one tuple per line from the top; None or a value that is not finite is a blank cell. A Chart."""

    title: str
    rows: tuple[tuple[Value, ...], ...]
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    low: float
    high: float
    value_format: str | None = None
    x_label: str = ""
    y_label: str = ""

    def __post_init__(self) -> None:
        if len(self.row_labels) != len(self.rows):
            raise ValueError(f"{len(self.rows)} rows have {len(self.row_labels)} labels")
        for row in self.rows:
            if len(row) != len(self.column_labels):
                raise ValueError(f"a row of {len(row)} cells has {len(self.column_labels)} column labels")

    def _share(self, value: float) -> float:
        if self.high == self.low:
            return 0.0
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def svg(self) -> str:
        """The map as SVG."""
        left = 30 + max((text_width(name) for name in self.row_labels), default=0) + (18 if self.y_label else 0)
        cell = min(64.0, max(9.0, (700 - left) / max(1, len(self.column_labels))))
        tall = min(cell, 44.0, max(9.0, 640 / max(1, len(self.rows))))
        width = max(left + cell * len(self.column_labels) + 20, 60 + text_width(self.title, 15), 420.0)
        top = 62.0 if self.x_label else 48.0
        height = top + 18 + tall * len(self.rows) + 46
        body = [heading(self.title)]
        if self.x_label:
            body.append(label(left, 44, self.x_label, size=11))
        if self.y_label:
            middle = top + 18 + tall * len(self.rows) / 2
            body.append(
                label(16, middle, self.y_label, anchor="middle", size=11, transform=f"rotate(-90 16 {middle:g})")
            )
        body += self._column_labels(left, top + 12, cell)
        for index, row in enumerate(self.rows):
            y = top + 18 + index * tall
            if self._named(index, tall):
                body.append(label(left - 8, y + tall / 2 + 4, self.row_labels[index], anchor="end"))
            body += [
                self._cell(index, column, value, left + column * cell, y, cell, tall)
                for column, value in enumerate(row)
            ]
        body += self._key(left, height - 32)
        return picture(width, height, self.title, f"{self.y_label} x {self.x_label}".strip(" x"), body)

    @staticmethod
    def _named(index: int, size: float) -> bool:
        """Whether a row has room for its label: every one, or every so many."""
        every = max(1, math.ceil(13 / size))
        return index % every == 0

    def _column_labels(self, left: float, y: float, cell: float) -> list[str]:
        widest = max((text_width(name, 11) for name in self.column_labels), default=0)
        every = max(1, math.ceil((widest + 4) / cell))
        return [
            label(left + (column + 0.5) * cell, y, name, anchor="middle", size=11)
            for column, name in enumerate(self.column_labels)
            if column % every == 0
        ]

    def _cell(self, row: int, column: int, value: Value, x: float, y: float, wide: float, tall: float) -> str:
        place = f"{self.row_labels[row]}, {self.column_labels[column]}"
        if value is None or not math.isfinite(value):
            return element("rect", tooltip(f"{place}: -"), x=x, y=y, width=wide - 1, height=tall - 1, fill=_BLANK)
        share, shown = self._share(value), format(value, self.value_format or ".3g")
        drawn = element(
            "rect",
            tooltip(f"{place}: {shown}"),
            x=x,
            y=y,
            width=wide - 1,
            height=tall - 1,
            fill=_colour(share),
            stroke="#cccccc" if share < 0.1 else None,
            stroke_width=0.5 if share < 0.1 else None,
            data_value=f"{value:.6g}",
        )
        if self.value_format is None or text_width(shown, 11) > wide:
            return drawn
        ink = "#ffffff" if share > 0.5 else "#1a1a1a"
        return drawn + label(x + wide / 2, y + tall / 2 + 4, shown, anchor="middle", size=11, fill=ink)

    def _key(self, x: float, y: float) -> list[str]:
        """The colours from low to high, with the values at both ends."""
        low, high = tick_text(self.low), tick_text(self.high)
        start = x + text_width(low, 11) + 6
        parts = [label(x, y + 11, low, size=11)]
        parts += [
            element("rect", x=start + step * 8, y=y, width=8, height=13, fill=_colour((step + 0.5) / 16))
            for step in range(16)
        ]
        parts.append(element("rect", x=start, y=y, width=128, height=13, fill="none", stroke="#cccccc"))
        return [*parts, label(start + 134, y + 11, high, size=11)]

    def text(self, width: int = 72) -> str:
        """The map as characters, from blank (low) to @ (high); with values where they fit, · for a blank cell."""
        from rich.cells import cell_len

        margin = max((cell_len(name) for name in self.row_labels), default=0)
        room = max(1, (width - margin - 2) // max(1, len(self.column_labels)))
        cells = [[self._text_cell(value) for value in row] for row in self.rows]
        wide = max(
            [cell_len(text) for row in cells for text in row] + [cell_len(name) for name in self.column_labels] + [1]
        )
        valued = self.value_format is not None and room > wide
        lines = [self.title, *([f"{self.y_label} x {self.x_label}"] if self.x_label and self.y_label else [])]
        if valued:
            lines.append(
                " " * (margin + 1) + "".join(" " * (wide + 1 - cell_len(name)) + name for name in self.column_labels)
            )
        for name, row, texts in zip(self.row_labels, self.rows, cells, strict=True):
            head = " " * (margin - cell_len(name)) + name
            if valued:
                lines.append(f"{head} {''.join(f'{text:>{wide + 1}}' for text in texts)}")
            else:
                lines.append(f"{head} |{''.join(self._shade(value) * min(room, 3) for value in row)}|")
        if not valued:
            lines.append(f"{'':>{margin}}  {_SHADES[1]} {tick_text(self.low)} .. {_SHADES[-1]} {tick_text(self.high)}")
        return "\n".join(lines)

    def _text_cell(self, value: Value) -> str:
        return "-" if value is None or not math.isfinite(value) else format(value, self.value_format or ".3g")

    def _shade(self, value: Value) -> str:
        if value is None or not math.isfinite(value):
            return " "
        return _SHADES[round(self._share(value) * (len(_SHADES) - 1))]


def _colour(share: float) -> str:
    place = share * (len(_STOPS) - 1)
    index = min(int(place), len(_STOPS) - 2)
    rest = place - index
    red, green, blue = (
        round(low + rest * (high - low)) for low, high in zip(_STOPS[index], _STOPS[index + 1], strict=True)
    )
    return f"#{red:02x}{green:02x}{blue:02x}"


def heat_map(  # noqa: PLR0913 - each names a part of the picture, all but two by keyword
    title: str,
    rows: Sequence[Sequence[Value]],
    *,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    low: float | None = None,
    high: float | None = None,
    value_format: str | None = None,
    x_label: str = "",
    y_label: str = "",
) -> HeatMap:
    """A cell per value, coloured from ``low`` (default: the smallest) to ``high`` (the largest); beyond it is cut off.

    ``value_format`` prints the value in its cell where it fits. Raises ``ValueError`` when labels do not match.
    """
    known = finite(value for row in rows for value in row) or [0.0]
    return HeatMap(
        title,
        tuple(tuple(row) for row in rows),
        tuple(row_labels),
        tuple(column_labels),
        min(known) if low is None else low,
        max(known) if high is None else high,
        value_format,
        x_label,
        y_label,
    )
