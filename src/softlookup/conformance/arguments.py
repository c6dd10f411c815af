"""A canonical case as the arguments of one function: layout, polarity, keyword names, library, dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from softlookup.conformance.adapters import Adapter, Signature
from softlookup.conformance.case import Array, Case
from softlookup.conformance.contract import Contract
from softlookup.conformance.frameworks import swapped_view, to_framework


class Arguments:
    """Turns cases into calls of one function and its outputs back into [B, H, T, D]."""

    def __init__(self, signature: Signature, contract: Contract, adapter: Adapter, framework: str) -> None:
        self.signature, self.contract, self.adapter, self.framework = signature, contract, adapter, framework
        self.layout = adapter.layout or contract.layout
        self.window_form: str = contract.window
        self.mask_form = "b1qk"

    def build(self, case: Case, *, strided: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
        """Tensors by name, keywords by name. ``strided``: tensors are views into swapped memory."""
        dtype = self.adapter.dtype or case.dtype
        tensors = {}
        for name, given in (("query", case.query), ("key", case.key), ("value", case.value)):
            tensor = to_framework(self._to_layout(given), self.framework, dtype)
            view = swapped_view(tensor, self.framework) if strided else tensor
            if view is None:
                raise TypeError("the library has no strided views")
            tensors[name] = view
        if len(self.signature.tensors) == len(tensors):
            tensors = dict(zip(self.signature.tensors, tensors.values(), strict=True))
        return tensors, self._keywords(case, dtype)

    def shape(self, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the output in the function's own layout, for [B, H, Tq, Dv]."""
        batch, heads, rows, width = wanted
        shapes = {"bhtd": wanted, "bthd": (batch, rows, heads, width), "bte": (batch, rows, heads * width)}
        return shapes[self.layout]

    def output(self, found: Array, wanted: tuple[int, ...]) -> Array | None:
        """[B, H, Tq, Dv], or None where the shape is another; merged heads are taken apart again."""
        batch, heads, rows, width = wanted
        if found.shape == (batch, rows, heads * width):
            return found.reshape(batch, rows, heads, width).transpose(0, 2, 1, 3)
        if found.shape != self.shape(wanted):
            return None
        return found if self.layout == "bhtd" else found.transpose(0, 2, 1, 3)

    def _to_layout(self, given: Array) -> Array:
        if self.layout == "bhtd":
            return given
        swapped = given.transpose(0, 2, 1, 3)
        return swapped if self.layout == "bthd" else swapped.reshape(*swapped.shape[:2], -1)

    def _keywords(self, case: Case, dtype: str) -> dict[str, Any]:
        names, canonical = self.signature.names, self._canonical(case, dtype)
        keywords = {names[feature]: value for feature, value in canonical.items() if feature in names}
        if "causal" in names and "causal" not in canonical and self.signature.by_default.get(names["causal"]) is True:
            keywords[names["causal"]] = False
        if case.heads != case.kv_heads and self._takes("enable_gqa"):
            keywords["enable_gqa"] = True
        if self.layout == "bte":
            for word, value in (("num_heads", case.heads), ("num_kv_heads", case.kv_heads)):
                if self._takes(word):
                    keywords[word] = value
        return {**self.signature.train, **self.adapter.fixed, **keywords}

    def _takes(self, word: str) -> bool:
        known = self.signature.by_default
        return word in known or (not known and word == "enable_gqa" and "mask" in self.signature.names
                                 and self.signature.names["mask"] == "attn_mask")  # fmt: skip

    def _canonical(self, case: Case, dtype: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if case.causal and not self.adapter.always_causal:
            found["causal"] = True
        for name in ("scale", "softcap", "dropout"):
            if getattr(case, name) is not None:
                found[name] = getattr(case, name)
        if case.alibi:
            found["alibi"] = True
        if case.window is not None:
            found["window"] = case.window if self.window_form == "left_right" else case.window[0] + 1
        for name in ("kv_len", "segments"):
            if getattr(case, name) is not None:
                found[name] = to_framework(np.asarray(getattr(case, name), dtype=np.int64), self.framework, None)
        if case.sinks is not None:
            found["sinks"] = to_framework(case.sinks, self.framework, dtype)
        found.update(self._masks(case, dtype))
        return found

    def _masks(self, case: Case, dtype: str) -> dict[str, Any]:
        names = self.signature.names
        mask, bias = case.mask, case.bias
        additive = self.contract.mask_kind == "additive"
        if mask is not None and bias is not None and names.get("mask") == names.get("bias"):
            bias, mask = np.where(mask, bias, self._lowest(dtype)), None
        elif mask is not None and additive:
            mask = np.where(mask, 0.0, self._lowest(dtype))
        elif mask is not None and self.contract.bool_mask == "true_drops":
            mask = ~mask
        mask = None if mask is None else self._shaped(mask, case)
        found = {}
        if mask is not None:
            found["mask"] = to_framework(mask, self.framework, dtype if additive else None)
        if bias is not None:
            found["bias"] = to_framework(bias, self.framework, dtype)
        return found

    def _shaped(self, mask: Array, case: Case) -> Array:
        """The mask in the number of axes that the function takes; ``TypeError`` where it cannot say as much."""
        if self.mask_form in ("b1qk", "bhqk") and mask.shape[1] > 1:
            return mask
        if mask.shape[1] > 1:
            raise TypeError(f"a mask [{', '.join(self.mask_form)}] cannot differ between heads")
        if self.mask_form == "b1qk":
            return mask
        if self.mask_form == "bhqk":
            return np.repeat(mask, case.heads, axis=1)
        if self.mask_form == "bqk":
            return mask[:, 0]
        same = mask[:, 0, :1] if self.mask_form == "bk" else mask[:1, 0]
        if not np.array_equal(np.broadcast_to(same, mask[:, 0].shape), mask[:, 0]):
            raise TypeError(f"a mask [{', '.join(self.mask_form)}] cannot differ that way")
        return same[:, 0] if self.mask_form == "bk" else same[0]

    def _lowest(self, dtype: str) -> float:
        """-inf; the most negative finite number where masks are added as transformers does."""
        if self.contract.mask_kind != "additive":
            return -np.inf
        return -65504.0 if dtype == "float16" else -3.3895313892515355e38
