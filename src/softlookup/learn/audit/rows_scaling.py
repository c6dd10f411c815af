"""Claims of section 3.1 on scores without and with the scale: variance, weights, gradients, half precision."""

from __future__ import annotations

import math

from softlookup.cost.course_shapes import HEAD_DIM
from softlookup.learn.audit.row import AuditRow, Fact, Reading, Verdict
from softlookup.learn.audit.scenario import head_widths
from softlookup.learn.audit.tiny_attention import (
    RANDOM_KEYS,
    SEED,
    default_scale,
    larger_weight,
    mean_largest_weight,
    page_width_sd,
    random_rows,
    random_statistics,
    score_sd,
    slope,
    smaller_weight,
)


def _sd(head_dim: int) -> float:
    return 1 / default_scale(head_dim)


def _share_below(limit: float, scale: float, head_dim: int = HEAD_DIM) -> float:
    """Share of random rows whose p(1 - p) of the largest weight is at most ``limit``."""
    largest = random_statistics(head_dim, scale).max_weight
    return math.nan if largest is None else float((largest * (1 - largest) <= limit).double().mean())


def _smallest_half() -> float:
    """Largest number that fp16 rounds to 0: half of the smallest subnormal."""
    import torch

    info = torch.finfo(torch.float16)
    return info.tiny * info.eps / 2


def _in_half(number: float) -> float:
    import torch

    return float(torch.tensor(number, dtype=torch.float64).to(torch.float16))


def _smallest_normal() -> float:
    import torch

    return torch.finfo(torch.float16).tiny


def _is_lost(gap: float) -> Fact:
    kept = _in_half(slope(gap))
    return Fact(kept == 0.0, f"fp16 stores {slope(gap):.2g} as {kept:.2g}", f"fp16把{slope(gap):.2g}存成{kept:.2g}")


def _no_gradient_at_all() -> Fact:
    zero, mean = _share_below(_smallest_half(), 1.0), mean_largest_weight(HEAD_DIM, 1.0)
    return Fact(
        zero > 0.5,
        f"{zero:.1%} of random rows of {RANDOM_KEYS:,} keys lose their gradient; mean largest weight {mean:.2f}",
        f"{RANDOM_KEYS:,}个键的随机行中{zero:.1%}失去梯度；最大权重平均{mean:.2f}",
    )


def _typical_gap() -> float:
    """Root mean square difference of two scores of a row, in units of their standard deviation."""
    from softlookup.attention.impl.reference import unscaled_scores
    from softlookup.attention.inputs import check_inputs

    query, key = random_rows(HEAD_DIM)
    scores = unscaled_scores(check_inputs(query, key, key))
    gaps = scores[..., 0::2] - scores[..., 1::2]
    return float(gaps.pow(2).mean().sqrt() / scores.std())


def _scaled_variances() -> tuple[float, ...]:
    return tuple(score_sd(width, default_scale(width)) ** 2 for width in (16, 64, HEAD_DIM))


def _term_variance() -> float:
    query, key = random_rows(HEAD_DIM, RANDOM_KEYS)
    return float((query * key).var())


def _real_width(width: int) -> Fact:
    found = sorted(head_widths())
    shown = ", ".join(map(str, found))
    return Fact(width in found, f"widths of the named models: {shown}", f"具名模型的头宽：{shown}")


def _variance(scale: float) -> float:
    return score_sd(HEAD_DIM, scale) ** 2


_MEASURED_EN = f"256 x {RANDOM_KEYS:,} random pairs, seed {SEED}"

