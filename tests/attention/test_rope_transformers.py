"""Configs read without transformers give its own frequencies and rotations; what is not offered is refused."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers as hf

from softlookup.attention import RotaryEmbedding
from softlookup.attention.rope_config import INTERLEAVED_MODELS
from softlookup.attention.rope_scaling import LinearScaling, Llama3Scaling, YarnScaling
from softlookup.errors import UsageError

EPS = torch.finfo(torch.float32).eps
SIZES = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 1}
LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}

# name: (module with the rotary class, class prefix, config)
MODELS = {
    "llama": ("llama", "Llama", hf.LlamaConfig(**SIZES, rope_parameters={"rope_theta": 500_000.0})),
    "llama3": (
        "llama", "Llama",
        hf.LlamaConfig(**SIZES, head_dim=64, rope_parameters={**LLAMA3, "rope_theta": 500_000.0}),
    ),
    "linear": (
        "llama", "Llama",
        hf.LlamaConfig(**SIZES, rope_parameters={"rope_type": "linear", "factor": 3.0, "rope_theta": 10_000.0}),
    ),
    "yarn": (
        "qwen2", "Qwen2",
        hf.Qwen2Config(
            **SIZES, head_dim=128, max_position_embeddings=131072, rope_parameters={**YARN, "rope_theta": 1e6}
        ),
    ),
    "yarn not truncated": (
        "gpt_oss", "GptOss",
        hf.GptOssConfig(
            **SIZES, head_dim=64, max_position_embeddings=131072,
            rope_parameters={
                "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
                "original_max_position_embeddings": 4096, "rope_theta": 150_000.0,
            },
        ),
    ),
    "yarn with mscale": (
        "llama", "Llama",
        hf.LlamaConfig(
            **SIZES, head_dim=64, max_position_embeddings=163840,
            rope_parameters={
                "rope_type": "yarn", "factor": 40.0, "mscale": 1.0, "mscale_all_dim": 0.707, "beta_fast": 16,
                "beta_slow": 2, "original_max_position_embeddings": 4096, "rope_theta": 10_000.0,
            },
        ),
    ),
    "yarn with a given factor": (
        "llama", "Llama",
        hf.LlamaConfig(
            **SIZES, head_dim=8, max_position_embeddings=256,
            rope_parameters={
                "rope_type": "yarn", "factor": 4.0, "attention_factor": 0.7, "rope_theta": 10_000.0,
                "original_max_position_embeddings": 64,
            },
        ),
    ),
    "phi3 partial": (
        "phi3", "Phi3",
        hf.Phi3Config(
            **SIZES, head_dim=32, pad_token_id=0,
            rope_parameters={"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.75},
        ),
    ),
    "glm partial interleaved": (
        "glm", "Glm",
        hf.GlmConfig(
            **SIZES, head_dim=16, pad_token_id=0,
            rope_parameters={"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.5},
        ),
    ),
    "cohere interleaved": ("cohere", "Cohere", hf.CohereConfig(**SIZES, rope_parameters={"rope_theta": 8e6})),
}  # fmt: skip


def frequency_error(theta):
    """Relative bound of a float32 frequency: the exponent's rounding grows by ln(theta), then a dozen operations."""
    return EPS * (math.log(theta) + 12)


def check_model(name, generator, change=lambda embedding: embedding) -> None:
    folder, prefix, config = MODELS[name]
    module = importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")
    theirs = getattr(module, f"{prefix}RotaryEmbedding")(config=config)
    embedding = change(RotaryEmbedding.from_config(config.to_dict()))
    relative = frequency_error(config.rope_parameters["rope_theta"])
    want = theirs.inv_freq.double()
    assert embedding.frequencies.shape == want.shape
    assert ((embedding.frequencies - want).abs() / want).max() <= relative, "frequencies differ"
    assert embedding.attention_factor == pytest.approx(theirs.attention_scaling, rel=EPS), "factors differ"

    positions = torch.tensor([0, 1, 2, 257, 1023, 4095])
    query, key = (torch.randn(2, heads, 6, embedding.head_dim, generator=generator) for heads in (4, 2))
    cos, sin = theirs(query, positions[None])
    if name.startswith("yarn not"):  # gpt-oss keeps one half of the table, and has a function of its own
        expected = [module._apply_rotary_emb(x, cos[:, None], sin[:, None]) for x in (query, key)]
    else:
        expected = module.apply_rotary_pos_emb(query, key, cos, sin)
    for x, want_x in zip((query, key), expected, strict=True):
        largest = 2 * float(x.abs().max()) * embedding.attention_factor
        angle = positions[:, None] * embedding.frequencies.max() * (relative + EPS)  # error of a float32 angle
        difference = (embedding.apply(x, positions) - want_x).abs().amax((0, 1))
        assert (difference <= largest * (angle + 6 * EPS)).all(), "rotations differ"


