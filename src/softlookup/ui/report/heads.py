"""Layer x head maps as SVG whose colours are classes: entropy and attention on the first token, alerts outlined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlookup.ui.escape import html_text

if TYPE_CHECKING:
    from softlookup.diagnostics.alerts import Alert
    from softlookup.diagnostics.inspection_result import Inspection

WIDTH = 1000.0
_LEFT, _TOP, _BOTTOM = 64.0, 4.0, 42.0
_LEVELS = 10
# heads of these alerts are outlined in the map of the first token, the others in that of the entropy
_OF_SINK = ("sink", "first_token", "one_key")


@dataclass(frozen=True, slots=True)
class HeadMap:
    """``values`` [layers][heads] in 0..1, None where there is no number; ``layers`` their numbers."""

    layers: tuple[int, ...]
    values: tuple[tuple[float | None, ...], ...]
    alerted: frozenset[tuple[int, int | None]]


def entropy_map(found: Inspection) -> HeadMap:
    """Share of the largest entropy."""
    return _map(found, "normalized_entropy", of_entropy=True)


def sink_map(found: Inspection) -> HeadMap:
    """Weight on the first token."""
    return _map(found, "first_token", of_entropy=False)


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
    return HeadMap(tuple(layer.layer for layer in found.layers), values, alerted)


def _is_of_entropy(alert: Alert) -> bool:
    return not any(word in alert.monitor for word in _OF_SINK)


def head_map_svg(found: HeadMap, name: str, words: dict[str, str]) -> str:
    """Layers from left to right, heads from top to bottom; every cell names its place and value."""
    heads = len(found.values[0]) if found.values else 0
    if not found.layers or not heads:
        return ""
    cell = (WIDTH - _LEFT) / len(found.layers)
    tall = max(6.0, min(cell, 20.0))
    height = _TOP + heads * tall + _BOTTOM
    out = [f'<svg class="heads" viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{html_text(name)}">']
    for column, layer in enumerate(found.layers):
        for head in range(heads):
            x, y = _LEFT + column * cell, _TOP + head * tall
            out.append(_cell(found, (layer, head), found.values[column][head], (x, y, cell - 1, tall - 1), words))
    out += _axes(found.layers, heads, cell, tall, words)
    out.append("</svg>")
    return "".join(out)


def _cell(
    found: HeadMap,
    place: tuple[int, int],
    value: float | None,
    box: tuple[float, float, float, float],
    words: dict[str, str],
) -> str:
    layer, head = place
    x, y, width, height = (f"{side:.1f}" for side in box)
    shown = "-" if value is None else f"{value:.3f}"
    kind = "hx" if value is None else f"hv h{max(0, min(_LEVELS, round(value * _LEVELS)))}"
    if (layer, head) in found.alerted or (layer, None) in found.alerted:
        kind += " ha"
    title = f"{html_text(words['layer'])} {layer}, {html_text(words['head'])} {head}: {shown}"
    number = "" if value is None else f' data-value="{value:.3g}"'
    size = f'width="{width}" height="{height}"'
    return f'<rect class="{kind}" x="{x}" y="{y}" {size}{number}><title>{title}</title></rect>'


def _axes(layers: Sequence[int], heads: int, cell: float, tall: float, words: dict[str, str]) -> list[str]:
    bottom = _TOP + heads * tall
    every = 5 if len(layers) > 12 else 1
    out = [
        f'<text class="tk m" x="{_LEFT + (column + 0.5) * cell:.1f}" y="{bottom + 16:.1f}">{layer}</text>'
        for column, layer in enumerate(layers)
        if layer % every == 0
    ]
    step = max(1, round(16 / tall))
    out += [
        f'<text class="rn" x="{_LEFT - 8:g}" y="{_TOP + (head + 0.5) * tall + 5:.1f}">{head}</text>'
        for head in range(0, heads, step)
    ]
    middle = _TOP + heads * tall / 2
    turned = f'transform="rotate(-90 14 {middle:.1f})"'
    out.append(f'<text class="ax m" x="14" y="{middle:.1f}" {turned}>{html_text(words["head"])}</text>')
    across = _LEFT + (WIDTH - _LEFT) / 2
    out.append(f'<text class="ax m" x="{across:.1f}" y="{bottom + 36:.1f}">{html_text(words["layer"])}</text>')
    return out
