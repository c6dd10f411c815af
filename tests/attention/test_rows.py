"""Row statistics against a definition in float64 that is written here, and mutants that must be caught."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from softlookup.attention import rows

SHAPES = [
    # heads, kv heads, rows, keys, dim
    (4, 2, 5, 5, 8),
    (6, 2, 3, 17, 16),  # Tq < Tk: a question after a document
    (4, 4, 9, 4, 8),  # Tq > Tk
    (8, 1, 1, 33, 4),  # decoding, one key head for all
]


def exact_scores(query, key, visible, scale, softcap=None):
    """[Hq, Tq, Tk] by loops over heads: query head h reads key head h // (Hq / Hkv)."""
    query, key = query.double(), key.double()
    share = query.shape[0] // key.shape[0]
    planes = []
    for head in range(query.shape[0]):
        plane = query[head] @ key[head // share].T * scale
        if softcap is not None:
            plane = softcap * torch.tanh(plane / softcap)
        if visible is not None:
            plane = torch.where(visible, plane, -torch.inf)
        planes.append(plane)
    return torch.stack(planes)


def exact_weights(scores):
    weights = torch.softmax(scores, -1)
    return torch.where(torch.isnan(weights), 0.0, weights)


def score_error(query, key, scale):
    """Bound of the fp32 error of one score: D products and sums, scale, softcap and mask."""
    eps = torch.finfo(torch.float32).eps
    share = query.shape[0] // key.shape[0]
    magnitude = (query.double().abs() @ key.repeat_interleave(share, 0).double().abs().transpose(-1, -2)).max()
    return float(eps * (query.shape[-1] + 6) * magnitude * scale)


def weight_error(query, key, scale):
    """A weight is exp of a difference of scores, divided by a sum over T keys."""
    eps = torch.finfo(torch.float32).eps
    return 4 * score_error(query, key, scale) + eps * (math.log2(key.shape[1] + 1) + 8)


def inputs(shape, generator, *, dtype=torch.float32, masked=True):
    heads, kv_heads, q_length, kv_length, dim = shape
    query = torch.randn(heads, q_length, dim, generator=generator).to(dtype)
    key = torch.randn(kv_heads, kv_length, dim, generator=generator).to(dtype)
    visible = torch.rand(q_length, kv_length, generator=generator) < 0.7 if masked else None
    if masked:
        visible[:, 0] = True
    return query, key, visible


def check_scores(function: Callable[..., torch.Tensor], shape, generator, softcap=None) -> None:
    query, key, visible = inputs(shape, generator)
    scale = 0.37  # not 1 / sqrt(D): nothing may assume it
    got = function(query, key, visible, scale, softcap)
    want = exact_scores(query, key, visible, scale, softcap)
    assert got.dtype == torch.float32
    assert torch.equal(torch.isinf(got), ~visible.expand_as(got))
    difference = (got - want)[visible.expand_as(got)].abs().max()
    assert difference <= score_error(query, key, scale), f"off by {difference}"


def check_weights(function: Callable[..., torch.Tensor], shape, generator, softcap=None) -> None:
    query, key, visible = inputs(shape, generator)
    got = function(query, key, visible, 0.37, softcap)
    want = exact_weights(exact_scores(query, key, visible, 0.37, softcap))
    assert got.dtype == torch.float32
    assert got.shape == want.shape
    difference = (got - want).abs().max()
    assert difference <= weight_error(query, key, 0.37), f"off by {difference}"
    assert (got.sum(-1) - 1).abs().max() <= weight_error(query, key, 0.37) * key.shape[1]
    assert not got[~visible.expand_as(got)].any()


@pytest.mark.parametrize("softcap", [None, 1.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_equal_the_definition(shape, softcap, generator):
    check_scores(rows.row_scores, shape, generator, softcap)


@pytest.mark.parametrize("softcap", [None, 1.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_weights_equal_the_definition(shape, softcap, generator):
    check_weights(rows.row_weights, shape, generator, softcap)


def test_rows_can_be_computed_in_blocks(generator):
    query, key, visible = inputs((6, 2, 11, 13, 8), generator)
    whole = rows.row_weights(query, key, visible, 0.37)
    blocks = [
        rows.row_weights(query[:, start : start + 4], key, visible[start : start + 4], 0.37) for start in (0, 4, 8)
    ]
    assert (torch.cat(blocks, 1) - whole).abs().max() <= weight_error(query, key, 0.37)


def test_no_mask_means_every_key(generator):
    query, key, _ = inputs((4, 2, 3, 9, 8), generator, masked=False)
    everything = torch.ones(3, 9, dtype=torch.bool)
    assert torch.equal(rows.row_scores(query, key, None, 0.5), rows.row_scores(query, key, everything, 0.5))
    assert torch.equal(rows.row_weights(query, key, None, 0.5), rows.row_weights(query, key, everything, 0.5))


def test_half_precision_inputs_are_computed_in_fp32(generator):
    query, key, visible = inputs((4, 2, 5, 21, 8), generator, dtype=torch.bfloat16)
    got = rows.row_scores(query, key, visible, 0.37)
    want = exact_scores(query, key, visible, 0.37)
    assert (got - want)[visible.expand_as(got)].abs().max() <= score_error(query.float(), key.float(), 0.37)


def test_rows_without_a_visible_key_give_no_weight(generator):
    query, key, visible = inputs((4, 2, 4, 9, 8), generator)
    visible[2] = False
    weights = rows.row_weights(query, key, visible, 0.37)
    assert torch.equal(weights[:, 2], torch.zeros(4, 9))
    assert torch.isfinite(weights).all()
    assert (weights[:, [0, 1, 3]].sum(-1) - 1).abs().max() <= weight_error(query, key, 0.37) * 9


def test_heads_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="3 heads, which must divide query's 4"):
        rows.row_scores(torch.zeros(4, 1, 8), torch.zeros(3, 1, 8), None, 1.0)


# --- planted faults


def tiled_heads(query, key, visible, scale, softcap=None):
    """GQA by tiling: head h reads key head h % Hkv."""
    share = query.shape[0] // key.shape[0]
    return rows.row_scores(query, key.repeat(share, 1, 1), visible, scale, softcap)


def no_scale(query, key, visible, scale, softcap=None):
    return rows.row_scores(query, key, visible, 1.0, softcap)


def capped_after_mask(query, key, visible, scale, softcap=None):
    scores = rows.row_scores(query, key, visible, scale)
    return scores if softcap is None else softcap * torch.tanh(scores / softcap)


def unmasked(query, key, visible, scale, softcap=None):
    return rows.row_scores(query, key, None, scale, softcap)


@pytest.mark.parametrize("mutant", [tiled_heads, no_scale, capped_after_mask, unmasked])
def test_wrong_scores_are_caught(mutant, generator):
    with pytest.raises(AssertionError):
        check_scores(mutant, (6, 2, 3, 17, 16), generator, softcap=1.5)


def mask_after_softmax(query, key, visible, scale, softcap=None):
    weights = torch.softmax(rows.row_scores(query, key, None, scale, softcap), -1)
    return weights.masked_fill(~visible, 0.0)


def softmax_over_rows(query, key, visible, scale, softcap=None):
    return torch.nan_to_num(torch.softmax(rows.row_scores(query, key, visible, scale, softcap), -2))


def weights_of_tiled_heads(query, key, visible, scale, softcap=None):
    return torch.softmax(tiled_heads(query, key, visible, scale, softcap), -1)


@pytest.mark.parametrize("mutant", [mask_after_softmax, softmax_over_rows, weights_of_tiled_heads])
def test_wrong_weights_are_caught(mutant, generator):
    with pytest.raises(AssertionError):
        check_weights(mutant, (6, 2, 5, 17, 16), generator)
