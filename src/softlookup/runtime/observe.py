"""Observation of a Hugging Face model's attention without changing what it computes.

A wrapper is registered in *both* interfaces of transformers: the attention function, and the mask
function of the implementation it wraps (a name without a mask function silently gets no mask). It
calls the implementation that was active before, hands query and key to a callback, and returns the
untouched output: logits with and without observation are equal bit for bit.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from softlookup.errors import ModelError

# a name that contains "flash" would be taken for a flash-attention kernel
_PREFIX = "softlookup_observed_"
_SUPPORTED = ("sdpa", "eager")
# arguments that change the scores and that the callback's reader does not reproduce
_UNSUPPORTED_ARGUMENTS = ("s_aux", "position_bias")


@dataclass(frozen=True, slots=True)
class AttentionCall:
    """One call of one layer, for batch entry 0.

    query [Hq, Tq, D] and key [Hkv, Tk, D] after RoPE, cache included; ``visible`` [Tq, Tk] bool, None =
    every key; ``scale`` and ``softcap`` as the layer uses them; ``sliding_window`` None for global layers.
    """

    layer: int
    query: torch.Tensor
    key: torch.Tensor
    visible: torch.Tensor | None
    scale: float
    softcap: float | None
    sliding_window: int | None


Callback = Callable[[AttentionCall], None]
_callback: ContextVar[Callback | None] = ContextVar("softlookup_attention_callback", default=None)


@contextlib.contextmanager
def observe(model: Any, callback: Callback) -> Iterator[None]:
    """Call ``callback`` for every attention layer that runs inside the block; the model is restored after it.

    An exception of the callback ends the forward pass and propagates. Raises ``ModelError`` for an
    attention implementation other than SDPA or eager.
    """
    before = str(model.config._attn_implementation)
    if before not in _SUPPORTED:
        raise ModelError(
            f"attention of kind {before!r} cannot be observed",
            f"load the model with one of {', '.join(_SUPPORTED)}",
        )
    name = _PREFIX + before
    if name not in ALL_ATTENTION_FUNCTIONS:
        ALL_ATTENTION_FUNCTIONS.register(name, _wrap(before))
        ALL_MASK_ATTENTION_FUNCTIONS.register(name, ALL_MASK_ATTENTION_FUNCTIONS[before])
    token = _callback.set(callback)
    model.set_attn_implementation(name)
    try:
        yield
    finally:
        model.set_attn_implementation(before)
        _callback.reset(token)


def _wrap(implementation: str) -> Callable[..., Any]:
    def observed(
        module: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        **arguments: Any,
    ) -> Any:
        inner = (
            ALL_ATTENTION_FUNCTIONS[implementation]
            if implementation in ALL_ATTENTION_FUNCTIONS
            else sys.modules[type(module).__module__].eager_attention_forward  # eager lives in each model file
        )
        result = inner(module, query, key, value, attention_mask, **arguments)
        callback = _callback.get()
        if callback is not None:
            callback(_call(module, query, key, attention_mask, arguments))
        return result

    return observed


def _call(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    mask: torch.Tensor | None,
    arguments: dict[str, Any],
) -> AttentionCall:
    for name in _UNSUPPORTED_ARGUMENTS:
        if arguments.get(name) is not None:
            raise ModelError(f"attention with {name} is not observed yet", "use a model without it")
    scale = arguments.get("scaling")
    return AttentionCall(
        layer=int(module.layer_idx),
        query=query[0],
        key=key[0],
        visible=_visible(mask, query.shape[-2], key.shape[-2]),
        scale=float(scale) if scale is not None else query.shape[-1] ** -0.5,
        softcap=arguments.get("softcap"),
        sliding_window=arguments.get("sliding_window"),
    )


def _visible(mask: torch.Tensor | None, q_length: int, kv_length: int) -> torch.Tensor | None:
    """[Tq, Tk] bool from what transformers passes: None, bool (True = attend), or an additive mask."""
    if mask is None:
        # read in 5.24: None with one row means "all keys", with several rows "causal from an empty cache"
        if q_length == 1:
            return None
        rows, keys = torch.arange(q_length)[:, None], torch.arange(kv_length)[None]
        return keys <= rows + (kv_length - q_length)
    plane = mask[0, 0]
    return plane if plane.dtype == torch.bool else plane > torch.finfo(plane.dtype).min / 2
