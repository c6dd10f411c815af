"""Questions about order and rotary positions."""

from __future__ import annotations

import math

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text, false_because, true_because
from softlookup.learn.quiz.topics import CACHE, SHAPES

_ROPE = "import torch\nfrom softlookup.attention import RotaryEmbedding\nfrom softlookup.learn.quiz.small import draw\n"


def _order(draw: Draw) -> Sheet:
    tokens = draw.randint(5, 9)
    return Sheet(
        Text(
            f"Claim: without positions and without a mask, shuffling the {tokens} keys together with their values "
            "changes what a query reads.",
            f"判断：没有位置编码、没有掩码时，把 {tokens} 个 key 连同 value 一起打乱，query 读到的内容会变。",
        ),
        "from softlookup.learn.quiz.small import draw, output\n"
        f"query, key, value = (draw(n, 4, seed=n).tolist() for n in (1, {tokens}, {tokens}))\n"
        "one, other = output(query, key, value), output(query, key[::-1], value[::-1])\n"
        "answer = max(abs(a - b) for a, b in zip(one[0], other[0])) > 1e-9",
        Text(
            "The claim is {answer}: a weighted sum has no order. That is why positions have to be put in.",
            "这个说法是{answer}：加权求和没有先后。所以必须把位置信息放进去。",
        ),
        right=False,
        options=(
            false_because("a sum does not depend on the order of its terms", "求和与各项的次序无关"),
            false_because("softmax sorts the keys", "softmax 会给 key 排序"),
            true_because("the first key always gets more weight", "第一个 key 的权重总是更大"),
            true_because("scores depend on the index of a key", "分数依赖 key 的下标"),
        ),
    )


def _relative(draw: Draw) -> Sheet:
    near, shift = draw.randint(1, 30), draw.choice((100, 1000, 50_000))
    return Sheet(
        Text(
            f"Claim: with rotary positions, q at {near} and k at 0 have the same score as q at {near + shift:,} and "
            f"k at {shift:,}.",
            f"判断：用旋转位置编码时，q 在 {near}、k 在 0 的分数，与 q 在 {near + shift:,}、k 在 {shift:,} "
            "的分数相同。",
        ),
        f"{_ROPE}rope, query, key = RotaryEmbedding(32), draw(1, 1, 1, 32), draw(1, 1, 1, 32, seed=1)\n"
        "def score(at, other):\n"
        "    return (rope.apply(query, torch.tensor([at])) * rope.apply(key, torch.tensor([other]))).sum().item()\n"
        f"print(score({near}, 0), score({near + shift}, {shift}))\n"
        f"answer = abs(score({near}, 0) - score({near + shift}, {shift})) < 1e-6",
        Text(
            "The claim is {answer}: both vectors turn by the same further angle, which a product does not see.",
            "这个说法是{answer}：两个向量多转了同样的角度，点积看不出来。",
        ),
        right=True,
        options=(
            true_because("the score depends on the distance alone", "分数只取决于两者的距离"),
            true_because("rotations are all multiples of a full turn", "每次旋转都是整圈"),
            false_because("later positions have smaller scores", "位置越靠后，分数越小"),
            false_because("the score depends on the position of the key alone", "分数只取决于 key 的位置"),
        ),
    )


def _angle(draw: Draw) -> Sheet:
    width, position = draw.choice((64, 128)), draw.choice((10, 100, 1000, 8192))
    pair = draw.randint(0, width // 4)
    return Sheet(
        Text(
            f"Rotary positions with theta = 10,000 and d_k = {width}: by how many radians is pair {pair} (from 0) "
            f"turned at position {position:,}? (not reduced by full turns)",
            f"旋转位置编码，theta = 10,000，d_k = {width}：位置 {position:,} 处，第 {pair} 对（从 0 "
            "数起）转了多少弧度？（不减整圈）",
        ),
        "from softlookup.attention import RotaryEmbedding\n"
        f"answer = {position} * RotaryEmbedding({width}).frequencies[{pair}].item()",
        Text("position x theta^(-2k / d_k) = {answer}.", "位置 × theta^(−2k / d_k) = {answer}。"),
        right=position * math.exp(-2 * pair / width * math.log(10_000)),
    )


def _wrong_offset(draw: Draw) -> Sheet:
    shift = draw.choice((1, 7, 40))
    return Sheet(
        Text(
            f"A cache was filled as if its first token stood at {shift}, new queries are placed as if it stood at 0. "
            "What happens?",
            f"缓存按“第一个 token 在位置 {shift}”写入，新的 query 却按“在位置 0”放置。会怎样？",
        ),
        f"{_ROPE}rope, query, key = RotaryEmbedding(32), draw(1, 1, 1, 32), draw(1, 1, 1, 32, seed=1)\n"
        "def score(at, other):\n"
        "    return (rope.apply(query, torch.tensor([at])) * rope.apply(key, torch.tensor([other]))).sum().item()\n"
        f"answer = [score(50, 10), score(50, 10 + {shift}), score(50 - {shift}, 10)]",
        Text(
            f"Scores of the right distance, of the mixed positions, and of a distance {shift} smaller: {{answer}}. "
            "The last two agree, nothing fails, and every old key seems nearer than it is.",
            f"正确距离的分数、位置混用的分数、距离少 {shift} 的分数依次为 {{answer}}：后两个相等；程序不报错，"
            "只是每个旧 key 都显得更近。",
        ),
        options=(
            Text(
                "every old key is scored at a wrong distance, without any error",
                "每个旧 key 都按错误的距离打分，而且不报错",
            ),
            Text("nothing: only distances within the cache count", "没有影响：只有缓存内部的距离起作用"),
            Text("an error: positions would repeat", "报错：位置重复了"),
            Text("only the first token is affected", "只影响第一个 token"),
        ),
        proof="abs(answer[1] - answer[2]) < 1e-9 < abs(answer[0] - answer[1])",
    )


QUESTIONS = (
    Question("positions-order", SHAPES, "truth", _order),
    Question("positions-distance", CACHE, "truth", _relative),
    Question("positions-angle", CACHE, "number", _angle),
    Question("positions-offset", CACHE, "choice", _wrong_offset),
)
