"""Attention functions for tests of reports: right ones, and ones with one mistake each."""

import numpy as np


def right(q, k, v, causal=False, mask=None, *, bias=None, scale=None, softcap=None, window=None):
    """As the contract `standard` says, all of it."""
    groups = q.shape[1] // k.shape[1]
    key, value = np.repeat(k, groups, 1).astype(np.float64), np.repeat(v, groups, 1).astype(np.float64)
    scores = q @ key.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = scores if softcap is None else softcap * np.tanh(scores / softcap)
    scores = scores if bias is None else scores + bias
    rows, keys = scores.shape[-2:]
    distance = np.arange(rows)[:, None] + keys - rows - np.arange(keys)
    keep = np.ones((1, 1, rows, keys), dtype=bool)
    keep = keep & (distance >= 0) if causal or window is not None else keep
    keep = keep & (distance < window) if window is not None else keep
    keep = keep if mask is None else keep & mask
    weights = shares(np.where(keep, scores, -np.inf))
    touched = (weights > 0).astype(float) @ ~np.isfinite(value) > 0
    output = np.where(touched, np.nan, weights @ np.where(np.isfinite(value), value, 0.0))
    return output.astype(q.dtype)


def shares(scores):
    top = scores.max(-1, keepdims=True)
    raised = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = raised.sum(-1, keepdims=True)
    return raised / np.where(total == 0, 1.0, total)


def top_left(q, k, v, causal=False, mask=None):
    """The causal triangle in the corner of short queries."""
    corner = np.tril(np.ones((q.shape[2], k.shape[2]), dtype=bool))
    both = mask if not causal else corner if mask is None else mask & corner
    return right(q, k, v, mask=both)


def unscaled(q, k, v, causal=False):
    """No 1/sqrt(D): every call is wrong."""
    return right(q, k, v, causal, scale=1.0)


def sharpened(q, k, v, causal=False):
    """A mistake without a name."""
    keys = k.shape[2]
    weights = right(q, k, np.broadcast_to(np.eye(keys), (*k.shape[:3], keys)).astype(q.dtype), causal)
    weights = weights**1.5 * (1 + 0.1 * np.arange(keys))
    groups = q.shape[1] // k.shape[1]
    return (weights / weights.sum(-1, keepdims=True) @ np.repeat(v, groups, 1)).astype(q.dtype)


def broken(q, k, v):
    """No call works."""
    raise RuntimeError("no GPU <&> ]]> \x1b[31m \u202e \ud800")


def tiled_heads(q, k, v, **rules):
    """Query head h reads kv head h % Hkv."""
    share = q.shape[1] // k.shape[1]
    return right(q, np.tile(k, (1, share, 1, 1)), np.tile(v, (1, share, 1, 1)), **rules)
