"""Questions about the rank of scores and of weights."""

from __future__ import annotations

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text, false_because, true_because
from softlookup.learn.quiz.topics import RANK


def _rank(draw: Draw) -> Sheet:
    tokens, width = draw.choice((4, 6, 24, 48)), draw.choice((3, 8, 16))
    return Sheet(
        Text(
            f"T = {tokens}, d_k = {width}: what rank has the matrix Q K^T at most?",
            f"T = {tokens}，d_k = {width}：矩阵 Q K^T 的秩最大是多少？",
        ),
        "import torch\nfrom softlookup.attention.impl.reference import unscaled_scores\n"
        "from softlookup.attention.inputs import check_inputs\nfrom softlookup.learn.quiz.small import draw\n"
        f"query, key = draw(1, 1, {tokens}, {width}), draw(1, 1, {tokens}, {width}, seed=1)\n"
        "scores = unscaled_scores(check_inputs(query, key, key))[0, 0]\n"
        "answer = torch.linalg.matrix_rank(scores).item()",
        Text(
            "min(T, d_k); drawn queries and keys reach it: {answer}.",
            "min(T, d_k)；随机的 query 和 key 达到了它：{answer}。",
        ),
        right=min(tokens, width),
        tolerance=0,
    )


def _rank_of_weights(draw: Draw) -> Sheet:
    tokens, width = draw.choice((10, 12, 16)), draw.choice((2, 3))
    return Sheet(
        Text(
            f"Claim: with d_k = {width} and T = {tokens} the weights of a causal head have rank {width} at most.",
            f"判断：d_k = {width}、T = {tokens} 时，因果注意力头的权重矩阵，秩不超过 {width}。",
        ),
        "import torch\nfrom softlookup.learn.quiz.small import draw, weights\n"
        f"found = weights(draw({tokens}, {width}).tolist(), draw({tokens}, {width}, seed=1).tolist(), causal=True)\n"
        "rank = torch.linalg.matrix_rank(torch.tensor(found, dtype=torch.float64)).item()\n"
        f"print(rank)\nanswer = rank <= {width}",
        Text(
            f"The claim is {{answer}}: scores have rank {width}, softmax is not linear, and a causal matrix of "
            f"weights is triangular with a positive diagonal, hence of rank {tokens}.",
            f"这个说法是{{answer}}：分数的秩是 {width}，但 softmax 不是线性的；因果权重矩阵是对角线为正的三角阵，"
            f"秩为 {tokens}。",
        ),
        right=False,
        options=(
            false_because("softmax is not linear and raises the rank", "softmax 不是线性的，会抬高秩"),
            false_because("the rank of scores is T already", "分数的秩本来就是 T"),
            true_because("softmax acts on rows and keeps the rank", "softmax 按行进行，秩不变"),
            true_because("every head has rank d_k by construction", "每个头的秩天生就是 d_k"),
        ),
    )


def _causal(draw: Draw) -> Sheet:
    tokens, width = draw.choice((6, 9, 14)), draw.choice((2, 4))
    return Sheet(
        Text(
            f"T = {tokens}, d_k = {width}: what rank have the weights of a causal head?",
            f"T = {tokens}，d_k = {width}：一个因果注意力头的权重矩阵，秩是多少？",
        ),
        "import torch\nfrom softlookup.learn.quiz.small import draw, weights\n"
        f"found = weights(draw({tokens}, {width}).tolist(), draw({tokens}, {width}, seed=1).tolist(), causal=True)\n"
        "answer = torch.linalg.matrix_rank(torch.tensor(found, dtype=torch.float64)).item()",
        Text(
            "A triangular matrix whose diagonal is positive has full rank: {answer}. Small singular values are "
            "another matter.",
            "对角线全为正的三角阵满秩：{answer}。奇异值很小则是另一回事。",
        ),
        right=tokens,
        tolerance=0,
    )


def _equal(draw: Draw) -> Sheet:
    tokens = draw.choice((5, 8, 12))
    return Sheet(
        Text(
            f"No mask, all {tokens} tokens have the same query, their keys differ. What rank have the weights?",
            f"没有掩码，{tokens} 个 token 的 query 完全相同，key 各不相同。权重矩阵的秩是多少？",
        ),
        "import torch\nfrom softlookup.learn.quiz.small import draw, weights\n"
        f"found = weights(draw(1, 4).tolist() * {tokens}, draw({tokens}, 4, seed=1).tolist())\n"
        "answer = torch.linalg.matrix_rank(torch.tensor(found, dtype=torch.float64)).item()",
        Text(
            "All rows are the same: {answer}. Low rank means that queries look alike, not that they look at few keys.",
            "所有行都一样：{answer}。秩低说的是各个 query 看法相同，而不是只看少数 key。",
        ),
        right=1,
        tolerance=0,
    )


QUESTIONS = (
    Question("rank-scores", RANK, "number", _rank),
    Question("rank-weights", RANK, "truth", _rank_of_weights),
    Question("rank-causal", RANK, "number", _causal),
    Question("rank-equal-queries", RANK, "number", _equal),
)
