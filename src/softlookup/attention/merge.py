"""Statistics of parts put together: the same queries over more keys; for more queries see :mod:`.concat`.

Merging follows from one fact: over the keys of part p the weights of the whole are those of the part times
exp(lse_p - lse), with lse = ln sum_p exp(lse_p). A learned sink counts once, so the shares of the parts come
from the lse without it. Rounding grows with |lse|: a difference of two loses about |lse| * eps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from softlookup.attention.concat import check_alike
from softlookup.attention.row_sums import with_sinks
from softlookup.attention.stats import AttentionOutput, AttentionStats, TopK
from softlookup.errors import UsageError

# roundings in a score that is recovered from lse and weight, with room
_ROUNDINGS = 16


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One part beside the whole; tensors [B, Hq, Tq].

    ``lse`` over its keys, without sinks. ``share`` of the whole's weight on keys; ``factor`` turns its weights into
    the whole's, sinks included; both 0 where ``seen`` is False. ``shift``: added to its key positions.
    """

    stats: AttentionStats
    seen: torch.Tensor
    lse: torch.Tensor
    share: torch.Tensor
    factor: torch.Tensor
    shift: int

    def value(self, name: str, unseen: float = 0.0) -> torch.Tensor:
        """A statistic, with ``unseen`` for the rows that see nothing here."""
        return torch.where(self.seen, getattr(self.stats, name), unseen)


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """Both parts: ``lse`` over all keys, ``total`` with the sinks."""

    one: _Part
    two: _Part
    lse: torch.Tensor
    total: torch.Tensor
    kv_offset: int
    kv_length: int

    def defined(self, value: torch.Tensor) -> torch.Tensor:
        """NaN for the rows that see nothing in either part."""
        return torch.where(self.one.seen | self.two.seen, value, torch.nan)

    def has(self, name: str) -> bool:
        return getattr(self.one.stats, name) is not None

    def weighted(self, name: str, by: Literal["share", "factor"]) -> torch.Tensor | None:
        if not self.has(name):
            return None
        return self.defined(sum(getattr(part, by) * part.value(name) for part in (self.one, self.two)))

    def largest(self, name: str) -> torch.Tensor | None:
        if not self.has(name):
            return None
        return self.defined(torch.maximum(*(part.value(name, -torch.inf) for part in (self.one, self.two))))


def merge_stats(first: AttentionStats, second: AttentionStats, kv_offset: int | None) -> AttentionStats:
    """See :meth:`AttentionStats.merge`. Key positions in the result count from its own key 0, at its ``kv_offset``.

    Keys between the parts may be merged later. ``sink_mass`` of the first n keys is that of the part that holds
    them; by positions it adds up ([] for a part without any). ``span_mass`` goes span by span (an empty one, (0, 0),
    in a part that a span does not reach). ``argmax`` on a tie takes the first position; which scores are equal is read
    off ``max_score`` or ``top_k``, or else off lse and weight, up to their rounding.
    """
    whole = _whole(first, second, kv_offset)
    visible = first.visible_keys + second.visible_keys
    entropy = _entropy(whole)
    normalized = None
    if entropy is not None and whole.has("normalized_entropy"):
        normalized = torch.where(visible > 1, entropy / torch.log(visible.clamp(min=2).to(entropy.dtype)), torch.nan)
    sinks = first.sinks
    return AttentionStats(
        visible_keys=visible,
        kv_length=whole.kv_length,
        kv_offset=whole.kv_offset,
        sinks=sinks,
        lse=whole.total,
        lse_without_sinks=None if sinks is None else whole.lse,
        entropy=entropy,
        normalized_entropy=normalized,
        max_weight=_max_weight(whole),
        argmax=_argmax(whole),
        top_k=_top_k(whole),
        max_score=whole.largest("max_score"),
        max_unscaled_score=whole.largest("max_unscaled_score"),
        sink_mass=_sink_mass(whole),
        sink_count=min((whole.one, whole.two), key=lambda part: part.shift).stats.sink_count,
        learned_sink_mass=None if sinks is None else torch.exp(_logits(sinks, whole.total) - whole.total),
        distance=whole.weighted("distance", "share"),
        span_mass=_span_mass(whole),
        span_rows=first.span_rows,
    )


