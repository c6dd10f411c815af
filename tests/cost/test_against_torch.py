"""The cost model against what torch really does: bytes of transformers' cache, FLOPs of torch's own counter."""

from __future__ import annotations

import pytest

from softlookup.cost.flops import model_flops
from softlookup.cost.kv_cache import EnginePolicy, KVDtypes, kv_bytes, state_bytes
from softlookup.cost.model.config_json import shape_from_config

TOKENS = 50
BASE = {
    "hidden_size": 64, "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 24,
    "intermediate_size": 96, "vocab_size": 80, "max_position_embeddings": 256, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2,
}  # fmt: skip
LATENT = {"kv_lora_rank": 32, "q_lora_rank": 40, "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 20,
          "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "n_shared_experts": 1,
          "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1, "num_key_value_heads": 4,
          "head_dim": None}  # fmt: skip
MODELS = {
    "llama": {}, "qwen2": {"num_key_value_heads": 1}, "gemma3_text": {"sliding_window": 16},
    "gemma4_text": {"sliding_window": 16, "global_head_dim": 40, "num_kv_shared_layers": 2,
                    "layer_types": ["sliding_attention", "full_attention"] * 3,
                    "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 80},
    "qwen3_next": {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 16,
                   "linear_value_head_dim": 24, "linear_conv_kernel_dim": 4, "num_experts": 4,
                   "num_experts_per_tok": 2, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 24},
    "gpt_oss": {"sliding_window": 16, "num_local_experts": 4, "num_experts_per_tok": 2}, "deepseek_v3": LATENT,
}  # fmt: skip


def built(model_type):
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    fields = {name: value for name, value in {**BASE, **MODELS[model_type]}.items() if value is not None}
    config = AutoConfig.for_model(model_type, **fields)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).eval()
    return model, shape_from_config(config.to_dict(), model_type), torch.arange(3, 3 + TOKENS)[None]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model_type", MODELS)
def test_the_cache_of_transformers(model_type):
    """Window layers keep W - 1 tokens, MLA its latent vector: the policy's bytes are those of the cache's tensors."""
    import torch

    model, shape, ids = built(model_type)
    with torch.no_grad():
        layers = model(ids, use_cache=True).past_key_values.layers
    tensors = [getattr(layer, name, None) for layer in layers for name in ("keys", "values")]
    held = sum(tensor.nbytes for tensor in tensors if tensor is not None)
    predicted = kv_bytes(shape, TOKENS, KVDtypes("f32", "f32"), EnginePolicy("transformers"))
    assert predicted == held
    if "sliding_window" in MODELS[model_type]:  # planted: without the window the sizes differ
        assert predicted < kv_bytes(shape, TOKENS, KVDtypes("f32", "f32"), EnginePolicy("llama.cpp", swa_full=True))


@pytest.mark.filterwarnings("ignore")
def test_the_state_of_transformers_recurrent_layers():
    import torch

    model, shape, ids = built("qwen3_next")
    with torch.no_grad():
        layers = model(ids, use_cache=True).past_key_values.layers
    states = [state for layer in layers for kind in ("recurrent_states", "conv_states")
              for state in getattr(layer, kind, {}).values()]  # fmt: skip
    assert len(states) >= 4
    assert state_bytes(shape) == sum(state.nbytes for state in states)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model_type", ["llama", "qwen2"])
def test_flops_by_torchs_counter(model_type):
    """Exactly: the products, and the square that eager attention computes, which is 2T/(T+1) of the causal count."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    model, shape, ids = built(model_type)
    model.set_attn_implementation("eager")
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        model(ids, use_cache=False, logits_to_keep=1)
    expected = model_flops(shape, TOKENS)
    square = expected.attention * 2 * TOKENS // (TOKENS + 1)
    assert counter.get_total_flops() == expected.linear + square
