"""What the configuration of a model family does not say: biases, norms, tied embeddings, window patterns.

Keyed by ``model_type``; source: the modelling code of transformers 5.24, against which tests count every parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Family:
    """Traits of a ``model_type``; configuration fields win over ``*_bias`` and ``tied``.

    ``qk_norm``: none, one weight per head dimension, or one per projected feature. ``norms``: weights of D per layer.
    ``window_every``: every so-many-th layer is full and the others have the window when no pattern is given; 0: all
    have it. ``recurrent_every``: the same for linear attention. ``qk_norm_by_flag``: only with ``use_qk_norm``.
    ``global_heads``: full layers have a head width and KV heads of their own.
    """

    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: Literal["", "head", "feature"] = ""
    norms: int = 2
    norm_biases: bool = False
    ffn_matrices: int = 3
    ffn_bias: bool = False
    tied: bool = False
    window_every: int = 0
    router_bias: bool = False
    expert_biases: bool = False
    sinks: bool = False
    qk_norm_by_flag: bool = False
    global_heads: bool = False
    recurrent_every: int = 0
    known: bool = True


_LLAMA = Family()
_GEMMA = Family(tied=True)
_GEMMA2 = replace(_GEMMA, norms=4, window_every=2)
_GEMMA3 = replace(_GEMMA2, qk_norm="head", window_every=6)
_QWEN3 = Family(qk_norm="head")
_QWEN3_5 = replace(_QWEN3, recurrent_every=4)
_DEEPSEEK = Family()

FAMILIES: dict[str, Family] = {
    "llama": _LLAMA, "mistral": _LLAMA, "mistral3": _LLAMA, "ministral": _LLAMA, "mixtral": _LLAMA, "phi3": _LLAMA,
    "granite": _LLAMA, "smollm3": replace(_LLAMA, tied=True), "olmo": replace(_LLAMA, norms=0),
    "qwen2": Family(qkv_bias=True), "qwen2_moe": Family(qkv_bias=True), "qwen2_vl": Family(qkv_bias=True),
    "qwen2_5_vl": Family(qkv_bias=True),
    "qwen3": _QWEN3, "qwen3_moe": _QWEN3, "qwen3_vl": _QWEN3, "qwen3_vl_moe": _QWEN3,
    "qwen3_next": _QWEN3_5, "qwen3_5": _QWEN3_5, "qwen3_5_moe": _QWEN3_5,
    "gemma": _GEMMA, "gemma2": _GEMMA2, "gemma3": _GEMMA3, "gemma4": replace(_GEMMA3, global_heads=True),
    "olmo2": Family(qk_norm="feature"), "olmo3": Family(qk_norm="feature", window_every=4),
    "cohere": Family(norms=1, tied=True, qk_norm="feature", qk_norm_by_flag=True),
    "cohere2": Family(norms=1, tied=True, window_every=4),
    "starcoder2": Family(
        qkv_bias=True, output_bias=True, ffn_bias=True, norm_biases=True, ffn_matrices=2, tied=True
    ),
    "gpt_oss": Family(
        qkv_bias=True, output_bias=True, window_every=2, router_bias=True, expert_biases=True, sinks=True
    ),
    "deepseek_v2": _DEEPSEEK, "deepseek_v3": replace(_DEEPSEEK, router_bias=True),
    "kimi_k2": replace(_DEEPSEEK, router_bias=True),
    "glm4_moe": Family(router_bias=True, qk_norm="head", qk_norm_by_flag=True),
}  # fmt: skip


def family_of(model_type: str) -> Family:
    """Traits of ``model_type``; those of Llama, marked as not known, for others."""
    plain = model_type.removesuffix("_text")
    return FAMILIES.get(plain, replace(_LLAMA, known=False))
