"""Claims of section 5.4 about failures: far positions, overflow, the 2/T rule, the entropy alarm."""

from __future__ import annotations

import math

from softlookup.cost.course_shapes import HEAD_DIM
from softlookup.learn.audit.row import AuditRow, Fact
from softlookup.learn.audit.tiny_attention import (
    default_scale,
    page_width_sd,
    random_rows,
    random_statistics,
    score_sd,
    tensor,
)

_TRAINED, _BEYOND = 8_192, 131_072
_KEYS = 4096


def _largest_half() -> float:
    import torch

    return torch.finfo(torch.float16).max


def _overflows() -> Fact:
    import torch

    raised = torch.tensor(math.exp(page_width_sd()), dtype=torch.float64).to(torch.float16)
    limit = math.log(_largest_half())
    shown = f"e^{page_width_sd():.1f} = {math.exp(page_width_sd()):.3g}"
    return Fact(
        bool(torch.isinf(raised)),
        f"{shown}; the limit is reached at {limit:.2f}, under one sd",
        f"{shown}；{limit:.2f}即到上限，不足一个sd",
    )


def _largest_subtracted() -> Fact:
    """Scores of several hundred in float16, through this package's attention."""
    import torch

    from softlookup.attention.api import attention

    query, key = (each.to(torch.float16) for each in random_rows(HEAD_DIM, 8, 64))
    finite = bool(torch.isfinite(attention(8 * query, key, key, scale=1.0).output).all())
    return Fact(finite, "finite for scores of several hundred", "分数达数百时仍有限")


def _random_rows_fire() -> Fact:
    """The rule on rows that know nothing: scaled random queries and keys."""
    largest = random_statistics(HEAD_DIM, default_scale(HEAD_DIM), _KEYS).max_weight
    if largest is None:
        raise AssertionError("asked for")
    share, times = float((largest < 2 / _KEYS).double().mean()), float((largest * _KEYS).median())
    return Fact(
        share > 0.5,
        f"fires in {share:.0%} of random rows of {_KEYS:,} keys, whose median maximum is {times:.0f}/T",
        f"{_KEYS:,}个键的随机行中触发{share:.0%}，最大权重的中位数是{times:.0f}/T",
    )


def _indistinguishable() -> Fact:
    """How well one token is told from the next, inside and beyond the trained length."""
    import torch

    from softlookup.attention.rope import RotaryEmbedding

    key, rope = random_rows(HEAD_DIM, 1, 1)[1], RotaryEmbedding(HEAD_DIM)
    apart = []
    for at in (_TRAINED // 2, _BEYOND):
        here, there = (rope.apply(key, torch.tensor([place])) for place in (at, at + 1))
        apart.append(float((here - there).norm() / key.norm()))
    shown = ", ".join(f"{each:.3f}" for each in apart)
    return Fact(
        apart[1] < 0.1 * apart[0],
        f"a key and its neighbour differ by {shown} at {_TRAINED // 2:,} and {_BEYOND:,}",
        f"{_TRAINED // 2:,}与{_BEYOND:,}处相邻两个位置的键相差{shown}",
    )


def _under_two_is_even() -> Fact:
    """The least even row whose largest weight is 2/T: half of the keys share it all."""
    import torch

    from softlookup.attention.api import attention_statistics

    half = torch.arange(_KEYS) % 2 == 0
    key = torch.zeros(1, 1, _KEYS, 1, dtype=torch.float64)
    found = attention_statistics(key[:, :, :1], key, mask=half[None, None, None]).entropy
    entropy = math.nan if found is None else float(found) / math.log(_KEYS)
    return Fact(entropy > 0.9, f"entropy at least {entropy:.2f} of ln T", f"熵至少为ln T的{entropy:.2f}")


def _entropy_tells() -> Fact:
    """A row with .6 on the first token and the rest spread evenly: does its entropy look spread."""
    from softlookup.attention.api import attention_statistics
    from softlookup.attention.stats import StatsRequest

    first = math.log(0.6 / (0.4 / (_KEYS - 1)))
    key = tensor([[first]] + [[0.0]] * (_KEYS - 1))
    found = attention_statistics(tensor([[1.0]]), key, scale=1.0, stats=StatsRequest(normalized_entropy=True))
    entropy = math.nan if found.normalized_entropy is None else float(found.normalized_entropy)
    return Fact(
        entropy > 0.9,
        f"a sink of .6 before an even rest has entropy {entropy:.2f} of ln T",
        f"首token占.6、其余完全均匀的行，熵为ln T的{entropy:.2f}",
    )


FAILURES = (
    AuditRow(
        "rope-far", "5.4", "beyond the trained length far positions can hardly be told apart",
        "超出训练长度后远处位置几乎不可分", None, "", _indistinguishable,
        "rotations differ as much there as anywhere; what fails is that the model never saw such distances",
        "旋转之差处处相同；真正的问题是模型从未见过这样的距离",
    ),
    AuditRow(
        "overflow-sd", "5.4", "unscaled sd about 11.3 at 128", "不缩放时128维的sd约11.3", "11.3", "",
        lambda: score_sd(HEAD_DIM), "measured on random rows", "在随机行上实测", tolerance=0.1, on_page="128 11.3",
    ),
    AuditRow(
        "overflow-limit", "5.4", "fp16 ends at 65504", "fp16上限65504", "65504", "", _largest_half,
        "largest finite number", "最大有限数", on_page="65504 16",
    ),
    AuditRow(
        "overflow", "5.4", "e^s becomes inf in fp16", "e^s在fp16里变成inf", None, "", _overflows,
        "a score of one standard deviation already overflows", "一个标准差的分数就已溢出",
    ),
    AuditRow(
        "overflow-remedy", "5.4", "subtracting the row maximum is the remedy", "减去行最大值即可", None, "",
        _largest_subtracted, "exponents are at most 0 then", "此后指数不大于0", command="softlookup check fn",
    ),
    AuditRow(
        "two-over-t-even", "5.4", "under 2/T a row is near uniform", "低于2/T即接近均匀", None, "", _under_two_is_even,
        "of the row that is least even under that bound", "指该界限下最不均匀的一行",
    ),
    AuditRow(
        "two-over-t-random", "5.4", "a largest weight under 2/T marks that no evidence was found",
        "最大权重低于2/T表示未找到依据", None, "", _random_rows_fire,
        "rows that know nothing have a maximum far above it", "一无所知的行，最大权重也远高于它", on_page="2",
    ),
    AuditRow(
        "entropy-alarm", "5.4", "an entropy below a threshold shows a collapse", "熵低于阈值说明注意力塌缩", None, "",
        _entropy_tells, "a sink alone halves it; `inspect` compares with the model's own healthy range",
        "单是汇就使熵减半；`inspect`与该模型自身的正常范围比较", command="softlookup inspect FILE QUESTION",
    ),
)  # fmt: skip
