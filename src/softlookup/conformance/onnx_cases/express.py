"""A published case as calls of an attention function: what it has an argument for is passed, the rest is rewritten.

Keys of the past are put before the new ones; an alignment, a window side or a combination that the function has no
argument for becomes part of the mask. What cannot be said either way is :class:`NotOfferedError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softlookup.conformance.case import Array, Case, identity_values
from softlookup.conformance.contract import Contract
from softlookup.conformance.onnx_cases.published import Published


class NotOfferedError(Exception):
    """The function has no argument for something that the case needs."""


@dataclass
class Expression:
    """How cases are said to one function; ``rewritten`` collects what became part of a mask."""

    contract: Contract
    features: frozenset[str]
    window_form: str
    rewritten: list[str] = field(default_factory=list)

    def calls(self, published: Published) -> Iterator[tuple[Case, int]]:
        """Calls that give output Y, one per length of keys, and the batch row it starts at."""
        query, key, value, past = tensors(published)
        mask, bias = masks(published, query, key)
        offset, given = past, published.inputs.get("nonpad_kv_seqlen")
        parts = [(slice(None), key.shape[2], offset)]
        if given is not None and "kv_len" in self.features and not self._places(published):
            case = Case(query, key, value, dtype=published.dtype).but(kv_len=np.asarray(given))
            yield self._ruled(case, published.attributes, mask, bias, offset), 0
            return
        if given is not None:  # keys beyond a row's own length do not exist, and its last query sees the last
            self.note("rows cut to their length")
            parts = [(slice(b, b + 1), int(n), int(n) - query.shape[2]) for b, n in enumerate(given)]
        for rows, count, shift in parts:
            case = Case(query[rows], key[rows, :, :count], value[rows, :, :count], dtype=published.dtype)
            cut = [None if part is None else part[rows, ..., :count] for part in (mask, bias)]
            yield self._ruled(case, published.attributes, cut[0], cut[1], shift), rows.start or 0

    def read_out(self, published: Published) -> Case:
        """The call with V = I that gives the weights which belong to ``qk_matmul_output``."""
        self.note("scores read out as weights")
        query, key, _, past = tensors(published)
        mask, bias = masks(published, query, key)
        attributes = dict(published.attributes)
        mode = attributes.get("qk_matmul_output_mode", 0)
        if mode < 2:  # 0: scaled products, 1: capped, 2: with bias and masks, 3: weights
            kept = ("scale", "softcap")[: mode + 1]
            mask, bias, attributes = None, None, {name: attributes[name] for name in kept if name in attributes}
        case = Case(query, key, identity_values(key.shape[0], key.shape[1], key.shape[2]), dtype=published.dtype)
        return self._ruled(case, attributes, mask, bias, past)

    def _places(self, published: Published) -> bool:
        """Whether it matters where a row's last query stands: an argument for lengths alone does not say."""
        return any(published.attributes.get(name, off) > off
                   for name, off in (("is_causal", 0), ("left_window_size", -1), ("right_window_size", -1)))  # fmt: skip

    def note(self, what: str) -> None:
        """Remember what was rewritten, once."""
        if what not in self.rewritten:
            self.rewritten.append(what)

    def _ruled(
        self, case: Case, attributes: dict[str, Any], mask: Array | None, bias: Array | None, offset: int
    ) -> Case:
        causal = attributes.get("is_causal", 0) > 0
        left, right = (attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
        changes: dict[str, Any] = {}
        for name in ("scale", "softcap"):
            if attributes.get(name):
                changes[name] = float(attributes[name])
                self._need(name)
        aligned = self._aligned(case, offset)
        kept: list[Array] = [] if mask is None else [mask]
        window = self._window(left, right, causal=causal) if aligned else None
        if (left >= 0 or right >= 0) and window is None:
            self.note("window as a mask")
            kept.append(near(case, offset, left, right))
        elif window is not None:
            changes["window"] = window
        with_mask = mask is not None or bias is not None or len(kept) > 0
        if causal and aligned and "causal" in self.features and not (with_mask and self._one_at_a_time):
            changes["causal"] = True
        elif causal:
            self.note("causal as a mask")
            kept.append(near(case, offset, -1, 0))
        return self._masked(case.but(**changes), kept, bias)

    def _masked(self, case: Case, kept: list[Array], bias: Array | None) -> Case:
        shape = (case.batch, 1, case.q_length, case.kv_length)
        mask: Array | None = None
        for part in kept:
            mask = part if mask is None else mask & part
        if bias is not None:
            self._need("bias")
        if mask is not None and "mask" not in self.features:
            self._need("bias", "mask")
            self.note("mask as a bias of -inf")
            bias, mask = np.where(mask, 0.0 if bias is None else bias, -np.inf), None
        if mask is not None:
            mask = np.broadcast_to(mask, (case.batch, mask.shape[1], *shape[2:]))
        if bias is not None:
            bias = np.broadcast_to(bias, (case.batch, bias.shape[1], *shape[2:]))
        return case.but(mask=mask, bias=bias)

    @property
    def _one_at_a_time(self) -> bool:
        return self.contract.mask_and_causal == "error"

    def _aligned(self, case: Case, offset: int) -> bool:
        """Whether the function's own causal rule and window stand where the case wants them."""
        own = case.kv_length - case.q_length if self.contract.causal_align == "bottom_right" else 0
        square = case.kv_length == case.q_length and offset == 0
        return square or (own == offset and self.contract.causal_align != "unspecified")

    def _window(self, left: int, right: int, *, causal: bool) -> tuple[int, int] | None:
        """The window as the function takes it, or None where it takes no such one."""
        if "window" not in self.features or (left < 0 and right < 0):
            return None
        if self.window_form == "left_right":
            unbounded = min(left, right) < 0 and not (causal and right < 0)
            if unbounded and self.contract.window_unbounded != "minus_one":
                return None
            return (left, 0 if causal else right)
        own = 0 if causal or self.contract.window_closed else -1  # what a window without causal sees of the future
        return (left, 0) if left >= 0 and (causal or right == own) else None

    def _need(self, name: str, other: str = "") -> None:
        if name not in self.features:
            raise NotOfferedError(f"no argument for {other or name}")


def tensors(published: Published) -> tuple[Array, Array, Array, int]:
    """Query, key, value [B, H, T, D] with the past before the new keys, and the length of the past."""
    inputs, attributes = published.inputs, published.attributes
    query = _heads(inputs["Q"], attributes.get("q_num_heads"))
    key, value = (_heads(inputs[name], attributes.get("kv_num_heads")) for name in ("K", "V"))
    if "past_key" not in inputs:
        return query, key, value, 0
    past = inputs["past_key"].shape[2]
    return (query, np.concatenate([inputs["past_key"], key], 2),
            np.concatenate([inputs["past_value"], value], 2), past)  # fmt: skip


def masks(published: Published, query: Array, key: Array) -> tuple[Array | None, Array | None]:
    """Bool mask and what a float mask adds besides, [B, 1 or H, Tq, Tk]; one shorter than the keys drops the rest."""
    given = published.inputs.get("attn_mask")
    if given is None:
        return None, None
    short = key.shape[2] - given.shape[-1]
    kind = bool(given.dtype == np.bool_)
    widths = [(0, 0)] * (given.ndim - 1) + [(0, short)]
    given = np.pad(given, widths, constant_values=False if kind else -np.inf)
    given = given.reshape((1,) * (4 - given.ndim) + given.shape)
    given = np.broadcast_to(given, (query.shape[0], given.shape[1], query.shape[2], key.shape[2]))
    if kind:
        return given, None
    kept = given > -np.inf
    bias = np.where(kept, given, 0.0)
    return (None if kept.all() else kept), (bias if bias.any() else None)


def near(case: Case, offset: int, left: int, right: int) -> Array:
    """Keys from ``left`` before to ``right`` behind each query's own position; -1: unbounded."""
    distance = np.arange(case.kv_length) - np.arange(case.q_length)[:, None] - offset
    kept = np.ones(distance.shape, dtype=bool)
    kept &= distance >= -left if left >= 0 else True
    kept &= distance <= right if right >= 0 else True
    return kept[None, None]


def _heads(given: Array, heads: int | None) -> Array:
    if given.ndim == 4:
        return given
    batch, rows, width = given.shape
    return given.reshape(batch, rows, int(heads or 1), width // int(heads or 1)).transpose(0, 2, 1, 3)
