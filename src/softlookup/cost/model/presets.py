"""Named models: the configuration fields of public models, read by the same code as a ``config.json``.

Source: the ``config.json`` of each public repository; parameter counts of most are checked against published ones.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from softlookup.cost.model.config_json import shape_from_config
from softlookup.cost.model.shapes import ModelShape
from softlookup.errors import ModelError

_FIELDS = (
    "num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size",
    "vocab_size", "max_position_embeddings",
)  # fmt: skip
# L, D, H, Hkv, hd, F, V, trained window
_ROWS: dict[str, dict[str, tuple[int, ...]]] = {
    "llama": {
        "Llama-2-7B": (32, 4096, 32, 32, 128, 11008, 32000, 4096),
        "Llama-2-13B": (40, 5120, 40, 40, 128, 13824, 32000, 4096),
        "Llama-2-70B": (80, 8192, 64, 8, 128, 28672, 32000, 4096),
        "Llama-3-8B": (32, 4096, 32, 8, 128, 14336, 128256, 8192),
        "Llama-3-70B": (80, 8192, 64, 8, 128, 28672, 128256, 8192),
        "Llama-3.1-8B": (32, 4096, 32, 8, 128, 14336, 128256, 131072),
        "Llama-3.1-70B": (80, 8192, 64, 8, 128, 28672, 128256, 131072),
        "Llama-3.1-405B": (126, 16384, 128, 8, 128, 53248, 128256, 131072),
        "Llama-3.3-70B": (80, 8192, 64, 8, 128, 28672, 128256, 131072),
    },
    "llama tied": {
        "Llama-3.2-1B": (16, 2048, 32, 8, 64, 8192, 128256, 131072),
        "Llama-3.2-3B": (28, 3072, 24, 8, 128, 8192, 128256, 131072),
        "SmolLM2-135M": (30, 576, 9, 3, 64, 1536, 49152, 8192),
        "SmolLM2-360M": (32, 960, 15, 5, 64, 2560, 49152, 8192),
        "SmolLM2-1.7B": (24, 2048, 32, 32, 64, 8192, 49152, 8192),
        "SmolLM3-3B": (36, 2048, 16, 4, 128, 11008, 128256, 65536),
    },
    "mistral": {
        "Mistral-7B": (32, 4096, 32, 8, 128, 14336, 32000, 32768),
        "Mistral-7B-v0.3": (32, 4096, 32, 8, 128, 14336, 32768, 32768),
        "Mistral-Nemo-12B": (40, 5120, 32, 8, 128, 14336, 131072, 131072),
        "Mistral-Small-24B": (40, 5120, 32, 8, 128, 32768, 131072, 32768),
    },
    "phi3": {
        "Phi-3-mini": (32, 3072, 32, 32, 96, 8192, 32064, 131072),
        "Phi-4": (40, 5120, 40, 10, 128, 17920, 100352, 16384),
    },
    "qwen2 tied": {
        "Qwen2.5-0.5B": (24, 896, 14, 2, 64, 4864, 151936, 32768),
        "Qwen2.5-1.5B": (28, 1536, 12, 2, 128, 8960, 151936, 32768),
        "Qwen2.5-3B": (36, 2048, 16, 2, 128, 11008, 151936, 32768),
    },
    # the trained window of the configuration; YaRN reaches 131,072 and has to be switched on
    "qwen2": {
        "Qwen2.5-7B": (28, 3584, 28, 4, 128, 18944, 152064, 32768),
        "Qwen2.5-14B": (48, 5120, 40, 8, 128, 13824, 152064, 32768),
        "Qwen2.5-32B": (64, 5120, 40, 8, 128, 27648, 152064, 32768),
        "Qwen2.5-72B": (80, 8192, 64, 8, 128, 29568, 152064, 32768),
    },
    "qwen3 tied": {
        "Qwen3-0.6B": (28, 1024, 16, 8, 128, 3072, 151936, 40960),
        "Qwen3-1.7B": (28, 2048, 16, 8, 128, 6144, 151936, 40960),
        "Qwen3-4B": (36, 2560, 32, 8, 128, 9728, 151936, 40960),
        "Qwen3-4B-2507": (36, 2560, 32, 8, 128, 9728, 151936, 262144),
    },
    "qwen3": {
        "Qwen3-8B": (36, 4096, 32, 8, 128, 12288, 151936, 40960),
        "Qwen3-14B": (40, 5120, 40, 8, 128, 17408, 151936, 40960),
        "Qwen3-32B": (64, 5120, 64, 8, 128, 25600, 151936, 40960),
    },
    "gemma2": {
        "Gemma-2-2B": (26, 2304, 8, 4, 256, 9216, 256000, 8192),
        "Gemma-2-9B": (42, 3584, 16, 8, 256, 14336, 256000, 8192),
        "Gemma-2-27B": (46, 4608, 32, 16, 128, 36864, 256000, 8192),
    },
    "gemma3_text": {
        "Gemma-3-1B": (26, 1152, 4, 1, 256, 6912, 262144, 32768),
        "Gemma-3-4B": (34, 2560, 8, 4, 256, 10240, 262208, 131072),
        "Gemma-3-12B": (48, 3840, 16, 8, 256, 15360, 262208, 131072),
        "Gemma-3-27B": (62, 5376, 32, 16, 128, 21504, 262208, 131072),
    },
    "gemma4_text": {"Gemma-4-E4B": (42, 2560, 8, 2, 256, 10240, 262144, 131072)},
    "qwen3_moe": {
        "Qwen3-30B-A3B": (48, 2048, 32, 4, 128, 6144, 151936, 40960),
        "Qwen3-30B-A3B-2507": (48, 2048, 32, 4, 128, 6144, 151936, 262144),
        "Qwen3-Coder-30B-A3B": (48, 2048, 32, 4, 128, 6144, 151936, 262144),
        "Qwen3-235B-A22B": (94, 4096, 64, 4, 128, 12288, 151936, 40960),
    },
    "mixtral": {
        "Mixtral-8x7B": (32, 4096, 32, 8, 128, 14336, 32000, 32768),
        "Mixtral-8x22B": (56, 6144, 48, 8, 128, 16384, 32000, 65536),
    },
    "gpt_oss": {
        "gpt-oss-20b": (24, 2880, 64, 8, 64, 2880, 201088, 131072),
        "gpt-oss-120b": (36, 2880, 64, 8, 64, 2880, 201088, 131072),
    },
    "deepseek_v3": {
        "DeepSeek-V3": (61, 7168, 128, 128, 0, 18432, 129280, 163840),
        "DeepSeek-V3.1": (61, 7168, 128, 128, 0, 18432, 129280, 163840),
        "DeepSeek-R1": (61, 7168, 128, 128, 0, 18432, 129280, 163840),
    },
    "deepseek_v2": {
        "DeepSeek-V2-Lite": (27, 2048, 16, 16, 0, 10944, 102400, 163840),
        "DeepSeek-Coder-V2-16B": (27, 2048, 16, 16, 0, 10944, 102400, 163840),
    },
    "qwen3_5_text": {"Qwen3.5-27B": (64, 5120, 24, 4, 256, 17408, 248320, 262144)},
    "qwen3_next": {"Qwen3-Next-80B-A3B": (48, 2048, 16, 2, 256, 5120, 151936, 262144)},
}
_DELTA_NET = {"linear_num_key_heads": 16, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
              "linear_conv_kernel_dim": 4}  # fmt: skip
_MLA = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}
_FAMILY_EXTRAS: dict[str, dict[str, Any]] = {
    "gemma2": {"sliding_window": 4096},
    "gemma3_text": {"sliding_window": 1024, "sliding_window_pattern": 6},
    "gemma4_text": {"sliding_window": 512, "num_kv_shared_layers": 18, "hidden_size_per_layer_input": 256,
                    "vocab_size_per_layer_input": 262144, "global_head_dim": 512},
    "qwen3_moe": {"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768},
    "mixtral": {"num_local_experts": 8, "num_experts_per_tok": 2},
    "gpt_oss": {"sliding_window": 128, "num_local_experts": 32, "num_experts_per_tok": 4, "attention_bias": True},
    "deepseek_v3": {**_MLA, "q_lora_rank": 1536, "n_routed_experts": 256, "num_experts_per_tok": 8,
                    "n_shared_experts": 1, "moe_intermediate_size": 2048, "first_k_dense_replace": 3},
    "deepseek_v2": {**_MLA, "n_routed_experts": 64, "num_experts_per_tok": 6, "n_shared_experts": 2,
                    "moe_intermediate_size": 1408, "first_k_dense_replace": 1},
    "qwen3_5_text": {**_DELTA_NET, "linear_num_value_heads": 48},
    "qwen3_next": {**_DELTA_NET, "linear_num_value_heads": 32, "num_experts": 512, "num_experts_per_tok": 10,
                   "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512},
}  # fmt: skip
_MODEL_EXTRAS: dict[str, dict[str, Any]] = {
    "Gemma-3-1B": {"sliding_window": 512},
    "Qwen3-235B-A22B": {"moe_intermediate_size": 1536},
    "gpt-oss-120b": {"num_local_experts": 128},
}
_OTHER_NAMES = {
    "mistral7bv0.2": "mistral7b", "phi3mini128k": "phi3mini", "phi3mini4k": "phi3mini",
    "deepseekcoderv2lite": "deepseekv2lite", "deepseekcoderv216b": "deepseekv2lite", "smollm2": "smollm2135m",
    "deepseekr10528": "deepseekr1", "mistralnemo": "mistralnemo12b", "mistralsmall": "mistralsmall24b",
}  # fmt: skip


def preset_names() -> list[str]:
    """Names of every preset."""
    return [name for models in _ROWS.values() for name in models]


def preset_config(name: str) -> Mapping[str, Any]:
    """Configuration fields of a preset. Raises ``ModelError`` for an unknown name, with the nearest ones.

    Case, separators, the owner and endings such as ``-Instruct`` do not matter.

    >>> preset_config("meta-llama/Llama-3.1-8B-Instruct")["num_key_value_heads"]
    8
    """
    wanted = _plain(name)
    wanted = _OTHER_NAMES.get(wanted, wanted)
    for family, models in _ROWS.items():
        for model, row in models.items():
            if _plain(model) == wanted:
                return _config(family, model, row)
    near = difflib.get_close_matches(wanted, [_plain(each) for each in preset_names()], n=3, cutoff=0.5)
    names = [each for each in preset_names() if _plain(each) in near] or ["Llama-3.1-8B", "Qwen3-4B", "SmolLM2-135M"]
    raise ModelError(
        f"the model {name!r} is neither a file, a folder nor a known name",
        f"pass a config.json, a GGUF file, a model folder, or a name such as {', '.join(names)}",
    )


def preset_shape(name: str) -> ModelShape:
    """The shape of a preset."""
    return shape_from_config(preset_config(name), name.rsplit("/", 1)[-1])


def _config(family: str, model: str, row: tuple[int, ...]) -> dict[str, Any]:
    model_type, _, tied = family.partition(" ")
    config: dict[str, Any] = {"model_type": model_type, **dict(zip(_FIELDS, row, strict=True))}
    if not config["head_dim"]:  # MLA has three widths of its own
        del config["head_dim"]
    if not model_type.startswith("gemma"):
        config["tie_word_embeddings"] = bool(tied)
    return {**config, **_FAMILY_EXTRAS.get(model_type, {}), **_MODEL_EXTRAS.get(model, {})}


def _plain(name: str) -> str:
    text = re.sub(r"[^a-z0-9.]", "", name.lower().rsplit("/", 1)[-1])
    return re.sub(r"(instruct|chat|base|hf|it)$", "", text.removeprefix("meta"))
