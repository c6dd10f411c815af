"""Faults put into a running tiny model, each for the length of a block; no assertions here."""

from __future__ import annotations

import contextlib

import torch

from softlookup.runtime.prefilled import Prefilled


@contextlib.contextmanager
def forward_changed(change):
    """``change(prefilled, positions, arguments)`` returns other positions and arguments of a pass behind a prefix."""
    real = Prefilled._forward

    def changed(self, ids, positions, **arguments):
        positions = list(positions)
        if positions[0]:
            positions, arguments = change(self, positions, arguments)
        return real(self, ids, positions, **arguments)

    Prefilled._forward = changed
    try:
        yield
    finally:
        Prefilled._forward = real


def shifted(offset):
    """Positions behind the prefix are too large by ``offset``."""
    return forward_changed(lambda _self, positions, arguments: ([p + offset for p in positions], arguments))


def hiding(columns):
    """The rows behind the prefix do not see ``columns``."""

    def change(self, positions, arguments):
        places = torch.tensor(positions)
        visible = torch.arange(positions[-1] + 1)[None] <= places[:, None]
        visible[:, columns] = False
        return positions, {**arguments, "mask": self._planes(visible, places)}

    return forward_changed(change)


@contextlib.contextmanager
def scaled(model, factor):
    """Every attention layer scales its scores by ``factor`` too much."""
    modules = [module for module in model.modules() if hasattr(module, "layer_idx") and hasattr(module, "scaling")]
    before = [module.scaling for module in modules]
    for module in modules:
        module.scaling *= factor
    try:
        yield
    finally:
        for module, scaling in zip(modules, before, strict=True):
            module.scaling = scaling


@contextlib.contextmanager
def sdpa_replaced(weights):
    """SDPA attends by ``weights(scores, causal)`` for passes of more than one row."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    real = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def attention(module, query, key, value, mask, **arguments):
        rows, keys = query.shape[-2], key.shape[-2]
        if rows == 1:
            return real(module, query, key, value, mask, **arguments)
        repeat = query.shape[1] // key.shape[1]
        scores = query @ key.repeat_interleave(repeat, 1).transpose(-1, -2) * arguments["scaling"]
        causal = torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows)
        output = weights(scores, causal) @ value.repeat_interleave(repeat, 1)
        return output.transpose(1, 2).contiguous(), None

    ALL_ATTENTION_FUNCTIONS["sdpa"] = attention
    try:
        yield
    finally:
        del ALL_ATTENTION_FUNCTIONS["sdpa"]  # what was set above hides the library's own
