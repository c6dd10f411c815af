"""Any configuration and any number either gives a plan or one typed line: no other error, no endless run."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softlookup.cost.devices import device_names, find_device
from softlookup.cost.kv_cache import ENGINES, EnginePolicy
from softlookup.cost.model.config_json import shape_from_config
from softlookup.cost.model.model_source import find_model
from softlookup.cost.model.presets import preset_config, preset_names
from softlookup.cost.plan.estimate import estimate
from softlookup.cost.plan.request import PlanRequest
from softlookup.errors import SoftlookupError

FIELDS = (
    "num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size",
    "vocab_size", "max_position_embeddings", "sliding_window", "layer_types", "model_type", "kv_lora_rank",
    "num_experts", "num_experts_per_tok", "tie_word_embeddings", "quantization_config", "text_config",
    "per_layer_config", "torch_dtype", "num_kv_shared_layers", "full_attention_interval", "mlp_only_layers",
    "use_sliding_window", "max_window_layers",
)  # fmt: skip
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.integers(), st.floats(), st.text(max_size=8),
    st.lists(st.integers(-1, 3), max_size=3), st.dictionaries(st.sampled_from(FIELDS), st.integers(), max_size=2),
    st.sampled_from(["gemma3_text", "gpt_oss", "qwen3_next", "deepseek_v3", "float32", 1 << 70]),
)  # fmt: skip
SLOW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(st.sampled_from(preset_names()), st.dictionaries(st.sampled_from(FIELDS), ODD, min_size=1, max_size=4))
def test_any_configuration(tmp_path_factory, name, changes):
    config = {**preset_config(name), **changes}
    path = tmp_path_factory.mktemp("config") / "config.json"
    path.write_text(json.dumps(config), "utf-8")
    refusal = None
    try:
        found = estimate(PlanRequest(find_model(str(path)), 5000, find_device("H100")))
        json.dumps(found.to_dict(), allow_nan=False)
    except SoftlookupError as error:
        refusal = error
    assert refusal is None or (refusal.remedy and "\n" not in str(refusal))


@SLOW
@given(
    st.sampled_from(preset_names()), st.integers(1, 1 << 39), st.sampled_from([*device_names(), "auto", "64xH100"]),
    st.sampled_from(ENGINES), st.integers(1, 10**6), st.integers(1, 10**5), st.sampled_from(["bf16", "q4_k_m", "f32"]),
)  # fmt: skip
def test_any_plan(name, tokens, device, engine, answer, concurrency, dtype):
    request = PlanRequest(
        find_model(name, dtype), tokens, find_device(device), answer_tokens=answer, concurrency=concurrency,
        engine=EnginePolicy(engine),
    )  # fmt: skip
    found = estimate(request)
    json.dumps(found.to_dict(), allow_nan=False)
    chosen = [row for row in found.strategies if row.name == found.decision.strategy]
    assert (found.decision.strategy == "none") == (not chosen)
    assert all(not row.obstacle for row in chosen)
    if found.decision.strategy == "none":
        assert all(row.obstacle for row in found.strategies)


@pytest.mark.parametrize("depth", [10, 10_000])
def test_nested_configurations(depth):
    """Only one level of ``text_config`` is read: deeper ones are a missing field, not a recursion."""
    config = dict(preset_config("Llama-3.1-8B"))
    for _ in range(depth):
        config = {"text_config": config}
    with pytest.raises(SoftlookupError, match="does not state"):
        shape_from_config(config, "deep")
