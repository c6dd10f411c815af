"""Exercises that ask why: three projections, the mask before softmax, low rank."""

from __future__ import annotations

import math

from softlookup.learn.exercises.exercise import Open
from softlookup.learn.quiz.question import Draw, Sheet, Text

_SMALL = "from softlookup.learn.quiz.small import"


def three_projections(draw: Draw | None) -> tuple[Sheet | Open, ...]:
    """Exercise 1: an open question."""
    tokens, width = (4, 8) if draw is None else (draw.randint(3, 6), draw.choice((4, 8, 16)))
    text = Text(
        "Why does attention look up with three projections of its input, Q, K and V, and not with products of the "
        "inputs themselves?",
        "注意力为什么要用输入的三个投影 Q、K、V 去查表，而不是直接拿输入两两做点积？",
    )
    answer = Text(
        f"Without projections token i asks token j exactly as j asks i: scores are symmetric. On {tokens} drawn "
        f"inputs of width {width} the scores differ from their transpose by {{answer}}, first without and then with "
        "separate W_Q and W_K. What a token looks for and what it offers are different things, so they get different "
        "maps. V is a third one: what is handed over need not be what is matched.",
        f"没有投影时，token i 问 j 与 j 问 i 完全一样：分数矩阵是对称的。取 {tokens} 个宽 {width} 的随机输入，"
        "分数与其转置之差，先不投影、再用不同的 W_Q 与 W_K，依次为 {answer}。一个 token "
        "要找什么和能提供什么是两回事，所以用两个映射。V 是第三个：交出去的内容不必等于用来匹配的标签。",
    )
    code = (
        f"{_SMALL} draw\nfrom softlookup.attention.impl.reference import unscaled_scores\n"
        "from softlookup.attention.inputs import check_inputs\n"
        f"x, w_q, w_k = draw(1, 1, {tokens}, {width}), draw({width}, {width}, seed=1), draw({width}, {width}, seed=2)\n"
        "scores = [unscaled_scores(check_inputs(query, key, key))[0, 0] for query, key in ((x, x), (x @ w_q, "
        "x @ w_k))]\n"
        "answer = [(each - each.T).abs().max().item() for each in scores]"
    )
    points = (
        Text(
            "asking and being asked are different roles, so Q and K differ", "提问与被问是不同的角色，所以 Q、K 要分开"
        ),
        Text("with one map scores are symmetric", "只用一个映射时分数是对称的"),
        Text("V carries content and is free of what K has to match", "V 负责内容，不受 K 的匹配任务约束"),
        Text("the projections are learned: they choose what is compared", "投影是学出来的，决定比较什么"),
    )
    return (Open(text, answer, code, points),)


def mask_first(draw: Draw | None) -> tuple[Sheet | Open, ...]:
    """Exercise 4: a row sum, and an open question."""
    scores = [1, 0, 2, 1] if draw is None else [draw.randint(-2, 3) for _ in range(draw.randint(4, 6))]
    row = 2 if draw is None else draw.randint(1, len(scores) - 1)
    return _late_row(scores, row), _why_before_softmax(scores)


def _late_row(scores: list[int], row: int) -> Sheet:
    total = sum(math.exp(score) for score in scores)
    return Sheet(
        Text(
            f"The scores of query {row} (counted from 1) are {scores}. A program takes softmax over all of them and "
            "then sets later keys to zero. What does the row sum to?",
            f"第 {row} 个 query（从 1 数起）的分数是 {scores}。某程序先对全部分数做 softmax，再把未来的 key 置零。"
            "这一行的和是多少？",
        ),
        f"{_SMALL} row_weights\nanswer = sum(row_weights([float(s) for s in {scores}])[:{row}])",
        Text(
            "The share of the visible keys in a softmax over all: {answer}.",
            "即可见 key 在全体 softmax 中所占的份额：{answer}。",
        ),
        right=sum(math.exp(score) for score in scores[:row]) / total,
    )


def _why_before_softmax(scores: list[int]) -> Open:
    text = Text(
        "Why must a causal mask put minus infinity before softmax? What breaks when zeros are written after it?",
        "因果掩码为什么必须在 softmax 之前置 −∞？之后再置零会破坏什么？",
    )
    answer = Text(
        "Minus infinity takes later keys out of the sum that softmax divides by. Written afterwards, zeros leave "
        "rows whose sums, with these scores in every row, are {answer} from first to last: early tokens read "
        "shrunken values, no longer a convex combination. And the sum that they were divided by contains later "
        "scores, so the future leaks in through it.",
        "−∞ 让未来的 key 不进入 softmax 的分母。事后置零，若每行都是这组分数，行和从首行到末行依次为 {answer}："
        "越靠前的 token 读到的 value 缩得越小，不再是凸组合；而且分母里含有未来的分数，信息从那里泄漏。",
    )
    code = (
        f"{_SMALL} row_weights\nscores = [float(s) for s in {scores}]\n"
        "answer = [sum(row_weights(scores)[: row + 1]) for row in range(len(scores))]"
    )
    points = (
        Text("rows no longer sum to 1", "行和不再是 1"),
        Text(
            "the output is no longer a convex combination; early tokens shrink", "输出不再是凸组合，靠前的 token 被缩小"
        ),
        Text("the divisor still contains later scores: the future leaks", "分母仍含未来的分数：信息泄漏"),
        Text("exp(minus infinity) is exactly 0, so nothing is left over", "exp(−∞) 恰为 0，不留残余"),
    )
    return Open(text, answer, code, points)


