"""KV bytes by the rule, under engine policies, and in vLLM's pool; figures from public engine logs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.cost import kv_cache
from softlookup.cost.kv_cache import (
    EnginePolicy,
    KVDtypes,
    kv_bytes,
    kv_bytes_by_layer,
    kv_bytes_per_token,
    sequence_bytes,
    state_bytes,
)
from softlookup.cost.model.presets import preset_names, preset_shape
from softlookup.cost.vllm_pool import GIB, BlockPool, activation_peak, available_kv_bytes, block_pool
from softlookup.errors import CapacityError, UsageError

MIB = 1 << 20
LLAMA_CPP, VLLM, TRANSFORMERS = EnginePolicy("llama.cpp"), EnginePolicy("vllm"), EnginePolicy("transformers")


@pytest.mark.parametrize(
    ("name", "tokens", "dtype", "mib"),
    [("Llama-3.1-8B", 131_072, "f16", 16_384), ("Phi-3-mini", 4096, "f16", 1536), ("Qwen2.5-32B", 32_768, "q8_0", 4352),
     ("SmolLM2-135M", 8192, "bf16", 180), ("Qwen3.5-27B", 262_144, "bf16", 16_384),
     ("gpt-oss-20b", 4096, "f16", 96 + 3), ("DeepSeek-V3", 32_768, "q8_0", 1166.625)],
)  # fmt: skip
def test_bytes_that_engines_logged(name, tokens, dtype, mib):
    assert kv_bytes(preset_shape(name), tokens, KVDtypes(dtype, dtype)) == mib * MIB


def test_llama_cpp_gives_window_layers_whole_pads():
    """Gemma-3-27B at 131,072: 10 full layers 10,240 MiB and 52 window layers of 1,536 cells 624 MiB (PR #18720)."""
    shape = preset_shape("Gemma-3-27B")
    by_layer = kv_bytes_by_layer(shape, 131_072, KVDtypes("f16", "f16"), LLAMA_CPP)
    parts = dict.fromkeys(("full", "window"), 0)
    for layer, size in zip(shape.layers, by_layer, strict=True):
        parts[layer.kind] += size
    assert parts == {"full": 10_240 * MIB, "window": 624 * MIB}
    everything = replace(LLAMA_CPP, swa_full=True)
    assert kv_bytes(shape, 131_072, engine=everything) == 62 * 1024 * MIB


@pytest.mark.parametrize(("window", "cells"), [(512, 1024), (1024, 1536), (2048, 2560), (128, 768)])
def test_cells_of_a_window(window, cells):
    assert LLAMA_CPP.cells(100_000, window) == cells
    assert LLAMA_CPP.cells(100, window) == 256
    assert TRANSFORMERS.cells(100_000, window) == window - 1
    assert EnginePolicy().cells(100_000, window) == window
    assert EnginePolicy().cells(5, window) == 5


def test_slots_of_llama_cpp_share_the_window_cache():
    assert replace(LLAMA_CPP, n_seq=4).cells(100_000, 1024) == 4 * 1024 + 512


def test_mla_is_latent_unless_the_engine_expands_it():
    shape = preset_shape("DeepSeek-Coder-V2-16B")
    latent = kv_bytes(shape, 16_384)
    expanded = kv_bytes(shape, 16_384, engine=EnginePolicy(expand_latent=True))
    assert (latent, expanded) == (486 * MIB, 4320 * MIB)
    assert kv_bytes(shape, 16_384, engine=TRANSFORMERS) == latent


def test_shared_layers_store_nothing():
    """Gemma-4 E4B class at 32,768 in llama.cpp: 4 full layers 512 MiB, 20 window layers 40 MiB, 18 that share 0."""
    by_layer = kv_bytes_by_layer(preset_shape("Gemma-4-E4B"), 32_768, KVDtypes("f16", "f16"), LLAMA_CPP)
    assert sum(by_layer) == 552 * MIB
    assert by_layer[24:] == (0,) * 18


def test_the_state_of_recurrent_layers_stands_apart():
    """Qwen3.5-27B: 48 layers of 48 x 128 x 128 and a convolution over 10,240 channels; the same at every length."""
    shape = preset_shape("Qwen3.5-27B")
    assert state_bytes(shape) == 48 * 4 * (48 * 128 * 128 + 10_240 * 4)
    assert sequence_bytes(shape, 1000) == kv_bytes(shape, 1000) + state_bytes(shape)
    assert state_bytes(preset_shape("Llama-3.1-8B")) == 0


def test_bytes_per_token():
    assert kv_bytes_per_token(preset_shape("SmolLM2-135M")) == 23_040
    assert kv_bytes_per_token(preset_shape("Llama-3.1-8B")) == 131_072
    assert kv_bytes_per_token(preset_shape("DeepSeek-V3")) == 61 * 576 * 2
    gemma = preset_shape("Gemma-3-27B")
    assert kv_bytes_per_token(gemma) == 10 * 16 * 128 * 4  # window layers do not grow
    assert kv_bytes(gemma, 100_001) - kv_bytes(gemma, 100_000) == kv_bytes_per_token(gemma)
    only_windows = replace(gemma, layers=tuple(layer for layer in gemma.layers if layer.kind == "window"))
    assert kv_bytes_per_token(only_windows) == 52 * 16 * 128 * 4


@pytest.mark.parametrize("fault", ["query heads", "one byte for q8_0", "keys only", "no window"])
def test_a_wrong_rule_is_found(monkeypatch, fault):
    """Planted faults of peers: each must change a size that an engine logged."""
    shape, types = preset_shape("Gemma-3-27B"), KVDtypes("q8_0", "q8_0")
    expected = 10 * 8192 * 16 * 256 * 34 // 32 + 52 * 1024 * 16 * 256 * 34 // 32
    assert kv_bytes(shape, 8192, types) == expected
    original = kv_cache.layer_kv_bytes

    def wrong(layer, tokens, dtypes, engine):
        if fault == "query heads":
            layer = replace(layer, kv_heads=layer.query_heads)
        elif fault == "no window" and layer.window:
            layer = replace(layer, kind="full", window=None)
        size = original(layer, tokens, dtypes, engine)
        return size // 2 if fault == "keys only" else size

    if fault == "one byte for q8_0":
        monkeypatch.setattr(kv_cache, "storage_bytes", lambda elements, _: elements)
    monkeypatch.setattr(kv_cache, "layer_kv_bytes", wrong)
    assert kv_bytes(shape, 8192, types) != expected


@given(st.sampled_from(preset_names()), st.integers(1, 10**6), st.sampled_from([EnginePolicy(), LLAMA_CPP, VLLM]))
def test_caches_grow_with_length_and_shrink_with_the_type(name, tokens, engine):
    shape = preset_shape(name)
    size = kv_bytes(shape, tokens, engine=engine)
    assert 0 < size <= kv_bytes(shape, tokens + 1, engine=engine)
    assert kv_bytes(shape, tokens, KVDtypes("fp8", "fp8"), engine) <= size <= kv_bytes(
        shape, tokens, KVDtypes("f32", "f32"), engine
    )  # fmt: skip
    assert kv_bytes(shape, tokens) <= size


@pytest.mark.parametrize("tokens", [0, -5, 1 << 60])
def test_absurd_lengths(tokens):
    with pytest.raises(UsageError, match="tokens must lie between 1 and"):
        kv_bytes(preset_shape("SmolLM2-135M"), tokens)


def test_unknown_names():
    with pytest.raises(UsageError, match="engine 'ollama' is not known"):
        EnginePolicy("ollama")
    with pytest.raises(UsageError, match="storage type 'q9' is not known"):
        kv_bytes(preset_shape("SmolLM2-135M"), 10, KVDtypes("q9", "q9"))
    with pytest.raises(UsageError, match="n_ubatch must lie between"):
        EnginePolicy("llama.cpp", n_ubatch=0)


def test_vllm_groups_of_a_hybrid_model():
    """Gemma-3-27B, vLLM 0.19, H100: 1 full and 6 window groups of 10, 8 padding layers; logged 36,560 and 4.46."""
    pool = block_pool(
        preset_shape("Gemma-3-27B"), available_kv_bytes(79.19, 0.95, 51.45, 3.99, 0.26) * GIB, KVDtypes("f16", "f16")
    )
    assert (len(pool.groups), pool.padding_layers, pool.logged_tokens) == (7, 8, 36_560)
    assert round(pool.concurrency(8192), 2) == 4.46
    assert round(pool.concurrency(131_072), 2) == 1.37


def test_vllm_pool_of_a_uniform_model():
    """Llama-3.1-8B, 58.11 GiB: 476,016 tokens logged; a pool of 127,626 blocks holds 997.08 requests of 2,048."""
    pool = block_pool(preset_shape("Llama-3.1-8B"), 58.11 * GIB)
    assert abs(pool.logged_tokens / 476_016 - 1) < 1e-4
    assert round(BlockPool(127_626, (None,), 16, 8192).concurrency(2048), 2) == 997.08
    ranks = block_pool(preset_shape("Qwen3-30B-A3B"), 23.74 * GIB, ranks=4)
    assert abs(ranks.logged_tokens / 1_037_152 - 1) < 1e-3


def test_a_pool_without_memory_is_refused():
    with pytest.raises(CapacityError, match="no memory is left for the KV cache"):
        block_pool(preset_shape("Llama-3.1-8B"), -1.0)


@pytest.mark.parametrize(("name", "gib"), [("Llama-3.1-8B", 1.89), ("Qwen2.5-7B", 2.21), ("Qwen3-14B", 2.23),
                                           ("Gemma-3-27B", 3.99)])  # fmt: skip
def test_the_samplers_peak(name, gib):
    """Logged activation peaks of vLLM 0.17 to 0.19 on an H100."""
    assert activation_peak(preset_shape(name), 79.19 * GIB) / GIB == pytest.approx(gib, rel=0.05)
