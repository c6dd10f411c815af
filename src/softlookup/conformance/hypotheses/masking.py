"""Mistakes about who sees whom: causal masks, given masks, lengths, documents, windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from softlookup.conformance.contract import Contract
from softlookup.conformance.hypotheses.hypothesis import Hypothesis, hypothesis

_LEAVES_DEAD_ROWS = frozenset({"causal.triangle", "causal.excludes_self", "causal.excludes_past", "mask.polarity",
                              "window.size", "window.complement"})  # fmt: skip


def masking(contract: Contract) -> Iterator[Hypothesis]:
    """Causal masks, masks and their composition."""
    for entry in (*_causal(contract), *_masks(), *_windows()):
        yield entry
        if entry.key in _LEAVES_DEAD_ROWS:  # rows that lose all their keys, as this function fills them
            for filled in ("nan", "uniform", "zero"):
                if filled != contract.dead_row:
                    yield replace(entry, changes={**entry.changes, "dead_row": filled})
    yield from _lengths()
    for got in ("nan", "uniform", "zero"):
        if contract.dead_row not in (got, "unspecified"):
            likely = {"nan": "no guard where a row is all -inf: exp(-inf - -inf)",
                      "uniform": "hidden scores are a finite number, so a row without keys averages all values",
                      "zero": "rows without keys are set to 0"}[got]  # fmt: skip
            severity = "unsafe" if got == "nan" else "wrong"
            yield hypothesis(f"dead_row={got}(want={contract.dead_row})", severity, likely, dead_row=got)
    yield hypothesis("masked_value_nan_propagates", "unsafe",
                     "weights @ value with hidden keys in it: 0 * NaN is NaN", masked_nan="propagates")  # fmt: skip


def _causal(contract: Contract) -> Iterator[Hypothesis]:
    want = contract.causal_align
    got = "top_left" if want == "bottom_right" else "bottom_right"
    line = "tril(diagonal=0)" if got == "top_left" else "tril(diagonal=Tk-Tq)"
    for others in ({}, {"window_align": got}):
        yield hypothesis(f"causal.align={got}(want={want})", "leak" if got == "bottom_right" else "wrong",
                         f"{line} where {want} needs diagonal={'Tk-Tq' if got == 'top_left' else '0'}", "causal",
                         align=got, **others)  # fmt: skip
    yield hypothesis("causal.not_applied", "leak", "the causal flag is accepted and no mask is built on this path",
                     "causal", causal="off")  # fmt: skip
    yield hypothesis("causal.dropped_when(Tq!=Tk)", "leak", "the mask is built for square inputs only", "causal",
                     causal_off_when="Tq!=Tk")  # fmt: skip
    for when in ("Tq==Tk", "mask", "bias", "window", "softcap", "sinks", "segments", "scale", "GQA"):
        code = "mask.compose=causal_dropped" if when == "mask" else f"causal.dropped_when({when})"
        yield hypothesis(code, "leak", f"causal is skipped on the path taken with {when}", "causal",
                         causal_off_when=when)  # fmt: skip
    upper = "queries see the keys after them, not those before: triu for tril, or True hides where it shows"
    yield hypothesis("causal.triangle=wrong", "leak", upper, "causal", causal="upper")
    yield hypothesis("causal.triangle=wrong(strict)", "leak", upper, "causal", causal="upper", causal_shift=-1)
    yield hypothesis("causal.excludes_self", "wrong", "j < i (tril(-1)) where j <= i is meant", "causal",
                     causal_shift=-1)  # fmt: skip
    for shift in (1, 2, 3, 4):
        yield hypothesis(f"causal.leak_future={shift}", "leak", f"j <= i + {shift}: diagonal off by {shift}", "causal",
                         causal_shift=shift)  # fmt: skip
        yield hypothesis(f"causal.excludes_past={shift + 1}", "wrong", f"j <= i - {shift + 1}", "causal",
                         causal_shift=-shift - 1)  # fmt: skip
    yield hypothesis("cross_attention.causal", "wrong", "causal is the default, also where Tq and Tk are two sequences",
                     causal_unasked="not causal")  # fmt: skip
    for when in ("no mask", "no argument", "Tq!=Tk", "no argument,Tq!=Tk"):
        yield hypothesis(f"cross_attention.causal(when {when})", "wrong",
                         "is_causal defaults to True in this module or path", causal_unasked=when)  # fmt: skip


def _masks() -> Iterator[Hypothesis]:
    yield hypothesis("mask.ignored", "leak", "the mask never reaches the scores", "mask", mask="off")
    polarity = "masked_fill(mask) where masked_fill(~mask) is meant: what True is to show is hidden"
    yield hypothesis("mask.polarity=inverted", "leak", polarity, "mask", mask="invert")
    yield hypothesis("mask.compose=mask_dropped", "leak", "if causal: ... else: use the mask", "mask causal",
                     mask_off_when="causal")  # fmt: skip
    yield hypothesis("mask.compose=union", "leak", "mask | causal where & is meant", "mask causal", mask="or")
    for when in ("Tq!=Tk", "Tq==Tk", "bias", "Tq==1", "softcap", "GQA"):
        yield hypothesis(f"mask.dropped_when({when})", "leak", f"the mask is skipped on the path taken with {when}",
                         "mask", mask_off_when=when)  # fmt: skip
    sources = {
        "batch0": ("row0", "mask[0] or mask[:1] is used for every row of the batch"),
        "batch_last": ("last_row", "mask[-1:] is used for every row of the batch"),
        "head0": ("head0", "mask[:, :1] is used for every head"),
        "row0": ("query0", "mask[:, :, :1] is used for every query"),
        "row_last": ("last_query", "mask[:, :, -1:] is used for every query"),
        "transposed": (
            "transposed",
            "the mask's query and key axes are swapped; a mask [B, Tk] belongs on the keys, mask[:, None, None, :]",
        ),
        "batch_as_head": ("batch_as_head", "a mask [B, Tq, Tk] is broadcast as [H, Tq, Tk]"),
        "reversed": ("keys_reversed", "the mask runs over the keys backwards"),
    }
    for kind, (word, likely) in sources.items():
        code = "mask.axes=transposed" if kind == "transposed" else f"mask.broadcast={word}"
        yield hypothesis(code, "leak", likely, "mask", mask_source=kind)
    for nan in ({}, {"masked_nan": "propagates"}):  # a weight of 0 times NaN: part of the same line
        likely = "the mask is applied to the weights, after softmax, without dividing again: rows sum below 1"
        yield hypothesis("mask.after_softmax", "wrong", likely, hide="after", **nan)
    yield hypothesis("mask.multiplied_before_softmax", "leak",
                     "a hidden score becomes 0, not -inf: scores * mask, or a fill of 0",
                     fill="multiply")  # fmt: skip
    for fill in (0.0, -1.0, -10.0, -50.0, -100.0):
        filled = f"masked_fill(..., {fill:g})" + ("" if fill else " or a tiny number, 1e-9 where -1e9 is meant")
        yield hypothesis(f"mask.finite_fill(value={fill:g})", "leak", filled, fill="fill",
                         fill_value=fill)  # fmt: skip
        added = "scores + mask: a bool mask is added as 0 and 1" if fill == -1 else f"scores + (1 - mask) * {fill:g}"
        yield hypothesis(f"mask.finite(value={fill:g})", "leak", added, fill="add",
                         fill_value=fill)  # fmt: skip


def _windows() -> Iterator[Hypothesis]:
    for shift in (1, -1, 2, -2, 3, -3):
        near = {1: "<= where < is meant, or W - 1 forgotten", -1: "off by one: i - j < W - 1"}
        likely = near.get(shift, f"the left bound is off by {shift}")
        yield hypothesis(f"window.size=W{shift:+d}", "leak" if shift > 0 else "wrong", likely, "window",
                         window_shift=shift)  # fmt: skip
    yield hypothesis("window.ignored", "leak", "the window argument never reaches the mask", "window", window="off")
    yield hypothesis("window.ignored", "leak", "the window argument never reaches the mask", "window",
                     window="no_left")  # fmt: skip
    yield hypothesis("window.leaks_future", "leak", "the window's right bound is not set without causal", "window",
                     window_future="open")  # fmt: skip
    yield hypothesis("window.symmetric", "leak", "abs(i - j) < W: the window reaches into the future", "window",
                     window="symmetric")  # fmt: skip
    yield hypothesis("window.symmetric(size=W+1)", "leak", "abs(i - j) <= W", "window", window="symmetric",
                     window_shift=1)  # fmt: skip
    for got in ("top_left", "bottom_right"):
        yield hypothesis(f"window.align={got}", "wrong", "the window is counted from the query's row, not its position",
                         "window", window_align=got)  # fmt: skip
    yield hypothesis("window.blockwise", "wrong", "i // W == j // W: blocks instead of a sliding window", "window",
                     window="blockwise")  # fmt: skip
    yield hypothesis("window.complement", "leak", "the window's mask is inverted", "window", window="complement")
    for when in ("Tq!=Tk", "causal", "Tq==1", "not causal", "Tq==Tk", "Tq>1,Tq!=Tk"):
        yield hypothesis(f"window.dropped_when({when})", "leak", f"the window is skipped on the path with {when}",
                         "window", window_off_when=when)  # fmt: skip


def _lengths() -> Iterator[Hypothesis]:
    yield hypothesis("packed.leak", "leak", "no mask between documents", "segments", segments="off")
    yield hypothesis("packed.leak(earlier_documents)", "leak", "segment >= segment where == is meant", "segments",
                     segments="earlier")  # fmt: skip
    for shift in (1, -1):
        yield hypothesis(f"packed.boundary_off_by_one(shift={shift:+d})", "leak",
                         "document boundaries (cu_seqlens) are shifted by one token", "segments",
                         segments_shift=shift)  # fmt: skip
    yield hypothesis("packed.broadcast=row0", "leak", "segment ids of row 0 serve all rows", "segments",
                     segments="row0")  # fmt: skip
    yield hypothesis("packed.causal_dropped", "leak", "the document mask replaces the causal one", "segments causal",
                     causal_off_when="segments")  # fmt: skip
    yield hypothesis("kv_len.ignored", "leak", "the number of real keys never reaches the mask", "kv_len", kv_len="off")
    for shift in (1, -1, 2):
        yield hypothesis(f"kv_len.off_by={shift:+d}", "leak" if shift > 0 else "wrong", "j <= kv_len or j < kv_len - 1",
                         "kv_len", kv_len_shift=shift)  # fmt: skip
    for kind, likely in (("row0", "kv_len[0] serves all rows"), ("max", "kv_len.max() serves all rows"),
                         ("left", "the last kv_len keys are kept instead of the first")):  # fmt: skip
        yield hypothesis(f"kv_len.rows={kind}", "leak", likely, "kv_len", kv_len=kind)
