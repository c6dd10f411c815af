"""Attention and its statistics in float64 by definitions written here, and how far a result may be from them.

The bounds follow the roundings of the compute dtype (float32, or float64 for float64 inputs), u its unit roundoff
(eps / 2), all doubled where the oracle itself rounds as much:

- a score is D products and sums, scaled: off by d = u (D + 16) scale sum |q| |k|, the largest of the row;
- a sum of n positive terms in any order, by a computed exp: off by a factor of g = 2 u (16 + 4 sqrt(n) + ln n)
  (roundings add up like a random walk, Higham and Mary 2019);
- a weight is exp of a score less the lse, over such sums: off by a factor of rho = expm1(2 d) + g.

What follows from these for each statistic stands beside its check. A result of reduced precision or of a slightly
different rule is far outside: the mutants in test_oracle.py show it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch

from softlookup.attention import attention


@dataclass(frozen=True)
class Case:
    """Arguments of one call; ``q_offset`` None = Tk - Tq."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    causal: bool = False
    q_offset: int | None = None
    sliding_window: int | None = None
    mask: torch.Tensor | None = None
    scale: float | None = None
    softcap: float | None = None
    sinks: torch.Tensor | None = None

    @property
    def rules(self) -> dict[str, Any]:
        """All arguments but the tensors query, key and value."""
        names = ("causal", "q_offset", "sliding_window", "mask", "scale", "softcap", "sinks")
        return {name: getattr(self, name) for name in names}

    def run(self, impl: str, request=None):
        return attention(self.query, self.key, self.value, stats=request, impl=impl, **self.rules)

    def changed(self, **changes) -> Case:
        return replace(self, **changes)

    def _repr_pretty_(self, printer, cycle) -> None:  # hypothesis would print every number
        printer.text(repr(self))

    def __repr__(self) -> str:
        shapes = f"query {list(self.query.shape)}, key {list(self.key.shape)}, value {list(self.value.shape)}"
        rules = {
            name: list(value.shape) if isinstance(value, torch.Tensor) else value for name, value in self.rules.items()
        }
        return f"Case({self.query.dtype}, {shapes}, {rules}, strides {self.query.stride()})"


