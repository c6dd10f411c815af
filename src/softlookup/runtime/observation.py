"""What an observation of a model's attention found; computes nothing and knows no model.

Shapes: B batch entries, Hq query heads, R chosen rows, T columns of the sequence (padding counts).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, SupportsIndex

import torch

from softlookup.attention.stats import AttentionStats, StatsRequest, TopK

# statistics that are reduced to mean, minimum and maximum; of scores only the maximum says something
REDUCED = ("lse", "entropy", "normalized_entropy", "max_weight", "sink_mass", "learned_sink_mass", "distance")
MAXIMA = ("max_score", "max_unscaled_score")


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """One statistic over all live query rows of all batch entries: each [Hq], float64 (``count`` int64).

    ``count``: rows where the statistic is defined; where it is 0 the others are NaN.
    """

    mean: torch.Tensor
    minimum: torch.Tensor
    maximum: torch.Tensor
    count: torch.Tensor

    def to_dict(self) -> dict[str, Any]:
        """Lists for JSON; NaN is null."""
        return {entry.name: _plain(getattr(self, entry.name)) for entry in fields(self)}


@dataclass(frozen=True, slots=True, eq=False)
class LayerObservation:
    """One layer, counted from 0; on the CPU. None = not asked for.

    ``sliding_window``: as the layer states it. ``live_rows``, ``padded_rows``, ``empty_rows``: (batch entry,
    query row) pairs that were looked at, that are padding, and that see no key; only live rows are reduced.
    The reductions are of the statistics of :class:`softlookup.attention.AttentionStats` of the same name,
    None without ``reductions``; ``max_score`` and ``max_unscaled_score`` [Hq] are the largest over those rows.
    ``key_mass`` [B, Hq, T]: sum of the weights of the reduced rows (without ``reductions`` the chosen ones) on
    each column. ``rows``: statistics [B, Hq, R] of the chosen rows, in the order of ``row_positions``; keys are
    columns of the sequence, and a row of padding is blank like one without keys.
    """

    layer: int
    sliding_window: int | None
    live_rows: int
    padded_rows: int
    empty_rows: int
    lse: Reduction | None = None
    entropy: Reduction | None = None
    normalized_entropy: Reduction | None = None
    max_weight: Reduction | None = None
    sink_mass: Reduction | None = None
    learned_sink_mass: Reduction | None = None
    distance: Reduction | None = None
    max_score: torch.Tensor | None = None
    max_unscaled_score: torch.Tensor | None = None
    key_mass: torch.Tensor | None = None
    rows: AttentionStats | None = None
    row_positions: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: tensors as nested lists, NaN and infinity as null; what was not asked for is left out."""
        result: dict[str, Any] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value is not None:
                result[entry.name] = _plain(value)
        return result


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """All layers of one block. ``layers`` maps the layer's number, from 0, to what it showed.

    ``model`` is the class of the model, ``implementation`` its own attention ("sdpa", "eager"), ``batch`` the
    number of batch entries, ``positions`` the half-open range of columns that ran inside the block.
    """

    model: str
    implementation: str
    batch: int
    positions: tuple[int, int]
    request: StatsRequest
    layers: Mapping[int, LayerObservation]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, see :meth:`LayerObservation.to_dict`; ``layers`` is a list in order."""
        return {
            "schema": 1,
            "model": self.model,
            "implementation": self.implementation,
            "batch": self.batch,
            "positions": list(self.positions),
            "request": _plain(self.request),
            "layers": [self.layers[number].to_dict() for number in sorted(self.layers)],
        }


def _plain(value: object) -> Any:
    """``value`` of numbers, strings, lists and dictionaries that JSON can say."""
    if isinstance(value, Reduction):
        return value.to_dict()
    if isinstance(value, (StatsRequest, AttentionStats, TopK)):
        named = {entry.name: getattr(value, entry.name) for entry in fields(value)}
        return {name: _plain(found) for name, found in named.items() if found is not None}
    if isinstance(value, torch.Tensor):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple, range)):
        return [_plain(found) for found in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return operator.index(value)  # numpy's integers are no numbers for JSON
    return value
