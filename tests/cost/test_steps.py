"""Seconds of the steps and of the strategies made of them, from FLOPs and bytes counted here by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from softlookup.cost.devices import Device
from softlookup.cost.efficiency import efficiency_of
from softlookup.cost.figures import exact
from softlookup.cost.flops import Flops
from softlookup.cost.model.model_source import CostModel
from softlookup.cost.model.shapes import Layer, ModelShape
from softlookup.cost.plan import steps
from softlookup.cost.plan.request import BANK_QUESTIONS, BANK_TOKENS, PlanRequest
from softlookup.cost.plan.steps import bank_flops, bank_seconds, prefill_seconds, suffix_seconds
from softlookup.cost.plan.strategies import final_tokens, strategy_costs
from softlookup.cost.pool import pool_of
from softlookup.errors import UsageError

# two layers of D 8, H 2, d 4 with 100 + 50 weights in products, V 10; so little bandwidth is needed that compute rules
LAYER = Layer("full", 2, 1, 4, 4, 100, 50)
SHAPE = ModelShape("toy", 8, 10, tied=True, layers=(LAYER, LAYER), context=4096)
COMPUTE = Device("toy", "cpu", 1e9, 1e9, 1e18, 1e12)
BANDWIDTH = replace(COMPUTE, flops=1e18, fp32_flops=1e18, bandwidth=1e6)


def request(tokens=1000, device=COMPUTE, **options):
    shape = options.pop("shape", SHAPE)
    model = CostModel(shape, "bf16", exact(2 * shape.parameters, "B"), 2.0, "config")
    return PlanRequest(model, tokens, device, **options)


def rate(asked):
    shares = efficiency_of(asked.device)
    assert shares.linear == shares.attention  # one number serves both parts of a sum
    return asked.device.flops * shares.linear


def pairs(new, cached):
    return sum(cached + 1 + row for row in range(new))


def layer_flops(new, cached):
    """2 FLOP per weight and token; 2 H (dk + dv) = 32 per visible pair."""
    return 2 * 150 * new + 32 * pairs(new, cached)


def test_prefill_by_hand():
    asked = request()
    whole = 2 * layer_flops(1000, 0) + 2 * 8 * 10
    assert prefill_seconds(asked, 1000).value == pytest.approx(whole / rate(asked))
    half = replace(asked, evidence_layers=1)
    assert prefill_seconds(half, 1000, evidence=True).value == pytest.approx(layer_flops(1000, 0) / rate(asked))
    # the whole model is read as before
    assert prefill_seconds(half, 1000).value == pytest.approx(whole / rate(asked))


def test_a_suffix_by_hand():
    asked = request(question_tokens=5)
    whole = 2 * layer_flops(5, 1000) + 2 * 8 * 10
    assert suffix_seconds(asked, 1000).value == pytest.approx(whole / rate(asked))
    part = suffix_seconds(replace(asked, evidence_layers=1), 1000, evidence=True)
    assert part.value == pytest.approx(layer_flops(5, 1000) / rate(asked))


@pytest.mark.parametrize(("questions", "tokens"), [(55, 900), (3, 7), (4, 8), (7, 3)])
def test_bank_questions_do_not_see_each_other(questions, tokens):
    asked = request(bank_questions=questions, bank_tokens=tokens, evidence_layers=1)
    lengths = [tokens // questions + (number < tokens % questions) for number in range(questions)]
    assert sum(lengths) == tokens
    assert bank_flops(asked, 1000).total == sum(layer_flops(length, 1000) for length in lengths)
    # packed as one question they would see more
    assert questions == tokens or bank_flops(asked, 1000).total <= layer_flops(tokens, 1000)


def test_the_usual_bank():
    assert (BANK_QUESTIONS, BANK_TOKENS) == (55, 900)
    asked = request(evidence_layers=1)
    linear, attention = 2 * 150 * 900, 32 * (35 * pairs(16, 500) + 20 * pairs(17, 500))
    assert bank_seconds(asked, 500).value == pytest.approx((linear + attention) / rate(asked))
    assert bank_seconds(replace(asked, bank_tokens=0), 500).value == 0


def test_the_bank_of_softlookup_is_the_one_that_is_planned():
    from softlookup.evidence.question_bank import question_bank

    for language in ("en", "zh"):
        assert len(question_bank(language).questions) == BANK_QUESTIONS


def test_a_pass_reads_weights_and_cache_at_least():
    """Weights of both layers, two embedding rows per token and the LM head; 16 B of KV per token and layer."""
    asked = request(device=BANDWIDTH, question_tokens=5)
    share = efficiency_of(BANDWIDTH).bandwidth * 1e6
    weights = 2 * (2 * 150 + 80 + 6 * 8)
    assert suffix_seconds(asked, 1000).value == pytest.approx((weights + 2 * 1000 * 16) / share)
    # to the first layer: half the layers, half the cache, no LM head
    half = replace(asked, evidence_layers=1)
    weights = 2 * (150 + 6 * 8)
    assert suffix_seconds(half, 1000, evidence=True).value == pytest.approx((weights + 1000 * 16) / share)
    weights = 2 * (150 + 901 * 8)
    assert bank_seconds(half, 1000).value == pytest.approx((weights + 1000 * 16) / share)


def rows(asked):
    return {row.name: row for row in strategy_costs(asked, pool_of(asked))}


def decoded(asked, tokens):
    """Answers read weights and cache; with this device that takes no time beside the FLOPs."""
    return 1e-3 * asked.answer_tokens * steps.decode_milliseconds(asked, tokens).value


def context(asked, tokens):
    """Prefill + bank up to layer 1 + question, whole: everything on a context that is answered from."""
    bank = bank_flops(asked, tokens).total
    return (2 * layer_flops(tokens, 0) + 160 + bank) / rate(asked), (2 * layer_flops(64, tokens) + 160) / rate(asked)


def test_full_context_by_hand():
    asked = request(3000, evidence_layers=1)
    first, question = context(asked, 3000)
    row = rows(asked)["full_context"]
    assert row.first_answer.value == pytest.approx(first + question + decoded(asked, 3000))
    assert row.next_answer.value == pytest.approx(question + decoded(asked, 3000))


def test_retrieval_by_hand():
    asked = request(10_000, evidence_layers=1)
    first, question = context(asked, 3328)
    row = rows(asked)["retrieval"]
    assert (row.fed, row.seen) == (3328, 3328)  # what the window of 4,096 leaves: a usual context is longer
    assert row.first_answer == row.next_answer  # another question needs other clauses, and a bank on them
    assert row.first_answer.value == pytest.approx(first + question + decoded(asked, 3328))


def test_hybrid_by_hand():
    """Room 4,096 - 768 = 3,328, step 2,912: 10,000 tokens are windows of 3,328, 3,328, 3,328 and 1,264."""
    asked = request(10_000, evidence_layers=1)
    lengths = [3328, 3328, 3328, 10_000 - 3 * 2912]
    assert lengths[-1] == 1264
    read = sum(layer_flops(length, 0) + bank_flops(asked, length).total for length in lengths) / rate(asked)
    passed = sum(layer_flops(64, length) for length in lengths) / rate(asked)
    first, question = context(asked, 3328)
    final = first + question + decoded(asked, 2500)
    row = rows(asked)["hybrid"]
    assert (row.windows, row.window_tokens, row.fed, row.seen) == (4, 3328, 3328, 10_000)
    assert row.first_answer.value == pytest.approx(read + passed + final)
    assert row.next_answer.value == pytest.approx(passed + final)
    assert row.total_seconds(5) == pytest.approx(read + 5 * (passed + final))


def test_hybrid_holds_one_window_or_the_final_context():
    """Window: one layer of 16 B per token, 3,328 + 64 of them. Final: two layers, 3,328 + 64 + 80."""
    asked = request(10_000, evidence_layers=1)
    pool = pool_of(asked)
    other = 2 * SHAPE.parameters + pool.workspace.value
    assert rows(asked)["hybrid"].memory.value == pytest.approx(other + max(16 * 3392, 2 * 16 * 3472))
    # where the window is long beside the final context of 4,096, it is the larger one
    long = request(100_000, shape=replace(SHAPE, context=60_768))
    other = 2 * SHAPE.parameters + pool_of(long).workspace.value
    assert rows(long)["hybrid"].memory.value == pytest.approx(other + 2 * 16 * 60_064)


@pytest.mark.parametrize(
    ("tokens", "context", "expected"),
    [(1000, 4096, 1000), (10_000, 4096, 3328), (10_000, 8192, 4096), (400_000, 131_072, 4096), (1_000_000, None, 4096)],
)  # fmt: skip
def test_the_final_context(tokens, context, expected):
    assert final_tokens(request(tokens, shape=replace(SHAPE, context=context))) == expected


def test_windows_that_are_too_short_to_be_read():
    short = replace(SHAPE, context=768 + 1023)
    assert "windows of 1,023 tokens are too short" in rows(request(10_000, shape=short))["hybrid"].obstacle
    assert not rows(request(10_000, shape=replace(SHAPE, context=768 + 1024)))["hybrid"].obstacle
    assert not rows(request(500, shape=short))["hybrid"].obstacle


def test_contexts_shrink_to_what_memory_holds():
    """KV of 16 B per token and layer: memory for 3,000 tokens, then for 1,000, less than the least context of 2,048."""
    wide = replace(SHAPE, context=131_072)
    for held, possible in ((3000, True), (1000, False)):
        asked = request(100_000, shape=wide, evidence_layers=2)
        used = asked.device.memory * asked.utilisation - pool_of(asked).available.value
        device = replace(COMPUTE, memory=(used + 32 * (held + 64 + 80)) / asked.utilisation)
        found = rows(replace(asked, device=device))
        expected = held if possible else 2048
        for name in ("retrieval", "hybrid"):
            assert abs(found[name].fed - expected) <= 1
            assert (not found[name].obstacle) == possible
        assert abs(found["hybrid"].window_tokens - expected) <= 1
        assert found["full_context"].obstacle


def test_a_limit_on_the_context_rules_out_whoever_reads_everything():
    found = rows(request(10_000, max_context_tokens=1000))
    assert found["full_context"].obstacle == "10,000 tokens exceed the limit of 1,000 context tokens"
    assert "would read all 10,000 tokens" in found["hybrid"].obstacle
    assert (found["retrieval"].obstacle, found["retrieval"].fed) == ("", 1000)


def test_a_bank_that_is_forgotten_is_found(monkeypatch):
    """Planted fault: without the bank full context costs less than by hand."""
    asked = request(3000, evidence_layers=1)
    first, question = context(asked, 3000)
    monkeypatch.setattr(steps, "bank_flops", lambda *_: Flops(0, 0, 0, 0))
    assert rows(asked)["full_context"].first_answer.value < 0.999 * (first + question + decoded(asked, 3000))


@pytest.mark.parametrize("layers", [0, -1, 3])
def test_evidence_layers_that_the_model_lacks(layers):
    with pytest.raises(UsageError, match="evidence_layers must lie between 1 and 2"):
        request(evidence_layers=layers)
