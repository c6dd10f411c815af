"""Questions about the soft lookup itself: weights, mixtures, shapes, and that nothing is ever "not found"."""

from __future__ import annotations

import math

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text, false_because, true_because
from softlookup.learn.quiz.topics import LOOKUP

_SMALL = "from softlookup.learn.quiz.small import"


def _two_scores(draw: Draw) -> Sheet:
    first, second = draw.sample(range(-20, 31), 2)
    one, other = first / 10, second / 10
    return Sheet(
        Text(
            f"A query has the scores {one:g} and {other:g} with two keys. What weight does the first key get?",
            f"一个 query 与两个 key 的分数分别是 {one:g} 和 {other:g}。第一个 key 得到多大的权重？",
        ),
        f"{_SMALL} row_weights\nanswer = row_weights([{one}, {other}])[0]",
        Text(
            "Softmax of two scores is a sigmoid of their difference: {answer}.",
            "两个分数的 softmax 就是分数差的 sigmoid：{answer}。",
        ),
        right=1 / (1 + math.exp(other - one)),
    )


def _same_scores(draw: Draw) -> Sheet:
    values = draw.sample(range(-9, 20), draw.choice((3, 4, 5)))
    score = draw.choice((-4, 0, 3, 25))
    return Sheet(
        Text(
            f"All keys have the same score, {score}; their values are {values}. What does the query read?",
            f"所有 key 的分数都是 {score}，它们的 value 依次为 {values}。这个 query 读出多少？",
        ),
        f"{_SMALL} output\nkeys = [[{score}.0]] * {len(values)}\n"
        f"answer = output([[1.0]], keys, [[float(v)] for v in {values}], scale=1.0)[0][0]",
        Text(
            "Equal scores, however large, give equal weights, so the mean of the values: {answer}.",
            "分数相等时，无论多大，权重都相等，读出的是 value 的平均：{answer}。",
        ),
        right=sum(values) / len(values),
        tolerance=0.01,
    )


def _shape_of_scores(draw: Draw) -> Sheet:
    rows, keys, width = draw.sample((3, 5, 7, 12, 16, 20, 24), 3)
    return Sheet(
        Text(
            f"{rows} queries and {keys} keys of width {width}: what is the shape of the matrix of scores?",
            f"{rows} 个 query、{keys} 个 key，宽度都是 {width}：分数矩阵是什么形状？",
        ),
        f"{_SMALL} draw, weights\n"
        f"found = weights(draw({rows}, {width}).tolist(), draw({keys}, {width}, seed=1).tolist())\n"
        "answer = [len(found), len(found[0])]",
        Text(
            "A row per query and a column per key, {answer}; the width is summed away.",
            "每个 query 一行，每个 key 一列，即 {answer}；宽度在求和中消失。",
        ),
        options=tuple(
            Text(each, each)
            for each in (f"[{rows}, {keys}]", f"[{rows}, {width}]", f"[{keys}, {width}]", f"[{width}, {width}]")
        ),
        proof=f"answer == [{rows}, {keys}]",
    )


def _no_miss(draw: Draw) -> Sheet:
    keys = draw.randint(3, 9)
    return Sheet(
        Text(
            f"Claim: when a query is orthogonal to all of its {keys} keys, its weights are all zero.",
            f"判断：如果一个 query 与全部 {keys} 个 key 都正交，那么它的权重全是零。",
        ),
        f"{_SMALL} weights\nfound = weights([[1.0, 0.0]], [[0.0, 1.0]] * {keys})[0]\nanswer = sum(found) == 0\n"
        "print(found)",
        Text(
            f"The claim is {{answer}}: each of the {keys} keys gets 1/{keys}. Softmax has no way to say 'not found'.",
            f"这个说法是{{answer}}：{keys} 个 key 各得 1/{keys}。softmax 没有办法表示“没找到”。",
        ),
        right=False,
        options=(
            false_because(
                f"every key gets 1/{keys}; a row of softmax always sums to 1",
                f"每个 key 都得到 1/{keys}；softmax 的一行总和恒为 1",
            ),
            false_because("the first key gets all of the weight", "第一个 key 得到全部权重"),
            true_because("a score of zero means a weight of zero", "分数为零，权重就为零"),
            true_because("a query that matches nothing is masked", "什么都匹配不上的 query 会被掩掉"),
        ),
    )


def _convex(draw: Draw) -> Sheet:
    low, high = draw.randint(-9, 0), draw.randint(1, 9)
    return Sheet(
        Text(
            f"Claim: if all values lie between {low} and {high}, the output can exceed {high} once scores are large.",
            f"判断：若所有 value 都在 {low} 与 {high} 之间，只要分数足够大，输出就可能超过 {high}。",
        ),
        f"{_SMALL} output\nreads = [output([[s]], [[1.0], [-1.0]], [[{low}.0], [{high}.0]], scale=1.0)[0][0]\n"
        f"         for s in (-1000.0, -5.0, 0.0, 5.0, 1000.0)]\nanswer = max(reads) > {high}\nprint(reads)",
        Text(
            f"The claim is {{answer}}: weights are not negative and sum to 1, so what is read stays in [{low}, "
            f"{high}].",
            f"这个说法是{{answer}}：权重非负且和为 1，读出的数总在 [{low}, {high}] 之内。",
        ),
        right=False,
        options=(
            false_because("the output is a convex combination of values", "输出是 value 的凸组合"),
            false_because("large scores are clipped before softmax", "过大的分数在 softmax 之前会被截断"),
            true_because("the output grows with the largest score", "输出随最大的分数增长"),
            true_because("weights may sum to more than 1", "权重之和可以大于 1"),
        ),
    )


QUESTIONS = (
    Question("lookup-two-scores", LOOKUP, "number", _two_scores),
    Question("lookup-same-scores", LOOKUP, "number", _same_scores),
    Question("lookup-shape", LOOKUP, "choice", _shape_of_scores),
    Question("lookup-no-miss", LOOKUP, "truth", _no_miss),
    Question("lookup-convex", LOOKUP, "truth", _convex),
)