def _sink_mass(whole: _Whole) -> torch.Tensor | None:
    """A part that comes later and was asked for its first n keys counted keys that are not the whole's first."""
    if not whole.has("sink_mass"):
        return None
    earlier, later = sorted((whole.one, whole.two), key=lambda part: part.shift)
    count = later.stats.sink_count
    if count is None:
        return whole.weighted("sink_mass", "factor")
    if earlier.stats.sink_count != count or earlier.stats.kv_length < count:
        raise UsageError(
            f"sink_mass of the first {count} keys needs a first part that holds them and was asked for them",
            "ask each part for the positions of its sink keys, sink_mass=[] where it has none",
        )
    return whole.defined(earlier.factor * earlier.value("sink_mass"))


def merge_outputs(first: AttentionOutput, second: AttentionOutput, kv_offset: int | None) -> AttentionOutput:
    """See :meth:`AttentionOutput.merge`: outputs weighted by exp(lse_p - lse), summed in the statistics' dtype."""
    if first.stats is None or second.stats is None:
        raise UsageError("merging outputs needs the lse of both", "call attention with stats=StatsRequest()")
    if first.output.shape != second.output.shape or first.output.dtype != second.output.dtype:
        raise UsageError(
            f"outputs must have the same shape and dtype, got {first.output.dtype} {list(first.output.shape)} and "
            f"{second.output.dtype} {list(second.output.shape)}",
            "merge parts of one call over different keys",
        )
    whole = _whole(first.stats, second.stats, kv_offset)
    one = whole.one.factor[..., None] * first.output.to(whole.lse.dtype)
    two = whole.two.factor[..., None] * second.output.to(whole.lse.dtype)
    stats = merge_stats(first.stats, second.stats, kv_offset)
    return AttentionOutput((one + two).to(first.output.dtype), stats, stats.empty_rows)


def _whole(first: AttentionStats, second: AttentionStats, kv_offset: int | None) -> _Whole:
    check_alike(first, second, rows_may_differ=False)
    if first.key_mass is not None:
        raise UsageError(
            "key_mass cannot be merged: every weight changes with the lse of the whole",
            "leave it out of the parts and call softlookup.attention.key_mass with the merged lse",
        )
    if first.lse is None or second.lse is None:
        raise UsageError("merging needs the lse of both parts", "ask for it with StatsRequest(lse=True)")
    start = first.kv_offset + first.kv_length if kv_offset is None else kv_offset
    origin = min(first.kv_offset, start)
    length = max(first.kv_offset + first.kv_length, start + second.kv_length) - origin
    if bool((first.visible_keys + second.visible_keys > length).any()):
        raise UsageError(
            f"the parts must hold different keys, got {first.kv_length} from {first.kv_offset} and "
            f"{second.kv_length} from {start}",
            "give kv_offset, the position of the second part's key 0",
        )
    ones, twos = _key_lse(first), _key_lse(second)
    lse = torch.logaddexp(ones, twos)
    total = with_sinks(lse, first.sinks)

    def part(stats: AttentionStats, own: torch.Tensor, at: int) -> _Part:
        seen = stats.visible_keys > 0
        # with sinks the lse of a row that saw no key is finite: its factor multiplies weights of 0
        factor = torch.where(seen, _ratio(with_sinks(own, stats.sinks), total), 0.0)
        return _Part(stats, seen, own, _ratio(own, lse), factor, at - origin)

    return _Whole(part(first, ones, first.kv_offset), part(second, twos, start), lse, total, origin, length)


def _key_lse(stats: AttentionStats) -> torch.Tensor:
    lse = stats.lse if stats.sinks is None else stats.lse_without_sinks
    if lse is None:
        raise AssertionError("lse was checked, and it comes with lse_without_sinks where there are sinks")
    return lse


def _ratio(part: torch.Tensor, whole: torch.Tensor) -> torch.Tensor:
    """exp(part - whole), 0 where the part is -inf."""
    return torch.exp(torch.where(part > -torch.inf, part - whole, -torch.inf))


