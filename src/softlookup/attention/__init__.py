"""Attention and its statistics on plain tensors; knows no model.

Shape legend used everywhere: B batch, Hq query heads, Hkv key/value heads, Tq query rows, Tk keys,
D head dimension, Dv value dimension, G row groups. ``scores`` are scaled q.k before softmax, ``weights`` after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {
    "AttentionOutput": "softlookup.attention.stats",
    "AttentionStats": "softlookup.attention.stats",
    "KVCache": "softlookup.attention.cache",
    "RotaryEmbedding": "softlookup.attention.rope",
    "StatsRequest": "softlookup.attention.stats",
    "TopK": "softlookup.attention.stats",
    "attention": "softlookup.attention.api",
    "attention_statistics": "softlookup.attention.api",
    "key_mass": "softlookup.attention.second_pass",
}

__all__ = [
    "AttentionOutput",
    "AttentionStats",
    "KVCache",
    "RotaryEmbedding",
    "StatsRequest",
    "TopK",
    "attention",
    "attention_statistics",
    "key_mass",
]

if TYPE_CHECKING:
    from softlookup.attention.api import attention, attention_statistics
    from softlookup.attention.cache import KVCache
    from softlookup.attention.rope import RotaryEmbedding
    from softlookup.attention.second_pass import key_mass
    from softlookup.attention.stats import AttentionOutput, AttentionStats, StatsRequest, TopK


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'softlookup.attention' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