@pytest.mark.parametrize("name", MODELS)
def test_rotation_equals_transformers(name, generator):
    check_model(name, generator)


def test_gptj_rotation_equals_transformers(generator):
    """Its config has neither rope_theta nor head_dim, so the embedding is built by hand."""
    from transformers.models.gptj import modeling_gptj as module

    config = hf.GPTJConfig(n_embd=64, n_head=4, rotary_dim=8, n_positions=512)
    embedding = RotaryEmbedding(16, rotary_dim=8, pairing="interleaved")
    x = torch.randn(1, 3, 5, 16, generator=generator)
    positions = torch.tensor([0, 1, 9, 200, 511])
    sin, cos = module.GPTJRotaryEmbedding(config)(x, positions[None])
    want = module.apply_rotary_pos_emb(x.transpose(1, 2)[..., :8], sin, cos).transpose(1, 2)
    got = embedding.apply(x, positions)
    bound = 2 * float(x.abs().max()) * (511 * frequency_error(10_000.0) + 6 * EPS)
    assert float((got[..., :8] - want).abs().max()) <= bound
    assert torch.equal(got[..., 8:], x[..., 8:])


CHANGES = {
    "llama": lambda e: replace(e, theta=e.theta * 1.0001),
    "llama3": lambda e: replace(e, scaling=None),
    "linear": lambda e: replace(e, scaling=None),
    "yarn": lambda e: replace(e, scaling=replace(e.scaling, given_attention_factor=1.0)),
    "yarn not truncated": lambda e: replace(e, scaling=replace(e.scaling, truncate=True)),
    "yarn with mscale": lambda e: replace(e, scaling=replace(e.scaling, mscale=None)),
    "yarn with a given factor": lambda e: replace(e, scaling=replace(e.scaling, given_attention_factor=None)),
    "phi3 partial": lambda e: replace(e, rotary_dim=None),
    "glm partial interleaved": lambda e: replace(e, pairing="half"),
    "cohere interleaved": lambda e: replace(e, pairing="half"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_changed_embedding_is_caught(name, generator):
    with pytest.raises(AssertionError):
        check_model(name, generator, CHANGES[name])


@pytest.mark.parametrize("name", sorted(INTERLEAVED_MODELS))
def test_models_listed_as_interleaved_pair_neighbours(name):
    folder = name.removesuffix("_text")
    source = Path(importlib.import_module(f"transformers.models.{folder}.modeling_{folder}").__file__).read_text()
    assert any(sign in source for sign in ("x[..., 0::2]", "x[..., ::2]", "x[:, :, :, ::2]", "view_as_complex"))


# --- reading configs


def test_the_older_names():
    old = {
        "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 10_000.0, "max_position_embeddings": 4096,
        "rope_scaling": {"type": "linear", "factor": 2.0}, "partial_rotary_factor": 0.5,
    }  # fmt: skip
    assert RotaryEmbedding.from_config(old) == RotaryEmbedding(16, rotary_dim=8, scaling=LinearScaling(2.0))
    assert RotaryEmbedding.from_config({**old, "rope_scaling": None}).scaling is None
    assert RotaryEmbedding.from_config({**old, "head_dim": 24}).head_dim == 24
    assert RotaryEmbedding.from_config({**old, "rotary_dim": 4}).rotated == 4
    assert RotaryEmbedding.from_config(old, pairing="interleaved").pairing == "interleaved"


def test_the_trained_length_beside_the_parameters_wins():
    config = {"head_dim": 64, "rope_theta": 5e5, "max_position_embeddings": 99, "rope_parameters": LLAMA3}
    assert RotaryEmbedding.from_config(config).scaling == Llama3Scaling(8.0, 1.0, 4.0, 8192)
    beside = {**config, "original_max_position_embeddings": 2048}
    assert RotaryEmbedding.from_config(beside).scaling == Llama3Scaling(8.0, 1.0, 4.0, 2048)
    without = {key: value for key, value in LLAMA3.items() if key != "original_max_position_embeddings"}
    assert RotaryEmbedding.from_config({**config, "rope_parameters": without}).scaling == Llama3Scaling(8, 1, 4, 99)


def test_yarn_without_a_factor_takes_the_ratio_of_lengths():
    yarn = {"type": "yarn", "factor": None, "original_max_position_embeddings": 4096}
    config = {"head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 16384, "rope_scaling": yarn}
    assert RotaryEmbedding.from_config(config).scaling == YarnScaling(4.0, 4096)


def test_layer_types():
    config = hf.Gemma3TextConfig(head_dim=16).to_dict()
    local = RotaryEmbedding.from_config(config, layer_type="sliding_attention")
    whole = RotaryEmbedding.from_config(config, layer_type="full_attention")
    assert (local.theta, whole.theta) == (10_000.0, 1_000_000.0)
    with pytest.raises(UsageError, match="full_attention, sliding_attention; got layer_type=None"):
        RotaryEmbedding.from_config(config)
    old = {
        "head_dim": 16, "rope_theta": 1e6, "rope_local_base_freq": 1e4,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    }  # fmt: skip
    assert RotaryEmbedding.from_config(old, layer_type="sliding_attention") == replace(local, rotary_dim=16)
    assert RotaryEmbedding.from_config(old, layer_type="full_attention").scaling == LinearScaling(8.0)
    with pytest.raises(UsageError, match="of its own for sliding layers, got layer_type=None"):
        RotaryEmbedding.from_config(old)


BASE = {"head_dim": 16, "rope_theta": 1e4, "max_position_embeddings": 64}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({**BASE, "rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, "'dynamic' is not offered: its freq"),
        ({**BASE, "rope_parameters": {"rope_type": "longrope", "short_factor": [1]}}, "'longrope' is not offered"),
        ({**BASE, "rope_scaling": {"type": "su"}}, "'su' is not offered"),
        ({**BASE, "rope_parameters": {"rope_type": "proportional"}}, "'proportional' is not offered"),
        ({**BASE, "rope_scaling": {"type": "default", "mrope_section": [2, 3, 3]}}, "mrope_section are not known"),
        ({**BASE, "rope_scaling": {"type": "linear"}}, "'linear' needs factor"),
        ({**BASE, "rope_scaling": {"type": "linear", "factor": 0}}, "positive factor, got 0"),
        ({**BASE, "rope_scaling": {"type": "llama3", "factor": 2.0}}, "'llama3' needs low_freq_factor"),
        ({**BASE, "rope_scaling": {**LLAMA3, "low_freq_factor": 4.0}}, "high_freq_factor above low_freq_factor"),
        ({"head_dim": 16, "rope_theta": 1e4, "rope_scaling": {"type": "yarn", "factor": 2.0}}, "needs original_max"),
        ({**BASE, "rope_scaling": {**YARN, "beta_fast": 1, "beta_slow": 2}}, "beta_fast at or above beta_slow"),
        ({**BASE, "rope_scaling": {**YARN, "attention_factor": -1.0}}, "positive attention_factor, got -1.0"),
        ({**BASE, "rope_scaling": "linear"}, "must be a mapping, got str"),
        ({"head_dim": 16}, "names no rope_theta"),
        ({"rope_theta": 1e4}, "names no head_dim, nor hidden_size"),
        ({**BASE, "qk_rope_head_dim": 64}, "latent attention"),
        ({**BASE, "partial_rotary_factor": 0.2}, "rotary_dim must be even"),
    ],
)
def test_what_is_not_understood_is_refused(config, message):
    with pytest.raises(UsageError, match=message):
        RotaryEmbedding.from_config(config)
