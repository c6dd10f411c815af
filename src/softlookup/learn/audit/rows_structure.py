"""Claims of sections 1 to 4 and 6 about attention itself: shapes, sums, masks, order, rank, FlashAttention."""

from __future__ import annotations

from softlookup.cost.course_shapes import HEAD_DIM, HEADS, TOKENS, WIDTH
from softlookup.cost.flops import seen_keys
from softlookup.learn.audit.row import AuditRow, Reading, Verdict
from softlookup.learn.audit.structure_checks import (
    convex,
    distance_is_costly,
    keeps_order,
    late_mask_shows,
    log_rank,
    masked_is_zero,
    misses_with_sink,
    never_misses,
    one_product,
    rank_bound,
    row_sums,
    row_sums_with_sink,
    same_by_tiles,
    sharper,
    softmax_changes_rank,
    square_only,
    triangle_and_sums,
    twins_part,
    usual_width,
    wrong_triangle_shows,
    zeroed_afterwards,
)

STRUCTURE = (
    AuditRow(
        "head-width", "1", "every head has width d = D / H", "每头宽d=D/H", str(HEAD_DIM), "",
        lambda: float(WIDTH // HEADS), "of the page's model", "就本页的模型而言",
    ),
    AuditRow(
        "never-misses", "1.1", "softmax always gives weights that sum to 1, whatever the keys",
        "无论键是否相关，softmax总给出和为1的权重", None, "", never_misses,
        "plain softmax; models with a learned sink (gpt-oss) can leave weight nowhere",
        "指普通softmax；带可学习的汇的模型（gpt-oss）可以把权重放在空处",
        Reading(Verdict.MISLEADING, misses_with_sink, "learned sink", "可学习的汇"), on_page="1",
    ),
    AuditRow(
        "usual-width", "2.1", "d_k = d_v = D / H is common", "常见d_k=d_v=D/H", None, "", lambda: usual_width(1.0),
        "a convention: many models state their own head width", "只是惯例：不少模型单独给出头宽",
        Reading(Verdict.CONVENTION, lambda: usual_width(0.5), "half of them", "过半"),
    ),
    AuditRow(
        "row-sums-definition", "2.2", "weights of a query over all keys sum to 1", "每个query对所有key的权重和为1",
        None, "", row_sums, "by definition", "由定义得到", on_page="1",
    ),
    AuditRow(
        "masked-zero", "2.3", "after the softmax hidden positions have weight 0", "掩码位置softmax后权重为0", None, "",
        masked_is_zero, "exactly 0 with -inf", "用−∞时严格为0", on_page="0",
    ),
    AuditRow(
        "distance", "3", "the product, unlike a distance, is one matrix multiplication",
        "点积可一次矩阵乘法算完，欧氏距离不行", None, "", one_product,
        "a distance costs the same: |q - k|^2 = |q|^2 + |k|^2 - 2 q.k, and |q|^2 drops out of the softmax",
        "距离的代价相同：|q−k|²=|q|²+|k|²−2q·k，而|q|²在softmax里消去",
        Reading(Verdict.MISLEADING, distance_is_costly, "by distance", "按距离"),
    ),
    AuditRow(
        "winner", "3", "the larger the difference, the more concentrated", "分数差越大越集中", None, "", sharper,
        "monotone in the gap", "随差值单调", on_page="1",
    ),
    AuditRow(
        "row-sums", "4.2", "every row sums to 1", "每行权重和为1", None, "", row_sums,
        "not with a learned sink: {other}", "带可学习的汇时不成立：{other}",
        Reading(Verdict.CONVENTION, row_sums_with_sink, "learned sink", "可学习的汇"), on_page="1 1",
    ),
    AuditRow(
        "convex", "4.2", "outputs do not grow with the length", "输出不会随序列变长而爆炸", None, "", convex,
        "a weighted mean stays among the values", "加权平均不会超出value的范围",
    ),
    AuditRow(
        "quadratic", "4.3", "cost grows as T^2: twice the tokens, four times the work",
        "计算量为T²：token翻倍，开销四倍", "4", "", lambda: seen_keys(2 * TOKENS, 0) / seen_keys(TOKENS, 0),
        "causal as well: T(T+1)/2 pairs", "因果也一样：T(T+1)/2对", tolerance=0.001, on_page="2 2 2 2",
    ),
    AuditRow(
        "flash", "4.3", "FlashAttention saves memory and computes the same", "FlashAttention省显存，计算量不变", None,
        "", same_by_tiles, "forward; its backward pass computes the scores again, and what saves time is less traffic",
        "指前向；反向要把分数再算一遍，省时间靠的是少搬数据", command="softlookup learn 5",
    ),
    AuditRow(
        "permutation", "4.4", "shuffled tokens give shuffled outputs", "输入打乱，输出同样打乱", None, "",
        lambda: keeps_order(causal=False), "without a mask; a causal mask alone tells orders apart: {other}",
        "指没有掩码；仅凭因果掩码就能区分顺序：{other}",
        Reading(Verdict.MISLEADING, lambda: keeps_order(causal=True), "causal", "因果"),
    ),
    AuditRow(
        "needs-positions", "4.4", "therefore positions must be added", "所以必须加位置编码", None, "",
        lambda: keeps_order(causal=True), "decoders are causal: their rows depend on the order without any position",
        "解码器带因果掩码，不加位置，各行也依赖顺序",
    ),
    AuditRow(
        "rank", "4.5", "rank of QK^T at most min(T, d_k)", "QKᵀ的秩至多min(T, d_k)", None, "", rank_bound,
        "a product of [T, d_k] and [d_k, T]", "[T, d_k]与[d_k, T]之积",
    ),
    AuditRow(
        "rank-softmax", "4.5", "softmax changes the rank", "softmax会改变秩", None, "", softmax_changes_rank,
        "here to the full rank T", "这里变成满秩T", command="softlookup learn 8",
    ),
    AuditRow(
        "rank-still", "4.5", "the weights stay bound by that structure", "权重仍受这个结构约束", "9", "", log_rank,
        "rank of their logarithms: d_k + 1, as a row's lse is subtracted", "取对数后的秩为d_k+1，因为每行减去了lse",
    ),
    AuditRow(
        "twins", "6", "projections that start equal grow apart", "初始相同的投影会因梯度不同而分化", None, "",
        twins_part, "gradients of W_Q and W_K where both are the same matrix", "W_Q与W_K相同时各自的梯度",
    ),
    AuditRow(
        "zeroed-late", "6", "zeroed after the softmax, rows no longer sum to 1", "softmax之后置零，行和不再为1", None,
        "", zeroed_afterwards, "what was hidden keeps its share", "被遮住的位置仍占着份额", on_page="0 1",
        command="softlookup learn 3",
    ),
    AuditRow(
        "triangle", "8", "causal weights are lower triangular and rows sum to 1", "因果权重是下三角且行和为1", None,
        "", triangle_and_sums, "only for square scores: {other}", "只对方阵成立：{other}",
        Reading(Verdict.MISLEADING, square_only, "with a cache", "有缓存时"), on_page="0 1",
        command="softlookup check fn",
    ),
    AuditRow(
        "triangle-finds", "8", "a non-zero upper triangle means a wrong mask or a wrong order",
        "上三角非零说明掩码位置或softmax顺序错了", None, "", wrong_triangle_shows,
        "a wrong order shows in the row sums only: {other}", "顺序错只在行和里露出来：{other}",
        Reading(Verdict.MISLEADING, late_mask_shows, "late mask", "掩码过晚"), command="softlookup learn 3",
    ),
)  # fmt: skip
