"""softlookup's tiled attention as an attention implementation of transformers, for any model that uses the interface.

It serves softcaps and learned sinks too, and when the model is observed the statistics of all rows come out of
the same pass as the output. Not bit-equal to SDPA: both are float32 sums in another order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from softlookup.errors import ModelError, UsageError
from softlookup.runtime.load import LoadedModel
from softlookup.runtime.observable import PREFIX, TILED, checked_decoder
from softlookup.runtime.tiled_layer import as_transformers, attend


@contextlib.contextmanager
def tiled_attention(model: Any) -> Iterator[None]:
    """Compute the attention of ``model`` by :func:`softlookup.attention.attention` inside the block; restored after it.

    ``model``: a transformers model, or what :func:`softlookup.load_model` returns. Its parameters, masks and cache
    are untouched; call it under ``torch.no_grad()``. With :func:`softlookup.observe` inside the block, statistics of
    all rows cost a few per cent of the attention. Raises as ``observe``.
    """
    model = model.model if isinstance(model, LoadedModel) else model
    _register()
    decoder, before = checked_decoder(model)
    configs = {id(config): config for config in (decoder.config, model.config.get_text_config())}
    try:
        _switch(decoder, configs, TILED)
        yield
    finally:
        if str(decoder.config._attn_implementation).startswith(PREFIX):
            raise UsageError("the model is still being observed", "close observe inside the tiled_attention block")
        _switch(decoder, configs, before)


def _switch(decoder: Any, configs: dict[int, Any], name: str) -> None:
    decoder.set_attn_implementation(name)
    for config in configs.values():
        if config._attn_implementation != name:
            config._attn_implementation = name


def _register() -> None:
    if TILED not in ALL_ATTENTION_FUNCTIONS:
        ALL_ATTENTION_FUNCTIONS.register(TILED, _forward)
        ALL_MASK_ATTENTION_FUNCTIONS.register(TILED, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])


def _forward(  # noqa: PLR0913, PLR0917 - the interface of transformers
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    sliding_window: int | None = None,
    is_causal: bool | None = None,
    s_aux: torch.Tensor | None = None,
    dropout: float = 0.0,
    **_arguments: Any,
) -> tuple[torch.Tensor, None]:
    """The interface of transformers: output [B, Tq, Hq, Dv], no weights."""
    if dropout:
        raise ModelError("tiled attention has no dropout", "call model.eval() first")
    arguments = {"scaling": scaling, "softcap": softcap, "sliding_window": sliding_window, "is_causal": is_causal}
    result = attend(module, (query, key, value), attention_mask, arguments | {"s_aux": s_aux}, None)
    return as_transformers(result), None
