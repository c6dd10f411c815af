"""The scoring functions of the lessons, and the alignment task that they learn."""

import math

import pytest
import torch

from softlookup.learn.toy import SCORERS, align, bytes_for_backward
from softlookup.learn.toy.alignment import SOURCE


def _vectors(d, length=5):
    draw = torch.Generator().manual_seed(3)
    query, key = torch.randn(2, 1, 1, length, d, generator=draw, dtype=torch.float64)
    return query, key


def _one(name, parameters, q, k):
    """The score of one query and one key, written out."""
    d = len(q)
    if name == "additive":
        hidden = [
            math.tanh(sum(q[i] * parameters["W"][0, i, j] + k[i] * parameters["U"][0, i, j] for i in range(d)))
            for j in range(d)
        ]
        return sum(float(parameters["v"][0, j]) * hidden[j] for j in range(d))
    if "general" in name:
        found = sum(float(q[i] * parameters["W"][0, i, j] * k[j]) for i in range(d) for j in range(d))
    else:
        found = sum(float(q[i] * k[i]) for i in range(d))
    return found / math.sqrt(d) if name.startswith("scaled") else found


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_scores_are_those_of_the_formula(name):
    d = 6
    query, key = _vectors(d)
    parameters = SCORERS[name].parameters(d)
    scores = SCORERS[name].score(parameters, query, key)
    assert scores.shape == (1, 1, 5, 5)
    for i, j in ((0, 0), (1, 4), (3, 2)):
        assert float(scores[0, 0, i, j]) == pytest.approx(_one(name, parameters, query[0, 0, i], key[0, 0, j]))


@pytest.mark.parametrize(("name", "count"), [("additive", 2 * 64 + 8), ("dot", 0), ("general", 64), ("scaled dot", 0)])
def test_parameters_are_counted(name, count):
    assert SCORERS[name].count(8) == count
    assert sum(each.numel() for each in SCORERS[name].parameters(8).values()) == count


@pytest.mark.parametrize(("name", "grows"), [("dot", 4.0), ("general", 4.0), ("scaled dot", 1.0), ("additive", 1.0)])
def test_spread_grows_with_the_root_of_d_only_without_a_scale(name, grows):
    spread = []
    for d in (16, 256):
        query, key = _vectors(d, 200)
        spread.append(float(SCORERS[name].score(SCORERS[name].parameters(d), query, key).std()))
    assert spread[1] / spread[0] == pytest.approx(grows, rel=0.3)


def test_only_the_additive_score_keeps_a_tensor_of_queries_times_keys_times_d():
    length, d = 32, 16
    assert bytes_for_backward(SCORERS["additive"], length, d) > 8 * length * length * d
    assert bytes_for_backward(SCORERS["dot"], length, d) == 2 * 8 * length * d


def test_the_scaled_dot_product_learns_what_the_unscaled_one_does_not_yet():
    scaled, plain = (align(name, 32, steps=80, seeds=2) for name in ("scaled dot", "dot"))
    assert scaled.accuracy[0].max() < 0.2
    assert (scaled.accuracy[-1] > plain.accuracy[-1] + 0.2).all()
    assert scaled.steps_to(0.99999) == [None, None] or max(scaled.accuracy[-1]) >= 0.99999
    assert scaled.steps_to(0.0) == [0, 0]
    assert scaled.entropy.max() <= math.log(SOURCE)


def test_seeds_beside_each_other_do_not_mix():
    one, two = align("general", 8, steps=20, seeds=1), align("general", 8, steps=20, seeds=2)
    assert torch.allclose(one.entropy[:, 0], two.entropy[:, 0], atol=1e-9)
    assert not torch.allclose(two.entropy[:, 0], two.entropy[:, 1], atol=1e-3)
