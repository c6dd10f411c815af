"""Which query sees which key, for a right or wrong variant; bool [B, H, Tq, Tk]."""

from __future__ import annotations

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.variant import Variant


def condition(when: str, case: Case) -> bool:
    """Whether a code path named by ``when`` is the one that this call takes."""
    tests = {
        "": False,
        "always": True,
        "Tq!=Tk": case.q_length != case.kv_length,
        "Tq==Tk": case.q_length == case.kv_length,
        "Tq>1,Tq!=Tk": 1 < case.q_length != case.kv_length,
        "Tq==1": case.q_length == 1,
        "causal": case.causal,
        "not causal": not case.causal,
        "no mask": not case.causal and case.mask is None,
        "no argument": not case.features,
        "no argument,Tq!=Tk": not case.features and case.q_length != case.kv_length,
        "mask": case.mask is not None,
        "bias": case.bias is not None,
        "window": case.window is not None,
        "softcap": case.softcap is not None,
        "sinks": case.sinks is not None,
        "segments": case.segments is not None,
        "kv_len": case.kv_len is not None,
        "scale": case.scale is not None,
        "alibi": case.alibi,
        "GQA": case.heads != case.kv_heads,
        "B>1": case.batch > 1,
    }
    return tests[when]


CONDITIONS = (
    "Tq!=Tk", "Tq==Tk", "Tq>1,Tq!=Tk", "Tq==1", "causal", "mask", "bias", "window", "softcap", "sinks", "segments",
    "kv_len", "scale", "alibi", "GQA", "B>1",
)  # fmt: skip


def visible(case: Case, variant: Variant) -> Array:
    """Bool [B, H, Tq, Tk]: every rule of the call, as the variant understands it."""
    shape = (case.batch, case.heads, case.q_length, case.kv_length)
    rows, keys = np.arange(case.q_length)[:, None], np.arange(case.kv_length)[None]
    seen = np.broadcast_to(_kv_len(case, variant, keys) & _segments(case, variant), shape)
    if case.window is not None and not condition(variant.window_off_when, case):
        seen = seen & _window(case, variant, rows, keys)
    causal = _causal(case, variant, rows, keys)
    mask = _mask(case, variant)
    if mask is None or causal is None:
        both = mask if causal is None else causal
        return seen & (True if both is None else both)
    return seen & ((mask | causal) if variant.mask == "or" else (mask & causal))


def offset(case: Case, align: str) -> int:
    """What is added to a query's index to get its position among the keys."""
    return case.kv_length - case.q_length if align == "bottom_right" else 0


def _causal(case: Case, variant: Variant, rows: Array, keys: Array) -> Array | None:
    asked = case.causal
    if not asked and not condition(variant.causal_unasked, case):
        return None
    if variant.causal == "off" or (asked and condition(variant.causal_off_when, case)):
        return None
    # a mask built the other way round (torch.triu as "keep")
    diagonal = rows + offset(case, variant.align)
    if variant.causal == "upper":
        return np.asarray(keys >= diagonal - variant.causal_shift)
    return np.asarray(keys <= diagonal + variant.causal_shift)


def _mask(case: Case, variant: Variant) -> Array | None:
    if case.mask is None or variant.mask == "off" or condition(variant.mask_off_when, case):
        return None
    shape = (case.batch, case.heads, case.q_length, case.kv_length)
    mask = source(np.broadcast_to(case.mask, shape), variant.mask_source)
    return ~mask if variant.mask == "invert" else mask


def source(given: Array, kind: str) -> Array:
    """A mask or bias [B, H, Tq, Tk] as read by a function that takes the wrong part of it."""
    if kind == "batch0":
        given = given[:1]
    elif kind == "batch_last":
        given = given[-1:]
    elif kind == "head0":
        given = given[:, :1]
    elif kind == "row0":
        given = given[:, :, :1]
    elif kind == "row_last":
        given = given[:, :, -1:]
    elif kind == "transposed" and given.shape[2] == given.shape[3]:
        given = given.transpose(0, 1, 3, 2)
    elif kind == "batch_as_head":
        given = np.stack([given[h % given.shape[0], 0] for h in range(given.shape[1])])[None]
    elif kind == "reversed":
        given = given[..., ::-1]
    return given


def _window(case: Case, variant: Variant, rows: Array, keys: Array) -> Array:
    left, right = case.window or (-1, -1)
    if variant.window == "off":
        return np.ones((1, 1), dtype=bool)
    ahead = keys - (rows + offset(case, variant.window_align))
    near = np.ones_like(ahead, dtype=bool)
    if left >= 0 and variant.window != "no_left":
        near = -ahead <= left + variant.window_shift
        if variant.window == "blockwise":
            width = left + 1
            near = (keys // width) == ((keys - ahead) // width)
        elif variant.window == "complement":
            near = ~near
    if variant.window == "symmetric":
        return np.asarray(near & (ahead <= left + variant.window_shift))
    # a window "size" hides the future only where the contract says so; a right bound always does
    if right >= 0 and variant.window_future == "closed":
        near = near & (ahead <= right)
    return np.asarray(near)


def _segments(case: Case, variant: Variant) -> Array:
    if case.segments is None or variant.segments == "off":
        return np.ones((1, 1), dtype=bool)
    ids = case.segments
    if variant.segments_shift:  # boundaries moved by that many tokens
        places = np.clip(np.arange(ids.shape[1]) - variant.segments_shift, 0, ids.shape[1] - 1)
        ids = ids[:, places]
    queries, others = ids[:, None, -case.q_length :, None], ids[:, None, None, : case.kv_length]
    if variant.segments == "earlier":
        return np.asarray(queries >= others)
    if variant.segments == "row0":
        queries, others = queries[:1], others[:1]
    return np.asarray(queries == others)


def _kv_len(case: Case, variant: Variant, keys: Array) -> Array:
    if case.kv_len is None or variant.kv_len == "off":
        return np.ones((1, 1), dtype=bool)
    lengths = case.kv_len
    if variant.kv_len == "row0":
        lengths = np.full_like(lengths, lengths[0])
    elif variant.kv_len == "max":
        lengths = np.full_like(lengths, lengths.max())
    elif variant.kv_len == "left":  # keeps the last keys instead of the first
        return np.asarray(keys[None, None] >= (case.kv_length - lengths)[:, None, None, None])
    return np.asarray(keys[None, None] < (lengths + variant.kv_len_shift)[:, None, None, None])
