"""Maps over the layers as SVG whose colours are classes: entropy and first token of every head, mass of clauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlookup.ui.escape import html_text

if TYPE_CHECKING:
    from softlookup.diagnostics.alerts import Alert
    from softlookup.diagnostics.inspection_result import Inspection

WIDTH = 1000.0
_LEFT, _TOP, _BOTTOM = 64.0, 4.0, 42.0
_WIDE_LEFT = 150.0
_LEVELS = 10
# heads of these alerts are outlined in the map of the first token, the others in that of the entropy
_OF_SINK = ("sink", "first_token", "one_key")


@dataclass(frozen=True, slots=True)
class HeadMap:
    """``values`` [layers][rows] from 0 to ``top``, None where there is no number; ``layers`` their numbers.

    ``rows`` name the lines of the map from the top: heads, or clauses.
    """

    layers: tuple[int, ...]
    rows: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    alerted: frozenset[tuple[int, int | None]] = frozenset()
    top: float = 1.0


def entropy_map(found: Inspection) -> HeadMap:
    """Share of the largest entropy."""
    return _map(found, "normalized_entropy", of_entropy=True)


def sink_map(found: Inspection) -> HeadMap:
    """Weight on the first token."""
    return _map(found, "first_token", of_entropy=False)


def clause_map(found: Inspection) -> HeadMap:
    """Mass of the clauses of the best passages in every layer, beyond the mean of the bank; below 0 counts as 0."""
    layers = range(max((len(row.mass) for row in found.strip), default=0))
    values = tuple(tuple(max(0.0, row.mass[layer]) for row in found.strip) for layer in layers)
    top = max((value for column in values for value in column), default=0.0)
    names = tuple(row.clause or f"“{row.opening[:12]}”" for row in found.strip)
    return HeadMap(tuple(layers), names, values, top=top or 1.0)


def _map(found: Inspection, measure: str, *, of_entropy: bool) -> HeadMap:
    heads = max((len(layer.heads) for layer in found.layers), default=0)
    values = tuple(
        tuple(layer.heads[head].get(measure) if head < len(layer.heads) else None for head in range(heads))
        for layer in found.layers
    )
    alerted = frozenset(
        (alert.layer, alert.head)
        for alert in found.alerts
        if alert.layer is not None and _is_of_entropy(alert) == of_entropy
    )
    return HeadMap(tuple(layer.layer for layer in found.layers), tuple(map(str, range(heads))), values, alerted)


def _is_of_entropy(alert: Alert) -> bool:
    return not any(word in alert.monitor for word in _OF_SINK)


def head_map_svg(found: HeadMap, name: str, across: str, down: str) -> str:
    """Layers from left to right, rows from top to bottom; every cell names its place and value.

    ``across`` and ``down`` name the axes; with an empty ``down`` the rows name themselves.
    """
    if not found.layers or not found.rows:
        return ""
    left = _LEFT if down else _WIDE_LEFT
    cell = (WIDTH - left) / len(found.layers)
    tall = max(6.0, min(cell, 20.0)) if down else 22.0
    height = _TOP + len(found.rows) * tall + _BOTTOM
    out = [f'<svg class="heads" viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{html_text(name)}">']
    for column, layer in enumerate(found.layers):
        for row, label in enumerate(found.rows):
            box = (left + column * cell, _TOP + row * tall, cell - 1, tall - 1)
            title = f"{across} {layer}, {down} {label}".replace("  ", " ")
            alerted = (layer, row) in found.alerted or (layer, None) in found.alerted
            out.append(_cell(found.values[column][row], found.top, box, title, alerted=alerted))
    out += _axes(found, (left, cell, tall), across, down)
    out.append("</svg>")
    return "".join(out)


def _cell(value: float | None, top: float, box: tuple[float, float, float, float], title: str, *, alerted: bool) -> str:
    x, y, width, height = (f"{side:.1f}" for side in box)
    shown = "-" if value is None else f"{value:.3f}"
    kind = "hx" if value is None else f"hv h{max(0, min(_LEVELS, round(value / top * _LEVELS)))}"
    kind += " ha" if alerted else ""
    number = "" if value is None else f' data-value="{value:.3g}"'
    size = f'width="{width}" height="{height}"'
    told = f"<title>{html_text(title)}: {shown}</title>"
    return f'<rect class="{kind}" x="{x}" y="{y}" {size}{number}>{told}</rect>'


def _axes(found: HeadMap, place: tuple[float, float, float], across: str, down: str) -> list[str]:
    """Layer numbers below, row names beside, and the names of both axes."""
    left, cell, tall = place
    bottom = _TOP + len(found.rows) * tall
    every = 5 if len(found.layers) > 12 else 1
    out = [
        f'<text class="tk m" x="{left + (column + 0.5) * cell:.1f}" y="{bottom + 16:.1f}">{layer}</text>'
        for column, layer in enumerate(found.layers)
        if layer % every == 0
    ]
    step = max(1, round(16 / tall))
    out += [
        f'<text class="rn" x="{left - 8:g}" y="{_TOP + (row + 0.5) * tall + 5:.1f}">{html_text(name)}</text>'
        for row, name in enumerate(found.rows)
        if row % step == 0
    ]
    if down:
        middle = _TOP + len(found.rows) * tall / 2
        turned = f'transform="rotate(-90 14 {middle:.1f})"'
        out.append(f'<text class="ax m" x="14" y="{middle:.1f}" {turned}>{html_text(down)}</text>')
    end = left + (WIDTH - left) / 2
    out.append(f'<text class="ax m" x="{end:.1f}" y="{bottom + 36:.1f}">{html_text(across)}</text>')
    return out
