"""What can be observed rightly, and the refusal of everything else by name; registers and computes nothing.

Every feature that changes the scores of a model's attention is either handled by its observers or listed here.
Read in transformers 5.24.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from softlookup.errors import ModelError, UsageError

if TYPE_CHECKING:
    import torch

# our own implementation, see `runtime/tiled_attention.py`
TILED = "softlookup_tiled"
SUPPORTED = ("sdpa", "eager", TILED)
# SDPA whose single rows are computed by our kernel while an answer is decoded, see `runtime/decode_modules.py`
ONE_ROW = "softlookup_one_row"
# a name that contains "flash" would be taken for a flash-attention kernel
PREFIX = "softlookup_observed_"
_ATTENTION_LAYERS = ("full_attention", "sliding_attention", "chunked_attention")
# reach the attention function and say nothing about scores beyond what the mask and the checked ones say
_HARMLESS = frozenset({
    "cache", "cache_position", "cu_seq_lens_k", "cu_seq_lens_q", "is_causal", "logits_to_keep", "max_length_k",
    "max_length_q", "num_items_in_batch", "output_attentions", "output_hidden_states", "output_router_logits",
    "position_ids", "return_dict", "scaling", "sliding_window", "softcap", "use_cache",
})  # fmt: skip
# a model that computes something else for "sdpa" than for another name would not do the same when observed
_BY_NAME = re.compile(r"_attn_implementation\s*(?:==|!=|in\b|not in\b)[^\n]*[\"'](?:sdpa|eager)[\"']")


def checked_decoder(model: Any) -> tuple[Any, str]:
    """The decoder (or encoder) of ``model`` that holds its attention layers, and its attention implementation.

    Raises ``UsageError`` for something else than a transformers model and for a model that is being observed
    already, ``ModelError`` for a model that cannot be observed.
    """
    if not isinstance(model, PreTrainedModel):
        raise UsageError(
            f"observe needs a transformers PreTrainedModel, got {type(model).__name__}",
            "pass the model itself, without a wrapper such as torch.compile or PEFT",
        )
    config = model.config
    if config.is_encoder_decoder or getattr(config, "add_cross_attention", False):
        raise _refused("cross-attention (encoder-decoder models)")
    text = config.get_text_config()
    if getattr(text, "alibi", False):
        raise _refused("ALiBi, a bias on the scores,")
    for kind in getattr(text, "layer_types", None) or ():
        if kind not in _ATTENTION_LAYERS:
            raise _refused(f"a layer of kind {kind} (recurrent, convolutional or sparse)")
    decoder = model.get_decoder()
    implementation = str(decoder.config._attn_implementation)
    if implementation.startswith(PREFIX):
        raise UsageError("this model is being observed already", "close the other observation first")
    if implementation not in (*SUPPORTED, ONE_ROW):
        raise ModelError(
            f"attention of kind {implementation!r} cannot be observed",
            f"load the model with one of {', '.join(SUPPORTED)}",
        )
    if model._compiled_call_impl is not None or decoder._compiled_call_impl is not None:
        raise _refused("a compiled model")
    if not decoder._can_set_attn_implementation():
        raise _refused(f"{type(decoder).__name__}, which does not use the attention interface,")
    if _decides_by_name(decoder):
        raise _refused(f"{type(decoder).__name__}, which computes by the name of its attention implementation,")
    return decoder, implementation


def check_uniform(configs: Iterable[Any], implementation: str) -> None:
    """Refuse a model whose attention layers follow configurations with different implementations."""
    others = {str(config._attn_implementation) for config in configs} - {implementation}
    if others:
        raise _refused(f"a mixture of attention implementations ({implementation}, {', '.join(sorted(others))})")


def _decides_by_name(decoder: Any) -> bool:
    # GPT-2 only looks at the name when this is set
    harmless = decoder.config.model_type == "gpt2" and not decoder.config.reorder_and_upcast_attn
    return not harmless and _mentions_names(type(decoder).__module__)


@functools.cache
def _mentions_names(module: str) -> bool:
    return _BY_NAME.search(inspect.getsource(sys.modules[module])) is not None


def check_call(
    layer: int,
    module: Any,
    implementation: str,
    key: torch.Tensor,
    arguments: Mapping[str, Any],
    kv_length: int | None,
) -> None:
    """Refuse an attention call whose scores would be misread. ``kv_length``: keys that the layer's cache promises."""
    if arguments.get("dropout"):
        raise _refused(f"dropout {arguments['dropout']} of attention weights", "call model.eval() first")
    if arguments.get("position_bias") is not None:
        raise _refused("position_bias, a bias on the scores,")
    sinks = arguments.get("s_aux")
    if sinks is not None and (implementation in ("sdpa", ONE_ROW) or getattr(module, "sinks", None) is not sinks):
        raise _refused(
            f"learned sinks (s_aux) under {implementation!r}, which ignores them,", "load the model with eager"
        )
    known = _HARMLESS | {"dropout", "position_bias", "s_aux"}
    unknown = [name for name, given in arguments.items() if name not in known and given is not None]
    if unknown:
        raise _refused(f"the attention argument {unknown[0]} of {type(module).__name__}")
    if arguments.get("softcap") is not None and "softcap" not in _parameters(implementation, module):
        raise _refused(f"softcap under {implementation!r}, which ignores it,")
    if getattr(module, "is_kv_shared_layer", False):
        raise _refused(f"layer {layer}, which reads the keys of another layer,")
    if kv_length is None or key.shape[-2] != kv_length:
        expected = "no cache position" if kv_length is None else f"{kv_length} expected"
        raise _refused(
            f"layer {layer}, whose {key.shape[-2]} keys are not those of its sequence ({expected}; cross-attention)"
        )


def wrapped_attention(implementation: str, module: Any) -> Callable[..., Any]:
    """The function that the model would call by itself."""
    if implementation in ALL_ATTENTION_FUNCTIONS:
        return ALL_ATTENTION_FUNCTIONS[implementation]  # type: ignore[no-any-return]  # transformers has no types
    eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)  # in each model's file
    if eager is None:
        raise _refused(f"{type(module).__name__}, whose eager attention is not a function of its file,")
    return eager  # type: ignore[no-any-return]


def _parameters(implementation: str, module: Any) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(wrapped_attention(implementation, module)).parameters


def _refused(feature: str, remedy: str = "use another model") -> ModelError:
    return ModelError(f"{feature.rstrip(',')} cannot be observed", remedy)
