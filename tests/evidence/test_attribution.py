"""Mass per passage against a dense float64 definition; rows, heads and passages are not mixed up."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from softlookup.evidence.attribution import TEMPER, PassageMap, PassageMass, null_mass, passage_scores
from softlookup.evidence.profile import HeadProfile, head_profile
from softlookup.runtime.attention_calls import AttentionCall
from softlookup.runtime.prefilled import Pack, StopForward
from softlookup.runtime.prompt import Suffix

PROFILE = HeadProfile(((0, 3), (1, 0), (1, 2)), (1.0, 2.0, 1.0), profiled=True)
# tokens 2 to 11 of the prefix are the document: three passages, with gaps between and after them
PASSAGES = PassageMap(np.array([0, 0, 0, -1, 1, 1, 2, 2, 2, -1]), (2, 12), 3)


def make_call(layer, generator, rows=7, keys=20):
    return AttentionCall(
        layer=layer,
        query=torch.randn(4, rows, 8, generator=generator),
        key=torch.randn(2, keys, 8, generator=generator),
        visible=torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows),
        scale=0.5,
        softcap=None,
        sliding_window=None,
    )


def dense_mass(call, head, rows):
    """Tempered mass [passages] of one head, in float64 with a loop over tokens."""
    scores = call.query[head].double() @ call.key[head // 2].double().T * call.scale
    weights = torch.softmax(scores.masked_fill(~call.visible, -torch.inf), -1)[rows].numpy()
    mass = np.zeros((weights.shape[0], PASSAGES.count))
    for token, passage in enumerate(PASSAGES.passage_of_token):
        if passage >= 0:
            mass[:, passage] += weights[:, PASSAGES.document[0] + token]
    return (mass**TEMPER).mean(axis=0)


def check_mass(generator, collector_class=PassageMass):
    collector = collector_class(PROFILE, PASSAGES, 2)
    calls = [make_call(layer, generator) for layer in range(3)]
    rows = [(0, slice(0, 3)), (1, slice(4, 7))]
    for call in calls:
        collector.collect(call, rows)
    for place, (layer, head) in enumerate(PROFILE.heads):
        for question, part in rows:
            want = dense_mass(calls[layer], head, part)
            # the fourth root multiplies a relative error by a quarter, so fp32 sums stay below 1e-5
            np.testing.assert_allclose(collector.mass[question, place], want, atol=1e-5)


def test_mass_equals_the_definition(generator):
    check_mass(generator)


def test_heads_of_the_wrong_group_are_caught(generator):
    class Wrong(PassageMass):
        def collect(self, call, rows):
            from dataclasses import replace

            super().collect(replace(call, key=call.key.flip(0)), rows)

    with pytest.raises(AssertionError):
        check_mass(generator, Wrong)


def test_tokens_off_by_one_are_caught(generator):
    class Shifted(PassageMass):
        def __init__(self, profile, passages, questions):
            shifted = PassageMap(passages.passage_of_token, (3, 13), passages.count)
            super().__init__(profile, shifted, questions)

    with pytest.raises(AssertionError):
        check_mass(generator, Shifted)


def test_accumulated_rows_add_up(generator):
    calls = [make_call(1, generator, rows=1) for _ in range(3)]
    collector = PassageMass(PROFILE, PASSAGES, 1, accumulate=True)
    for call in calls:
        collector.collect(call, [(0, slice(0, 1))])
    want = sum(dense_mass(call, 0, slice(0, 1)) for call in calls)
    np.testing.assert_allclose(collector.mass[0, 1], want, atol=3e-5)
    assert not collector.mass[0, 0].any()  # its layer never came
    once = PassageMass(PROFILE, PASSAGES, 1)
    for call in calls:
        once.collect(call, [(0, slice(0, 1))])
    np.testing.assert_allclose(once.mass[0, 1], dense_mass(calls[-1], 0, slice(0, 1)), atol=1e-5)


def test_a_pack_is_taken_apart_and_ended_after_the_last_profiled_layer(generator):
    suffixes = (Suffix((5, 6, 7, 8), 3), Suffix((5, 6, 7), 2))
    pack = Pack((1, 0), suffixes, (0, 4))
    calls = [make_call(layer, generator) for layer in range(2)]
    collector = PassageMass(PROFILE, PASSAGES, 2)
    collector.collect_pack(pack, calls[0])
    with pytest.raises(StopForward):
        collector.collect_pack(pack, calls[1])
    np.testing.assert_allclose(collector.mass[1, 0], dense_mass(calls[0], 3, slice(0, 3)), atol=1e-5)
    np.testing.assert_allclose(collector.mass[0, 2], dense_mass(calls[1], 2, slice(4, 6)), atol=1e-5)


def test_scores_are_weighted_differences_from_the_null():
    mass = np.array([[[1.0, 2.0], [3.0, 5.0]], [[2.0, 2.0], [1.0, 1.0]]])
    null = null_mass(mass)
    assert null.tolist() == [[1.5, 2.0], [2.0, 3.0]]
    scores = passage_scores(mass, null, (1.0, 3.0))
    assert scores.tolist() == [[0.25 * -0.5 + 0.75 * 1, 0.75 * 2], [0.25 * 0.5 - 0.75, -0.75 * 2]]
    assert passage_scores(mass[0], null, (1.0, 3.0)).tolist() == scores[0].tolist()
    assert np.allclose(passage_scores(mass, null, (1.0, 3.0)).sum(0), 0)  # differences from the mean


@pytest.mark.parametrize(
    ("heads", "weights", "words"),
    [((), (), "0 heads"), (((0, 1),), (1.0, 2.0), "1 heads and 2 weights"), (((0, 1), (0, 1)), (1.0, 1.0), "twice")],
)
def test_broken_profiles_are_refused(heads, weights, words):
    with pytest.raises(ValueError, match=words):
        HeadProfile(heads, weights, profiled=True)


def test_an_unknown_model_gets_its_middle_layers_without_local_ones():
    shape = {"num_hidden_layers": 6, "num_attention_heads": 2}
    profile = head_profile("0" * 64, "0" * 64, **shape)
    assert not profile.profiled
    assert profile.heads == ((2, 0), (2, 1), (3, 0), (3, 1))
    assert profile.last_layer == 3
    assert profile.in_layer(3) == [(2, 0), (3, 1)]
    assert head_profile("", "", **shape, local_layers=frozenset({2})).heads == ((3, 0), (3, 1))
    assert {x for x, _ in head_profile("", "", **shape, local_layers=frozenset({2, 3})).heads} == {0, 1, 4, 5}
    assert head_profile("", "", num_hidden_layers=1, num_attention_heads=1).heads == ((0, 0),)
