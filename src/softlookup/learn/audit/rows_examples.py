"""Claims of sections 5.1, 5.3, 9 and of the quiz: the hand calculations, the listing, the exercises."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from softlookup.learn.audit.row import AuditRow, Fact
from softlookup.learn.audit.structure_checks import zeroed_afterwards
from softlookup.learn.audit.tiny_attention import attend, default_scale, random_rows, tensor, weights_of

if TYPE_CHECKING:
    import torch

_IDENTITY = [[1.0, 0.0], [0.0, 1.0]]
_EXERCISE_T, _EXERCISE_D = 1024, 64


def _hand(times: float = 1.0, *, causal: bool = False) -> torch.Tensor:
    """Output of the two tokens, which is also their weights: X = V = I; W_Q = ``times`` I."""
    x = tensor(_IDENTITY)
    return attend(times * x, x, x, causal=causal)


def _flat(rows: torch.Tensor) -> tuple[float, ...]:
    return tuple(float(each) for each in rows.flatten())


def _equal_match() -> Fact:
    x = tensor(_IDENTITY)
    own, other = (float(each) for each in default_scale(2) * (x @ x.transpose(-1, -2))[0, 0, 0])
    return Fact(own == other, f"scores {own:.3f} and {other:.0f}", f"分数为{own:.3f}和{other:.0f}")


def _grows_sharper() -> Fact:
    plain, doubled = float(_hand()[0, 0]), float(_hand(2.0)[0, 0])
    return Fact(doubled > plain, f"{plain:.3f} becomes {doubled:.3f}", f"{plain:.3f}变为{doubled:.3f}")


def _listing() -> tuple[torch.Tensor, torch.Tensor]:
    """Query and key [2, 2, 5, 4] as the listing has them: the same tensor."""
    import torch

    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 5, 8, generator=generator, dtype=torch.float64)
    w_query = torch.randn(8, 8, generator=generator, dtype=torch.float64)
    query = (x @ w_query).reshape(2, 5, 2, 4).transpose(1, 2)
    return query, query


def _listing_weights() -> torch.Tensor:
    import torch

    from softlookup.attention.api import attention

    query, key = _listing()
    return attention(query, key, torch.eye(5, dtype=torch.float64).expand(2, 2, 5, 5)).output


def _whole_head() -> Fact:
    query, key = _listing()
    scores = query @ key.transpose(-1, -2)
    symmetric = float((scores - scores.transpose(-1, -2)).abs().max()) < 1e-12
    return Fact(
        not symmetric,
        "scores are symmetric: keys are the queries, and no value, mask or output is computed",
        "分数是对称的：键就是query，也没有算value、掩码和输出",
    )


def _quiz() -> str:
    query, key = random_rows(4, 6, 6)
    names = {6: "T", 4: "d_k"}
    return "[" + ", ".join(names[size] for size in (query @ key.transpose(-1, -2))[0, 0].shape) + "]"


def _similar_rows() -> Fact:
    """Weights of rank 2 whose rows fall into two groups that look at different keys."""
    import torch

    query, key = tensor([[30.0, 0.0], [0.0, 30.0]] * 4), tensor([[1.0, 0.0], [0.0, 1.0]] * 4)
    found = weights_of(query, key, scale=1.0)
    rank, overlap = int(torch.linalg.matrix_rank(found, rtol=1e-9)), float(torch.minimum(found[0], found[1]).sum())
    return Fact(
        overlap > 0.5,
        f"rank {rank} of 8, and two rows share {overlap:.0e} of their weight",
        f"秩为{rank}（共8行），两行重叠的权重却只有{overlap:.0e}",
    )


def _scores() -> torch.Tensor:
    """Unscaled scores of the exercise, [1, 1, T, T]."""
    from softlookup.attention.impl.reference import unscaled_scores
    from softlookup.attention.inputs import check_inputs

    query, key = random_rows(_EXERCISE_D, _EXERCISE_T, _EXERCISE_T)
    return unscaled_scores(check_inputs(query, key, key))


def _exercise_flops() -> float:
    """FLOPs of that computation as torch counts them while it runs."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        _scores()
    return float(counter.get_total_flops())


_MASKED_ROWS = ("1", "0", "0.330", "0.670")

