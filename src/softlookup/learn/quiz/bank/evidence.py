"""Questions about reading attention: entropy, sinks, thresholds, and what a model was not given."""

from __future__ import annotations

import math

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text, false_because, true_because
from softlookup.learn.quiz.topics import READING

_ROW = "from softlookup.learn.quiz.small import row_statistics\n"


def _entropy(draw: Draw) -> Sheet:
    keys = draw.choice((4, 10, 64, 500, 1000))
    return Sheet(
        Text(
            f"A query weighs {keys} keys all alike. What is the entropy of its weights, in nats?",
            f"一个 query 对 {keys} 个 key 的权重完全相同。权重的熵是多少纳特？",
        ),
        f"{_ROW}answer = row_statistics([0.0] * {keys}, entropy=True).entropy[0, 0, 0].item()",
        Text(
            "The largest there is over that many keys, ln n = {answer}.",
            "这是这么多 key 所能有的最大值，ln n = {answer}。",
        ),
        right=math.log(keys),
    )


def _sink(draw: Draw) -> Sheet:
    keys, score = draw.choice((50, 100, 1000)), draw.choice((5, 8, 10))
    return Sheet(
        Text(
            f"The first of {keys} keys has the score {score}, all others 0. What share of the weight does it take?",
            f"{keys} 个 key 中，第一个的分数是 {score}，其余都是 0。它占去多大比例的权重？",
        ),
        f"{_ROW}answer = row_statistics([{score}.0] + [0.0] * {keys - 1}, sink_mass=1).sink_mass[0, 0, 0].item()",
        Text(
            "e^s against n - 1 ones: {answer}. A sink hides what the rest of the row does.",
            "e^s 对 n − 1 个 1：{answer}。注意力汇会盖住这一行其余部分的行为。",
        ),
        right=math.exp(score) / (math.exp(score) + keys - 1),
        counts="share",
    )


def _two_over_t(draw: Draw) -> Sheet:
    keys = draw.choice((200, 500, 2000))
    return Sheet(
        Text(
            f"Claim: over {keys} keys, a query whose scores are pure noise of variance 1 has its largest weight "
            f"below 2/{keys}, so 'largest weight below 2/T' finds it.",
            f"判断：对 {keys} 个 key，如果分数只是方差为 1 的噪声，那么最大权重低于 2/{keys}，所以“最大权重低于 "
            "2/T”能识别它。",
        ),
        f"{_ROW}from softlookup.learn.quiz.small import draw\n"
        f"largest = row_statistics(draw({keys}).tolist(), max_weight=True).max_weight[0, 0, 0].item()\n"
        f"print(largest, 2 / {keys})\nanswer = largest < 2 / {keys}",
        Text(
            "The claim is {answer}: the largest of many noisy scores is far above their mean. The rule sleeps "
            "through noise.",
            "这个说法是{answer}：很多噪声分数中最大的一个远高于平均。这条规则对噪声毫无反应。",
        ),
        right=False,
        options=(
            false_because(
                "the largest of many noisy weights is many times 1/T", "众多噪声权重中最大的一个是 1/T 的许多倍"
            ),
            false_because("noise always gives a one-hot row", "噪声总会给出 one-hot 的行"),
            true_because("noise means equal weights of 1/T", "噪声意味着权重都等于 1/T"),
            true_because("weights of noise stay below their mean", "噪声的权重都低于平均值"),
        ),
    )


def _retrieval_share(draw: Draw) -> Sheet:
    parts, chunk, tokens = draw.choice((4, 8)), draw.choice((1024, 2048)), draw.choice((32_768, 65_536))
    return Sheet(
        Text(
            f"Instead of {tokens:,} tokens the model reads {parts} retrieved chunks of {chunk:,} as one prompt. By "
            "what factor do the attention FLOPs shrink?",
            f"不读全部 {tokens:,} 个 token，而是把检索出的 {parts} 个 {chunk:,} token 的块拼成一个提示来读。注意力的 "
            "FLOPs 缩小多少倍？",
        ),
        f"from softlookup.cost.flops import seen_keys\nanswer = seen_keys({tokens}, 0) / seen_keys({parts * chunk}, 0)",
        Text(
            "The square of the ratio of lengths: {answer}. What the chunks leave out cannot be found by any weight.",
            "长度之比的平方：{answer}。没有喂进去的内容，任何权重都找不到。",
        ),
        right=(tokens / (parts * chunk)) ** 2,
    )


def _not_fed(draw: Draw) -> Sheet:
    clause = draw.randint(2, 19)
    return Sheet(
        Text(
            f"The truth stands in clause {clause}. The retrieved context does not contain it, and the answer is "
            "wrong. What can the attention weights of this run say about the cause?",
            f"正确内容在第 {clause} 条，检索出的上下文里没有它，回答错了。这次运行的注意力权重能说明原因吗？",
        ),
        "from softlookup.learn.quiz.small import draw, output\n"
        "query, key, value = (draw(n, 4, seed=n).tolist() for n in (1, 6, 6))\n"
        "fed = slice(0, 5)  # the last row is the clause that was not fed\n"
        "one = output(query, key[fed], value[fed])\n"
        "value[5] = [1000.0] * 4\nother = output(query, key[fed], value[fed])\n"
        "answer = max(abs(a - b) for a, b in zip(one[0], other[0]))",
        Text(
            "Whatever the clause says, the output moves by {answer}. First look at what was fed, then at weights.",
            "无论那一条写了什么，输出的变化都是 {answer}。先查喂了什么，再看权重。",
        ),
        options=(
            Text("nothing: it was not fed, so the choice of clauses failed", "说明不了：没有喂进去，是选条款出了错"),
            Text("the weight on that clause is low, so it was not seen", "那一条的权重低，所以是没看到"),
            Text("the weight on that clause is high, so it was misread", "那一条的权重高，所以是看错了"),
            Text("the entropy was too high, so the model guessed", "熵太高，所以是模型在猜"),
        ),
        proof="answer == 0",
    )


QUESTIONS = (
    Question("evidence-entropy", READING, "number", _entropy),
    Question("evidence-sink", READING, "number", _sink),
    Question("evidence-two-over-t", READING, "truth", _two_over_t),
    Question("evidence-retrieval", READING, "number", _retrieval_share),
    Question("evidence-not-fed", READING, "choice", _not_fed),
)
