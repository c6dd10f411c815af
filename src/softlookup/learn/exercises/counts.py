"""Exercises whose answer is a number: how many scores, and what a longer query does."""

from __future__ import annotations

import math

from softlookup.learn.exercises.exercise import Open
from softlookup.learn.quiz.question import Draw, Sheet, Text

_SMALL = "from softlookup.learn.quiz.small import"
_FLOPS = "from softlookup.cost.flops import attention_flops\nfrom softlookup.learn.quiz.shapes import decoder\n"


def count_scores(draw: Draw | None) -> tuple[Sheet | Open, ...]:
    """Exercise 2: elements and multiply-adds."""
    tokens = 1024 if draw is None else draw.choice((256, 512, 2048, 3000, 4096, 8192))
    width = 64 if draw is None else draw.choice((32, 64, 80, 128))
    layer = f"layer = decoder(1, 1, 1, {width}).layers[0]\n"
    one_query = f"attention_flops(layer, 1, {tokens - 1})  # FLOPs of both products for a query that sees T keys\n"
    return (
        Sheet(
            Text(
                f"T = {tokens}, d_k = {width}, one head: how many elements has Q K^T?",
                f"T = {tokens}，d_k = {width}，一个头：Q K^T 有多少个元素？",
            ),
            "from softlookup.cost.memory import score_matrix_bytes\nfrom softlookup.learn.quiz.shapes import decoder\n"
            f"answer = score_matrix_bytes(decoder(1, 1, 1, {width}), {tokens}, bytes_per_score=1)",
            Text(
                "One score per pair, T^2 = {answer}; d_k plays no part.", "每对一个分数，T² = {answer}，与 d_k 无关。"
            ),
            right=tokens**2,
            tolerance=0.05,
        ),
        Sheet(
            Text(
                f"T = {tokens}, d_k = {width}: how many multiply-adds does Q K^T take? An order of magnitude with "
                "two digits will do.",
                f"T = {tokens}，d_k = {width}：计算 Q K^T 需要多少次乘加？给出两位有效数字的量级即可。",
            ),
            f"{_FLOPS}{layer}one_query = {one_query}answer = {tokens} * one_query // 4",
            Text(
                "Each element is a sum of d_k products: T^2 d_k = {answer} multiply-adds, twice as many FLOPs.",
                "每个元素是 d_k 个乘积之和：T²·d_k = {answer} 次乘加，FLOPs 再乘 2。",
            ),
            right=tokens**2 * width,
            tolerance=0.05,
            counts="multiply-adds",
        ),
    )


def longer_query(draw: Draw | None) -> tuple[Sheet | Open, ...]:
    """Exercise 3: scores, weights and output when W_Q is a multiple of I."""
    sizes = (0.5, 1.0, 1.5, 2.0)
    a, b = (1.0, 1.0) if draw is None else (draw.choice(sizes), draw.choice(sizes))
    c = 2 if draw is None else draw.choice((2, 3, 4))
    rows = f"[[{a:g}, 0], [0, {b:g}]]"
    scores = (c * a * a / math.sqrt(2), 0.0, 0.0, c * b * b / math.sqrt(2))
    first, second = (1 / (1 + math.exp(-score)) for score in (scores[0], scores[3]))
    weights = (first, 1 - first, 1 - second, second)
    head = f"x = [[{a}, 0.0], [0.0, {b}]]\nquery = [[{c} * entry for entry in row] for row in x]\n"
    flat = "answer = [round(entry, 6) for row in {} for entry in row]"
    return (
        _score_sheet(rows, c, head, scores),
        Sheet(
            Text(
                f"X = {rows}, W_Q = {c} I as before: what are the four weights, row by row?",
                f"仍取 X = {rows}、W_Q = {c} I：四个权重是多少（逐行）？",
            ),
            f"{_SMALL} weights\n{head}{flat.format('weights(query, x)')}",
            Text(
                "Larger differences make softmax sharper: {answer}.",
                "分数差变大，softmax 更尖锐：{answer}。",
            ),
            right=weights,
        ),
        Sheet(
            Text(
                f"X = {rows}, W_Q = {c} I as before: what is the output, row by row?",
                f"仍取 X = {rows}、W_Q = {c} I：输出是多少（逐行）？",
            ),
            f"{_SMALL} output\n{head}{flat.format('output(query, x, x)')}",
            Text(
                "It changes: each token keeps more of its own value, {answer}.",
                "会变：每个 token 保留更多自己的 value，{answer}。",
            ),
            right=(weights[0] * a, weights[1] * b, weights[2] * a, weights[3] * b),
        ),
    )


def _score_sheet(rows: str, c: int, head: str, scores: tuple[float, ...]) -> Sheet:
    return Sheet(
        Text(
            f"Two tokens X = {rows}, W_K = W_V = I, d_k = 2, but W_Q = {c} I. What are the four scaled scores, "
            "row by row?",
            f"两个 token，X = {rows}，W_K = W_V = I，d_k = 2，但 W_Q = {c} I。缩放后的四个分数是多少（逐行）？",
        ),
        "import torch\nfrom softlookup.attention.inputs import check_inputs\n"
        f"from softlookup.attention.impl.reference import unscaled_scores\n{_SMALL} tensor\n{head}"
        "inputs = check_inputs(tensor(query), tensor(x), tensor(x))\n"
        "answer = (inputs.scale * unscaled_scores(inputs)).flatten().tolist()",
        Text(
            f"Scores are linear in Q: all of them {c}-fold, {{answer}}. The zeros stay.",
            f"分数对 Q 是线性的：全部变成 {c} 倍，{{answer}}；零还是零。",
        ),
        right=scores,
    )
