"""Mistakes of functions as people write them: caches with rotations, masks of few axes."""

import math

import pytest
import torch

from softlookup.conformance import Adapter, check_fn, find_contract
from softlookup.errors import UsageError

ROPE = find_contract("standard").but(rope={"head_dim": 8, "rope_theta": 10000.0})


def turn(x, positions):
    angles = positions.float()[:, None] * 10000.0 ** (-torch.arange(0, 8, 2).float() / 8)
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat((-right, left), -1) * sin


def attend(query, key, value):
    keep = torch.ones(query.shape[2], key.shape[2]).tril(key.shape[2] - query.shape[2]).bool()
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return scores.masked_fill(~keep, float("-inf")).softmax(-1) @ value


def rotating(*, late=0, bare=False):
    """A function that turns q and k; ``late`` with a cache, or the past left ``bare``."""

    def call(fn, query, key, value):
        past, total = key.shape[2] - query.shape[2], key.shape[2]
        new = torch.arange(past, total) + (late if past else 0)
        old = key[:, :, :past] if bare else turn(key[:, :, :past], torch.arange(past))
        return fn(turn(query, new), torch.cat((old, turn(key[:, :, past:], new)), 2), value)

    return Adapter(call=call, framework="torch", always_causal=True, rotates=True, heads=2, kv_heads=2)


def codes(function, contract, adapter):
    return [finding.code for finding in check_fn(function, contract, adapter=adapter).serious]


def test_a_rotating_function_with_a_cache_conforms():
    assert codes(attend, ROPE, rotating()) == []


@pytest.mark.parametrize(
    ("adapter", "code"),
    [(rotating(late=1), "rotary.position=+1"), (rotating(bare=True), "rotary.cache=unrotated")],
    ids=["late", "bare"],
)
def test_mistakes_of_a_cache_are_named(adapter, code):
    assert codes(attend, ROPE, adapter) == [code]


def test_a_rotation_must_be_declared():
    with pytest.raises(UsageError, match="declares no rotation"):
        check_fn(attend, adapter=rotating())


def padded(query, key, value, mask=None, *, flipped=False):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill((mask if flipped else ~mask)[:, None, None, :], float("-inf"))
    return scores.softmax(-1) @ value


def test_a_mask_per_head_is_not_put_to_a_function_with_padding_masks():
    contract = find_contract("standard").but(dead_row="nan", masked_nan="unspecified")
    assert codes(padded, contract, None) == []
    assert codes(lambda q, k, v, mask=None: padded(q, k, v, mask, flipped=True), contract,
                 Adapter(framework="torch")) == ["mask.polarity=inverted"]  # fmt: skip
