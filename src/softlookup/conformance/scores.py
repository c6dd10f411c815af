"""Scores before softmax, for a right or wrong variant: scale, softcap, bias, ALiBi, head maps; float64."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.turned import turned
from softlookup.conformance.variant import HeadMap, Variant
from softlookup.conformance.visibility import offset, source

PADS = (8, 16, 32, 64, 128, 256)

Rule = Callable[[int, int, int, int], float]


def _padded(pad: int) -> Rule:
    return lambda d, _h, _n, _q: float((math.ceil(d / pad) * pad) ** -0.5)


# the default scale as people write it, right and wrong; d head dim, h heads, n keys, q queries
_SCALES: dict[str, Rule] = {
    "default": lambda d, _h, _n, _q: d**-0.5,
    "missing": lambda _d, _h, _n, _q: 1.0,
    "div_d": lambda d, _h, _n, _q: 1.0 / d,
    "multiplied": lambda d, _h, _n, _q: d**0.5,
    "times_d": lambda d, _h, _n, _q: float(d),
    "fourth_root": lambda d, _h, _n, _q: d**-0.25,
    "model_dim": lambda d, h, _n, _q: (d * h) ** -0.5,
    "kv_length": lambda _d, _h, n, _q: n**-0.5,
    "q_length": lambda _d, _h, _n, q: q**-0.5,
    "heads": lambda _d, h, _n, _q: h**-0.5,
    "divided_by_heads": lambda d, h, _n, _q: (d / h) ** -0.5 if d >= h else 1.0,
    "half_dim": lambda d, _h, _n, _q: (d / 2) ** -0.5,
    "log2e": lambda d, _h, _n, _q: d**-0.5 / math.log(2),
    "ln2": lambda d, _h, _n, _q: d**-0.5 * math.log(2),
    "constant": lambda _d, _h, _n, _q: 1.0,
    **{f"pad{pad}": _padded(pad) for pad in PADS},
    "pad_pow2": lambda d, _h, _n, _q: 2.0 ** (-0.5 * math.ceil(math.log2(d))),
}
SCALES = tuple(name for name in _SCALES if name not in ("default", "constant"))


def scores(case: Case, variant: Variant) -> Array:
    """Everything that enters the softmax before hiding, [B, H, Tq, Tk]."""
    products = products_of(case, variant)
    scale = scale_of(case, variant)
    found = products * (1.0 if variant.scale_after else scale)
    bias = _bias(case, variant, scale)
    late = 0.0 if bias is None else bias
    if variant.bias == "multiply" and case.bias is not None:
        found, late = found * np.asarray(bias), 0.0
    if variant.bias == "before_softcap":
        found, late = found + late, 0.0
    found = softcapped(found, products, case, variant)
    if case.alibi:
        found = found + alibi_bias(case, variant, scale)
    return np.asarray(found + late)


def products_of(case: Case, variant: Variant) -> Array:
    """q.k, after the rotation where the function makes one."""
    query, key = case.query, case.key
    if variant.rotary is not None:
        query, key = turned(case, variant.rotary, variant.rotary_use)
    return np.asarray(query @ mapped(key, case.heads, variant.key_map).transpose(0, 1, 3, 2))


def scale_of(case: Case, variant: Variant) -> float:
    """The factor of q.k."""
    default = _SCALES[variant.scale](case.head_dim, case.heads, case.kv_length, case.q_length) * variant.scale_factor
    if case.scale is None or variant.scale_given == "ignore":
        return default
    rules = {
        "replace": case.scale,
        "times_default": case.scale * default,
        "inverse": 1.0 / case.scale,
        "square": case.scale**2,
        "root": abs(case.scale) ** 0.5,
        "over_default": case.scale / default,
        "absolute": abs(case.scale),
    }
    return float(rules[variant.scale_given])


def softcapped(found: Array, products: Array, case: Case, variant: Variant) -> Array:
    """Scores under the cap * tanh(scores / cap), as the variant has it; "after_mask" is applied later."""
    if case.softcap is None or variant.softcap in ("off", "after_mask", "after_softmax"):
        return found
    cap = variant.softcap_value or case.softcap
    rules: dict[str, Callable[[], Array]] = {
        "on": lambda: cap * np.tanh(found / cap),
        "no_division": lambda: cap * np.tanh(found),
        "no_multiplication": lambda: np.tanh(found / cap),
        "tanh_only": lambda: np.tanh(found),
        "clamp": lambda: np.clip(found, -cap, cap),
        "twice": lambda: cap * np.tanh(np.tanh(found / cap)),
        "before_scale": lambda: cap * np.tanh(products / cap) * scale_of(case, variant),
        "inverse": lambda: np.tanh(found * cap) / cap,
        "squared": lambda: cap**2 * np.tanh(found / cap),
        "sigmoid": lambda: cap / (1 + np.exp(-np.clip(found / cap, -500, 500))),
    }
    return np.asarray(rules[variant.softcap]())


def _bias(case: Case, variant: Variant, scale: float) -> Array | None:
    if case.bias is None or variant.bias in ("off", "after"):
        return None
    shape = (case.batch, case.heads, case.q_length, case.kv_length)
    given = source(np.broadcast_to(case.bias, shape), variant.bias_source)
    gains = {"scale": scale, "negative": -1.0, "double": 2.0, "inverse_scale": 1 / scale, "ln2": math.log(2),
             "log2e": 1 / math.log(2)}  # fmt: skip
    return given * gains.get(variant.bias, 1.0)


def paper_slopes(heads: int) -> list[float]:
    """ALiBi slopes (Press et al. 2022): 2^(-8h/n), h = 1..n; for other n the power below, then every second one."""
    if heads & (heads - 1) == 0:
        return [2.0 ** (-8.0 * (h + 1) / heads) for h in range(heads)]
    below = 2 ** math.floor(math.log2(heads))
    return paper_slopes(below) + paper_slopes(2 * below)[0::2][: heads - below]


def slopes(kind: str, heads: int) -> list[float]:
    """Slopes of a right or wrong formula."""
    paper = paper_slopes(heads)
    below = 2 ** math.floor(math.log2(heads))
    above = below if below == heads else 2 * below
    rules = {
        "paper": paper,
        "exponent": [2.0 ** (-8.0 * h / heads) for h in range(heads)] if below == heads
        else [2.0 ** (-8.0 * h / below) for h in range(below)] + [
            2.0 ** (-4.0 * (2 * h) / below) for h in range(heads - below)],
        "nonpow2": [2.0 ** (-8.0 * (h + 1) / heads) for h in range(heads)],
        "exponent_nonpow2": [2.0 ** (-8.0 * h / heads) for h in range(heads)],
        "sign": [-m for m in paper],
        "off": [0.0] * heads,
        "reversed": paper[::-1],
        "head0": [paper[0]] * heads,
        "no_eight": [2.0 ** (-(h + 1)) for h in range(heads)],
        "per_head_over_n": [2.0 ** (-(h + 1) / heads) for h in range(heads)],
        "half": [m / 2 for m in paper],
        "double": [m * 2 for m in paper],
        "squared": [m * m for m in paper],
        "truncated_above": paper_slopes(above)[:heads],
        "second_half_first": paper_slopes(2 * below)[0::2][: heads - below] + paper_slopes(below),
        "no_skip": paper_slopes(below) + paper_slopes(2 * below)[: heads - below],
        "odd": paper_slopes(below) + paper_slopes(2 * below)[1::2][: heads - below],
        "exp": [math.exp(-8.0 * (h + 1) / heads) for h in range(heads)],
        "linear": [1.0 / (h + 1) for h in range(heads)],
    }  # fmt: skip
    return rules[kind]


ALIBI_KINDS = (
    "exponent", "nonpow2", "exponent_nonpow2", "sign", "off", "reversed", "head0", "no_eight", "per_head_over_n",
    "half", "double", "squared", "truncated_above", "second_half_first", "no_skip", "odd", "exp", "linear",
)  # fmt: skip


def alibi_bias(case: Case, variant: Variant, scale: float) -> Array:
    """-m_h times the distance; only differences within a row matter."""
    by_kind = variant.alibi if variant.alibi not in ("scaled", "measured", "quadratic") else "paper"
    per_head = dict(variant.alibi_slopes).get(case.heads) if variant.alibi == "measured" else None
    per_head = per_head or tuple(slopes("paper" if by_kind == "measured" else by_kind, case.heads))
    rows, keys = np.arange(case.q_length)[:, None], np.arange(case.kv_length)[None]
    distance = np.abs(rows + offset(case, "bottom_right") - keys).astype(np.float64)
    if variant.alibi == "quadratic":
        distance = distance**2
    gain = scale if variant.alibi == "scaled" else 1.0
    return np.asarray(-gain * np.asarray(per_head)[None, :, None, None] * distance)


def head_map(kind: HeadMap, heads: int, kv_heads: int) -> list[int]:
    """The kv head that every query head reads."""
    group = heads // kv_heads
    rules = {
        "interleave": [h // group for h in range(heads)],
        "tile": [h % kv_heads for h in range(heads)],
        "first": [0] * heads,
        "last": [kv_heads - 1] * heads,
        "reversed": [kv_heads - 1 - h // group for h in range(heads)],
        "shifted": [(h // group + 1) % kv_heads for h in range(heads)],
        "by_kv": [min(h // kv_heads, kv_heads - 1) for h in range(heads)],
        "clamped": [min(h, kv_heads - 1) for h in range(heads)],
        "tile_reversed": [kv_heads - 1 - h % kv_heads for h in range(heads)],
    }
    if isinstance(kind, str):
        return rules[kind]
    return next((list(read) for h, kv, read in kind if (h, kv) == (heads, kv_heads)), rules["interleave"])


MAPS = ("tile", "first", "last", "reversed", "shifted", "by_kv", "clamped", "tile_reversed")


def mapped(given: Array, heads: int, kind: HeadMap) -> Array:
    """Key or value heads spread over the query heads, [B, H, Tk, *]."""
    if kind == "mean":
        return np.repeat(given.mean(1, keepdims=True), heads, axis=1)
    return given[:, head_map(kind, heads, given.shape[1])]
