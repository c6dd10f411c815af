"""Presets against functions that keep their documented conventions; the libraries themselves are in benchmarks."""

import numpy as np
import pytest

from conformance import functions
from softlookup.conformance import Adapter, check_fn, find_contract
from softlookup.conformance.contract import preset_names
from softlookup.errors import UsageError

NUMPY = Adapter(framework="numpy")


def cornered(rules, rows, keys):
    """Causal and windows from the top left, as a mask [1, 1, Tq, Tk]."""
    distance = np.arange(rows)[:, None] - np.arange(keys)
    keep = np.ones((rows, keys), dtype=bool)
    if rules.get("causal"):
        keep &= distance >= 0
    if rules.get("window") is not None:
        left, right = rules["window"]
        keep &= (distance <= left) if left >= 0 or not rules["open"] else True
        keep &= (-distance <= right) if right >= 0 or not rules["open"] else True
    return keep[None, None]


def windowed(*, opened):
    """[B, T, H, D], top left, windows (left, right); -1 opens a side, or is a distance like any other."""

    def attend(q, k, v, causal=False, window=None, mask=None):
        keep = cornered({"causal": causal, "window": window, "open": opened}, q.shape[1], k.shape[1])
        keep = keep if mask is None else keep & mask
        swapped = (part.swapaxes(1, 2) for part in (q, k, v))
        return functions.right(*swapped, mask=keep).swapaxes(1, 2)

    return attend


def serious(report):
    assert not report.problem
    return [finding.code for finding in report.serious]


def test_jax_promises_nothing_about_a_distance_of_minus_one():
    jax = find_contract("jax").but(framework="numpy")
    assert serious(check_fn(windowed(opened=False), jax)) == []
    assert serious(check_fn(windowed(opened=True), jax)) == []


def test_other_contracts_hold_minus_one_for_all_keys_of_that_side():
    pairs = find_contract("jax").but(framework="numpy", window_unbounded="minus_one")
    assert serious(check_fn(windowed(opened=True), pairs)) == []
    assert len(serious(check_fn(windowed(opened=False), pairs))) == 1


def test_a_word_that_is_none_of_the_choices_is_refused():
    with pytest.raises(UsageError, match="window_unbounded"):
        find_contract("jax").but(window_unbounded="none")


def flash(q, k, v, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0):
    """The documented rules of flash_attn_func: [B, T, H, D], bottom right, windows inclusive on both sides."""
    rows, keys = q.shape[1], k.shape[1]
    distance = np.arange(rows)[:, None] + keys - rows - np.arange(keys)
    left, right = window_size
    keep = np.ones((rows, keys), dtype=bool)
    keep &= (distance >= 0) if causal else True
    keep &= (distance <= left) if left >= 0 else True
    keep &= (-distance <= right) if right >= 0 else True
    swapped = (part.swapaxes(1, 2) for part in (q, k, v))
    return functions.right(*swapped, mask=keep[None, None], scale=softmax_scale, softcap=softcap or None).swapaxes(1, 2)


def flash_corner(q, k, v, softmax_scale=None, causal=False):
    """As flash-attention before 2.1: the triangle at the top left."""
    keep = np.tril(np.ones((q.shape[1], k.shape[1]), dtype=bool))[None, None] if causal else None
    swapped = (part.swapaxes(1, 2) for part in (q, k, v))
    return functions.right(*swapped, mask=keep, scale=softmax_scale).swapaxes(1, 2)


def test_the_rules_of_flash_attention():
    rules = find_contract("flash_attn").but(framework="numpy")
    report = check_fn(flash, rules)
    assert serious(report) == [], str(report)
    assert "window.sides" in {probe.id for probe in report.probes if probe.status == "pass"}
    assert serious(check_fn(flash_corner, rules)) == ["causal.align=top_left(want=bottom_right)"]


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_sees_a_missing_scale(name):
    contract = find_contract(name).but(framework="numpy", layout="bhtd", dtypes=("float32",))

    def unscaled(q, k, v):
        return functions.unscaled(q, k, v)

    report = check_fn(unscaled, contract, adapter=NUMPY)
    assert serious(report) == ["scale.missing"]
