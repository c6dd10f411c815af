"""Faults put into a running model for the length of a block: positions, masks, scale, hidden keys. Restores all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch


@contextlib.contextmanager
def shifted_positions(offset: int) -> Iterator[None]:
    """Everything behind a cached prefix stands ``offset`` positions too far."""
    from softlookup.runtime.prefilled import Prefilled

    real = Prefilled._forward

    def shifted(self: Any, ids: Any, positions: Any, **arguments: Any) -> Any:
        places = list(positions)
        return real(self, ids, [p + offset for p in places] if places[0] else places, **arguments)

    Prefilled._forward = shifted
    try:
        yield
    finally:
        Prefilled._forward = real


@contextlib.contextmanager
def scaled_scores(model: Any, factor: float) -> Iterator[None]:
    """Every layer multiplies its scores by ``factor`` too much."""
    modules = [module for module in model.modules() if hasattr(module, "scaling") and hasattr(module, "layer_idx")]
    before = [module.scaling for module in modules]
    try:
        for module in modules:
            module.scaling *= factor
        yield
    finally:
        for module, scaling in zip(modules, before, strict=True):
            module.scaling = scaling


@contextlib.contextmanager
def faulty_attention(kind: str) -> Iterator[None]:
    """SDPA is replaced: ``future`` (no causality), ``leak`` (one key of the future), ``after`` (mask after softmax)."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    real = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def attention(module: Any, query: Any, key: Any, value: Any, mask: Any, **arguments: Any) -> Any:
        rows, keys = query.shape[-2], key.shape[-2]
        if rows == 1:
            return real(module, query, key, value, mask, **arguments)
        repeat = query.shape[1] // key.shape[1]
        key, value = (tensor.repeat_interleave(repeat, 1) for tensor in (key, value))
        scores = query @ key.transpose(-1, -2) * arguments["scaling"]
        reach = {"future": keys, "leak": 1, "after": 0}[kind]
        seen = torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows + reach)
        masked = scores if kind == "after" else scores.masked_fill(~seen, float("-inf"))
        weights = masked.softmax(-1) * seen
        return (weights @ value).transpose(1, 2).contiguous(), None

    ALL_ATTENTION_FUNCTIONS["sdpa"] = attention
    try:
        yield
    finally:
        del ALL_ATTENTION_FUNCTIONS["sdpa"]  # what was set above hides the library's own


@contextlib.contextmanager
def hidden_keys(first: int, stop: int) -> Iterator[None]:
    """The rows behind a cached prefix do not see the columns first..stop-1."""
    from softlookup.runtime.prefilled import Prefilled

    real = Prefilled._forward

    def hiding(self: Any, ids: Any, positions: Any, **arguments: Any) -> Any:
        places = torch.tensor(list(positions))
        if int(places[0]) and arguments.get("mask") is None:
            visible = torch.arange(int(places[-1]) + 1)[None] <= places[:, None]
            visible[:, first:stop] = False
            arguments["mask"] = self._planes(visible, places)
        return real(self, ids, places.tolist(), **arguments)

    Prefilled._forward = hiding
    try:
        yield
    finally:
        Prefilled._forward = real
