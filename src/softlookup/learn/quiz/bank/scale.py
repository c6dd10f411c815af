"""Questions about dividing scores by the root of d_k."""

from __future__ import annotations

import math

from softlookup.learn.quiz.mistakes import mistake_sheet
from softlookup.learn.quiz.question import Draw, Question, Sheet, Text
from softlookup.learn.quiz.topics import SCALE

_SMALL = "from softlookup.learn.quiz.small import"


def _spread(draw: Draw) -> Sheet:
    width = draw.choice((16, 25, 64, 100, 128, 256))
    return Sheet(
        Text(
            f"The components of q and k are independent with mean 0 and variance 1, d_k = {width}. What is the "
            "standard deviation of q·k?",
            f"q 与 k 的各分量相互独立，均值 0、方差 1，d_k = {width}。q·k 的标准差是多少？",
        ),
        f"{_SMALL} draw\nfrom softlookup.attention.impl.reference import unscaled_scores\n"
        "from softlookup.attention.inputs import check_inputs\n"
        f"query, key = draw(1, 1, 400, {width}), draw(1, 1, 400, {width}, seed=1)\n"
        "answer = unscaled_scores(check_inputs(query, key, key)).std().item()",
        Text(
            f"Variances add up over {width} products, so it is the root of {width}; 160,000 drawn pairs give "
            "{answer}.",
            f"{width} 个乘积的方差相加，所以是 {width} 的平方根；抽 16 万对实测得 {{answer}}。",
        ),
        right=math.sqrt(width),
        tolerance=0.03,
    )


def _after_scaling(draw: Draw) -> Sheet:
    width, gap = draw.choice((16, 64, 256)), draw.choice((4, 8, 12, 20))
    return Sheet(
        Text(
            f"Two keys differ by {gap} in q·k, d_k = {width}. What is the larger weight with the usual scale?",
            f"两个 key 的 q·k 相差 {gap}，d_k = {width}。按通常的缩放，较大的权重是多少？",
        ),
        f"{_SMALL} weights\nrest = [0.0] * {width - 1}\n"
        f"answer = max(weights([[{gap}.0, *rest]], [[1.0, *rest], [0.0, *rest]])[0])",
        Text(
            f"{gap} / sqrt({width}) = {gap / math.sqrt(width):g} goes through the sigmoid: {{answer}}.",
            f"{gap} / sqrt({width}) = {gap / math.sqrt(width):g}，经过 sigmoid 得 {{answer}}。",
        ),
        right=1 / (1 + math.exp(-gap / math.sqrt(width))),
        tolerance=0.01,
    )


def _gradient(draw: Draw) -> Sheet:
    percent = draw.choice((60, 75, 80, 90, 95, 98))
    score = math.log(percent / (100 - percent))
    return Sheet(
        Text(
            f"Of two keys one has the weight {percent / 100:g}. How fast does that weight grow with its own score "
            "(the derivative)?",
            f"两个 key 中有一个的权重是 {percent / 100:g}。它对自身分数的导数是多少？",
        ),
        "import torch\nfrom softlookup.attention import attention\nfrom softlookup.learn.quiz.small import tensor\n"
        f"key = tensor([[{score!r}], [0.0]]).requires_grad_()\n"
        'read = attention(tensor([[1.0]]), key, tensor([[1.0], [0.0]]), scale=1.0, impl="reference").output\n'
        "answer = torch.autograd.grad(read.sum(), key)[0][0, 0, 0, 0].item()",
        Text(
            "It is p (1 - p); autograd through the lookup finds {answer}. Near one-hot nothing is left to learn from.",
            "导数是 p (1 − p)；对查表求导得 {answer}。越接近 one-hot，可学的越少。",
        ),
        right=percent * (100 - percent) / 1e4,
    )


def _by_width(draw: Draw) -> Sheet:
    width, keys = draw.choice((64, 128, 256)), draw.choice((50, 200, 400))
    return Sheet(
        Text(
            f"Somebody divides by d_k = {width} and not by its root. What becomes of the weights over {keys} keys?",
            f"有人除以了 d_k = {width} 而不是它的平方根。对 {keys} 个 key 的权重会怎样？",
        ),
        f"{_SMALL} draw\nfrom softlookup.attention import StatsRequest, attention\n"
        f"query, key = draw(1, 1, 8, {width}), draw(1, 1, {keys}, {width}, seed=1)\n"
        'wanted = dict(stats=StatsRequest(normalized_entropy=True), impl="reference")\n'
        f"answer = [attention(query, key, key, scale=scale, **wanted).stats.normalized_entropy.mean().item()\n"
        f"          for scale in ({width}**-0.5, 1 / {width})]",
        Text(
            "Entropy as a share of the largest possible, right scale and wrong one: {answer}. The second is nearly "
            "uniform.",
            "熵占最大可能值的比例，正确与错误的缩放依次为 {answer}：后者几乎是均匀分布。",
        ),
        options=(
            Text("they become nearly uniform, the mean of all values is read", "几乎均匀，读出的近似所有 value 的平均"),
            Text("they become nearly one-hot", "几乎是 one-hot"),
            Text("they no longer sum to 1", "每行之和不再是 1"),
            Text("the order of the keys changes", "各 key 的大小次序会变"),
        ),
        proof="answer[1] > 0.99 and answer[0] < answer[1] - 0.02",
    )


def _mistake(draw: Draw) -> Sheet:
    return mistake_sheet(draw, ("not_scaled", "right", "by_width", "not_masked"))


QUESTIONS = (
    Question("scale-spread", SCALE, "number", _spread),
    Question("scale-weight", SCALE, "number", _after_scaling),
    Question("scale-gradient", SCALE, "number", _gradient),
    Question("scale-by-width", SCALE, "choice", _by_width),
    Question("scale-mistake", SCALE, "mistake", _mistake),
)
