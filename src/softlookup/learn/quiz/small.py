"""Attention on lists of numbers, for explanations: softlookup's reference implementation in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import torch

    from softlookup.attention import AttentionOutput

Rows = Sequence[Sequence[float]]


def tensor(rows: Rows) -> torch.Tensor:
    """[1, 1, T, D] in float64."""
    import torch

    return torch.tensor(rows, dtype=torch.float64)[None, None]


def draw(*sizes: int, seed: int = 0) -> torch.Tensor:
    """Standard normal numbers in float64, the same for the same seed."""
    import torch

    return torch.randn(*sizes, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def look(query: Rows, key: Rows, value: Rows, **options: Any) -> AttentionOutput:
    """Attention of query [Tq, D] on key [Tk, D] and value [Tk, Dv]; options as ``softlookup.attention.attention``."""
    from softlookup.attention import attention

    return attention(tensor(query), tensor(key), tensor(value), impl="reference", **options)


def output(query: Rows, key: Rows, value: Rows, **options: Any) -> list[list[float]]:
    """The output rows [Tq, Dv]."""
    return cast("list[list[float]]", look(query, key, value, **options).output[0, 0].tolist())


def weights(query: Rows, key: Rows, **options: Any) -> list[list[float]]:
    """The weights [Tq, Tk]: the output for values that are the rows of the identity."""
    identity = [[float(row == column) for column in range(len(key))] for row in range(len(key))]
    return output(query, key, identity, **options)


def row_weights(scores: Sequence[float]) -> list[float]:
    """Weights of one query whose scores are given."""
    return weights([[1.0]], [[score] for score in scores], scale=1.0)[0]


def row_statistics(scores: Sequence[float], **wanted: Any) -> Any:
    """``AttentionStats`` of one query whose scores are given; ``wanted`` as in ``StatsRequest``."""
    from softlookup.attention import StatsRequest

    zeros = [[0.0]] * len(scores)
    return look([[1.0]], [[score] for score in scores], zeros, scale=1.0, stats=StatsRequest(**wanted)).stats
