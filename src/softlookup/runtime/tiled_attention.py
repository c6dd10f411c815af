"""softlookup's tiled attention as an attention implementation of transformers, for any model that uses the interface.

It serves softcaps and learned sinks too, and when the model is observed the statistics of all rows come out of
the same pass as the output. Not bit-equal to SDPA: both are float32 sums in another order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from softlookup.errors import UsageError
from softlookup.runtime.load import LoadedModel


@contextlib.contextmanager
def tiled_attention(model: Any) -> Iterator[None]:
    """Compute the attention of ``model`` by :func:`softlookup.attention.attention` inside the block; restored after it.

    ``model``: a transformers model, or what :func:`softlookup.load_model` returns. Its parameters, masks and cache
    are untouched; call it under ``torch.no_grad()``. With :func:`softlookup.observe` inside the block, statistics of
    all rows cost a few per cent of the attention. Raises as ``observe``.
    """
    # torch and transformers change the process when they load: not on `import softlookup`
    from softlookup.runtime.observable import PREFIX, TILED, checked_decoder
    from softlookup.runtime.tiled_layer import register

    model = model.model if isinstance(model, LoadedModel) else model
    register()
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
