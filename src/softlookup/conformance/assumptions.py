"""What a reader must know about a counterexample: the call in words, and the convention behind what is wanted.

Words only; nothing here decides what is right.
"""

from __future__ import annotations

from softlookup.conformance.adapters import Adapter
from softlookup.conformance.case import Case
from softlookup.conformance.contract import Contract
from softlookup.conformance.rope_variants import Rotation, plain
from softlookup.conformance.scores import head_map
from softlookup.conformance.variant import HeadMap, Variant

LAYOUTS = {"bhtd": "[B, H, T, D]", "bthd": "[B, T, H, D]", "bte": "[B, T, H * D]"}


def call_in_words(case: Case, layout: str, dtype: str, rotation: Rotation | None) -> list[str]:
    """Sizes, layout and dtype; for a function that turns by itself also the cache, the positions and the rotation."""
    sizes = {
        "batch": case.batch, "query heads": case.heads, "key/value heads": case.kv_heads, "head dim": case.head_dim,
        "value dim": case.value.shape[-1], "queries": case.q_length, "keys": case.kv_length,
    }  # fmt: skip
    lines = [f"{', '.join(f'{word} {size}' for word, size in sizes.items())}; {dtype}, {LAYOUTS[layout]}"]
    if rotation is not None:
        past = case.kv_length - case.q_length
        cached = f"positions: {past} cached first, at {_span(0, past)}" if past > 0 else "positions: nothing is cached"
        lines.append(f"{cached}; queries and new keys are at {_span(max(past, 0), case.kv_length)}; {rotary(rotation)}")
    return lines


def rotary(rotation: Rotation) -> str:
    """The rotation that the contract declares."""
    frequencies = rotation.frequencies
    base = frequencies[1] ** (-rotation.rotated / 2) if len(frequencies) > 1 and frequencies[1] > 0 else 0.0
    shown = float(f"{base:.6g}")
    words = f"base {shown:g}" if shown and plain(shown, rotation.rotated) == frequencies else (
        "frequencies " + ", ".join(f"{number:.4g}" for number in frequencies[:4])
    )  # fmt: skip
    pairs = "(i, i + d/2)" if rotation.pairing == "half" else "(2i, 2i + 1)"
    return f"rotary {words}, {rotation.rotated} of {rotation.dim} dims, pairs {pairs}"


def _span(start: int, stop: int) -> str:
    return str(start) if stop - start == 1 else f"{start} to {stop - 1}"


def assumed(case: Case, code: str, contract: Contract, adapter: Adapter, layout: str) -> str:
    """One line: what was taken for right in this call, and the field of the contract that says otherwise."""
    area = code.split(".", maxsplit=1)[0]
    parts = []
    if case.mask is not None:
        parts.append(_of_masks(contract))
    if case.causal and area != "rotary":
        parts.append(_of_causal(case, contract, adapter))
    if case.window is not None:
        parts.append(_of_windows(contract))
    if area in ("scale", "plain"):
        parts.append("scores are q.k / sqrt(D), D the dim of one head")
    if area == "gqa":
        parts.append("query head h reads kv head h // (H / Hkv)")
    if area == "dead_row" or code.startswith("call.nan"):
        parts.append(f'a row that sees no key gives {contract.dead_row}; if not, declare "dead_row"')
    if area in ("rotary", "rope"):
        parts.append("past and new tokens are counted from 0; the rotation is that of the contract's rope")
    parts.append(f"layout {LAYOUTS[layout]}" if layout != "bhtd" or area in ("heads", "layout") else "")
    named = [part for part in parts if part] or ["softmax(q.k / sqrt(D)) v over the keys"]
    return f"{'; '.join(named)}  (contract {contract.name})"


def _of_masks(contract: Contract) -> str:
    if contract.mask_kind == "additive":
        return 'the mask is added to the scores; if True means something, declare "mask_kind": "bool"'
    if contract.bool_mask == "true_drops":
        return 'True = hide; if True means attend, declare "bool_mask": "true_keeps"'
    return 'True = attend; if True means padding, declare "bool_mask": "true_drops"'


def _of_causal(case: Case, contract: Contract, adapter: Adapter) -> str:
    asked = "always causal: " if adapter.always_causal else ""
    if case.q_length == case.kv_length:
        return f"{asked}query i sees keys 0 to i"
    if contract.causal_align == "top_left":
        return f'{asked}query i sees keys 0 to i, top left; for a cache declare "causal_align": "bottom_right"'
    return f'{asked}query i sees keys 0 to i + Tk - Tq, bottom right; if 0 to i, declare "causal_align": "top_left"'


def _of_windows(contract: Contract) -> str:
    if contract.window == "left_right":
        return "window (left, right) are distances, both ends included"
    return 'window W counts the query itself: W keys; if (left, right), declare "window": "left_right"'


def heads_read(case: Case, right: Variant, found: Variant) -> list[str]:
    """Which kv head every query head reads, beside the one wanted; nothing where heads are not mixed up."""
    lines = []
    wanted = head_map("interleave", case.heads, case.kv_heads)
    maps: list[tuple[str, HeadMap]] = [("keys of ", found.key_map), ("values of ", found.value_map)]
    if found.key_map == found.value_map:
        maps = [("", found.key_map)]
    for word, kind in maps:
        if kind in ("mean", right.key_map):
            continue
        read = " ".join(map(str, head_map(kind, case.heads, case.kv_heads)))
        lines.append(f"query head reads {word}kv head: {read}, want {' '.join(map(str, wanted))}")
    return lines
