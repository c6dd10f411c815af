"""A number with its kind: how it is known, between which limits, by which formula. No computation of costs here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

# from the strongest to the weakest; a sum carries the weakest kind of its parts
Kind = Literal["exact", "measured", "version-bound", "prior"]
KINDS: tuple[Kind, ...] = ("exact", "measured", "version-bound", "prior")


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` in ``unit`` with an interval ``low`` to ``high`` (equal to the value when exact).

    ``exact`` follows from tensor shapes and counted tokens; ``measured`` was timed on this machine;
    ``version-bound`` follows from what a named engine version does; ``prior`` from a table or a usual efficiency.
    Raises ``ValueError`` for limits that do not enclose the value, and for an exact figure with an interval.
    """

    value: float
    unit: str
    kind: Kind
    low: float
    high: float
    formula: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"a figure must be finite, got {self.value}")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value} {self.unit} lies outside {self.low} to {self.high}")
        if self.kind == "exact" and not self.low == self.value == self.high:
            raise ValueError(f"an exact figure has no interval, got {self.low} to {self.high}")

    def to_dict(self) -> dict[str, Any]:
        """The figure for JSON; an exact one without its empty interval."""
        limits = {} if self.kind == "exact" else {"low": self.low, "high": self.high}
        texts = {name: text for name in ("formula", "source") if (text := getattr(self, name))}
        return {"value": self.value, "unit": self.unit, "kind": self.kind, **limits, **texts}


def exact(value: float, unit: str, formula: str = "", source: str = "") -> Figure:
    """An exact figure."""
    return Figure(value, unit, "exact", value, value, formula, source)


def weakest(*kinds: Kind) -> Kind:
    """The kind of a sum.

    >>> weakest("exact", "version-bound", "measured")
    'version-bound'
    """
    return max(kinds, key=KINDS.index)
