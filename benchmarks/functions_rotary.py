"""Rotary functions of public libraries as ``rope(x, positions)``, with the config of each; no judgement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from softlookup.conformance import Adapter, Contract, find_contract

Call = tuple[Callable[..., Any], Contract, Adapter]

_SIZES = {"num_attention_heads": 2, "hidden_size": 32, "head_dim": 16}
_LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 512}
CONFIGS: dict[str, dict[str, Any]] = {
    "default": {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}},
    "linear": {"rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}},
    "llama3": {"rope_parameters": {"rope_type": "llama3", "rope_theta": 500000.0, **_LLAMA3}},
    "yarn": {"rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
                                 "original_max_position_embeddings": 512}},
}  # fmt: skip


def transformers_rotary(name: str) -> Call:
    """The module and function of the Llama model."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    config = {**_SIZES, "max_position_embeddings": 2048, **CONFIGS[name]}
    module = LlamaRotaryEmbedding(LlamaConfig(**config))

    def rope(x, positions):
        cos, sin = module(x, positions.reshape(1, -1))
        return apply_rotary_pos_emb(x, x, cos, sin)[0]

    return rope, find_contract(config).but(framework="torch"), Adapter()


def mlx_rotary() -> Call:
    """One call per position: the function takes the first position of a run."""
    import mlx.core as mx

    def rope(x, positions):
        columns = [
            mx.fast.rope(x[:, :, t : t + 1], 16, traditional=False, base=10000.0, scale=1.0, offset=int(position))
            for t, position in enumerate(positions.tolist())
        ]
        return mx.concatenate(columns, axis=2)

    config = {**_SIZES, "rope_theta": 10000.0}
    return rope, find_contract(config).but(framework="mlx"), Adapter()


def x_transformers_rotary() -> Call:
    """Its pairs are neighbours, which a config does not say."""
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    module = RotaryEmbedding(16)

    def rope(x, positions):
        angles, scale = module(positions)
        return apply_rotary_pos_emb(x, angles, scale)

    config = {**_SIZES, "rope_theta": 10000.0, "pairing": "interleaved"}
    return rope, find_contract(config).but(framework="torch"), Adapter()
