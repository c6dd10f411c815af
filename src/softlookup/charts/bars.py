"""Bar charts: groups of bars, one bar per series in each group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from softlookup.charts.frame import HEIGHT, WIDTH, Frame, heading, legend, legend_rows, text_width, y_axis
from softlookup.charts.scale import Scale, scale_for
from softlookup.charts.svg import PALETTE, element, label, picture, tooltip

Value = float | None


@dataclass(frozen=True, slots=True)
class BarChart:
    """``series``: name and one value per label; None or a value that is not finite has no bar. A Chart."""

    title: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[Value, ...]], ...]
    y_label: str
    log_y: bool = False
    value_format: str = ".2f"

    def __post_init__(self) -> None:
        for name, values in self.series:
            if len(values) != len(self.labels):
                raise ValueError(f"series {name!r} has {len(values)} values for {len(self.labels)} labels")

    def _scale(self) -> Scale:
        scale = scale_for([value for _, values in self.series for value in values], log=self.log_y, zero=True)
        # a bar of the smallest value must be seen: a log axis begins a decade lower
        return Scale(10.0 ** math.floor(math.log10(scale.low) - 0.01), scale.high, log=True) if scale.log else scale

    def svg(self) -> str:
        """The chart as SVG."""
        names = [name for name, _ in self.series]
        several = len(names) > 1
        frame = Frame(top=42.0 + 18 * (legend_rows(names) if several else 1))
        scale = self._scale()
        body = [heading(self.title), *(legend(frame, names, dashed=False) if several else [])]
        body += y_axis(frame, scale, self.y_label)
        room = (frame.right - frame.left) / len(self.labels)
        for group, name in enumerate(self.labels):
            body += self._group(group, frame, scale, room)
            body += _group_label(frame, name, frame.left + (group + 0.5) * room, room)
        base = frame.up(scale.place(0.0 if not scale.log else scale.low))
        body.append(element("line", x1=frame.left, y1=base, x2=frame.right, y2=base, stroke="#888888"))
        return picture(WIDTH, HEIGHT, self.title, f"{self.y_label}: {', '.join(names)}", body)

    def _group(self, group: int, frame: Frame, scale: Scale, room: float) -> list[str]:
        wide = min(60.0, 0.8 * room / len(self.series))
        start = frame.left + (group + 0.5) * room - wide * len(self.series) / 2
        base = frame.up(scale.place(0.0 if not scale.log else scale.low))
        parts = []
        for index, (name, values) in enumerate(self.series):
            value = values[group]
            if not _drawable(value, log=scale.log):
                continue
            top, x = frame.up(scale.place(value)), start + index * wide
            shown = format(value, self.value_format)
            parts.append(
                element(
                    "rect",
                    tooltip(f"{self.labels[group]}, {name}: {shown}"),
                    x=x,
                    y=min(top, base),
                    width=wide * 0.92,
                    height=max(abs(base - top), 0.5),
                    fill=PALETTE[index % len(PALETTE)],
                    data_value=f"{value:.6g}",
                )
            )
            if text_width(shown, 11) <= wide + 6:
                parts.append(label(x + wide * 0.46, min(top, base) - 4, shown, anchor="middle", size=11))
        return parts

    def text(self, width: int = 72) -> str:
        """The chart as horizontal bars, one line per value."""
        from rich.cells import cell_len

        scale, several = self._scale(), len(self.series) > 1
        rows = [
            (f"{name} {series}" if several else name, values[group])
            for group, name in enumerate(self.labels)
            for series, values in self.series
        ]
        margin = max(cell_len(name) for name, _ in rows)
        room = max(10, width - margin - 12)
        lines = [self.title, f"{self.y_label}{' (log)' if self.log_y else ''}"]
        for name, value in rows:
            head = " " * (margin - cell_len(name)) + name
            if not _drawable(value, log=scale.log):
                lines.append(f"{head} | -")
                continue
            zero = 0.0 if scale.log or scale.low >= 0 else scale.place(0.0)
            length = round(abs(scale.place(value) - zero) * room)
            lines.append(f"{head} |{'#' * length} {format(value, self.value_format)}")
        return "\n".join(lines)


def _drawable(value: Value, *, log: bool) -> TypeGuard[float]:
    return value is not None and math.isfinite(value) and (value > 0 or not log)


def _group_label(frame: Frame, name: str, x: float, room: float) -> list[str]:
    """The label under a group; in two lines, or at a slant, when it is too long for its room."""
    y = frame.bottom + 17
    if text_width(name) <= room:
        return [label(x, y, name, anchor="middle")]
    words = name.split(" ")
    halves = [(" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words))]
    fitting = [pair for pair in halves if max(map(text_width, pair)) <= room]
    if fitting:
        return [label(x, y + 15 * line, part, anchor="middle") for line, part in enumerate(fitting[0])]
    return [label(x + 4, y - 3, name, anchor="end", size=11, transform=f"rotate(-24 {x:.2f} {y:.2f})")]


def bar_chart(
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[Value]],
    *,
    y_label: str,
    log_y: bool = False,
    value_format: str = ".2f",
) -> BarChart:
    """A group of bars per label. Raises ``ValueError`` when a series is not as long as ``labels``."""
    bars = tuple((name, tuple(values)) for name, values in series.items())
    return BarChart(title, tuple(labels), bars, y_label, log_y, value_format)
