"""Mistakes about softmax: axis, maximum, sinks, tiles, splits."""

from __future__ import annotations

import math
from collections.abc import Iterator

from softlookup.conformance.hypotheses.hypothesis import Hypothesis, hypothesis
from softlookup.conformance.weights import SINK_KINDS

# what people use, tried before all others
BLOCKS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
SPLITS = (2, 4, 8, 3, 5, 6, 7, 10, 12, 16)

TILES = {
    "acc": ("online.acc_not_rescaled", "wrong", "the accumulator is not multiplied by exp(m_old - m_new)"),
    "sum": ("online.sum_not_rescaled", "wrong", "the running sum is not multiplied by exp(m_old - m_new)"),
    "both": ("online.not_rescaled", "wrong", "neither sum nor accumulator is multiplied by exp(m_old - m_new)"),
    "inverse": ("online.rescale_inverted", "wrong", "exp(m_new - m_old) where exp(m_old - m_new) is meant"),
    "local_max": ("online.local_max", "wrong", "every block subtracts its own maximum"),
    "pad": ("tile.pad_keys_counted", "wrong", "zero-filled keys of the last block enter the sum as exp(0 - m)"),
    "tail_dropped": ("tile.tail_dropped", "wrong", "Tk // block blocks: the keys of the last, partial one are lost"),
    "first_dropped": ("tile.first_dropped", "wrong", "the first block is skipped"),
    "first_only": ("tile.first_only", "wrong", "only the first block of keys is read"),
    "last_norm": ("online.sum_of_last_block", "wrong", "the sum is overwritten by every block instead of added to"),
}


def of_softmax() -> Iterator[Hypothesis]:
    """Axis, maximum, sinks; tiles and splits with the usual numbers."""
    for axis in ("query", "head", "batch"):
        for empty in (0.0, math.nan):
            likely = f"softmax over the {axis} axis, not over the keys (the last one, axis=-1): rows do not sum to 1"
            yield hypothesis(f"softmax.axis={axis}", "wrong", likely, axis=axis, empty_axis=empty)
    named = {
        "no_max": ("no_max_subtraction", "unsafe", "exp(scores) without subtracting the row's maximum"),
        "max0": ("max_init=0", "unsafe", "the running maximum starts at 0 instead of -inf"),
        "min": ("min_subtracted", "unsafe", "the row's minimum is subtracted instead of its maximum"),
        "max_head": ("max_of_head", "unsafe", "the maximum of a whole head is subtracted from every row"),
        "max_all": ("max_global", "unsafe", "the maximum of the whole tensor is subtracted from every row"),
        "plus_one": ("plus_one", "wrong", "1 is added to the sum (softmax1)"),
        "none": ("not_normalized", "wrong", "exp(scores) is not divided by its sum"),
    }
    for kind, (word, severity, likely) in named.items():
        yield hypothesis(f"softmax.{word}", severity, likely, softmax=kind)
        if severity == "unsafe":  # the same with a guard on a sum of 0
            yield hypothesis(f"softmax.{word}", severity, likely, softmax=kind, eps=-1.0)
    for eps in (1e-1, 1e-2, 1e-3):
        yield hypothesis(f"softmax.eps({eps:g})", "wrong", f"{eps:g} is added to the sum", softmax="eps", eps=eps)
    yield hypothesis("sink.no_effect", "wrong", "the sink is left out of the sum, or divided away again", "sinks",
                     sinks="off")  # fmt: skip
    for kind in SINK_KINDS:
        word = {"head0": "broadcast=head0", "reversed": "head_order", "raw": "exp_missing"}.get(kind, kind)
        yield hypothesis(f"sink.{word}", "wrong", f"the sink's logit is {kind.replace('_', ' ')}", "sinks", sinks=kind)
    for block in BLOCKS:
        yield from tiles(block)
    yield from merges()


def tiles(block: int) -> Iterator[Hypothesis]:
    """Mistakes of tiled attention with this block size."""
    for kind, (code, severity, likely) in TILES.items():
        yield hypothesis(f"{code}(block={block})", severity, likely, tile=kind, block=block)


def merges() -> Iterator[Hypothesis]:
    """Mistakes of merging parts of the keys."""
    log2 = math.log(2)
    kinds = {
        f"power:{1 / log2}": ("lse_base=2", "exp(lse) of an lse in base 2: exp2 is needed"),
        f"power:{log2}": ("lse_base=e_as_2", "exp2(lse) of a natural lse: exp is needed"),
        "mean": ("unweighted", "parts are averaged without their lse"),
        "sum": ("summed", "parts are added without their lse"),
        "max": ("max_as_lse", "the maximum of a part is used as its lse"),
        "count": ("by_count", "parts are weighted by their number of keys"),
        "last": ("last_only", "only the last part is returned"),
        "power:2.0": ("weight_squared", "a part's lse enters twice"),
        "power:0.5": ("weight_rooted", "half of a part's lse is used"),
    }
    splits = [f"f{n}" for n in SPLITS] + [f"n{n}" for n in SPLITS] + [f"b{b}" for b in (3, *BLOCKS)] + [
        f"c{c}" for c in (1, 2, 3, 4, 5)]  # fmt: skip
    for kind, (word, likely) in kinds.items():
        for split in splits:
            code = f"merge.{word}(split={_split_word(split)})" if word != "lse_base=2" else "merge.lse_base=2"
            yield hypothesis(code, "wrong", f"{likely}; split: {_split_word(split)}", merge=kind, split=split)


def _split_word(split: str) -> str:
    number = split[1:]
    return {"f": f"{number} parts", "n": f"{number} parts", "b": f"blocks of {number}", "c": f"after key {number}"}[
        split[0]
    ]
