"""Public threads about the same kind of mistake, by ``area.item``; for reading on, not for judging."""

from __future__ import annotations

_REPORTS: dict[str, tuple[str, ...]] = {
    "causal.align": ("ml-explore/mlx#2835", "pytorch/pytorch#108108"),
    "causal.triangle": ("rasbt/LLMs-from-scratch#1061",),
    "causal.not_applied": ("facebookresearch/xformers#103", "keras-team/keras#23038"),
    "causal.dropped_when": ("Mikyx-1/TinyLLM#17",),
    "mask.compose": ("AI-Hypercomputer/maxtext#878",),
    "mask.ignored": ("AI-Hypercomputer/maxtext#878",),
    "mask.polarity": ("NVIDIA/TransformerEngine#614", "pytorch/pytorch#170415"),
    "mask.broadcast": ("lucidrains/graph-transformer-pytorch#2",),
    "mask.after_softmax": ("huggingface/pytorch-image-models#2236",),
    "mask.finite": ("TransformerLensOrg/TransformerLens#385",),
    "mask.finite_fill": ("TransformerLensOrg/TransformerLens#385",),
    "dead_row": ("pytorch/pytorch#103749", "huggingface/transformers#38690"),
    "masked_value_nan_propagates": ("pytorch/pytorch#101967",),
    "cross_attention.causal": ("huggingface/transformers#48172",),
    "kv_len.ignored": ("jax-ml/jax#23349",),
    "scale.missing": ("mlc-ai/mlc-llm#3426",),
    "scale.uses_padded_dim": ("intel/ipex-llm#12619",),
    "scale.user_ignored": ("tenstorrent/tt-metal#33304",),
    "scale.after_softmax": ("FrancescoSaverioZuppichini/ViT#2",),
    "bias.scaled": ("tenstorrent/tt-metal#42891",),
    "softmax.axis": ("nerdai/llms-from-scratch-rs#30",),
    "tile.pad_keys_counted": ("flashinfer-ai/flashinfer#5090", "jax-ml/jax#27224"),
    "merge.lse_base": ("sgl-project/sglang#35045", "vllm-project/vllm#47079"),
    "numeric.fp16_overflow_qk": ("pytorch/pytorch#119131", "huggingface/transformers#17437"),
    "numeric.softmax_fp16": ("Dao-AILab/flash-attention#613",),
    "numeric.pv_accumulate_fp16": ("philipturner/metal-flash-attention#8",),
    "gqa.tile": ("onnx/onnx#7274", "apple/axlearn#842"),
    "heads.merge_without_transpose": ("jsbaan/transformer-from-scratch#6",),
    "window.size": ("huggingface/transformers#39408", "NVIDIA-NeMo/Megatron-Bridge#2656"),
    "window.ignored": ("jax-ml/jax#32300",),
    "window.leaks_future": ("jax-ml/jax#39576",),
    "softcap.after_mask": ("Dao-AILab/flash-attention#1025",),
    "softcap.ignored": ("sgl-project/sglang#33915",),
    "sink.no_effect": ("NVIDIA/TransformerEngine#3551",),
    "sink.scaled": ("ROCm/rocm-libraries#12227",),
    "alibi.exponent_off_by_one": ("paiml/aprender#2143",),
    "alibi.nonpow2_formula": ("ml-explore/mlx#3071",),
    "packed.leak": ("huggingface/transformers#46634", "axolotl-ai-cloud/axolotl#3796"),
    "batch.rows_not_independent": ("openvinotoolkit/openvino#37381",),
    "input.strides_ignored": ("pytorch/pytorch#181133",),
    "input.mutated": ("pytorch/pytorch#73249",),
    "dropout.active_in_eval": ("pytorch/pytorch#124464",),
    "rope.pairing": ("jzhang38/TinyLlama#24", "vllm-project/vllm#941"),
    "rope.theta": ("deepspeedai/DeepSpeed#8341",),
    "rope.scaling_ignored": ("Blaizzy/mlx-vlm#1710",),
    "rope.low_precision": ("huggingface/transformers#29285", "huggingface/candle#3520"),
}


def reports_of(key: str) -> tuple[str, ...]:
    """Threads, as owner/repository#number."""
    return _REPORTS.get(key, ())
