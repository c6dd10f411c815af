"""Line charts: one or more series over a common x."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from softlookup.charts.frame import HEIGHT, WIDTH, Frame, heading, legend, legend_rows, x_axis, y_axis
from softlookup.charts.scale import Scale, scale_for, tick_text
from softlookup.charts.svg import DASHES, PALETTE, element, picture, tooltip

_MARKS = "ox+*#@%&"
_ROWS = 14
# more points than this are a curve: no dots, no tooltips
_DOTS = 40

Value = float | None


@dataclass(frozen=True, slots=True)
class LineChart:
    """Series of y over x; a value that is None or not finite breaks its line. A Chart."""

    title: str
    x: tuple[float, ...]
    series: tuple[tuple[str, tuple[Value, ...]], ...]
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False

    def __post_init__(self) -> None:
        for name, values in self.series:
            if len(values) != len(self.x):
                raise ValueError(f"series {name!r} has {len(values)} values for {len(self.x)} places on x")

    def _scales(self) -> tuple[Scale, Scale]:
        everything = [value for _, values in self.series for value in values]
        across = scale_for(self.x, log=self.log_x)
        if not self.log_x and len(self.x) > 1:  # data from edge to edge: no empty margin on x
            across = Scale(min(self.x), max(self.x))
        return across, scale_for(everything, log=self.log_y)

    def svg(self) -> str:
        """The chart as SVG."""
        names = [name for name, _ in self.series]
        frame = Frame(top=42.0 + 18 * legend_rows(names))
        across, up = self._scales()
        body = [heading(self.title), *legend(frame, names, dashed=True)]
        body += [*y_axis(frame, up, self.y_label), *x_axis(frame, across, self.x_label, self._x_ticks(across))]
        for index in range(len(self.series)):
            body += self._line(index, frame, across, up)
        return picture(WIDTH, HEIGHT, self.title, f"{self.y_label} / {self.x_label}: {', '.join(names)}", body)

    def _x_ticks(self, across: Scale) -> list[float]:
        """Round numbers; on a log axis of few places, such as doublings, the places themselves."""
        return list(self.x) if self.log_x and len(self.x) <= 8 else across.ticks(8)

    def _line(self, index: int, frame: Frame, across: Scale, up: Scale) -> list[str]:
        name, values = self.series[index]
        colour, dash = PALETTE[index % len(PALETTE)], DASHES[index % len(DASHES)] or None
        steps, dots, pen_down = [], [], False
        for x, y in zip(self.x, values, strict=True):
            if y is None or not math.isfinite(y) or (self.log_y and y <= 0):
                pen_down = False
                continue
            place = frame.across(across.place(x)), frame.up(up.place(y))
            steps.append(f"{'L' if pen_down else 'M'}{place[0]:.2f} {place[1]:.2f}")
            dots.append((place, x, y))
            pen_down = True
        parts = [
            element(
                "path",
                d=" ".join(steps),
                fill="none",
                stroke=colour,
                stroke_width=2,
                stroke_dasharray=dash,
                data_series=name,
            )
        ]
        if len(dots) <= _DOTS:
            for (cx, cy), x, y in dots:
                shown = tooltip(f"{name}: {tick_text(x)} → {y:.4g}")
                parts.append(
                    element("circle", shown, cx=cx, cy=cy, r=3, fill=colour, data_x=f"{x:.6g}", data_y=f"{y:.6g}")
                )
        return parts

    def text(self, width: int = 72) -> str:
        """The chart as characters; each series has its own mark, the first to come to a place keeps it."""
        across, up = self._scales()
        labels = [tick_text(up.high), tick_text(self._middle(up)), tick_text(up.low)]
        margin = max(map(len, labels)) + 1
        columns = max(20, width - margin - 2)
        grid = [[" "] * columns for _ in range(_ROWS)]
        for index, (_, values) in enumerate(self.series):
            for x, y in zip(self.x, values, strict=True):
                if y is not None and math.isfinite(y) and not (self.log_y and y <= 0):
                    row = _ROWS - 1 - round(up.place(y) * (_ROWS - 1))
                    column = round(across.place(x) * (columns - 1))
                    if grid[row][column] == " ":
                        grid[row][column] = _MARKS[index % len(_MARKS)]
        beside = {0: labels[0], (_ROWS - 1) // 2: labels[1], _ROWS - 1: labels[2]}
        lines = [self.title, f"{self.y_label}{' (log)' if self.log_y else ''}"]
        lines += [f"{beside.get(row, ''):>{margin}}|{''.join(cells).rstrip()}" for row, cells in enumerate(grid)]
        low, high = tick_text(across.low), tick_text(across.high)
        lines.append(f"{'':>{margin}}+{'-' * columns}")
        lines.append(f"{'':>{margin}} {low}{high:>{columns - len(low)}}")
        lines.append(f"{'':>{margin}} {self.x_label}{' (log)' if self.log_x else ''}")
        lines += [f"{'':>{margin}} {_MARKS[index % len(_MARKS)]} {name}" for index, (name, _) in enumerate(self.series)]
        return "\n".join(lines)

    def _middle(self, up: Scale) -> float:
        share = 1 - ((_ROWS - 1) // 2) / (_ROWS - 1)
        if up.log:
            return float(up.low * (up.high / up.low) ** share)
        return float(f"{up.low + share * (up.high - up.low):.3g}")


def line_chart(
    title: str,
    x: Sequence[float],
    series: Mapping[str, Sequence[Value]],
    *,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
) -> LineChart:
    """A line per entry of ``series``. Raises ``ValueError`` when a series is not as long as ``x``."""
    lines = tuple((name, tuple(values)) for name, values in series.items())
    return LineChart(title, tuple(map(float, x)), lines, x_label, y_label, log_x, log_y)
