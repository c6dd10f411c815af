"""Small attention calls and other numbers that several rows need; every one is computed by softlookup's functions."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from softlookup.attention.stats import AttentionStats

SEED = 11
RANDOM_KEYS, RANDOM_QUERIES = 1024, 256


def tiny(error: float) -> str:
    """An error of rounding by its bound, since its digits depend on the machine."""
    return "< 1e-12" if error < 1e-12 else f"{error:.1g}"


def tensor(rows: list[list[float]]) -> torch.Tensor:
    """[T, D] to float64 [1, 1, T, D]."""
    import torch

    return torch.tensor(rows, dtype=torch.float64)[None, None]


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, **rules: object) -> torch.Tensor:
    """Output [Tq, Dv] of one head."""
    from softlookup.attention.api import attention

    return attention(query, key, value, **rules).output[0, 0]  # type: ignore[arg-type]


def weights_of(query: torch.Tensor, key: torch.Tensor, **rules: object) -> torch.Tensor:
    """[Tq, Tk] weights of one head: attention over values that are the unit vectors."""
    import torch

    unit = torch.eye(key.shape[2], dtype=key.dtype)[None, None]
    return attend(query, key, unit, **rules)


def larger_weight(gap: float) -> float:
    """Weight of the larger of two scores that differ by ``gap``."""
    return float(weights_of(tensor([[gap]]), tensor([[1.0], [0.0]]), scale=1.0)[0, 0])


def smaller_weight(gap: float) -> float:
    """The other one, computed for itself: 1 - p would lose its digits."""
    return float(weights_of(tensor([[gap]]), tensor([[1.0], [0.0]]), scale=1.0)[0, 1])


def slope(gap: float) -> float:
    """Derivative of the larger weight by its score, through the reference implementation."""
    query = tensor([[gap]]).requires_grad_()
    found = attend(query, tensor([[1.0], [0.0]]), tensor([[1.0], [0.0]]), scale=1.0, impl="reference")
    found.sum().backward()  # type: ignore[no-untyped-call]
    return 0.0 if query.grad is None else float(query.grad)


def default_scale(head_dim: int) -> float:
    """The factor that scores get when nobody asks for another."""
    from softlookup.attention.inputs import check_inputs

    rows = tensor([[0.0] * head_dim])
    return check_inputs(rows, rows, rows).scale


def random_rows(head_dim: int, queries: int = RANDOM_QUERIES, keys: int = RANDOM_KEYS) -> tuple[torch.Tensor, ...]:
    """Query and key with independent N(0, 1) entries, the same at every call; float64 [1, 1, T, D]."""
    import torch

    generator = torch.Generator().manual_seed(SEED)
    return tuple(
        torch.randn(1, 1, count, head_dim, generator=generator, dtype=torch.float64) for count in (queries, keys)
    )


@cache
def random_statistics(head_dim: int, scale: float, keys: int = RANDOM_KEYS) -> AttentionStats:
    """Statistics of those rows under ``scale``."""
    from softlookup.attention.api import attention_statistics
    from softlookup.attention.stats import StatsRequest

    query, key = random_rows(head_dim, keys=keys)
    return attention_statistics(query, key, scale=scale, stats=StatsRequest(normalized_entropy=True))


def score_sd(head_dim: int, scale: float = 1.0) -> float:
    """Measured standard deviation of the scores of random rows."""
    from softlookup.attention.impl.reference import unscaled_scores
    from softlookup.attention.inputs import check_inputs

    query, key = random_rows(head_dim)
    return float((scale * unscaled_scores(check_inputs(query, key, key))).std())


def mean_largest_weight(head_dim: int, scale: float) -> float:
    """Mean over random rows."""
    largest = random_statistics(head_dim, scale).max_weight
    return math.nan if largest is None else float(largest.mean())


def mean_entropy(head_dim: int, scale: float) -> float:
    """Mean entropy of random rows in units of ln T: 1 is uniform, 0 is one key."""
    entropy = random_statistics(head_dim, scale).normalized_entropy
    return math.nan if entropy is None else float(entropy.mean())


def page_width_sd() -> float:
    """Standard deviation of unscaled scores at the page's head width."""
    from softlookup.cost.course_shapes import HEAD_DIM

    return 1 / default_scale(HEAD_DIM)
