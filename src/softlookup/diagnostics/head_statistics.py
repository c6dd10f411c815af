"""Statistics of a few query rows of one layer, per head, in O(T) memory; no thresholds here.

Beside the entropies two divergences are kept, both in nats and both from sums over keys, so that no [R, T] weights
of all heads exist: how much the rows of a head differ (entropy of the mean row minus the mean entropy of the rows,
the Jensen-Shannon divergence of the rows), and how much the heads of a layer differ (the same over heads).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from softlookup.errors import UsageError

if TYPE_CHECKING:
    import torch

    from softlookup.attention.stats import AttentionStats
    from softlookup.runtime.attention_calls import AttentionCall

FloatArray = npt.NDArray[np.float64]

# a key with a larger mean weight is a sink (Gu et al., arXiv 2410.10781)
SINK_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class KeyShare:
    """Head ``head`` puts the mean weight ``mass`` on column ``key``."""

    head: int
    key: int
    mass: float


@dataclass(frozen=True, slots=True)
class HeadStatistics:
    """One layer; arrays [Hq], means over the rows unless said otherwise, NaN where the layer is not finite.

    ``entropy`` in nats, ``normalized_entropy`` in units of ln(visible keys); ``first_token``: weight of key 0;
    ``unscaled`` and ``scaled``: largest |q.k| without and with the scale, before a softcap; ``below_two_over_t``:
    share of rows whose largest weight is under 2 / visible keys; ``rows_apart`` and ``heads_apart`` (one number): the
    divergences of this module; ``top_mass``: largest mean weight of one key. ``bad_heads`` are not finite in q or k,
    ``overflowing`` have finite q and k whose product is not. ``sinks``: keys of mean weight above .3;
    ``learned_sink``: share of a learned logit, None where the layer has none.
    """

    layer: int
    rows: int
    visible_keys: float
    entropy: FloatArray
    normalized_entropy: FloatArray
    max_weight: FloatArray
    first_token: FloatArray
    top_mass: FloatArray
    top_key: npt.NDArray[np.int64]
    rows_apart: FloatArray
    heads_apart: float
    unscaled: FloatArray
    scaled: FloatArray
    below_two_over_t: FloatArray
    bad_heads: tuple[int, ...] = ()
    overflowing: tuple[int, ...] = ()
    sinks: tuple[KeyShare, ...] = ()
    learned_sink: FloatArray | None = None

    @property
    def finite(self) -> bool:
        """Whether the statistics could be computed."""
        return not self.bad_heads and not self.overflowing


def head_statistics(call: AttentionCall, rows: slice, *, mass_rows: int | None = None) -> HeadStatistics:
    """Statistics of the query rows ``rows`` of ``call``.

    ``mass_rows``: how many of them the divergences and sinks are taken from, spread evenly; None for all. They cost
    a second look at the keys.
    """
    from softlookup.attention.api import attention_statistics
    from softlookup.attention.stats import StatsRequest

    query, key = call.query[None, :, rows], call.key[None]
    bad = _non_finite_heads(call, rows)
    if bad:
        return _blank(call, query.shape[2], bad_heads=bad)
    count = query.shape[2]
    chosen = _spread(count, count if mass_rows is None else mass_rows)
    request = StatsRequest(
        lse=False, normalized_entropy=True, max_score=True, sink_mass=1, key_mass=True, key_mass_rows=chosen
    )
    mask = None if call.visible is None else call.visible[None, None, rows]
    try:
        found = attention_statistics(
            query, key, stats=request, mask=mask, scale=call.scale, softcap=call.softcap, sinks=call.sinks
        )
    except UsageError:  # finite numbers whose scores overflow float32
        return _blank(call, count, overflowing=_overflowing_heads(call, rows))
    return _of(call, found, chosen)


def _of(call: AttentionCall, found: AttentionStats, chosen: tuple[int, ...]) -> HeadStatistics:
    entropy, normalized, largest = found.entropy, found.normalized_entropy, found.max_weight
    first, unscaled, key_mass = found.sink_mass, found.max_unscaled_score, found.key_mass
    if entropy is None or normalized is None or largest is None or first is None or unscaled is None:
        raise AssertionError("asked for")
    if key_mass is None:
        raise AssertionError("asked for")
    visible = found.visible_keys
    mean_rows = _distributions((key_mass[0].double() / len(chosen)).numpy())
    row_entropy = entropy[0, :, list(chosen)].double().nan_to_num().mean(-1).numpy()
    of_mean = _entropy(mean_rows)
    top = mean_rows.argmax(-1)
    sinks = tuple(
        KeyShare(int(head), int(key), float(mean_rows[head, key])) for head, key in np.argwhere(mean_rows > SINK_WEIGHT)
    )
    largest_unscaled = _means(unscaled, maximum=True)
    return HeadStatistics(
        layer=call.layer,
        rows=entropy.shape[2],
        visible_keys=float(visible.double().mean()),
        entropy=_means(entropy),
        normalized_entropy=_means(normalized),
        max_weight=_means(largest),
        first_token=_means(first),
        top_mass=mean_rows.max(-1),
        top_key=top.astype(np.int64),
        rows_apart=np.maximum(0.0, of_mean - row_entropy),
        heads_apart=float(max(0.0, _entropy(mean_rows.mean(0)) - of_mean.mean())),
        unscaled=largest_unscaled,
        scaled=largest_unscaled * abs(call.scale),
        below_two_over_t=_means((largest < 2.0 / visible).double()),
        sinks=sinks,
        learned_sink=None if found.learned_sink_mass is None else _means(found.learned_sink_mass),
    )


def _means(values: torch.Tensor, *, maximum: bool = False) -> FloatArray:
    """[1, Hq, R] to [Hq]: mean (or maximum) over the rows where it is defined; NaN where it is nowhere."""
    import torch

    values = values[0].double()
    if maximum:
        return np.asarray(values.nan_to_num(nan=-torch.inf).amax(-1).numpy(), dtype=np.float64)
    return np.asarray(values.nanmean(-1).numpy(), dtype=np.float64)


def _distributions(mean_rows: FloatArray) -> FloatArray:
    """[Hq, Tk] that sum to 1: scores of 1e6 and more have rounding errors whose exponents are anything."""
    limited = np.clip(np.nan_to_num(mean_rows, nan=0.0, posinf=1.0), 0.0, 1.0)
    result: FloatArray = limited / np.maximum(limited.sum(-1, keepdims=True), 1e-30)
    return result


def _entropy(weights: FloatArray) -> FloatArray:
    """Entropy in nats over the last axis; 0 ln 0 = 0."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    result: FloatArray = -(weights * logs).sum(-1)
    return result


