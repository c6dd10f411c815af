"""Shapes from config.json: every parameter counted as transformers counts it; missing and absurd fields in one line."""

from __future__ import annotations

import json

import pytest

from softlookup.cost.model import config_weights
from softlookup.cost.model.config_json import shape_from_config, shape_from_config_file
from softlookup.cost.model.presets import preset_config, preset_names, preset_shape
from softlookup.errors import ModelError

BASE = {
    "hidden_size": 128, "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 160, "vocab_size": 500, "max_position_embeddings": 4096, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2,
}  # fmt: skip
LLAMA = {**BASE, "model_type": "llama"}
HEADS = {"head_dim": 48}
WINDOW = {"sliding_window": 64}
MOE = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
LATENT = {"kv_lora_rank": 32, "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 16}
ROUTED = {"n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "n_shared_experts": 1,
          "n_group": 2, "topk_group": 1}  # fmt: skip
DELTA = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 16,
         "linear_value_head_dim": 24, "linear_conv_kernel_dim": 4}  # fmt: skip
CASES = {
    "llama": {"attention_bias": True, "mlp_bias": True},
    "mistral": {},
    "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "qwen2": {},
    "qwen2_moe": {**MOE, "shared_expert_intermediate_size": 40, "mlp_only_layers": [1]},
    "qwen3": HEADS,
    "qwen3_moe": {**MOE, **HEADS, "decoder_sparse_step": 2},
    "gemma": {**HEADS, "num_key_value_heads": 1},
    "gemma2": {**HEADS, **WINDOW},
    "gemma3_text": {**HEADS, **WINDOW},
    "gemma4_text": {
        **HEADS, **WINDOW, "global_head_dim": 96, "num_kv_shared_layers": 2, "hidden_size_per_layer_input": 16,
        "vocab_size_per_layer_input": 500, "use_double_wide_mlp": True,
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2,
    },
    "phi3": {},
    "smollm3": {},
    "olmo": {},
    "olmo2": {},
    "olmo3": WINDOW,
    "cohere": {"use_qk_norm": False},
    "cohere2": WINDOW,
    "starcoder2": {},
    "gpt_oss": {**HEADS, **WINDOW, "num_local_experts": 6, "num_experts_per_tok": 2},
    "deepseek_v2": {**LATENT, **ROUTED, "q_lora_rank": None, "first_k_dense_replace": 1},
    "deepseek_v3": {**LATENT, **ROUTED, "q_lora_rank": 40, "first_k_dense_replace": 2},
    "glm4_moe": {**HEADS, **ROUTED, "first_k_dense_replace": 1, "attention_bias": True, "use_qk_norm": True},
    "qwen3_next": {**HEADS, **MOE, **DELTA, "shared_expert_intermediate_size": 40},
    "qwen3_5_text": {**HEADS, **DELTA},
    "llama4_text": {**HEADS, "num_local_experts": 4, "num_experts_per_tok": 1, "intermediate_size_mlp": 200,
                    "interleave_moe_layer_step": 2},
    "granite": {},
}  # fmt: skip