def _logits(sinks: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return sinks.to(like.dtype)[None, :, None]


def _entropy(whole: _Whole) -> torch.Tensor | None:
    """Sum of share_p (H_p - ln share_p): a choice of part, then of a key in it."""
    if not whole.has("entropy"):
        return None
    terms = [
        torch.where(part.share > 0, part.share * (part.value("entropy") - (part.lse - whole.lse)), 0.0)
        for part in (whole.one, whole.two)
    ]
    return whole.defined(terms[0] + terms[1])


def _max_weight(whole: _Whole) -> torch.Tensor | None:
    if not whole.has("max_weight"):
        return None
    one, two = (part.factor * part.value("max_weight") for part in (whole.one, whole.two))
    return whole.defined(torch.maximum(one, two))


def _argmax(whole: _Whole) -> torch.Tensor | None:
    if not whole.has("argmax"):
        return None
    one, two = whole.one, whole.two
    ahead, slack = _score_lead(whole)
    places = [torch.where(part.seen, part.value("argmax", -1) + part.shift, whole.kv_length) for part in (one, two)]
    earlier = torch.minimum(*places)
    chosen = torch.where(ahead > slack, places[0], torch.where(ahead < -slack, places[1], earlier)).to(torch.int64)
    # a part that sees nothing never wins: its place is past the end
    chosen = torch.where(one.seen & two.seen, chosen, earlier.to(torch.int64))
    return torch.where(one.seen | two.seen, chosen, -1)


def _score_lead(whole: _Whole) -> tuple[torch.Tensor, torch.Tensor]:
    """By how much the first part's largest score is ahead, and up to which lead the two count as equal."""
    one, two = whole.one, whole.two
    if whole.has("max_score"):
        lead = one.value("max_score") - two.value("max_score")
        return lead, torch.zeros_like(lead)
    if one.stats.top_k is not None and two.stats.top_k is not None:
        lead = one.stats.top_k.score[..., 0] - two.stats.top_k.score[..., 0]
        return torch.where(one.seen & two.seen, lead, 0.0), torch.zeros_like(whole.lse)
    if not whole.has("max_weight"):
        raise UsageError(
            "merging argmax needs the largest scores", "ask for max_weight=True, max_score=True or top_k as well"
        )
    sinks = one.stats.sinks
    scores, size = [], torch.ones_like(whole.lse)
    for part in (one, two):
        # tiny: a sink can leave no weight at all to the keys
        log_weight = torch.log(part.value("max_weight", 1.0).clamp(min=torch.finfo(size.dtype).tiny))
        total = torch.where(part.seen, with_sinks(part.lse, sinks), 0.0)
        scores.append(total + log_weight)
        size = size + total.abs() + log_weight.abs()
    return scores[0] - scores[1], _ROUNDINGS * torch.finfo(size.dtype).eps * size


def _top_k(whole: _Whole) -> TopK | None:
    one, two = whole.one.stats.top_k, whole.two.stats.top_k
    if one is None or two is None:
        return None
    both = ((whole.one, one), (whole.two, two))
    index = torch.cat([torch.where(top.index >= 0, top.index + part.shift, -1) for part, top in both], dim=-1)
    weight = torch.cat([part.factor[..., None] * top.weight for part, top in both], dim=-1)
    score = torch.cat([one.score, two.score], dim=-1)
    # by position first, so that the stable sort by score leaves equals in that order
    order = torch.where(index >= 0, index, whole.kv_length).sort(-1).indices
    best = score.gather(-1, order).sort(dim=-1, descending=True, stable=True).indices[..., : one.index.shape[-1]]
    order = order.gather(-1, best)
    return TopK(index.gather(-1, order), weight.gather(-1, order), score.gather(-1, order))


def _span_mass(whole: _Whole) -> torch.Tensor | None:
    one, two = whole.one.stats.span_mass, whole.two.stats.span_mass
    rows = whole.one.stats.span_rows
    if one is None or two is None or rows is None:
        return None
    chosen = list(rows)
    return whole.one.factor[:, :, chosen, None] * one + whole.two.factor[:, :, chosen, None] * two
