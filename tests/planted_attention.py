"""Faults planted in the attention of a loaded model, restored afterwards; no assertions here.

Each is a fault of an implementation: of the factor, of the mask, of the kernel, or of weights.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

FAULTS = (
    "no 1/sqrt(d)", "1/d", "wrong triangle", "no mask", "mask after softmax", "collapsed keys", "all-sink", "overflow",
    "fp16", "nan",
)  # fmt: skip


@contextlib.contextmanager
def planted(model: Any, fault: str | None) -> Iterator[None]:
    """Plant ``fault`` in every attention layer of ``model``; None plants nothing."""
    import torch

    modules = [module for module in model.modules() if hasattr(module, "q_proj") and hasattr(module, "scaling")]
    assert modules
    with contextlib.ExitStack() as undo:
        if fault in ("no 1/sqrt(d)", "1/d"):
            for module in modules:
                undo.callback(setattr, module, "scaling", module.scaling)
                module.scaling = 1.0 if fault == "no 1/sqrt(d)" else 1.0 / module.head_dim
        elif fault in ("wrong triangle", "no mask", "mask after softmax"):
            undo.enter_context(_kernel(fault))
        elif fault == "collapsed keys":
            for module in modules:
                undo.enter_context(_weights(module.k_proj.weight, lambda weight: weight * 0.0))
        elif fault == "all-sink":
            undo.enter_context(_first_key(modules))
        elif fault in ("overflow", "fp16"):
            factor = 1e20 if fault == "overflow" else 60.0
            for module in modules:
                undo.enter_context(_weights(module.q_proj.weight, lambda weight: weight * factor))
                undo.enter_context(_weights(module.k_proj.weight, lambda weight: weight * factor))
        elif fault == "nan":
            undo.enter_context(_weights(modules[1].k_proj.weight, lambda weight: weight * torch.nan))
        elif fault is not None:
            raise ValueError(f"unknown fault {fault}")
        yield


@contextlib.contextmanager
def _weights(weight: Any, change: Any) -> Iterator[None]:
    before = weight.data
    weight.data = change(before)
    try:
        yield
    finally:
        weight.data = before


@contextlib.contextmanager
def _first_key(modules: list[Any]) -> Iterator[None]:
    """Every query agrees with the first key of its pass from position 0: all attention falls on it."""
    import torch

    kept: dict[int, torch.Tensor] = {}

    def first(module: Any, _: Any, output: torch.Tensor) -> torch.Tensor:
        length = output.shape[1]
        if id(module) not in kept:  # the prefix, whose first row is position 0
            kept[id(module)] = torch.ones_like(output[:, :1])
            output = output * 0.01
            output[:, :1] = 200.0
            return output
        assert length
        return output * 0.01

    def query(_: Any, __: Any, output: torch.Tensor) -> torch.Tensor:
        return torch.full_like(output, 200.0)

    # a rotation by the position turns half of the dimensions away: only the slow ones must agree
    handles = [module.k_proj.register_forward_hook(first) for module in modules]
    handles += [module.q_proj.register_forward_hook(query) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def _kernel(fault: str) -> Iterator[None]:
    """A wrong SDPA under its own name: what the model hands over is right, what it gets back is not."""
    import torch
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    before = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def wrong(
        module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None, **_: Any
    ) -> Any:
        shared = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
        rows, keys = query.shape[2], key.shape[2]
        causal = torch.arange(keys)[None] <= torch.arange(rows)[:, None] + keys - rows
        if attention_mask is not None:
            given = attention_mask
            causal = given if given.dtype == torch.bool else given > torch.finfo(given.dtype).min / 2
        scores = (query @ key.transpose(-1, -2)) * (scaling or query.shape[-1] ** -0.5)
        if fault == "wrong triangle":
            weights = scores.masked_fill(causal & (torch.arange(keys) > 0), -torch.inf).softmax(-1)
        elif fault == "no mask":
            weights = scores.softmax(-1)
        else:
            weights = scores.softmax(-1).masked_fill(~causal, 0.0)
        return (weights @ value).transpose(1, 2).contiguous(), None

    ALL_ATTENTION_FUNCTIONS["sdpa"] = wrong
    try:
        yield
    finally:
        ALL_ATTENTION_FUNCTIONS["sdpa"] = before
