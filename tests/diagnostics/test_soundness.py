"""Rung 1: healthy models pass every test, and each planted fault fails."""

from __future__ import annotations

import faults
import pytest
import torch

from softlookup.diagnostics.soundness import implementation_fault
from softlookup.diagnostics.wording import _REPAIRS
from softlookup.runtime.prefilled import Prefilled
from tiny_models import KINDS


@pytest.mark.parametrize("kind", [*KINDS, "qwen3", "phi3"])
def test_a_healthy_model(make_case, kind):
    step = implementation_fault(make_case("3", kind=kind))
    assert step.hit is None, step.hit
    assert {test.name for test in step.tests} == set(_REPAIRS)
    assert all(test.passed for test in step.tests)
    # far from the threshold: no luck is needed
    assert all(test.value <= (test.threshold or 0) / 10 + 1e-9 for test in step.tests), step.tests


def test_a_healthy_model_with_eager_attention(make_case, tiny_loaded, eager):
    eager(tiny_loaded("llama").model)
    assert implementation_fault(make_case("3")).hit is None


def failed(step):
    assert step.hit is not None
    assert step.hit.verdict == "implementation_fault"
    return {test.name for test in step.tests if test.passed is False}


@pytest.mark.parametrize("kind", ["llama", "gemma3"])
@pytest.mark.parametrize("offset", [1, -1, 97])
def test_positions(make_case, kind, offset):
    case = make_case("3", kind=kind)
    with faults.shifted(offset):
        found = failed(implementation_fault(case))
    assert {"position_gap", "parity"} <= found


def test_a_cache_that_was_filled_at_other_positions(make_case, monkeypatch):
    case = make_case("3")
    real = Prefilled._forward
    monkeypatch.setattr(
        Prefilled, "_forward", lambda self, ids, positions, **a: real(self, ids, [p + 5 for p in positions], **a)
    )
    assert case.reading.chunks
    monkeypatch.undo()
    # relative distances are right, so that only the keys tell
    assert failed(implementation_fault(case)) == {"cached_keys"}


@pytest.mark.parametrize("factor", [8**0.5, 8**-0.5, 1.05])
def test_the_scale_of_the_scores(make_case, tiny_loaded, factor):
    case = make_case("3")
    with faults.scaled(tiny_loaded("llama").model, factor):
        found = failed(implementation_fault(case))
    assert {"score_scale", "parity"} <= found


def softmax_of_all(scores, _causal):
    return scores.softmax(-1)


def wrong_triangle(scores, causal):
    return scores.masked_fill(causal & ~torch.eye(*causal.shape, dtype=torch.bool), -torch.inf).softmax(-1)


def one_key_of_the_future(scores, causal):
    return scores.masked_fill(~(causal | causal.roll(1, -1)), -torch.inf).softmax(-1)


def mask_after_softmax(scores, causal):
    return scores.softmax(-1) * causal


@pytest.mark.parametrize(
    ("weights", "test"),
    [
        (softmax_of_all, "hidden_mass"), (wrong_triangle, "hidden_mass"), (one_key_of_the_future, "hidden_mass"),
        (mask_after_softmax, "row_sums"),
    ],
)  # fmt: skip
def test_masks(make_case, weights, test):
    case = make_case("3")
    with faults.sdpa_replaced(weights):
        found = failed(implementation_fault(case))
    assert test in found


def test_the_planted_attention_without_a_fault_is_sound(make_case):
    case = make_case("3")
    with faults.sdpa_replaced(lambda scores, causal: scores.masked_fill(~causal, -torch.inf).softmax(-1)):
        assert implementation_fault(case).hit is None


def test_a_decoding_step_that_computes_something_else(make_case, monkeypatch):
    import contextlib

    from softlookup.runtime import parity

    real = parity.decoding

    @contextlib.contextmanager
    def other(*arguments, **options):
        with real(*arguments, **options) as step:
            yield lambda token: step(token) * 1.02

    monkeypatch.setattr(parity, "decoding", other)
    assert failed(implementation_fault(make_case("3"))) == {"prefill_decode"}


def test_numbers_that_are_not_finite(make_case, tiny_loaded):
    case = make_case("3")
    assert case.reading.chunks
    model = tiny_loaded("llama").model
    weight = model.model.layers[1].self_attn.k_proj.weight
    before = weight.detach().clone()
    try:
        with torch.no_grad():
            weight[0] = float("nan")
        assert implementation_fault(case).hit.verdict == "implementation_fault"
    finally:
        with torch.no_grad():
            weight.copy_(before)


def test_a_model_without_reference_says_so(make_case, monkeypatch):
    from softlookup.errors import ModelError
    from softlookup.runtime import parity

    def refuse(_loaded):
        raise ModelError("no reference")

    monkeypatch.setattr(parity, "Reference", refuse)
    step = implementation_fault(make_case("3"))
    assert step.hit is None
    assert step.tests[-1].passed is None
    assert "not taken" in step.tests[-1].detail
