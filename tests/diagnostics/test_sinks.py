"""Sinks: the metric of Gu et al. over all rows, learned sinks, and what a sink's token is."""

from __future__ import annotations

import types

import pytest
import torch

from softlookup.attention.stats import StatsRequest
from softlookup.diagnostics.sinks import LEAST_ROWS, named_sinks, sinks_of_prefill
from softlookup.runtime.observation import LayerObservation
from softlookup.runtime.observe import observe
from tiny_models import VOCABULARY, build_model

REQUEST = StatsRequest(lse=False, entropy=False, max_weight=False, argmax=False, sink_mass=None, key_mass=True)
TOKENS = {0: "<s>", 5: ",", 6: "\n\n", 7: "term", 90: "Question"}


def named(found, document=(2, 80)):
    return named_sinks(found, lambda column: TOKENS.get(column, "x"), document)


def observation(key_mass, *, window=None):
    return LayerObservation(0, window, key_mass.shape[-1], 0, 0, key_mass=key_mass[None])


def causal_weights(length, favourite, weight):
    """[T, T] causal weights: ``weight`` on the favourite key where it is visible, the rest spread evenly."""
    rows = torch.ones(length, length, dtype=torch.float64).tril()
    rows[:, favourite] = 0.0
    rows = rows / rows.sum(-1, keepdim=True).clamp(min=1e-30) * (1 - weight)
    rows[favourite:, favourite] = weight
    return rows


@pytest.mark.parametrize(("weight", "sink"), [(0.5, True), (0.31, True), (0.2, False)])
def test_the_mean_over_the_queries_behind_a_key_decides(weight, sink):
    mass = causal_weights(200, 40, weight).sum(0)
    found = sinks_of_prefill({0: observation(mass[None])})
    assert (40 in found) == sink
    if sink:
        assert found[40] == [(0, 0, pytest.approx(weight))]


def test_the_last_keys_are_no_sinks_for_want_of_rows():
    weights = causal_weights(200, 200 - LEAST_ROWS + 1, 0.9)
    assert 200 - LEAST_ROWS + 1 not in sinks_of_prefill({0: observation(weights.sum(0)[None])})


def test_a_window_limits_the_queries_that_could_look():
    mass = torch.zeros(1, 400, dtype=torch.float64)
    mass[0, 100] = 40.0  # of 64 queries that reach it, not of 300
    assert 100 in sinks_of_prefill({0: observation(mass, window=64)})
    assert 100 not in sinks_of_prefill({0: observation(mass)})


def test_a_sink_is_named_by_place_and_token():
    found = {0: [(3, 1, 0.9), (4, 0, 0.7)], 5: [(3, 1, 0.4)], 6: [(1, 1, 0.4)], 7: [(2, 2, 0.5)], 90: [(2, 0, 0.6)]}
    sinks = {sink.key: sink for sink in named(found)}
    kinds = {key: sink.kind for key, sink in sinks.items()}
    assert kinds == {0: "first_token", 5: "delimiter", 6: "delimiter", 7: "content", 90: "template"}
    assert (sinks[0].heads, sinks[0].mass, sinks[0].places[0]) == (2, pytest.approx(0.8), (3, 1, 0.9))
    assert named(found)[0].key == 0  # most heads first
    assert sinks[7].to_dict()["token"] == "term"


def test_columns_behind_the_prefix_are_left_out():
    assert named_sinks({500: [(0, 0, 0.9)]}, lambda _: "", (2, 80)) == ()


def test_the_metric_of_a_real_pass_is_that_of_its_eager_weights():
    model = build_model("llama", VOCABULARY, seed=3, initializer_range=0.6)
    ids = torch.randint(2, 900, (1, 90), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode(), observe(model, REQUEST) as run:
        model(ids)
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        weights = model(ids, output_attentions=True).attentions
    queries = 90 - torch.arange(90)
    expected = {
        (layer, int(head), int(key))
        for layer, plane in enumerate(weights)
        for head, key in ((plane[0].double().sum(1) / queries > 0.3) & (queries >= 22)).nonzero()
    }
    found = {(layer, head, key) for key, places in sinks_of_prefill(run.layers).items() for layer, head, _ in places}
    assert found == expected


def test_learned_sinks_are_found_without_a_key():
    model = build_model("gpt_oss", VOCABULARY)
    model.set_attn_implementation("eager")
    for module in model.modules():
        if hasattr(module, "sinks"):
            module.sinks.data.fill_(-30.0)
            module.sinks.data[1] = 30.0
    ids = torch.randint(2, 900, (1, 60), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode(), observe(model, REQUEST) as run:
        model(ids)
    found = sinks_of_prefill(run.layers)
    assert {(layer, head) for layer, head, _ in found[None]} == {(0, 1), (1, 1), (2, 1)}
    (learned,) = (sink for sink in named(found) if sink.kind == "learned")
    assert (learned.key, learned.heads, learned.token) == (None, 3, "")


def test_layers_without_sums_have_no_sinks():
    assert sinks_of_prefill({0: types.SimpleNamespace(learned_sink_mass=None, key_mass=None)}) == {}
