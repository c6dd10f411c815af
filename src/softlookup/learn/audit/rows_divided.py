"""Claims of section 3.1 on a division by d_k, and those of section 5.2."""

from __future__ import annotations

import math

from softlookup.cost.course_shapes import HEAD_DIM
from softlookup.learn.audit.row import AuditRow, Fact
from softlookup.learn.audit.tiny_attention import (
    RANDOM_KEYS,
    SEED,
    attend,
    default_scale,
    mean_entropy,
    random_rows,
    random_statistics,
    score_sd,
    tiny,
    weights_of,
)


def _looks_normal() -> Fact:
    """Output of the wrong scale against the right one, on the same inputs."""
    query, key = random_rows(HEAD_DIM, 8, 64)
    right, wrong = attend(query, key, key), attend(query, key, key, scale=1 / HEAD_DIM)
    apart = float((right - wrong).norm() / right.norm())
    return Fact(apart < 0.01, f"outputs differ by {apart:.0%} from the reference", f"输出与参考实现相差{apart:.0%}")


def _uniform(scale: float) -> Fact:
    entropy = mean_entropy(HEAD_DIM, scale)
    return Fact(entropy > 0.99, f"entropy {entropy:.4f} of ln T", f"熵为ln T的{entropy:.4f}")


def _never_learns() -> Fact:
    """Queries that are sqrt(d_k) times longer undo a division by d_k; what does that leave."""
    query, key = random_rows(HEAD_DIM, 8, 32)
    wanted = weights_of(query, key)
    found = weights_of(query / default_scale(HEAD_DIM), key, scale=1 / HEAD_DIM)
    apart = float((wanted - found).abs().max())
    return Fact(
        apart > 1e-9,
        f"W_Q times {1 / default_scale(HEAD_DIM):.1f} gives the same weights (difference {tiny(apart)})",
        f"把W_Q乘以{1 / default_scale(HEAD_DIM):.1f}，权重完全相同（差{tiny(apart)}）",
    )


def _variance(scale: float) -> float:
    return score_sd(HEAD_DIM, scale) ** 2


def _almost_one_hot() -> Fact:
    sharp = random_statistics(HEAD_DIM, 1.0).max_weight
    share = math.nan if sharp is None else float((sharp > 0.99).double().mean())
    return Fact(
        share > 0.5,
        f"largest weight above 0.99 in {share:.0%} of random rows of {RANDOM_KEYS:,} keys",
        f"{RANDOM_KEYS:,}个键的随机行中只有{share:.0%}的最大权重超过0.99",
    )


_MEASURED_EN = f"256 x {RANDOM_KEYS:,} random pairs, seed {SEED}"

DIVIDED = (
    AuditRow(
        "variance-by-d", "3.1", "divided by d_k = 128 the variance is 1/128", "除以d_k=128时方差为1/128", "128",
        "(1/var)", lambda: 1 / _variance(1 / HEAD_DIM), f"measured: {_MEASURED_EN}",
        f"实测：256×{RANDOM_KEYS:,}对随机向量，种子{SEED}", tolerance=2.0, on_page="128 1 128",
    ),
    AuditRow(
        "uniform-by-d", "3.1", "and the weights become uniform, 1/T", "权重退化成均匀的1/T", None, "",
        lambda: _uniform(1 / HEAD_DIM), "of random queries and keys; with the right scale {0:.3f}",
        "指随机的query和key；缩放正确时为{0:.3f}", facts=(lambda: mean_entropy(HEAD_DIM, default_scale(HEAD_DIM)),),
        on_page="0 1",
    ),
    AuditRow(
        "never-learns", "3.1", "a model divided by d_k never learns whom to look at",
        "误除以d_k的模型永远学不会该看谁", None, "", _never_learns,
        "longer queries undo it: the same functions can be expressed", "query变长即可抵消：能表达的函数完全相同",
        command="softlookup learn 2",
    ),
    AuditRow(
        "divided-hidden", "3.1", "such an error is the hardest to find, as all looks normal",
        "这类错误最难发现，因为一切看起来正常", None, "", _looks_normal,
        "a comparison with a reference shows it at once; the checker names it",
        "与参考实现一比就看得出，检查器能指名道姓", command="softlookup check fn MODULE:FUNCTION",
    ),
    AuditRow(
        "sd-128-again", "5.2", "sd about 11.3 at 128", "128时标准差约11.3", "11.3", "", lambda: score_sd(HEAD_DIM),
        f"measured: {_MEASURED_EN}", f"实测：256×{RANDOM_KEYS:,}对随机向量，种子{SEED}", tolerance=0.1,
        on_page="128 11.3 0 1 1",
    ),
    AuditRow(
        "variance-scaled-again", "5.2", "variance 1 after the scale", "缩放后方差为1", "1", "",
        lambda: _variance(default_scale(HEAD_DIM)), "as in 3.1", "同3.1", tolerance=0.02, on_page="1",
    ),
    AuditRow(
        "near-one-hot", "5.2", "unscaled rows come out almost one-hot, gradient near 0",
        "不缩放时输出接近one-hot，梯度接近0", None, "", _almost_one_hot,
        "true of two keys 2 sd apart; a row of many keys keeps several until it is trained",
        "两个键相差2 sd时如此；键多的行在训练前会保留好几个",
        on_page="0",
    ),
)  # fmt: skip
