"""Statistics per head against the whole weights of the same rows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from softlookup.attention.rows import row_weights
from softlookup.diagnostics.head_statistics import head_statistics
from softlookup.runtime.attention_calls import AttentionCall


def make_call(generator, *, rows=7, keys=40, size=1.5):
    query = torch.randn(4, rows, 8, generator=generator, dtype=torch.float64) * size
    key = torch.randn(2, keys, 8, generator=generator, dtype=torch.float64) * size
    visible = torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows)
    return AttentionCall(5, query, key, visible, 8**-0.5, None, None)


def entropy(weights):
    return torch.special.entr(weights).sum(-1)


def test_every_statistic_is_that_of_the_whole_weights(generator):
    call, rows = make_call(generator), slice(1, 6)
    found = head_statistics(call, rows)
    weights = row_weights(call.query[:, rows], call.key, call.visible[rows], call.scale).double()
    visible = call.visible[rows].sum(-1)
    mean = weights.mean(1)
    scores = torch.einsum("hrd,hkd->hrk", call.query[:, rows], call.key.repeat_interleave(2, 0)).abs()
    scores = scores.masked_fill(~call.visible[rows], 0.0)
    expected = {
        "entropy": entropy(weights).mean(-1),
        "normalized_entropy": (entropy(weights) / visible.log()).mean(-1),
        "max_weight": weights.amax(-1).mean(-1),
        "first_token": weights[:, :, 0].mean(-1),
        "top_mass": mean.amax(-1),
        "top_key": mean.argmax(-1),
        "rows_apart": entropy(mean) - entropy(weights).mean(-1),
        "unscaled": scores.amax(dim=(1, 2)),
        "below_two_over_t": (weights.amax(-1) < 2 / visible).double().mean(-1),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(found, name), value.numpy(), rtol=1e-5, atol=1e-6, err_msg=name)
    assert found.heads_apart == pytest.approx(float(entropy(mean.mean(0)) - entropy(mean).mean()), abs=1e-6)
    assert (found.layer, found.rows) == (5, 5)
    assert found.visible_keys == pytest.approx(float(visible.double().mean()))
    np.testing.assert_allclose(found.scaled, found.unscaled * call.scale)
    expected_sinks = {(int(h), int(k)) for h, k in (mean > 0.3).nonzero().tolist()}
    assert {(share.head, share.key) for share in found.sinks} == expected_sinks


def test_sums_over_keys_of_a_few_rows_leave_the_means_over_all_rows_alone(generator):
    call = make_call(generator)
    every, few = head_statistics(call, slice(0, 7)), head_statistics(call, slice(0, 7), mass_rows=3)
    for name in ("entropy", "normalized_entropy", "max_weight", "first_token", "unscaled"):
        np.testing.assert_allclose(getattr(every, name), getattr(few, name))
    weights = row_weights(call.query[:, [0, 3, 6]], call.key, call.visible[[0, 3, 6]], call.scale).double()
    np.testing.assert_allclose(few.top_mass, weights.mean(1).amax(-1).numpy(), rtol=1e-5)
    np.testing.assert_allclose(
        few.rows_apart, (entropy(weights.mean(1)) - entropy(weights).mean(-1)).numpy(), rtol=1e-4, atol=1e-6
    )


def test_one_row_differs_from_nothing(generator):
    found = head_statistics(make_call(generator), slice(2, 3))
    assert found.rows == 1
    assert (found.rows_apart < 1e-6).all()


def test_rows_with_nan_are_named_by_head_and_give_no_numbers(generator):
    call = make_call(generator)
    call.query[1, 3, 0] = torch.nan
    assert head_statistics(call, slice(0, 3)).finite  # a row behind the question
    found = head_statistics(call, slice(0, 7))
    assert (found.bad_heads, found.finite) == ((1,), False)
    assert np.isnan(found.entropy).all()


def test_scores_beyond_float32_are_named_by_head(generator):
    call = make_call(generator)
    call = AttentionCall(0, call.query.float(), call.key.float(), call.visible, call.scale, None, None)
    call.query[2] *= 1e25
    call.key[1] *= 1e25
    found = head_statistics(call, slice(0, 7))
    assert (found.bad_heads, found.overflowing) == ((), (2,))
    assert np.isinf(found.unscaled[2])


def test_enormous_scores_still_give_distributions(generator):
    call = make_call(generator, size=1e9)
    found = head_statistics(
        AttentionCall(0, call.query.float(), call.key.float(), call.visible, 1.0, None, None), slice(0, 7)
    )
    assert (found.top_mass <= 1.0).all()
    assert np.isfinite(found.heads_apart)
