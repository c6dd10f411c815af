"""Spectra of scores and weights found by thin blocks, against dense float64 matrices; rules of effective rank."""

from __future__ import annotations

import pytest
import torch

from softlookup.errors import UsageError
from softlookup.learn.rank import (
    LayerInputs,
    Spectrum,
    entropy_rank,
    low_rank_weights,
    output_errors,
    score_spectra,
    spectrum,
    window_errors,
)

HEADS, LENGTH, DIM = 3, 96, 8


def drawn(seed: int = 0, *, sink: bool = False, dtype: torch.dtype = torch.float64) -> LayerInputs:
    """Random inputs; with ``sink`` every query likes key 0 far more than all others."""
    random = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(HEADS, LENGTH, DIM, generator=random, dtype=torch.float64) for _ in range(3))
    if sink:
        query[..., 0], key[..., 0], key[:, 0, 0] = 4.0, 0.0, 12.0
    return LayerInputs(query.to(dtype), key.to(dtype), value.to(dtype), DIM**-0.5)


def dense(inputs: LayerInputs) -> torch.Tensor:
    scores = inputs.query.double() @ inputs.key.double().mT * inputs.scale
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(future, -torch.inf), -1)


@pytest.mark.parametrize("centred", [False, True])
def test_scores_have_the_singular_values_of_the_whole_matrix(centred):
    inputs = drawn()
    key = inputs.key - inputs.key.mean(1, keepdim=True) if centred else inputs.key
    whole = torch.linalg.svdvals(inputs.query @ key.mT * inputs.scale)
    for found, values in zip(score_spectra(inputs, centred=centred), whole, strict=True):
        torch.testing.assert_close(found.values, values[:DIM])
        assert float(values[DIM:].max()) < 1e-10 * float(values[0])
        assert found.count(1.0) == DIM
        assert found.tail(DIM) == 0.0


def test_centring_the_keys_changes_no_weight():
    inputs = drawn()
    moved = LayerInputs(inputs.query, inputs.key - inputs.key.mean(1, keepdim=True), inputs.value, inputs.scale)
    torch.testing.assert_close(dense(moved), dense(inputs))


@pytest.mark.parametrize("sink", [False, True])
def test_weights_against_the_dense_matrix(sink):
    inputs = drawn(sink=sink)
    weights = dense(inputs)
    low = low_rank_weights(inputs, 32)
    for head, found in enumerate(low.spectra):
        exact = spectrum(torch.linalg.svdvals(weights[head]))
        assert found.size == LENGTH
        assert found.energy == pytest.approx(exact.energy, rel=1e-12)
        assert found.participation == pytest.approx(exact.participation, rel=0.03)
        assert found.tail(8) == pytest.approx(exact.tail(8), abs=0.01)
        assert bool((found.values <= exact.values[:32] * (1 + 1e-9)).all())  # they come from below
        assert (found.participation < 1.3) == sink
    unit = weights / weights.norm(dim=-1, keepdim=True)
    torch.testing.assert_close(low.alike, (unit @ unit.mT).mean((-2, -1)))


def test_of_full_rank_the_factors_are_the_weights():
    inputs = drawn()
    low = low_rank_weights(inputs, LENGTH)
    torch.testing.assert_close((low.left @ low.right.mT).double(), dense(inputs), rtol=0, atol=1e-6)
    assert float(output_errors(inputs, low, [LENGTH]).max()) < 1e-6


def test_float32_finds_what_float64_finds():
    single, double = (low_rank_weights(drawn(dtype=dtype), 16) for dtype in (torch.float32, torch.float64))
    for one, other in zip(single.spectra, double.spectra, strict=True):
        torch.testing.assert_close(one.values, other.values, rtol=1e-4, atol=1e-4)
        assert one.energy == pytest.approx(other.energy, rel=1e-5)


def test_errors_of_the_output():
    inputs = drawn()
    low, exact = low_rank_weights(inputs, 16), dense(inputs) @ inputs.value
    rough = (low.left[..., :4] @ low.right[..., :4].mT).double() @ inputs.value
    expected = (rough - exact).norm(dim=(-2, -1)) / exact.norm(dim=(-2, -1))
    errors = output_errors(inputs, low, [4, 16])
    torch.testing.assert_close(errors[0], expected, rtol=1e-5, atol=1e-6)
    assert bool((errors[1] < errors[0]).all())
    windows = window_errors(inputs, [1, LENGTH])
    only_self = (inputs.value - exact).norm(dim=(-2, -1)) / exact.norm(dim=(-2, -1))
    torch.testing.assert_close(windows[0], only_self)
    assert float(windows[1].max()) < 1e-12


def test_participation_is_one_over_the_mean_squared_cosine_of_rows():
    weights = dense(drawn())[0]
    squares = weights.square().sum(-1)
    cosine = (weights @ weights.mT) / (squares[:, None] * squares).sqrt()
    pairs = squares[:, None] * squares
    mean = float((pairs * cosine.square()).sum() / pairs.sum())
    assert spectrum(torch.linalg.svdvals(weights)).participation == pytest.approx(1 / mean)


def test_equal_singular_values_are_counted():
    own = spectrum(torch.tensor([2.0, 2.0, 2.0, 2.0]))
    assert own.participation == pytest.approx(4.0)
    assert entropy_rank(own.values) == pytest.approx(4.0)
    assert (own.count(0.5), own.count(0.51), own.tail(1)) == (2, 3, pytest.approx(0.75))
    assert entropy_rank(torch.tensor([3.0, 0.0])) == pytest.approx(1.0)


def test_what_is_not_known_is_not_told():
    part = Spectrum(torch.tensor([3.0, 1.0], dtype=torch.float64), 10, 20.0, 90.0)
    assert part.count(0.5) == 2
    assert part.count(0.51) is None
    with pytest.raises(UsageError, match="2 singular values are known"):
        part.tail(3)


@pytest.mark.parametrize("rank", [0, LENGTH + 1])
def test_a_rank_that_no_matrix_of_this_size_has_is_refused(rank):
    with pytest.raises(UsageError, match=f"1 to T = {LENGTH}"):
        low_rank_weights(drawn(), rank)


def test_a_head_and_the_first_rows_are_views_of_the_whole():
    inputs = drawn()
    torch.testing.assert_close(dense(inputs.head(2).first(40))[0], dense(inputs)[2, :40, :40])
