"""Numbers that lessons 1, 2 and 4 rest on, against closed forms: a page may be rewritten, these must stay."""

from __future__ import annotations

import math

import pytest
import torch

from softlookup.attention import RotaryEmbedding, StatsRequest, attention, attention_statistics
from softlookup.cost.course_shapes import HEADS, TOKENS, course_shape
from softlookup.cost.flops import attention_flops
from softlookup.cost.kv_cache import KVDtypes, layer_kv_bytes

_EYE = torch.eye(2, dtype=torch.float64)[None, None]


@pytest.mark.parametrize("sink_score", [None, 0.0, 4.0])
def test_a_miss_returns_the_mean_and_a_sink_takes_its_share(sink_score: float | None) -> None:
    value = torch.tensor([5.0, 12.0, 3.0, 2.0, 0.5, 20.0], dtype=torch.float64)[None, None, :, None]
    query, key = torch.ones(1, 1, 1, 1, dtype=torch.float64), torch.zeros_like(value)
    sinks = None if sink_score is None else torch.tensor([sink_score], dtype=torch.float64)
    found = attention(query, key, value, sinks=sinks, stats=StatsRequest())
    share = 0.0 if sink_score is None else math.exp(sink_score) / (math.exp(sink_score) + 6)
    assert found.output.item() == pytest.approx((1 - share) * 42.5 / 6)
    assert found.stats.entropy.item() == pytest.approx(math.log(6))


@pytest.mark.parametrize(("kv_heads", "intensity"), [(32, 1), (8, 4), (1, 32)])
def test_intensity_of_decoding_is_the_number_of_query_heads_per_kv_head(kv_heads: int, intensity: int) -> None:
    layer = course_shape(kv_heads).layers[0]
    found = attention_flops(layer, 1, TOKENS - 1) / layer_kv_bytes(layer, TOKENS, KVDtypes())
    assert found == intensity == HEADS / kv_heads


@pytest.mark.parametrize(("power", "law"), [(0.5, math.log(1000) - 1 / 2), (1.0, math.log(1000) - 1 / 256)])
def test_entropy_of_many_keys_is_ln_t_less_half_the_variance(power: float, law: float) -> None:
    torch.manual_seed(0)
    query, key = (torch.randn(1, 1, rows, 128, dtype=torch.float64) for rows in (64, 1000))
    entropy = attention_statistics(query, key, scale=128**-power).entropy
    unscaled = attention_statistics(query, key, scale=1.0).entropy
    assert entropy.mean().item() == pytest.approx(law, abs=0.03)
    assert unscaled.mean().item() < 1  # the planted fault: a handful of keys hold everything


@pytest.mark.parametrize(("factor", "itself"), [(1, 0.670), (2, 0.804)])
def test_two_tokens_by_hand(factor: int, itself: float) -> None:
    plain = attention(factor * _EYE, _EYE, _EYE, impl="reference").output[0, 0].tolist()
    causal = attention(factor * _EYE, _EYE, _EYE, causal=True, impl="reference").output[0, 0].tolist()
    assert plain == [pytest.approx([itself, 1 - itself], abs=5e-4), pytest.approx([1 - itself, itself], abs=5e-4)]
    assert causal == [[1, 0], plain[1]]


def test_order_means_nothing_until_there_are_positions() -> None:
    torch.manual_seed(0)
    x, order = torch.randn(1, 1, 6, 8, dtype=torch.float64), torch.tensor([3, 0, 5, 1, 4, 2])
    turned, shuffled = (RotaryEmbedding(head_dim=8).apply(part, torch.arange(6)) for part in (x, x[:, :, order]))
    plain, rotated = attention(x, x, x).output[:, :, order], attention(turned, turned, x).output[:, :, order]
    assert torch.allclose(attention(x[:, :, order], x[:, :, order], x[:, :, order]).output, plain)
    assert not torch.allclose(attention(shuffled, shuffled, x[:, :, order]).output, rotated)
