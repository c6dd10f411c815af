"""What rows_structure computes: attention on random rows, once as it should be and once as it should not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from softlookup.cost.course_shapes import TOKENS, course_shape
from softlookup.cost.memory import score_chunk_bytes, score_matrix_bytes
from softlookup.cost.model.presets import preset_names
from softlookup.learn.audit.row import Fact
from softlookup.learn.audit.scenario import widths_apart
from softlookup.learn.audit.tiny_attention import attend, larger_weight, random_rows, tensor, tiny, weights_of

if TYPE_CHECKING:
    import torch

_T, _D = 48, 8


def rows() -> tuple[torch.Tensor, torch.Tensor]:
    """Query and key [1, 1, T, d_k] of most checks."""
    query, key = random_rows(_D, _T, _T)
    return query, key


def row_sums() -> Fact:
    """Rows of plain attention."""
    error = float((weights_of(*rows()).sum(-1) - 1).abs().max())
    return Fact(error < 1e-12, f"largest error {tiny(error)}", f"最大误差{tiny(error)}")


def row_sums_with_sink() -> Fact:
    """Rows beside a learned sink of logit 0."""
    import torch

    total = float(weights_of(*rows(), sinks=torch.zeros(1, dtype=torch.float64)).sum(-1).min())
    return Fact(abs(total - 1) < 1e-12, f"down to {total:.2f}", f"最低{total:.2f}")


def never_misses() -> Fact:
    """A query that is orthogonal to every key."""
    found = weights_of(tensor([[1.0, 0.0]]), tensor([[0.0, float(n + 1)] for n in range(4)]))
    shown = f"{float(found.sum()):.2f}; {float(found.max()):.2f}"
    return Fact(abs(float(found.sum()) - 1) < 1e-12, f"sum and largest: {shown}", f"和与最大值：{shown}")


def misses_with_sink() -> Fact:
    """The same query beside a learned sink."""
    import torch

    query, key = tensor([[1.0, 0.0]]), tensor([[0.0, float(n + 1)] for n in range(4)])
    total = float(weights_of(query, key, sinks=torch.full((1,), 8.0, dtype=torch.float64)).sum())
    return Fact(
        abs(total - 1) < 1e-12,
        f"sum {total:.3f} with a learned sink of 8",
        f"带可学习的汇（logit为8）时和为{total:.3f}",
    )


def convex() -> Fact:
    """Outputs over few and over many keys against the largest value."""
    query, key = rows()
    largest = [float(attend(query[:, :, :4], key[:, :, :n], key[:, :, :n]).abs().max()) for n in (6, _T)]
    limit = float(key.abs().max())
    shown = f"{largest[0]:.2f}, {largest[1]:.2f} <= {limit:.2f}"
    return Fact(max(largest) <= limit, f"largest output, 6 and {_T} keys: {shown}", f"6个和{_T}个键时最大输出：{shown}")


def masked_is_zero() -> Fact:
    """What a causal mask leaves above the diagonal."""
    found = weights_of(*rows(), causal=True)
    above = float(found.triu(1).abs().max())
    return Fact(above == 0.0, f"largest weight above the diagonal: {above:.0f}", f"对角线以上最大权重：{above:.0f}")


def zeroed_afterwards() -> Fact:
    """Row sums of weights that are masked after the softmax."""
    sums = weights_of(*rows()).tril().sum(-1)
    shown = f"{float(sums.min()):.2f} .. {float(sums.max()):.2f}"
    return Fact(float(sums.min()) < 0.99, f"row sums {shown}", f"行和{shown}")


def wrong_triangle_shows() -> Fact:
    """Weights under the wrong triangle, judged by what stands above the diagonal."""
    query, key = rows()
    found = weights_of(query, key, mask=causal_mask().transpose(-1, -2))
    above = float(found.triu(1).max())
    return Fact(
        above > 0, f"wrong triangle: up to {above:.2f} above the diagonal", f"三角错了：对角线以上最大{above:.2f}"
    )


def late_mask_shows() -> Fact:
    """The same check on a mask that is set after the softmax."""
    above = float(weights_of(*rows()).tril().triu(1).max())
    return Fact(
        above > 0, f"mask after the softmax: {above:.0f} above it", f"softmax之后才置零：对角线以上为{above:.0f}"
    )


def causal_mask() -> torch.Tensor:
    """Bool [1, 1, T, T], True = attend."""
    import torch

    return torch.ones(_T, _T, dtype=torch.bool).tril()[None, None]


def triangle_and_sums() -> Fact:
    """Both halves of the check on right weights."""
    found = weights_of(*rows(), causal=True)
    good = float(found.triu(1).abs().max()) == 0 and float((found.sum(-1) - 1).abs().max()) < 1e-12
    return Fact(good, "holds for square scores", "对方阵成立")


def square_only() -> Fact:
    """Four new queries behind a cache: row 0 rightly sees more than key 0."""
    query, key = rows()
    found = weights_of(query[:, :, -4:], key, causal=True)
    above = float(found.triu(1).abs().max())
    return Fact(
        above == 0, f"with a cache up to {above:.2f} stands above the diagonal", f"有缓存时对角线以上最大{above:.2f}"
    )


def keeps_order(*, causal: bool) -> Fact:
    """Shuffled tokens against shuffled outputs."""
    import torch

    query, key = rows()
    order = torch.randperm(_T, generator=torch.Generator().manual_seed(3))
    straight = attend(query, key, key, causal=causal)[order]
    shuffled = attend(query[:, :, order], key[:, :, order], key[:, :, order], causal=causal)
    apart = float((straight - shuffled).abs().max())
    return Fact(apart < 1e-12, f"difference {tiny(apart)}", f"差{tiny(apart)}")


def score_rank(*, weights: bool) -> int:
    """Rank of the scores, or of the weights made of them."""
    import torch

    query, key = rows()
    found = weights_of(query, key) if weights else (query @ key.transpose(-1, -2))[0, 0]
    return int(torch.linalg.matrix_rank(found))


def log_rank() -> float:
    """Rank of the logarithms of the weights."""
    import torch

    return float(torch.linalg.matrix_rank(weights_of(*rows()).log(), rtol=1e-9))


def rank_bound() -> Fact:
    """Rank of the scores."""
    rank = score_rank(weights=False)
    return Fact(rank <= min(_T, _D), f"rank {rank}, T = {_T}, d_k = {_D}", f"秩{rank}，T={_T}，d_k={_D}")


def softmax_changes_rank() -> Fact:
    """Rank before and after the softmax."""
    before, after = score_rank(weights=False), score_rank(weights=True)
    return Fact(after != before, f"{before} before, {after} after", f"之前{before}，之后{after}")


def same_by_tiles() -> Fact:
    """Tiled against materialised attention, and the bytes of both."""
    query, key = rows()
    apart = float((attend(query, key, key, impl="tiled") - attend(query, key, key, impl="reference")).abs().max())
    shape = course_shape()
    ratio = score_matrix_bytes(shape, TOKENS) / score_chunk_bytes(shape, TOKENS)
    return Fact(
        apart < 1e-12 and ratio > 1,
        f"same output (difference {tiny(apart)}); 512 rows at a time take 1/{ratio:.0f} of the matrix",
        f"输出相同（差{tiny(apart)}）；每次512行只占整个矩阵的1/{ratio:.0f}",
    )


def one_product() -> Fact:
    """Scores against one matrix product of query and key."""
    from softlookup.attention.impl.reference import unscaled_scores
    from softlookup.attention.inputs import check_inputs

    query, key = rows()
    apart = float((unscaled_scores(check_inputs(query, key, key)) - query @ key.transpose(-1, -2)).abs().max())
    return Fact(apart == 0.0, f"difference {apart:.0f}", f"差{apart:.0f}")


def distance_is_costly() -> Fact:
    """exp(-|q - k|^2 / 2) against the same product with a bias per key; costly where they differ."""
    import torch

    query, key = rows()
    apart = -0.5 * torch.cdist(query, key)[0, 0] ** 2
    by_product = (query @ key.transpose(-1, -2))[0, 0] - 0.5 * key.pow(2).sum(-1)[0]
    difference = float((apart.softmax(-1) - by_product.softmax(-1)).abs().max())
    return Fact(
        difference > 1e-9,
        f"weights by distance = weights by product with a bias per key (difference {tiny(difference)})",
        f"按距离的权重＝按点积再加每键偏置的权重（差{tiny(difference)}）",
    )


def sharper() -> Fact:
    """The larger of two weights as they part."""
    found = [larger_weight(gap) for gap in (0.0, 1.0, 2.0, 4.0)]
    shown = ", ".join(f"{each:.3f}" for each in found)
    return Fact(found == sorted(found), f"gaps 0, 1, 2, 4: {shown}", f"差0、1、2、4：{shown}")


def twins_part() -> Fact:
    """Gradients of W_Q and W_K that start equal."""
    import torch

    x, _ = rows()
    generator = torch.Generator().manual_seed(5)
    draw = torch.randn(_D, _D, generator=generator, dtype=torch.float64)
    target = torch.randn(_T, _D, generator=generator, dtype=torch.float64)
    w_query, w_key = draw.clone().requires_grad_(), draw.clone().requires_grad_()
    loss = (attend(x @ w_query, x @ w_key, x, impl="reference") - target).pow(2).mean()
    loss.backward()  # type: ignore[no-untyped-call]
    if w_query.grad is None or w_key.grad is None:
        raise AssertionError("both took part")
    apart = float((w_query.grad - w_key.grad).norm() / w_query.grad.norm())
    return Fact(apart > 0.01, f"gradients differ by {apart:.0%}", f"梯度相差{apart:.0%}")


def usual_width(whole: float) -> Fact:
    """Whether at least ``whole`` of the named models have heads of width D / H."""
    names = widths_apart()
    share = 1 - len(names) / len(preset_names())
    shown = ", ".join(names[:3])
    return Fact(
        share >= whole,
        f"{share:.0%} of the named models; not {shown}, ...",
        f"具名模型中占{share:.0%}；例外如{shown}",
    )
