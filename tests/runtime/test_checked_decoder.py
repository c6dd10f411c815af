"""Models of transformers as decoders: ten classes conform under eager and sdpa, planted faults in them are named."""

import json

import pytest
import torch
import transformers as hf

from softlookup.cli import main
from softlookup.conformance import check_model
from softlookup.errors import ModelError
from softlookup.runtime.checked_decoder import CheckedDecoder, capture_decoder
from softlookup.runtime.tiny_config import read_config, tiny_config, tiny_model
from tiny_models import build_model, save_folder

CONFIGS = {
    "llama": lambda: hf.LlamaConfig(num_key_value_heads=8, head_dim=32),
    "mistral": lambda: hf.MistralConfig(head_dim=32),
    "qwen2": lambda: hf.Qwen2Config(use_sliding_window=True, max_window_layers=1, num_key_value_heads=8),
    "qwen3": lambda: hf.Qwen3Config(num_key_value_heads=8, head_dim=32),
    "gemma3": lambda: hf.Gemma3TextConfig(head_dim=32, query_pre_attn_scalar=32),
    "phi3": lambda: hf.Phi3Config(sliding_window=2047),
    "gpt2": hf.GPT2Config,
    "gpt_neox": hf.GPTNeoXConfig,
    "mixtral": lambda: hf.MixtralConfig(head_dim=32),
    "olmo2": lambda: hf.Olmo2Config(num_key_value_heads=8),
    "cohere": hf.CohereConfig,
    "stablelm": hf.StableLmConfig,
    "opt": hf.OPTConfig,
}


def checked(model, **options):
    return check_model(CheckedDecoder(model, **options), capture=capture_decoder, budget=300)


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize("kind", CONFIGS)
def test_a_class_of_transformers_conforms(kind, implementation):
    report = checked(tiny_model(CONFIGS[kind](), implementation))
    assert report.conforms, report.findings
    statuses = {probe.id: probe.status for probe in report.probes}
    assert statuses["cache.decode"] == statuses["chunk.prefill"] == statuses["cache.static"] == "pass"
    assert statuses["kernel.decoding"] == "pass"


@pytest.mark.parametrize("kind", ["gemma2", "gpt_oss"])
def test_softcap_and_sinks_conform_with_eager(kind):
    model = build_model(kind, 640)
    model.set_attn_implementation("eager")
    report = checked(model)
    assert report.conforms, report.findings


def test_the_small_configuration_keeps_one_layer_of_each_kind_and_a_short_window():
    config = tiny_config(hf.Gemma3TextConfig())
    assert sorted(config.layer_types) == ["full_attention", "sliding_attention"]
    assert config.num_hidden_layers == 2
    assert config.sliding_window == 4
    assert tiny_config(hf.LlamaConfig()).num_key_value_heads == 4
    assert tiny_config(hf.LlamaConfig(num_key_value_heads=8)).num_key_value_heads == 2


def test_packed_documents_are_held_to_a_promise():
    model = build_model("gpt_oss", 640)
    model.set_attn_implementation("eager")
    assert [finding.code for finding in checked(model, packed=True).serious] == ["packed.leak(position_reset_only)"]
    assert checked(tiny_model(CONFIGS["llama"](), "sdpa"), packed=True).conforms


@pytest.fixture
def llama():
    return tiny_model(CONFIGS["llama"](), "sdpa")


def test_a_wrong_theta_is_named(llama):
    width = llama.config.head_dim
    llama.model.rotary_emb.inv_freq = 500.0 ** -(torch.arange(0, width, 2) / width)
    found = checked(llama).serious
    assert [finding.key for finding in found] == ["rope.theta"]
    assert found[0].code.startswith("rope.theta=500(")


def test_a_value_that_is_not_cached_is_found(llama, monkeypatch):
    plain = hf.cache_utils.DynamicLayer.update

    def update(self, key, value, *args, **given):
        if self.is_initialized and self.keys.numel():
            value = torch.zeros_like(value)
        return plain(self, key, value, *args, **given)

    monkeypatch.setattr(hf.cache_utils.DynamicLayer, "update", update)
    assert [finding.code for finding in checked(llama).serious] == ["cache.v_not_updated"]


def test_a_decode_position_that_is_off_is_named(llama, monkeypatch):
    plain = type(llama.model).forward

    def forward(self, *args, **given):
        cache = given.get("cache")
        if given.get("position_ids") is None and cache is not None and cache.get_seq_length():
            start = cache.get_seq_length() + 1
            given["position_ids"] = torch.arange(start, start + given["input_ids"].shape[1])[None]
        return plain(self, *args, **given)

    monkeypatch.setattr(type(llama.model), "forward", forward)
    assert [finding.code for finding in checked(llama).serious] == ["decode.position=+1"]


def test_a_kernel_with_its_own_scale_is_named(llama, monkeypatch):
    plain = hf.modeling_utils.ALL_ATTENTION_FUNCTIONS["sdpa"]

    def kernel(module, query, key, value, mask, **given):
        return plain(module, query, key, value, mask, **{**given, "scaling": 1.0})

    # not the global mapping: a local entry that another test has left would hide it
    monkeypatch.setitem(hf.modeling_utils.ALL_ATTENTION_FUNCTIONS, "sdpa", kernel)
    found = checked(llama).serious
    assert len(found) == 1
    assert found[0].code.startswith("scale.")


def test_an_encoder_is_refused():
    model = hf.BertModel(hf.BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=64))
    with pytest.raises(ModelError):
        CheckedDecoder(torch.nn.Linear(2, 2))
    with pytest.raises(ModelError):
        read_config({"model_type": "no such model"})
    assert model is not None


def test_the_command_checks_a_configuration_and_weights(tmp_path, capsys):
    folder = save_folder(tmp_path / "m")
    assert main(["check", "--model", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["conforms"]
    assert [report["contract"] for report in found["reports"]] == ["one pass", "one pass", "weights"]
    (folder / "model.safetensors").unlink()
    assert main(["check", "--model", str(folder / "config.json")]) == 0
    assert capsys.readouterr().out.count("CONFORMS") == 2


def test_the_command_says_what_is_wrong(tmp_path, capsys, monkeypatch):
    folder = save_folder(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    monkeypatch.setattr(hf.cache_utils.DynamicLayer, "reorder_cache", lambda self, rows: None)
    assert main(["check", "--model", str(folder)]) == 1
    assert "LEAK  cache.reorder_ignored" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--model", "nowhere"], 5), (["module:function", "--model", "x"], 2), (["--model", "x", "--rope"], 2)],
)
def test_what_cannot_be_checked(arguments, code, capsys):
    assert main(["check", *arguments]) == code
    assert capsys.readouterr().err