def low_rank(draw: Draw | None) -> tuple[Sheet | Open, ...]:
    """Exercise 5: multiply-adds through factors, and an open question."""
    return _through_factors(draw), _what_a_low_rank_means()


def _through_factors(draw: Draw | None) -> Sheet:
    tokens, rank, width = (4096, 64, 128) if draw is None else (
        draw.choice((1024, 2048, 8192, 16_384)), draw.choice((16, 32, 64)), draw.choice((64, 128)))  # fmt: skip
    return Sheet(
        Text(
            f"T = {tokens}, d_v = {width}. A matrix of weights [T, T] is a product of [T, {rank}] and [{rank}, T], "
            "both at hand. How many times fewer multiply-adds does A V take through the factors?",
            f"T = {tokens}，d_v = {width}。权重矩阵 [T, T] 等于 [T, {rank}] 乘 [{rank}, T]，两个因子都已知。"
            "通过因子计算 A V，乘加次数少多少倍？",
        ),
        "from softlookup.cost.flops import attention_flops\nfrom softlookup.cost.model.shapes import Layer\n"
        f'one = Layer("full", 1, 1, 1, {width}, 0, 0)  # d_k 1: what is left beside the scores is A V\n'
        "def products(queries, keys):\n"
        f"    return queries * (attention_flops(one, 1, keys - 1) - 2 * keys) // 2\n"
        f"answer = products({tokens}, {tokens}) / (products({rank}, {tokens}) + products({tokens}, {rank}))",
        Text(
            "T^2 d_v against two products of T r d_v: T / (2 r) = {answer}.",
            "T²·d_v 对两个 T·r·d_v：T / (2 r) = {answer}。",
        ),
        right=tokens / (2 * rank),
    )


def _what_a_low_rank_means() -> Open:
    count, narrow = 12, 3
    text = Text(
        "What does a low rank of the attention weights mean for what a head can express, and what can be gained from "
        "it?",
        "注意力权重矩阵的秩很低，对一个头的表达有什么影响？能换来什么计算上的好处？",
    )
    answer = Text(
        "Rows are then mixtures of a few patterns: queries look in few different ways. Scores have rank d_k at most, "
        f"but weights need not: for T = {count}, d_k = {narrow} the ranks of scores, of causal weights and of equal "
        "weights are {answer}. So a small d_k alone does not force a low rank of the weights, and a causal mask "
        "gives full rank always; what is small in practice is the rank up to an error. There cheap approximations "
        "apply: linear in T when the factors are found without ever building [T, T].",
        f"此时各行只是少数几种模式的混合：query 的看法很单一。分数的秩不超过 d_k，权重则未必：T = {count}、d_k = "
        f"{narrow} 时，分数、因果权重、均匀权重的秩依次为 {{answer}}。可见 d_k 小并不迫使权重低秩，"
        "带因果掩码时权重总是满秩；实际低的是“误差允许下的秩”。这时可用近似：只要不构造 [T, T] 就能得到因子，开销随 "
        "T 线性增长。",
    )
    code = (
        "import torch\nfrom softlookup.attention.impl.reference import unscaled_scores\n"
        f"from softlookup.attention.inputs import check_inputs\n{_SMALL} draw, tensor, weights\n"
        f"query, key = draw({count}, {narrow}).tolist(), draw({count}, {narrow}, seed=1).tolist()\n"
        "scores = unscaled_scores(check_inputs(tensor(query), tensor(key), tensor(key)))[0, 0]\n"
        "causal = torch.tensor(weights(query, key, causal=True), dtype=torch.float64)\n"
        "equal = torch.tensor(weights(query, key, scale=0.0), dtype=torch.float64)\n"
        "answer = [torch.linalg.matrix_rank(each).item() for each in (scores, causal, equal)]"
    )
    points = (
        Text("few patterns: many queries look alike", "模式少：许多 query 看法相同"),
        Text(
            "rank at most d_k holds for scores, not for weights after softmax",
            "秩不超过 d_k 说的是分数，不是 softmax 之后的权重",
        ),
        Text("factors make A V linear in T", "用因子计算 A V，开销随 T 线性"),
        Text(
            "a causal matrix of weights has full rank: it is low only up to an error",
            "因果权重矩阵满秩：只在误差意义下低秩",
        ),
    )
    return Open(text, answer, code, points)
