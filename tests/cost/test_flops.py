"""FLOPs against a count by enumeration, against the course page, and with planted faults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.cost import flops
from softlookup.cost.course_shapes import TOKENS, course_shape
from softlookup.cost.flops import attention_flops, crossover_tokens, model_flops, score_count, seen_keys
from softlookup.cost.memory import llama_cpp_compute_bytes, logits_bytes, observation, score_matrix_bytes
from softlookup.cost.model.presets import preset_shape


@given(st.integers(1, 60), st.integers(0, 60), st.none() | st.integers(1, 40))
def test_visible_pairs_by_enumeration(new, cached, window):
    expected = sum(min(position + 1, window or position + 1) for position in range(cached, cached + new))
    assert seen_keys(new, cached, window) == expected


@given(st.integers(1, 50), st.integers(1, 50))
def test_a_prefill_in_two_parts_costs_the_same(first, second):
    shape = preset_shape("Gemma-3-1B")
    both = model_flops(shape, first) + model_flops(shape, second, first)
    whole = model_flops(shape, first + second)
    assert (both.projections, both.attention, both.ffn) == (whole.projections, whole.attention, whole.ffn)


def test_the_page():
    found = model_flops(course_shape(), TOKENS)
    assert f"{found.projections:.1e} {found.ffn:.1e}" == "4.2e+14 8.4e+14"
    assert f"{found.attention:.2e} {found.total:.2e}" == "3.38e+15 4.64e+15"
    assert score_matrix_bytes(course_shape(), TOKENS) == 32 * TOKENS**2 * 2 == pytest.approx(1.1e12, rel=1e-3)
    assert score_count(course_shape(), TOKENS) == pytest.approx(6.6e12, rel=1e-3)


def test_the_lost_causal_half_is_found(monkeypatch):
    """Planted fault: the full square."""
    right = model_flops(course_shape(), TOKENS).attention
    monkeypatch.setattr(flops, "seen_keys", lambda new, cached, window=None: new * (cached + new))
    wrong = model_flops(course_shape(), TOKENS).attention
    assert wrong / right == pytest.approx(2, rel=1e-4)
    assert f"{wrong:.1e}" == "6.8e+15"  # what the page prints


def test_grouped_queries_change_projections_and_not_attention():
    mha, gqa = model_flops(course_shape(), TOKENS), model_flops(course_shape(8), TOKENS)
    assert mha.attention == gqa.attention
    assert f"{gqa.projections:.3g}" == "2.64e+14"


def test_where_attention_equals_the_products():
    assert crossover_tokens(preset_shape("SmolLM2-135M")) == 6144
    assert crossover_tokens(preset_shape("Llama-3-8B")) == 53_248
    assert crossover_tokens(course_shape()) == 49_152


def test_windows_bound_the_growth():
    layers = preset_shape("Gemma-3-27B").layers
    window, full = layers[0], layers[5]
    assert attention_flops(window, 1000) == attention_flops(full, 1000)
    assert attention_flops(window, 100_000) < attention_flops(full, 100_000) / 40


def test_mla_is_absorbed_when_it_decodes():
    layer = preset_shape("DeepSeek-V3").layers[5]
    assert attention_flops(layer, 10) == 2 * 128 * (192 + 128) * 55
    assert attention_flops(layer, 1, 999) == 2 * 128 * (576 + 512) * 1000


def test_experts_count_as_far_as_they_are_used():
    moe = preset_shape("Mixtral-8x7B")
    used = 2 * 32 * (2 * 3 * 4096 * 14336 + 4096 * 8)
    assert model_flops(moe, 1).ffn == used


def test_recurrent_layers_are_linear_in_length():
    layer = preset_shape("Qwen3.5-27B").layers[0]
    assert attention_flops(layer, 2000) == 2 * attention_flops(layer, 1000)


def test_workspace():
    llama = preset_shape("Llama-3.1-8B")
    assert llama_cpp_compute_bytes(llama, 131_072) / (1 << 20) == 8480  # logged: 8,480.01 MiB
    assert llama_cpp_compute_bytes(llama, 512, flash_attention=True) / (1 << 20) == 258.5
    assert logits_bytes(262_144, 24_179) == pytest.approx(25_353_916_928, rel=1e-4)


def test_the_cost_of_looking():
    """Section "cost of inspection" for the course's model: 26.4 TB, 0.40 GB, 80.5 GB, 0.16 GB, 6.6e12 FLOP."""
    found = observation(course_shape(), TOKENS)
    assert found.weights == pytest.approx(26.4e12, rel=1e-3)
    assert found.column_sums == pytest.approx(0.40e9, rel=0.01)
    assert found.row_statistics == pytest.approx(1.61e9, rel=0.01)
    assert found.span_mass_all_rows == pytest.approx(80.5e9, rel=0.01)
    assert found.span_mass == pytest.approx(0.16e9, rel=0.02)
    assert found.extra_flops == pytest.approx(6.6e12, rel=0.01)
