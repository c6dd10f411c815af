"""What a monitor says: a value beyond its threshold, where, what it means and what to do; measures nothing.

The texts of all monitors stand here, in both languages, so that a command prints them in that of the question.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from softlookup.diagnostics.alert_texts import ALERT_TEXTS

MOST_LAYERS_NAMED = 3


@dataclass(frozen=True, slots=True)
class Alert:
    """``monitor`` saw ``value`` beyond ``threshold``.

    ``layer`` and ``head`` count from 0; None where it concerns the whole model or the whole layer. ``heads`` is
    the number of heads of the layer beyond the threshold, of which ``head`` is the worst; ``layers`` the number
    of layers that an alert of :func:`condensed` stands for. ``detail`` adds what only this case has.
    """

    monitor: str
    value: float
    threshold: float
    layer: int | None = None
    head: int | None = None
    heads: int = 1
    layers: int = 1
    detail: str = ""

    @property
    def meaning(self) -> str:
        """What the monitor takes it for."""
        return ALERT_TEXTS[self.monitor].meaning

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return ALERT_TEXTS[self.monitor].remedy

    @property
    def place(self) -> str:
        """Layer and head in words; empty for the whole model."""
        if self.layer is None:
            return ""
        head = "" if self.head is None else f", head {self.head}"
        heads = f" ({self.heads} heads of the layer)" if self.heads > 1 else ""
        layers = f" and {self.layers - 1} more layers" if self.layers > 1 else ""
        return f"layer {self.layer}{head}{heads}{layers}"

    def __str__(self) -> str:
        where = f" in {self.place}" if self.place else ""
        detail = f" [{self.detail}]" if self.detail else ""
        return (
            f"{self.monitor}{where}: {self.meaning} ({self.value:.3g}, threshold {self.threshold:.3g}){detail}; "
            f"{self.remedy}"
        )

    def in_chinese(self) -> str:
        """The same line in Chinese."""
        text = ALERT_TEXTS[self.monitor]
        layers = f"等{self.layers}层" if self.layers > 1 else ""
        head = "" if self.head is None else f"第{self.head}头"
        where = "" if self.layer is None else f"（第{self.layer}层{head}{layers}）"
        detail = f"[{self.detail}]" if self.detail else ""
        return (
            f"{self.monitor}{where}：{text.meaning_zh}（{self.value:.3g}，界限{self.threshold:.3g}）{detail}；"
            f"{text.remedy_zh}"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; a number that is not finite is null."""
        return {
            "monitor": self.monitor,
            "layer": self.layer,
            "head": self.head,
            "heads": self.heads,
            "layers": self.layers,
            "value": finite_or_none(self.value),
            "threshold": finite_or_none(self.threshold),
            "meaning": self.meaning,
            "remedy": self.remedy,
            "detail": self.detail,
        }


class _Kind(NamedTuple):
    monitor: str
    detail: str


def condensed(alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """One alert per monitor where more than three layers raise it: the first of them, with their number."""
    by_kind: dict[_Kind, list[Alert]] = {}
    for alert in alerts:
        by_kind.setdefault(_Kind(alert.monitor, "" if alert.layer is not None else alert.detail), []).append(alert)
    result: list[Alert] = []
    for group in by_kind.values():
        if len(group) <= MOST_LAYERS_NAMED or group[0].layer is None:
            result += group
        else:
            first = group[0]
            result.append(
                Alert(
                    first.monitor, first.value, first.threshold, first.layer, first.head, first.heads,
                    layers=len({alert.layer for alert in group}), detail=first.detail,
                )
            )  # fmt: skip
    return tuple(result)


def finite_or_none(value: float, digits: int = 6) -> float | None:
    """``value`` to six significant digits for JSON, which has no NaN and no infinity."""
    number = float(value)
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None
