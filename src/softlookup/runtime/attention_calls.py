"""Queries, keys and visibility of every attention call of a Hugging Face model, for readers with their own scores.

The evidence and the monitors use it; statistics of any model are `runtime/observe.py`'s.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from softlookup.runtime.attention_hook import LayerCall, hook_attention
from softlookup.runtime.visibility import without_mask


@dataclass(frozen=True, slots=True)
class AttentionCall:
    """One call of one layer, for batch entry 0.

    query [Hq, Tq, D] and key [Hkv, Tk, D] after RoPE, cache included; ``visible`` [Tq, Tk] bool, None =
    every key; ``scale`` and ``softcap`` as the layer uses them; ``sliding_window`` None for global layers.
    ``value`` [Hkv, Tk, Dv] and ``output`` [Hq, Tq, Dv], what the model's kernel made of it all, for readers that
    compare the two; None where they are not at hand. ``sinks`` [Hq]: learned logits without a key, None for none.
    """

    layer: int
    query: torch.Tensor
    key: torch.Tensor
    visible: torch.Tensor | None
    scale: float
    softcap: float | None
    sliding_window: int | None
    value: torch.Tensor | None = None
    output: torch.Tensor | None = None
    sinks: torch.Tensor | None = None


Callback = Callable[[AttentionCall], None]


@contextlib.contextmanager
def observe_calls(model: Any, callback: Callback) -> Iterator[None]:
    """Call ``callback`` for every attention layer that runs inside the block; the model is restored after it.

    An exception of the callback ends the forward pass and propagates. Raises as
    :func:`softlookup.runtime.attention_hook.hook_attention`.
    """
    with hook_attention(model, lambda call: callback(_first_entry(call))):
        yield


def _first_entry(call: LayerCall) -> AttentionCall:
    scale, learned = call.arguments.get("scaling"), call.arguments.get("s_aux")
    return AttentionCall(
        layer=call.layer,
        query=call.query[0],
        key=call.key[0],
        visible=_visible(call),
        scale=float(scale) if scale is not None else call.query.shape[-1] ** -0.5,
        softcap=call.arguments.get("softcap"),
        sliding_window=call.arguments.get("sliding_window"),
        value=call.value[0],
        output=None if call.output is None else call.output[0].transpose(0, 1),
        sinks=None if learned is None else learned.detach(),
    )


def _visible(call: LayerCall) -> torch.Tensor | None:
    """[Tq, Tk] bool from what transformers passes: None, bool (True = attend), or an additive mask."""
    q_length, kv_length = call.query.shape[-2], call.key.shape[-2]
    if call.mask is None:
        if not without_mask(call, 0).causal:
            return None
        return torch.arange(kv_length)[None] <= torch.arange(q_length)[:, None]
    plane = call.mask[0, 0]
    return plane if plane.dtype == torch.bool else plane > torch.finfo(plane.dtype).min / 2
