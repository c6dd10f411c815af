"""A small random model of the same class and features as a given configuration; runs in milliseconds."""

from __future__ import annotations

import copy
from typing import Any

import torch

from softlookup.errors import ModelError
from softlookup.runtime.quiet import quiet_transformers

# enough tokens for their keys to span heads of up to 256
_VOCABULARY, _HEADS, _WINDOW = 640, 4, 4
# weights of this size times the square root of the width make attention neither uniform nor one-hot
_SPREAD = 1.2
_EXPERTS = {
    "num_local_experts": 4, "num_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1,
    "topk_group": 1, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32,
}  # fmt: skip


def tiny_model(config: Any, implementation: str, *, seed: int = 7) -> Any:
    """A model of ``config``'s class with a few layers, in eval mode. Raises ``ModelError`` where that fails."""
    with quiet_transformers(), torch.random.fork_rng():
        from transformers import AutoModelForCausalLM

        torch.manual_seed(seed)
        try:
            model = AutoModelForCausalLM.from_config(
                tiny_config(config), attn_implementation=implementation, dtype=torch.float32
            )
        except Exception as error:  # transformers raises many types
            raise ModelError(
                f"no small model of {type(config).__name__} with {implementation} ({type(error).__name__}: {error})",
                "check the configuration",
            ) from error
    return model.eval()


def read_config(entries: dict[str, Any]) -> Any:
    """A configuration of transformers from a config.json. Raises ``ModelError`` for a class it does not know."""
    with quiet_transformers():
        from transformers import CONFIG_MAPPING

        kind = entries.get("model_type")
        if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
            raise ModelError(f"transformers has no model of type {kind!r}", "custom code is not run")
        try:
            return CONFIG_MAPPING[kind].from_dict(entries)
        except Exception as error:  # transformers raises many types
            raise ModelError(f"the configuration of type {kind} is not valid ({error})", "check it") from error


def tiny_config(config: Any) -> Any:
    """A copy of the text part: few layers, one of each kind, 4 heads as wide as before, a window of 4."""
    found = copy.deepcopy(config.get_text_config())
    layers, chosen = found.num_hidden_layers, _layers(found)
    width = getattr(found, "head_dim", None) or found.hidden_size // found.num_attention_heads
    grouped = getattr(found, "num_key_value_heads", None) not in (None, found.num_attention_heads)
    few = 1 if getattr(found, "num_key_value_heads", None) == 1 else 2
    for name, value in list(vars(found).items()):
        if isinstance(value, list) and len(value) == layers and layers > len(chosen):
            setattr(found, name, [value[layer] for layer in chosen])
    _put(
        found, num_hidden_layers=len(chosen), num_attention_heads=_HEADS, hidden_size=_HEADS * width,
        num_key_value_heads=few if grouped else _HEADS, intermediate_size=64, ffn_dim=64, n_inner=64,
        word_embed_proj_dim=_HEADS * width, vocab_size=_VOCABULARY, bos_token_id=0, eos_token_id=1, pad_token_id=1,
        initializer_range=_SPREAD / (_HEADS * width) ** 0.5, quantization_config=None, **_EXPERTS,
    )  # fmt: skip
    if getattr(found, "sliding_window", None) is not None:
        found.sliding_window = _WINDOW
    return found


def _layers(config: Any) -> list[int]:
    """The first layer of every kind, two at least."""
    kinds = getattr(config, "layer_types", None)
    chosen = sorted({kind: layer for layer, kind in reversed(list(enumerate(kinds)))}.values()) if kinds else [0]
    more = (layer for layer in range(config.num_hidden_layers) if layer not in chosen)
    while len(chosen) < min(2, config.num_hidden_layers):
        chosen.append(next(more))
    return sorted(chosen)


def _put(config: Any, **changes: Any) -> None:
    for name, value in changes.items():
        if hasattr(config, name):
            setattr(config, name, value)
