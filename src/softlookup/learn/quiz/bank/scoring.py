"""Questions about scoring functions: dot product, bilinear form, distance."""

from __future__ import annotations

import math

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text, false_because, true_because
from softlookup.learn.quiz.topics import SCORING

_SMALL = "from softlookup.learn.quiz.small import"


def _bilinear(draw: Draw) -> Sheet:
    query, key, first, second = ([draw.randint(-3, 3) for _ in range(2)] for _ in range(4))
    score = sum(query[i] * row[j] * key[j] for i, row in enumerate((first, second)) for j in range(2))
    return Sheet(
        Text(
            f"q = {query}, k = {key}, W = {[first, second]}: what is the general (bilinear) score q^T W k, "
            "without a scale?",
            f"q = {query}，k = {key}，W = {[first, second]}：不加缩放，双线性分数 q^T W k 是多少？",
        ),
        f"{_SMALL} tensor\nfrom softlookup.attention.impl.reference import unscaled_scores\n"
        "from softlookup.attention.inputs import check_inputs\n"
        f"query, key, matrix = tensor([{query}]), tensor([{key}]), tensor({[first, second]})\n"
        "answer = unscaled_scores(check_inputs(query @ matrix, key, key)).item()",
        Text(
            "The matrix turns q, then a dot product follows: {answer}. In a transformer W is W_Q W_K^T.",
            "矩阵先变换 q，再做点积：{answer}。在 Transformer 里，W 就是 W_Q W_K^T。",
        ),
        right=float(score),
        tolerance=0,
    )


def _longer_key(draw: Draw) -> Sheet:
    times, one, other = draw.choice((2, 3)), draw.randint(1, 12) / 10, draw.randint(0, 20) / 10
    return Sheet(
        Text(
            f"Two keys score {one:g} and {other:g}. The first key is made {times} times as long, its direction "
            "stays. What weight does it get now?",
            f"两个 key 的分数是 {one:g} 和 {other:g}。第一个 key 方向不变，长度变为 {times} 倍。它现在的权重是多少？",
        ),
        f"{_SMALL} weights\nanswer = weights([[1.0, 0.0]], [[{times} * {one}, 0.0], [{other}, 0.0]], scale=1.0)[0][0]",
        Text(
            "A dot product counts length as well as direction: {answer}.",
            "点积既看方向也看长度：{answer}。",
        ),
        right=1 / (1 + math.exp(other - times * one)),
    )


def _nearest(draw: Draw) -> Sheet:
    near, far = draw.randint(1, 3), draw.randint(6, 12)
    return Sheet(
        Text(
            f"q = [{near}, 0], keys [{near}, 0] and [{far}, {far}]. Claim: the key at distance 0 gets the "
            "larger weight.",
            f"q = [{near}, 0]，两个 key 为 [{near}, 0] 和 [{far}, {far}]。判断：距离为 0 的那个 key 得到更大的权重。",
        ),
        f"{_SMALL} weights\n"
        f"found = weights([[{near}.0, 0.0]], [[{near}.0, 0.0], [{far}.0, {far}.0]])[0]\n"
        "print(found)\nanswer = found[0] > found[1]",
        Text(
            "The claim is {answer}: a dot product measures no distance. A long key wins although it lies far away.",
            "这个说法是{answer}：点积不是距离。长的 key 离得远也会赢。",
        ),
        right=False,
        options=(
            false_because("a dot product grows with the length of a key", "点积随 key 的长度增长"),
            false_because("both get the same weight: they share a coordinate", "两者权重相同：它们有一个坐标相同"),
            true_because("the dot product is largest for equal vectors", "向量相同时点积最大"),
            true_because("softmax divides the length out", "softmax 会把长度约掉"),
        ),
    )


def _equal_lengths(draw: Draw) -> Sheet:
    keys, width = draw.randint(4, 9), draw.choice((3, 8))
    return Sheet(
        Text(
            f"{keys} keys of the same length. Claim: softmax of the scores -|q - k|^2 / 2 gives the same weights as "
            "softmax of q·k.",
            f"{keys} 个 key 的长度都相同。判断：对 −|q − k|² / 2 做 softmax，与对 q·k 做 softmax，权重相同。",
        ),
        f"{_SMALL} draw, row_weights, weights\n"
        f"query, key = draw(1, {width}), draw({keys}, {width}, seed=1)\n"
        "key = key / key.norm(dim=1, keepdim=True)\n"
        "by_distance = row_weights((-(query - key).square().sum(1) / 2).tolist())\n"
        "by_product = weights(query.tolist(), key.tolist(), scale=1.0)[0]\n"
        "answer = max(abs(a - b) for a, b in zip(by_distance, by_product)) < 1e-9",
        Text(
            "The claim is {answer}: the squares of q and of k add the same number to every score of the row.",
            "这个说法是{answer}：q² 与 k² 给这一行的每个分数加上同一个数。",
        ),
        right=True,
        options=(
            true_because(
                "they differ by a constant per row, which softmax does not see", "每行只差一个常数，softmax 看不出来"
            ),
            true_because("a distance and a product are always the same score", "距离与点积永远是同一种分数"),
            false_because("distances are never negative, products are", "距离不会是负数，点积会"),
            false_because("squares make the weights sharper", "平方使权重更尖锐"),
        ),
    )


QUESTIONS = (
    Question("scoring-bilinear", SCORING, "number", _bilinear),
    Question("scoring-longer-key", SCORING, "number", _longer_key),
    Question("scoring-nearest", SCORING, "truth", _nearest),
    Question("scoring-equal-lengths", SCORING, "truth", _equal_lengths),
)