SCALING = (
    AuditRow(
        "sd-16", "3.1", "d_k = 16: sd 4.0", "d_k=16：sd为4.0", "4.0", "", lambda: _sd(16), "sqrt(d_k)", "d_k的平方根",
        on_page="16 4.0",
    ),
    AuditRow(
        "sd-64", "3.1", "d_k = 64: sd 8.0", "d_k=64：sd为8.0", "8.0", "", lambda: _sd(64), "sqrt(d_k)", "d_k的平方根",
        on_page="64 8.0",
    ),
    AuditRow(
        "sd-128", "3.1", "d_k = 128: sd 11.3", "d_k=128：sd为11.3", "11.3", "", lambda: _sd(128), "sqrt(d_k)",
        "d_k的平方根", on_page="128 11.3",
    ),
    AuditRow(
        "sd-real-widths", "3.1", "16 is the width of a real head", "16是真实的头宽", None, "", lambda: _real_width(16),
        "64 and 128 are; no named model has 16", "64和128是，没有一个具名模型是16",
    ),
    AuditRow(
        "variance", "3.1", "unscaled scores have variance d_k (128)", "未缩放分数的方差是d_k（128）", "128", "",
        lambda: _variance(1.0), f"measured: {_MEASURED_EN}", f"实测：256×{RANDOM_KEYS:,}对随机向量，种子{SEED}",
        tolerance=2.0, on_page="0 1 1 1 0",
    ),
    AuditRow(
        "variance-term", "3.1", "each product q_i k_i has variance 1", "每项q_i·k_i方差为1", "1", "", _term_variance,
        "measured over the same vectors", "在同一批向量上实测", tolerance=0.03,
    ),
    AuditRow(
        "gap", "3.1", "two logits typically differ by 2 sd", "两个logit的典型差距是2 sd", "2", "sd", _typical_gap,
        "independent scores differ by sqrt(2) sd (root mean square)", "独立分数之差的均方根是√2个sd", tolerance=0.05,
        on_page="2 1 1 2", command="softlookup learn 2",
    ),
    AuditRow(
        "weight-16", "3.1", "larger weight at 16: 0.99966", "16时较大权重0.99966", "0.99966", "",
        lambda: larger_weight(2 * _sd(16)), "two keys, 8 apart", "两个键，差8", on_page="0.99966",
    ),
    AuditRow(
        "weight-64", "3.1", "at 64: 1 - 1.1e-7", "64时为1−1.1e-7", "1.1e-7", "", lambda: smaller_weight(2 * _sd(64)),
        "what is missing to 1", "与1的差", on_page="1 1.1e-7",
    ),
    AuditRow(
        "weight-128", "3.1", "at 128: 1 - 1.5e-10", "128时为1−1.5e-10", "1.5e-10", "",
        lambda: smaller_weight(2 * _sd(128)), "what is missing to 1", "与1的差", on_page="128 1 1.5e-10 1 1.5e-10",
    ),
    AuditRow(
        "jacobian", "3.1", "p(1 - p) there is 1.5e-10", "此处p(1−p)为1.5e-10", "1.5e-10", "",
        lambda: slope(2 * page_width_sd()), "derivative through the reference implementation", "对参考实现求导得到",
        on_page="1 1.5e-10",
    ),
    AuditRow(
        "fp16-normal", "3.1", "smallest normal number of fp16: 6.1e-5", "fp16最小正规数6.1e-5", "6.1e-5", "",
        _smallest_normal, "2^-14; subnormals reach {0:.1e}", "2⁻¹⁴；次正规数可到{0:.1e}",
        facts=(lambda: 2 * _smallest_half(),), on_page="6.1e-5 16",
    ),
    AuditRow(
        "fp16-underflow", "3.1", "so the gradient becomes 0 in fp16", "所以该梯度在fp16里变成0", None, "",
        lambda: _is_lost(2 * page_width_sd()),
        "true, but not because it is below 6.1e-5: what is under {0:.0e} is lost; at d_k = 64 the gradient is below "
        "6.1e-5 too and can be stored; softmax and its backward pass run in fp32 as a rule",
        "结论对，理由不对：低于{0:.0e}才会丢；d_k=64时同样低于6.1e-5却存得下；softmax及其反向通常用fp32",
        Reading(Verdict.MISLEADING, lambda: _is_lost(2 * _sd(64)), "d_k = 64", "d_k=64"), facts=(_smallest_half,),
        on_page="0 16", command="softlookup learn 2",
    ),
    AuditRow(
        "no-gradient", "3.1", "without the scale there is no gradient at all at these positions",
        "不缩放时这些位置上根本没有梯度", None, "", _no_gradient_at_all,
        "with more than two keys the best two are close together; gradients shrink, few vanish",
        "键多于两个时，最好的两个相差不大；梯度变小，但很少消失", command="softlookup learn 2",
    ),
    AuditRow(
        "variance-scaled", "3.1", "after the scale the variance is 1 at any width", "缩放后方差为1，与宽度无关",
        ("1", "1", "1"), "", _scaled_variances, "measured at widths 16, 64 and 128", "在宽度16、64、128上实测",
        tolerance=0.05, on_page="1 1",
    ),
    AuditRow(
        "weight-scaled", "3.1", "two logits 2 apart: 0.881", "两个logit差2：0.881", "0.881", "",
        lambda: larger_weight(2.0), "1 / (1 + e^-2)", "1/(1+e⁻²)", on_page="2 0.881 0.881",
    ),
    AuditRow(
        "weight-scaled-rest", "3.1", "the other one: 0.119", "另一个：0.119", "0.119", "", lambda: smaller_weight(2.0),
        "both sum to 1", "两者之和为1", on_page="0.119",
    ),
    AuditRow(
        "jacobian-scaled", "3.1", "gradient 0.105", "梯度0.105", "0.105", "", lambda: slope(2.0), "p (1 - p)",
        "p(1−p)", on_page="0.105",
    ),
)  # fmt: skip