EXAMPLES = (
    AuditRow(
        "hand-score", "5.1", "scaled score 0.707", "缩放后的分数0.707", "0.707", "", lambda: default_scale(2),
        "1 / sqrt(2)", "1/√2", on_page="1001 1001 1001 2 2 2 0.707 0.707 0 0",
    ),
    AuditRow(
        "hand-exponent", "5.1", "e^0.707 = 2.028", "e^0.707=2.028", "2.028", "",
        lambda: float(_hand()[0, 0] / _hand()[0, 1]), "ratio of the two weights", "两个权重之比",
        on_page="0.707 2.028 0 1",
    ),
    AuditRow(
        "hand-weights", "5.1", "weights .670 and .330", "权重.670和.330", ("0.670", "0.330", "0.330", "0.670"), "",
        lambda: _flat(_hand()), "both rows", "两行", on_page="0.670 0.330 0.330 0.670",
    ),
    AuditRow(
        "hand-output", "5.1", "the output has the same numbers", "输出是同样的数",
        ("0.670", "0.330", "0.330", "0.670"), "", lambda: _flat(_hand()), "because V = I", "因为V=I",
        on_page="0.670 0.330 0.330 0.670",
    ),
    AuditRow(
        "hand-percent", "5.1", "67 % itself, 33 % the other", "自己67%，对方33%", ("67", "33"), "%",
        lambda: tuple(100 * each for each in _flat(_hand()[0])), "rounded weights", "权重取整", on_page="67 33",
    ),
    AuditRow(
        "hand-ratio", "5.1", "weights 2:1", "权重为2:1", "2", "", lambda: float(_hand()[0, 0] / _hand()[0, 1]),
        "rounded from e^0.707", "由e^0.707取整", on_page="2 1 0.707 0",
    ),
    AuditRow(
        "hand-same-match", "5.1", "both tokens match equally well, since they are orthogonal",
        "两个token正交，所以匹配度相同", None, "", _equal_match,
        "orthogonal is why the other one scores 0 and itself 0.707: not the same",
        "正交恰恰使对方得0分、自己得0.707，并不相同",
    ),
    AuditRow(
        "hand-masked", "5.1", "masked: rows (1, 0) and (.330, .670)", "加掩码后两行为(1,0)和(.330,.670)", _MASKED_ROWS,
        "", lambda: _flat(_hand(causal=True)), "row 1 sees itself alone", "第1行只看得到自己",
        on_page="1 1 0.330 0 0.670 1 1 0",
    ),
    AuditRow(
        "listing-shape", "5.3", "the listing prints the shape (2, 2, 5, 5)", "代码打印形状(2,2,5,5)", "(2, 2, 5, 5)",
        "", lambda: str(tuple(_listing_weights().shape)), "[B, H, T, T]", "[B, H, T, T]", on_page="2 2 5 5 2 5 8 2",
    ),
    AuditRow(
        "listing-sums", "5.3", "and row sums of 1", "以及行和1", ("1", "1", "1", "1", "1"), "",
        lambda: _flat(_listing_weights().sum(-1)[0, 0]), "batch entry 0, head 0", "第0个样本、第0个头", tolerance=1e-9,
        on_page="0 0 1 1 1 1 1",
    ),
    AuditRow(
        "listing-whole", "5.3", "it shows a whole attention head", "它展示一个注意力头的完整形状", None, "",
        _whole_head, "K is missing: Q is multiplied with itself; so are V, the mask and the output",
        "缺少K：Q与自己相乘；也没有V、掩码和输出", command="softlookup learn 4",
    ),
    AuditRow(
        "exercise-elements", "9", "1024^2 = 1.05 M scores", "1024²约1.05 M个元素", "1.05", "M",
        lambda: _scores().numel() / 1e6, "T^2", "T²", on_page="1024 1024 2 1.05",
    ),
    AuditRow(
        "exercise-adds", "9", "6.7e7 multiply-adds", "约6.7e7次乘加", "6.7e7", "", lambda: _exercise_flops() / 2,
        "d_k = 64 each", "每个64次", on_page="64 64 6.7e7",
    ),
    AuditRow(
        "exercise-flops", "9", "1.34e8 FLOP", "1.34e8 FLOP", "1.34e8", "FLOP", _exercise_flops,
        "2 FLOP each; causal half of it", "每次2 FLOP；因果时减半", on_page="1.34e8",
    ),
    AuditRow(
        "exercise-double", "9", "W_Q = 2 I doubles the scores", "W_Q=2I使分数翻倍", "2", "",
        lambda: math.log(float(_hand(2.0)[0, 0] / _hand(2.0)[0, 1])) / default_scale(2), "scores are linear in W_Q",
        "分数对W_Q是线性的", tolerance=1e-9, on_page="2",
    ),
    AuditRow(
        "exercise-sharper", "9", "weights sharpen and the output changes", "权重更尖锐，输出会变", None, "",
        _grows_sharper, "own weight", "自己的权重",
    ),
    AuditRow(
        "exercise-zeroed", "9", "zeroing after the softmax breaks the row sums", "softmax后置零破坏行和", None, "",
        zeroed_afterwards, "as in section 6", "同第6节", on_page="1",
    ),
    AuditRow(
        "exercise-rank", "9", "low rank means that all queries look alike", "秩低意味着所有query的注意力模式高度相似",
        None, "", _similar_rows, "low rank means few independent patterns; they can be as different as one likes",
        "秩低只说明独立的模式少，模式之间可以完全不同", command="softlookup learn 8",
    ),
    AuditRow(
        "quiz-shape", "quiz", "QK^T is [T, T]", "QKᵀ为[T, T]", "[T, T]", "", _quiz, "[T, d_k] times [d_k, T]",
        "[T, d_k]乘[d_k, T]",
    ),
)  # fmt: skip
