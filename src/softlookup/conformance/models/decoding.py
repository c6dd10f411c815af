"""Names what is wrong with decoding: positions that reproduce the logits, else the first cached tensor that differs.

A slot is identified by the token whose key or value it holds: layer 0's depend on a token and its position alone,
and a pass over that single token gives them without any cache's history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from softlookup.attention.decoder import Slots
from softlookup.conformance.case import Array
from softlookup.conformance.models.runs import LENGTH, CallFailedError, Runs, places_from, shown
from softlookup.conformance.models.verdict import Verdict, found

_UNNAMED = ("unknown", "decoding sees other tokens, or other keys and values, than a single pass")


def name_of_decoding(runs: Runs, got: Array, parts: Sequence[int], kind: str) -> Verdict:
    """A finding for ``got``, the logits along ``parts``, which are not those of one pass."""
    first = runs.first_gap(got, runs.whole)
    try:
        code, likely = _position(runs, got, parts, kind) or _content(runs, parts, kind, first) or _UNNAMED
    except CallFailedError:
        code, likely = _UNNAMED
    if kind != "growing" and "(" not in code and "=" not in code and code != "unknown":
        code += f"(cache={kind})"
    return found(f"cache.{'decode' if kind == 'growing' else kind}", code, "wrong", likely,
                 f"decoded with a {kind} cache: {runs.gap(got, runs.whole):.1e} of the spread from token {first} on",
                 "the logits of one pass", tokens=shown(runs.tokens), parts=list(parts))  # fmt: skip


def _position(runs: Runs, got: Array, parts: Sequence[int], kind: str) -> tuple[str, str] | None:
    """Wrong implicit positions: given ones repair it, and given wrong ones give the same numbers."""
    if not runs.abilities.positions:
        return None

    def along(places: Any) -> Array:
        return runs.along(runs.tokens, parts, runs.cache(kind), places=places)

    if not runs.same(along(places_from()), runs.whole):
        return None
    for text, places in _wrong_places(parts[0]).items():
        if runs.same(along(places), got):
            likely = "positions ignore what is cached" if text == "0" else "the count of cached tokens is off"
            return f"decode.position={text}", likely
    return "decode.position=?", "positions that decoding makes itself are wrong; given ones repair it"


def _wrong_places(prefill: int) -> dict[str, Callable[[int, int], Array]]:
    """Positions of a part that begins after ``first`` tokens, by the name of the mistake."""
    found: dict[str, Callable[[int, int], Array]] = {
        "0": lambda _first, size: np.arange(size),
        "restart": lambda first, size: np.arange(size) + max(0, first - prefill),
    }
    for shift in (1, -1, 2, -2):
        found[f"{shift:+d}"] = partial(_after_prefill, shift)
    return found


def _after_prefill(shift: int, first: int, size: int) -> Array:
    return np.arange(size) + first + (shift if first else 0)


def _content(runs: Runs, parts: Sequence[int], kind: str, first: int) -> tuple[str, str] | None:
    """By what the cache holds once the first wrong token is in it."""
    stop = max(first, parts[0]) + 1
    cache = runs.cache(kind)
    runs.along(runs.tokens[:, :stop], (parts[0], *([1] * (stop - parts[0]))), cache)
    slots = runs.slots(cache)
    if not slots:
        return None
    if runs.abilities.positions and runs.abilities.rotary:
        named = _layer_zero(runs, slots[0], stop)
        if named is not None:
            return named
    return _later_layers(runs, slots, stop)


def _layer_zero(runs: Runs, slots: Slots, stop: int) -> tuple[str, str] | None:
    """Which tokens' keys and values the slots hold."""
    cache = runs.cache()
    tokens = runs.tokens.T
    runs.along(tokens, (1,), cache, places=lambda _first, _size: np.arange(LENGTH)[:, None])
    reference = runs.slots(cache)
    if not reference:
        return None
    keys, values = (_identified(held, part) for held, part in zip(slots, reference[0], strict=True))
    return _misplaced(keys, values, stop, windowed=any(runs.abilities.windows))


def _misplaced(
    keys: list[int | None], values: list[int | None], stop: int, *, windowed: bool
) -> tuple[str, str] | None:  # fmt: skip
    """By the tokens whose keys and values the slots hold; the latest of ``stop`` tokens belong there in order."""
    count, newest = len(keys), stop - 1
    want: list[int | None] = list(range(stop - count, stop))
    if keys == want and values == want:
        return None
    if not windowed and newest in keys and keys == values:
        off = keys.index(newest) - (newest if count == newest else count - 1)
        if off:
            return f"cache.write_position={off}", "new keys and values overwrite older ones"
    if keys == want and newest not in values:
        return "cache.v_not_updated", "the new value is not written, its key is"
    if values == want and newest not in keys:
        return "cache.k_not_updated", "the new key is not written, its value is"
    if count == stop and newest not in keys + values and keys[:-1] == want[:-1]:
        return "cache.write_position=?", "the new key and value are not in the slot that is read"
    if windowed and None not in keys + values and newest in keys and newest in values:
        return "cache.ring_order", "slots of the window's ring are read in another order than they were written"
    return None


def _identified(held: Array, reference: Array) -> list[int | None]:
    """Per slot the token whose key (or value) it is; None for none. held [1, Hkv, S, D], reference [T, Hkv, 1, D]."""
    gaps = np.abs(held[0].transpose(1, 0, 2)[:, None] - reference[None, :, :, 0]).max((2, 3))
    size = float(np.abs(reference).max())
    return [int(row.argmin()) if row.min() <= 1e-2 * size else None for row in gaps]


def _later_layers(runs: Runs, slots: Sequence[Slots], stop: int) -> tuple[str, str] | None:
    """The first layer, key or value that differs from those of one pass."""
    want = _one_pass(runs, stop, 0)
    for layer, (held, right) in enumerate(zip(slots, want, strict=False)):
        same = [one.shape == two.shape and _close(one, two) for one, two in zip(held, right, strict=True)]
        if all(same):
            continue
        if same == [False, True] and runs.abilities.rotary and runs.abilities.positions:
            for shift in (1, -1, 2, -2, 1 - stop):
                if _close(held[0][:, :, -1], _one_pass(runs, stop, shift)[layer][0][:, :, -1]):
                    text = "0" if shift == 1 - stop else f"{shift:+d}"
                    return (f"decode.position={text}" + (f"@layer>={layer}" if layer else ""),
                            f"layer {layer} reads another count of cached tokens")  # fmt: skip
        which = "key" if same[1] else "value" if same[0] else "key and value"
        if layer and same == [False, False]:
            return "cache.read_side", f"layer {layer - 1} caches rightly and attends to something else while decoding"
        return "unknown", f"the first tensor that differs: the {which} of layer {layer}"
    return "cache.read_side", "all layers cache rightly; the last one attends to something else while decoding"


def _one_pass(runs: Runs, stop: int, shift: int) -> list[Slots]:
    cache = runs.cache()
    runs.along(runs.tokens[:, :stop], (stop,), cache, places=places_from(shift) if shift else None)
    return runs.slots(cache) or []


def _close(one: Array, two: Array) -> bool:
    return bool(np.abs(one - two).max() <= 1e-3 * max(float(np.abs(two).max()), 1e-12))