class Oracle:
    """The exact answer for a case: everything [B, Hq, Tq, Tk] or [B, Hq, Tq], in float64."""

    def __init__(self, case: Case) -> None:
        self.case = case
        query, key, value = case.query.double(), case.key.double(), case.value.double()
        batch, heads, self.q_length, self.dim = query.shape
        self.kv_length = key.shape[2]
        share = heads // key.shape[1]
        self.q_offset = self.kv_length - self.q_length if case.q_offset is None else case.q_offset
        self.scale = 1 / math.sqrt(self.dim) if case.scale is None else case.scale
        own_key = torch.stack([key[:, head // share] for head in range(heads)], 1)
        self.value = torch.stack([value[:, head // share] for head in range(heads)], 1)
        self.unscaled = torch.einsum("bhid,bhjd->bhij", query, own_key)
        self.magnitude = torch.einsum("bhid,bhjd->bhij", query.abs(), own_key.abs())
        scores = self.unscaled * self.scale
        if case.softcap is not None:
            scores = case.softcap * torch.tanh(scores / case.softcap)
        self.visible = self._visible(batch, heads)
        self.scores = scores.masked_fill(~self.visible, -torch.inf)
        self.count = self.visible.sum(-1)
        self.seen = self.count > 0
        self.key_lse = torch.logsumexp(self.scores, -1)
        self.sinks = None
        self.lse = self.key_lse
        if case.sinks is not None:
            self.sinks = case.sinks.double().view(1, -1, 1).expand_as(self.key_lse)
            self.lse = torch.logsumexp(torch.stack((self.key_lse, self.sinks)), 0)
        # shares over the keys alone, by differences to the largest score: the lse of large scores has fewer digits
        centred = self.scores - finite(self.scores.amax(-1, keepdim=True))
        total = torch.exp(centred).sum(-1, keepdim=True)
        self.shares = torch.where(self.visible, torch.exp(centred) / total, 0.0)
        self.surprise = torch.where(self.shares > 0, torch.log(total) - centred, 0.0)
        self.weights = self.shares if case.sinks is None else self.shares * self._kept_by_keys()[..., None]

    def _visible(self, batch: int, heads: int) -> torch.Tensor:
        at = torch.arange(self.q_length).view(-1, 1) + self.q_offset
        keys = torch.arange(self.kv_length).view(1, -1)
        visible = torch.ones(batch, heads, self.q_length, self.kv_length, dtype=torch.bool)
        if self.case.causal:
            visible = visible & (keys <= at)
        if self.case.sliding_window is not None:
            visible = visible & (at - keys < self.case.sliding_window)
        return visible if self.case.mask is None else visible & self.case.mask

    def _kept_by_keys(self) -> torch.Tensor:
        """exp(key_lse - lse), 1 less the share of the learned sink."""
        return torch.sigmoid(torch.where(self.seen, finite(self.key_lse) - self.sinks, -torch.inf))

    @property
    def entropy(self) -> torch.Tensor:
        return (self.shares * self.surprise).sum(-1)

    @property
    def output(self) -> torch.Tensor:
        return self.weights @ self.value

    # --- how far off a correct result may be; [B, Hq, Tq]

    @property
    def unit(self) -> float:
        if self.case.query.dtype == torch.float64:
            return torch.finfo(torch.float64).eps
        return torch.finfo(torch.float32).eps / 2

    @cached_property
    def unscaled_error(self) -> torch.Tensor:
        return self.unit * (self.dim + 16) * largest(self.magnitude, self.visible)

    @cached_property
    def score_error(self) -> torch.Tensor:
        error = self.unscaled_error * abs(self.scale)
        return error if self.case.softcap is None else error + 32 * self.unit * self.case.softcap

    @cached_property
    def sum_error(self) -> float:
        return 2 * self.unit * (16 + 4 * math.sqrt(self.kv_length) + math.log(self.kv_length))

    @cached_property
    def weight_error(self) -> torch.Tensor:
        """Relative; the lse of a row with a huge sink loses digits of its own."""
        lse = torch.where(self.lse.isfinite(), self.lse.abs(), 0.0)
        return torch.expm1(2 * self.score_error + 8 * self.unit * lse) + self.sum_error

    @property
    def underflow(self) -> float:
        """Weights below the smallest normal number may be lost, each."""
        return self.kv_length * torch.finfo(torch.float32).tiny


def finite(tensor: torch.Tensor) -> torch.Tensor:
    return torch.where(tensor.isfinite(), tensor, 0.0)


def largest(values: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
    return torch.where(visible, values, 0.0).amax(-1)


def assert_within(name: str, got: torch.Tensor, want: torch.Tensor, bound: torch.Tensor | float) -> None:
    """Every element of ``got`` within ``bound`` of ``want``; NaN and infinities at the same places."""
    got = got.double()
    assert got.shape == want.shape, f"{name}: shape {list(got.shape)}, must be {list(want.shape)}"
    bound = torch.as_tensor(bound, dtype=torch.float64).expand(want.shape)
    same = (got == want) | (got.isnan() & want.isnan())
    bad = ~same & ~((got - want).abs() <= bound)
    if bool(bad.any()):
        at = tuple(int(i) for i in bad.nonzero()[0])
        raise AssertionError(
            f"{name}{list(at)} is {float(got[at])}, must be {float(want[at])} within {float(bound[at]):.3g}; "
            f"{int(bad.sum())} of {bad.numel()} are off"
        )


def assert_equal(name: str, got: Any, want: Any) -> None:
    equal = torch.equal(got, want) if isinstance(want, torch.Tensor) else got == want
    assert equal, f"{name} is {got}, must be {want}"


def assert_close_to_oracle(got, case: Case, request=None, *, lse_differences: int = 0) -> None:
    """Output and statistics of ``case``, each within its bound.

    ``lse_differences``: how often exp(lse - lse') of rounded values was used on the way (merged parts, probes).
    """
    oracle = Oracle(case)
    assert_equal("dtype", got.output.dtype, case.query.dtype)
    error = oracle.weight_error + _lse_slack(oracle, lse_differences)
    magnitude = oracle.weights @ oracle.value.abs()
    own = torch.finfo(case.query.dtype)
    bound = error[..., None] * magnitude + (lse_differences + 1) * own.eps * magnitude
    bound = bound + oracle.underflow * oracle.value.abs().max() + own.tiny * own.eps
    assert_within("output", got.output, oracle.output, bound)
    assert_equal("empty_rows", got.empty_rows, int((~oracle.seen).sum()))
    if request is None:
        assert_equal("stats", got.stats, None)
    else:
        assert_statistics(got.stats, case, request, lse_differences=lse_differences)


def assert_statistics(stats, case: Case, request, *, lse_differences: int = 0) -> None:
    """The statistics alone; a statistic that was not asked for must be None."""
    oracle = Oracle(case)
    slack = _lse_slack(oracle, lse_differences)
    rho = oracle.weight_error + slack
    assert_equal("visible_keys", stats.visible_keys, oracle.count)
    assert_equal("kv_length", stats.kv_length, oracle.kv_length)
    expected = {
        "lse": request.lse,
        "lse_without_sinks": request.lse and case.sinks is not None,
        "entropy": request.entropy or request.normalized_entropy,
        "normalized_entropy": request.normalized_entropy,
        "max_weight": request.max_weight,
        "argmax": request.argmax,
        "top_k": request.top_k > 0,
        "max_score": request.max_score,
        "max_unscaled_score": request.max_score,
        "sink_mass": request.sink_mass is not None and request.sink_mass != 0,
        "learned_sink_mass": case.sinks is not None,
        "distance": request.distance,
        "span_mass": request.span_mass is not None,
        "key_mass": request.key_mass,
    }
    for name, asked in expected.items():
        assert (getattr(stats, name) is not None) == asked, f"{name}: asked for {asked}, got {getattr(stats, name)}"
        if asked:
            _CHECKS[name](stats, oracle, request, rho, slack)


def _lse_slack(oracle: Oracle, differences: int) -> torch.Tensor:
    lse = torch.maximum(finite(oracle.lse).abs(), finite(oracle.key_lse).abs())
    return differences * (16 * oracle.unit * (1 + lse) + 4 * oracle.score_error)


def _defined(oracle: Oracle, value: torch.Tensor) -> torch.Tensor:
    return torch.where(oracle.seen, value, torch.nan)


def _check_lse(stats, oracle, request, rho, slack) -> None:
    bound = oracle.score_error + oracle.sum_error + 8 * oracle.unit * finite(oracle.lse).abs() + slack
    assert_within("lse", stats.lse, oracle.lse, bound)


def _check_key_lse(stats, oracle, request, rho, slack) -> None:
    bound = oracle.score_error + oracle.sum_error + 8 * oracle.unit * finite(oracle.key_lse).abs() + slack
    assert_within("lse_without_sinks", stats.lse_without_sinks, oracle.key_lse, bound)


def entropy_bound(oracle, slack) -> torch.Tensor:
    """H moves by sum a e (-ln a - H) for errors e of the scores; ln l - r / l is a difference of sums below H + 1."""
    away = (oracle.shares * (oracle.surprise - oracle.entropy[..., None]).abs()).sum(-1)
    off = torch.expm1(2 * oracle.score_error)
    second = off**2 * (2 + oracle.count.clamp(min=1).double().log() ** 2)
    return off * away + second + oracle.sum_error * (2 + away + 2 * oracle.entropy) + 2 * slack + 32 * oracle.underflow


def _check_entropy(stats, oracle, request, rho, slack) -> None:
    assert_within("entropy", stats.entropy, _defined(oracle, oracle.entropy), entropy_bound(oracle, slack))


def _check_normalized_entropy(stats, oracle, request, rho, slack) -> None:
    scale = oracle.count.clamp(min=2).double().log()
    want = torch.where(oracle.count > 1, oracle.entropy / scale, torch.nan)
    bound = entropy_bound(oracle, slack) / scale + 8 * oracle.unit
    assert_within("normalized_entropy", stats.normalized_entropy, want, bound)


def _check_max_weight(stats, oracle, request, rho, slack) -> None:
    want = oracle.weights.amax(-1)
    assert_within("max_weight", stats.max_weight, _defined(oracle, want), rho * want + oracle.underflow)


def _check_argmax(stats, oracle, request, rho, slack) -> None:
    """A visible key whose score is the largest up to rounding; exact ties have tests of their own."""
    assert_equal("argmax, no key", stats.argmax < 0, ~oracle.seen)
    assert_equal("argmax, none", stats.argmax[~oracle.seen], torch.full_like(stats.argmax[~oracle.seen], -1))
    assert bool((stats.argmax < oracle.kv_length).all()), "argmax: past the last key"
    score = oracle.scores.gather(-1, stats.argmax.clamp(min=0)[..., None])[..., 0]
    got = torch.where(oracle.seen, score, 0.0)
    want = torch.where(oracle.seen, oracle.scores.amax(-1), 0.0)
    assert_within("score at argmax", got, want, 2 * oracle.score_error + slack)


def _check_top_k(stats, oracle, request, rho, slack) -> None:
    top = stats.top_k
    k = min(request.top_k, oracle.kv_length)
    assert_equal("top_k columns", top.index.shape[-1], request.top_k)
    want = oracle.scores.sort(-1, descending=True).values[..., :k]
    want = torch.nn.functional.pad(want, (0, request.top_k - k), value=-torch.inf)
    bound = oracle.score_error[..., None].expand_as(want)
    assert_within("top_k.score", top.score, want, bound)
    some = want > -torch.inf
    assert_equal("top_k.index, none", top.index == -1, ~some)
    scores = torch.where(some, oracle.scores.gather(-1, top.index.clamp(0, oracle.kv_length - 1)), -torch.inf)
    assert_within("score at top_k.index", top.score, scores, bound)
    placed = top.index + torch.where(some, 0, -torch.arange(request.top_k))  # -1, -2, ...: distinct fillers
    assert bool((placed.sort(-1).values.diff(dim=-1) != 0).all()), "top_k.index: a key twice"
    weights = torch.exp(want - finite(oracle.lse)[..., None])
    error = torch.expm1(2 * bound) + rho[..., None]
    assert_within("top_k.weight", top.weight, weights, error * weights + oracle.underflow)
    assert bool((top.score.diff(dim=-1)[..., : k - 1] <= 0)[some[..., 1:k]].all()), "top_k: not best first"


def _check_max_score(stats, oracle, request, rho, slack) -> None:
    assert_within("max_score", stats.max_score, _defined(oracle, oracle.scores.amax(-1)), oracle.score_error)


def _check_max_unscaled_score(stats, oracle, request, rho, slack) -> None:
    want = _defined(oracle, largest(oracle.unscaled.abs(), oracle.visible))
    assert_within("max_unscaled_score", stats.max_unscaled_score, want, oracle.unscaled_error)


def _check_sink_mass(stats, oracle, request, rho, slack) -> None:
    keys = request.sink_mass
    keys = range(min(keys, oracle.kv_length)) if isinstance(keys, int) else keys
    want = oracle.weights[..., list(keys)].sum(-1)
    assert_within("sink_mass", stats.sink_mass, _defined(oracle, want), rho * want + oracle.underflow)


def _check_learned_sink_mass(stats, oracle, request, rho, slack) -> None:
    want = torch.exp(oracle.sinks - oracle.lse)
    bound = (rho + 8 * oracle.unit * finite(oracle.sinks).abs()) * want + oracle.underflow
    assert_within("learned_sink_mass", stats.learned_sink_mass, want, bound)


def _check_distance(stats, oracle, request, rho, slack) -> None:
    """An error of the weights moves the mean by what lies away from it; the sum of positions rounds by its size."""
    keys = torch.arange(oracle.kv_length, dtype=torch.float64)
    mean = (oracle.shares * keys).sum(-1)
    rows = torch.arange(oracle.q_length, dtype=torch.float64) + oracle.q_offset
    spread = (oracle.shares * (keys - mean[..., None]).abs()).sum(-1)
    bound = (
        rho * spread + oracle.sum_error * mean + 2 * oracle.unit * (rows.abs() + mean) + oracle.underflow * len(keys)
    )
    bound = bound + slack * oracle.kv_length
    assert_within("distance", stats.distance, _defined(oracle, rows - mean), bound)


def _check_span_mass(stats, oracle, request, rho, slack) -> None:
    rows = list(range(oracle.q_length)) if request.span_rows is None else list(request.span_rows)
    assert_equal("span_rows", stats.span_rows, tuple(rows))
    weights = oracle.weights[:, :, rows]
    want = [weights[..., start:stop].sum(-1) for start, stop in request.span_mass]
    want = torch.stack(want, -1) if want else weights.new_zeros(*weights.shape[:3], 0)
    assert_within("span_mass", stats.span_mass, want, rho[:, :, rows, None] * want + oracle.underflow)


def _check_key_mass(stats, oracle, request, rho, slack) -> None:
    rows = list(range(oracle.q_length)) if request.key_mass_rows is None else list(request.key_mass_rows)
    assert_equal("key_mass_rows", stats.key_mass_rows, None if request.key_mass_rows is None else tuple(rows))
    assert_within("key_mass", stats.key_mass, *column_sums(oracle, rows, rho))


def column_sums(oracle, rows, rho):
    """Key mass over ``rows`` and its bound."""
    weights = oracle.weights[:, :, rows]
    want = weights.sum(2)
    off = (rho[:, :, rows, None] * weights).sum(2)
    return want, off + 4 * oracle.unit * (16 + 4 * math.sqrt(len(rows))) * want + len(rows) * oracle.underflow


_CHECKS = {
    "lse": _check_lse,
    "lse_without_sinks": _check_key_lse,
    "entropy": _check_entropy,
    "normalized_entropy": _check_normalized_entropy,
    "max_weight": _check_max_weight,
    "argmax": _check_argmax,
    "top_k": _check_top_k,
    "max_score": _check_max_score,
    "max_unscaled_score": _check_max_unscaled_score,
    "sink_mass": _check_sink_mass,
    "learned_sink_mass": _check_learned_sink_mass,
    "distance": _check_distance,
    "span_mass": _check_span_mass,
    "key_mass": _check_key_mass,
}