def _spread(count: int, most: int) -> tuple[int, ...]:
    """At most ``most`` of the rows 0..count-1, the first and the last among them."""
    if count <= most:
        return tuple(range(count))
    return tuple(sorted({round(place) for place in np.linspace(0, count - 1, most)}))


def _non_finite_heads(call: AttentionCall, rows: slice) -> tuple[int, ...]:
    import torch

    # one sum is cheap; that of large finite numbers may overflow, so it only clears
    if bool(torch.isfinite(call.query[:, rows].sum() + call.key.sum())):
        return ()
    query_bad = ~torch.isfinite(call.query[:, rows]).flatten(1).all(-1)
    key_bad = ~torch.isfinite(call.key).flatten(1).all(-1)
    shared = call.query.shape[0] // call.key.shape[0]
    bad = query_bad | key_bad.repeat_interleave(shared)
    return tuple(int(head) for head in bad.nonzero().flatten())


def _overflowing_heads(call: AttentionCall, rows: slice) -> tuple[int, ...]:
    import torch

    from softlookup.attention.rows import row_scores

    found = set()
    start, stop, _ = rows.indices(call.query.shape[1])
    for row in range(start, stop):  # a row at a time: this happens once, in a run that is lost anyway
        scores = row_scores(call.query[:, row : row + 1], call.key, None, 1.0)
        found |= {int(head) for head in (~torch.isfinite(scores)).flatten(1).any(-1).nonzero().flatten()}
    return tuple(sorted(found)) or tuple(range(call.query.shape[0]))


def _blank(
    call: AttentionCall, rows: int, *, bad_heads: tuple[int, ...] = (), overflowing: tuple[int, ...] = ()
) -> HeadStatistics:
    heads = call.query.shape[0]
    nan = np.full(heads, np.nan)
    infinite = nan.copy()
    infinite[list(overflowing or bad_heads)] = np.inf
    none = np.full(heads, -1, dtype=np.int64)
    return HeadStatistics(
        call.layer, rows, float(call.key.shape[1]), nan, nan, nan, nan, nan, none, nan, float("nan"),
        infinite, infinite, nan, bad_heads, overflowing,
    )  # fmt: skip
