"""Seeing every attention call of a Hugging Face model without changing what it computes; computes no statistics.

A wrapper is registered in *both* interfaces of transformers under one name: the attention function, and the
mask function of the implementation it wraps (a name without a mask function silently gets no mask). It calls
the implementation that was active before and returns its untouched output: logits with and without a hook are
equal bit for bit.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from transformers import Cache
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from softlookup.attention.stats import AttentionOutput
from softlookup.runtime.observable import PREFIX, TILED, check_call, check_uniform, checked_decoder, wrapped_attention
from softlookup.runtime.tiled_layer import as_transformers


@dataclass(frozen=True, slots=True, eq=False)
class LayerCall:
    """One call of one layer's attention, as the wrapped ``implementation`` ("sdpa" or "eager") gets it.

    query [B, Hq, Tq, D], key [B, Hkv, Tk, D], value [B, Hkv, Tk, Dv] after RoPE, cached ones included; ``mask``
    None, bool or additive [1 or B, 1 or Hq, Tq, Tk]; ``arguments``: the other keyword arguments. Query row i is
    column ``q_offset`` + i of the sequence (padding counts), key j column ``kv_offset`` + j: a cache may have
    dropped earlier keys. ``padding`` [B, columns] bool, True = a token: the 2-D mask that the model was last given,
    None if all of it are tokens or it was given none. ``weights`` [B, Hq, Tq, Tk]: what eager attention returns.
    ``output`` [B, Tq, Hq, Dv]: what the kernel returned, None where it has not run yet (tiled attention).
    ``outputs``: under tiled attention a receiver that computes the output with its statistics leaves it here.
    """

    layer: int
    module: Any
    implementation: str
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    arguments: Mapping[str, Any]
    q_offset: int
    kv_offset: int
    padding: torch.Tensor | None
    weights: torch.Tensor | None = None
    output: torch.Tensor | None = None
    outputs: list[AttentionOutput] = field(default_factory=list)


Receive = Callable[[LayerCall], None]


@dataclass(frozen=True, slots=True)
class _Offsets:
    """Where a pass of one layer begins, by its cache before the pass: see :class:`LayerCall`."""

    q_offset: int
    kv_offset: int
    kv_length: int


@dataclass(slots=True, eq=False)
class _Hook:
    """One block: its model's attention modules and configurations by identity, and what it knows of the sequence."""

    receive: Receive
    layers: Collection[int] | None
    modules: dict[int, Any]
    configs: dict[int, Any]
    offsets: dict[int, _Offsets] = field(default_factory=dict)
    padding: torch.Tensor | None = None

    def before(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A forward pre-hook: remember where the pass begins, which no argument of the attention tells."""
        if self not in _hooks.get():  # another thread runs the same model
            return
        hidden = kwargs.get("hidden_states", args[0] if args else None)
        if not isinstance(hidden, torch.Tensor) or hidden.dim() != 3:
            return
        # "cache", "past_key_values" or, in GPT-NeoX, "layer_past"
        cache = next((value for value in (*kwargs.values(), *args) if isinstance(value, Cache)), None)
        length = hidden.shape[1]
        if cache is None:
            self.offsets[id(module)] = _Offsets(0, 0, length)
            return
        kv_length, kv_offset = cache.get_mask_sizes(length, module.layer_idx)
        q_offset = int(cache.get_query_offset(module.layer_idx))  # a tensor that a static cache changes in place
        self.offsets[id(module)] = _Offsets(q_offset, int(kv_offset), int(kv_length))

    def call(
        self,
        module: Any,
        implementation: str,
        tensors: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
        mask: torch.Tensor | None,
        arguments: Mapping[str, Any],
    ) -> LayerCall | None:
        """The checked call; None for a layer that nobody asked for."""
        layer = int(module.layer_idx)
        if self.layers is not None and layer not in self.layers:
            return None
        offsets = self.offsets.pop(id(module), None)
        kv_length = None if offsets is None else offsets.kv_length
        check_call(layer, module, implementation, tensors[1], arguments, kv_length)
        if offsets is None:
            raise AssertionError("refused by check_call")
        padding = None if self.padding is None else self.padding.to(tensors[0].device)
        return LayerCall(
            layer, module, implementation, *tensors, mask, arguments, offsets.q_offset, offsets.kv_offset, padding
        )  # fmt: skip


# per thread and task: a pass of another thread through the same model is none of this block's business
_hooks: ContextVar[tuple[_Hook, ...]] = ContextVar("softlookup_attention_hooks", default=())
_switching = threading.Lock()


@contextlib.contextmanager
def hook_attention(model: Any, receive: Receive, layers: Collection[int] | None = None) -> Iterator[None]:
    """Call ``receive`` after every attention call of ``model`` inside the block, in this thread; restored after it.

    ``layers``: None for all. An exception of ``receive`` ends the forward pass and propagates. Blocks may nest
    for different models. Raises ``ModelError`` for models and calls that :mod:`softlookup.runtime.observable`
    refuses, and ``UsageError`` for a model that is being observed already.
    """
    with contextlib.ExitStack() as undo:
        with _switching:
            decoder, before = checked_decoder(model)
            name = _registered(before)
            modules = [module for module in decoder.modules() if _is_attention(module)]
            # the text part of a composite model may hold a copy of its configuration
            used = (decoder.config, model.config.get_text_config(), *(module.config for module in modules))
            configs = {id(config): config for config in used}
            check_uniform(configs.values(), before)
            hook = _Hook(receive, layers, {id(module): module for module in modules}, configs)
            for module in modules:
                undo.callback(module.register_forward_pre_hook(hook.before, with_kwargs=True).remove)
            undo.callback(_restore, configs, before)
            _switch(configs, name)
        undo.callback(_hooks.reset, _hooks.set((*_hooks.get(), hook)))
        yield


def _is_attention(module: Any) -> bool:
    return getattr(module, "layer_idx", None) is not None and getattr(module, "config", None) is not None


def _switch(configs: Mapping[int, Any], name: str) -> None:
    for config in configs.values():
        # set_attn_implementation also checks, and could refuse to go back
        config._attn_implementation_internal = name


def _restore(configs: Mapping[int, Any], name: str) -> None:
    with _switching:
        _switch(configs, name)


def _registered(implementation: str) -> str:
    name = PREFIX + implementation
    if name not in ALL_ATTENTION_FUNCTIONS:
        ALL_ATTENTION_FUNCTIONS.register(name, _attention(implementation))
        ALL_MASK_ATTENTION_FUNCTIONS.register(name, _mask(implementation))
    return name


def _attention(implementation: str) -> Callable[..., Any]:
    def observed(
        module: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        **arguments: Any,
    ) -> Any:
        inner = wrapped_attention(implementation, module)
        hook = next((hook for hook in _hooks.get() if id(module) in hook.modules), None)
        call = None
        if hook is not None:
            call = hook.call(module, implementation, (query, key, value), attention_mask, arguments)
        if hook is not None and call is not None and implementation == TILED:
            hook.receive(call)
            if call.outputs:
                return as_transformers(call.outputs[0]), None
        result = inner(module, query, key, value, attention_mask, **arguments)
        if hook is not None and call is not None and implementation != TILED:
            weights = result[1] if implementation == "eager" else None
            hook.receive(replace(call, weights=weights, output=result[0]))
        return result

    return observed


def _mask(implementation: str) -> Callable[..., Any]:
    inner = ALL_MASK_ATTENTION_FUNCTIONS[implementation]

    def mask(*args: Any, **arguments: Any) -> Any:
        result = inner(*args, **arguments)
        padding = arguments.get("attention_mask")
        if isinstance(padding, torch.Tensor) and padding.dim() == 2:
            for hook in _hooks.get():
                if id(arguments.get("config")) in hook.configs:
                    hook.padding = None if bool(padding.all()) else padding.to(torch.bool)
        return result

    return mask