def counted_by_transformers(model_type, fields):
    """(parameters of the model on the meta device, its configuration as transformers writes it)."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(model_type, **fields)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    # the bias of DeepSeek's router is a buffer there and a tensor in the checkpoint
    biases = sum(buffer.numel() for name, buffer in model.named_buffers() if "e_score_correction" in name)
    return sum(parameter.numel() for parameter in model.parameters()) + biases, config.to_dict()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model_type", CASES)
def test_parameters_are_those_of_the_transformers_model(model_type):
    fields = {**BASE, **CASES[model_type]}
    expected, written = counted_by_transformers(model_type, fields)
    assert shape_from_config({**fields, "model_type": model_type}, "short").parameters == expected
    # the long form with every default spelled out, nested as in a multimodal model
    nested = {"text_config": written, "tie_word_embeddings": written["tie_word_embeddings"]}
    assert shape_from_config(nested, "long").parameters == expected


@pytest.mark.filterwarnings("ignore")
def test_a_forgotten_norm_or_a_wrong_divisor_is_found(monkeypatch):
    """Planted faults: the same comparison must fail for each of them."""
    fields = {**BASE, **CASES["qwen3"]}
    expected, _ = counted_by_transformers("qwen3", fields)
    config = {**fields, "model_type": "qwen3"}
    with monkeypatch.context() as patch:
        patch.setattr(config_weights, "_qk_norm", lambda *_, **__: 0)
        assert shape_from_config(config, "fault").parameters != expected
    with monkeypatch.context() as patch:  # D/H although head_dim is stated
        patch.setattr(config_weights, "head_dim", lambda _, width, heads: width // heads)
        assert shape_from_config(config, "fault").parameters != expected
    without_heads = {name: value for name, value in config.items() if name != "num_key_value_heads"}
    assert shape_from_config(without_heads, "fault").parameters != expected
    assert shape_from_config({**config, "tie_word_embeddings": True}, "fault").parameters != expected
    assert shape_from_config(config, "healthy").parameters == expected


PUBLISHED = {
    "Llama-3.1-8B": 8_030_261_248, "Qwen3-0.6B": 596_049_920, "Gemma-3-1B": 999_885_952, "gpt-oss-20b": 20_914_757_184,
    "SmolLM2-135M": 134_515_008, "SmolLM3-3B": 3_075_098_624, "Phi-4": 14_659_507_200, "Gemma-2-9B": 9_241_705_984,
    "DeepSeek-V3": 671_026_419_200, "Mixtral-8x22B": 140_620_634_112, "Qwen2.5-0.5B": 494_032_768,
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_presets_have_the_published_counts(name):
    assert preset_shape(name).parameters == PUBLISHED[name]


def test_every_preset_is_complete():
    for name in preset_names():
        shape = preset_shape(name)
        assert shape.notes == (), name
        assert shape.context, name
        assert shape.active_parameters <= shape.parameters


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B"), ("qwen3_30b_a3b", "Qwen3-30B-A3B"),
     ("google/gemma-3-27b-it", "Gemma-3-27B"), ("mistral-7b-v0.2", "Mistral-7B"), ("GPT-OSS-20B", "gpt-oss-20b")],
)  # fmt: skip
def test_spellings_of_a_preset(spelling, name):
    assert preset_config(spelling) == preset_config(name)


def test_an_unknown_preset_names_near_ones():
    with pytest.raises(ModelError, match=r"'Llama-3\.1-9B' is neither.*Llama-3\.1-8B"):
        preset_shape("Llama-3.1-9B")


def test_active_parameters_count_k_of_e_experts():
    mixtral = preset_shape("Mixtral-8x7B")
    assert mixtral.active_parameters == 12_879_925_248
    assert preset_shape("Qwen3-30B-A3B").active_parameters == 3_353_032_704
    assert preset_shape("Llama-3.1-8B").active_parameters == preset_shape("Llama-3.1-8B").parameters


def test_layer_kinds():
    gemma = preset_shape("Gemma-3-27B")
    assert [layer.kind for layer in gemma.layers[:6]] == ["window"] * 5 + ["full"]
    assert sum(layer.kind == "full" for layer in gemma.layers) == 10
    assert sum(layer.kind == "full" for layer in preset_shape("Qwen3.5-27B").layers) == 16
    assert {layer.kind for layer in preset_shape("DeepSeek-V3").layers} == {"latent"}
    e4b = preset_shape("Gemma-4-E4B").layers
    assert [sum(layer.owner is None and layer.kind == kind for layer in e4b) for kind in ("full", "window")] == [4, 20]
    assert e4b[41].owner == 23  # the last full layer that has its own
    assert e4b[40].owner == 22


def test_heads_of_keys_and_values():
    """MHA, GQA, MQA: stated, stated otherwise, or by the flag of the older multi-query models."""
    plain = {name: value for name, value in LLAMA.items() if name != "num_key_value_heads"}
    for change, heads in (({}, 4), ({"num_key_value_heads": 2}, 2), ({"num_kv_heads": 2}, 2),
                          ({"multi_query": True}, 1),
                          ({"multi_query": True, "new_decoder_architecture": True, "num_kv_heads": 2}, 2)):  # fmt: skip
        shape = shape_from_config({**plain, **change}, "heads")
        assert {layer.kv_heads for layer in shape.layers} == {heads}
        assert bool(shape.notes) == (not change)  # an assumption is told


def test_qwen_windows_are_off_unless_switched_on():
    config = {**BASE, "model_type": "qwen2", "sliding_window": 64, "use_sliding_window": False, "max_window_layers": 4}
    assert {layer.kind for layer in shape_from_config(config, "off").layers} == {"full"}
    config["use_sliding_window"] = True
    assert [layer.kind for layer in shape_from_config(config, "on").layers] == ["full"] * 4 + ["window"] * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_size": None}, "does not state hidden_size"),
        ({"num_hidden_layers": None}, "does not state num_hidden_layers"),
        ({"vocab_size": None}, "does not state vocab_size"),
        ({"num_attention_heads": None}, "does not state num_attention_heads"),
        ({"intermediate_size": None}, "does not state intermediate_size"),
        ({"hidden_size": -128}, "hidden_size of .* must be a whole number from 1"),
        ({"hidden_size": 10**15}, "hidden_size of .* must be a whole number"),
        ({"hidden_size": "128"}, "hidden_size of .* must be a whole number"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers of .* must be a whole number from 1 to 2,000"),
        ({"num_key_value_heads": 3}, "multiple of key/value heads, got 4 and 3"),
        ({"hidden_size": 130}, "no head_dim"),
        ({"layer_types": ["full_attention"]}, "must list 6 names"),
        ({"layer_types": ["mamba"] * 6}, "layer type 'mamba'"),
        ({"layer_types": ["sliding_attention"] * 6}, "does not state sliding_window"),
        ({"tie_word_embeddings": "yes"}, "must be true or false"),
        ({"num_experts": 4, "num_experts_per_tok": 8}, "cannot use 8 of 4 experts"),
        ({"num_experts": 4}, "does not state num_experts_per_tok"),
        ({"num_kv_shared_layers": 6}, "no full layer is left"),
        ({"model_type": "gemma3_text"}, "does not state sliding_window"),
        ({"model_type": "qwen3_next"}, "does not state linear_num_key_heads"),
        ({"kv_lora_rank": 8}, "does not state qk_rope_head_dim"),
    ],
)  # fmt: skip
def test_bad_configurations_are_told_in_one_line(change, message):
    with pytest.raises(ModelError, match=message) as caught:
        shape_from_config({**LLAMA, **change}, "bad")
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    assert shape_from_config(LLAMA, "healthy").parameters > 0


def test_an_unknown_family_says_what_was_assumed():
    shape = shape_from_config({**LLAMA, "model_type": "newcomer"}, "new")
    assert any("'newcomer' is not known" in note for note in shape.notes)
    assert not shape_from_config(LLAMA, "known").notes


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not valid JSON"), ("[1]", "not a JSON object"), ("[" * 100_000, "not valid JSON"),
     ('{"text_config": 1}', "text_config")],
)  # fmt: skip
def test_files_that_are_no_configuration(tmp_path, text, message):
    path = tmp_path / "config.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ModelError, match=message):
        shape_from_config_file(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        shape_from_config_file(tmp_path / "config.json")


def test_the_storage_type_of_the_weights(tmp_path):
    path = tmp_path / "config.json"
    for fields, expected in (
        ({"torch_dtype": "float16"}, "float16"), ({"dtype": "float32"}, "float32"), ({}, None),
        ({"torch_dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"}}, "fp8"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "q4_0"),
    ):  # fmt: skip
        path.write_text(json.dumps({**LLAMA, **fields}), "utf-8")
        assert shape_from_config_file(path).dtype == expected
