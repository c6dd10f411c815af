"""Questions about telling a wrong implementation from a right one."""

from __future__ import annotations

from softlookup.learn.quiz.mistakes import mistake_sheet
from softlookup.learn.quiz.question import Draw, Question, Sheet, Text, false_because, true_because
from softlookup.learn.quiz.topics import WRONG


def _row_sums(draw: Draw) -> Sheet:
    tokens = draw.randint(4, 8)
    return Sheet(
        Text(
            f"Claim: if all {tokens} rows of the weights sum to 1, the causal mask is right.",
            f"判断：只要 {tokens} 行权重之和都是 1，因果掩码就没有问题。",
        ),
        "from softlookup.learn.quiz.mistakes import lookup_weights\nfrom softlookup.learn.quiz.small import draw\n"
        f"query, key = draw({tokens}, 8).tolist(), draw({tokens}, 8, seed=1).tolist()\n"
        'wrong, right = (lookup_weights(kind, query, key) for kind in ("wrong_triangle", "right"))\n'
        "print([round(sum(row), 9) for row in wrong])\n"
        "answer = not (all(abs(sum(row) - 1) < 1e-9 for row in wrong) and wrong[0] != right[0])",
        Text(
            "The claim is {answer}: a mask over the wrong triangle also gives rows that sum to 1.",
            "这个说法是{answer}：掩错三角，每行之和同样是 1。",
        ),
        right=False,
        options=(
            false_because("rows of a wrong triangle sum to 1 too", "掩错三角时每行之和也是 1"),
            false_because("right rows sum to less than 1", "正确的行之和小于 1"),
            true_because("a wrong mask always loses weight", "掩码错了一定会丢失权重"),
            true_because("the sum of a row shows which keys it saw", "从行和就能看出它看了哪些 key"),
        ),
    )


def _future(draw: Draw) -> Sheet:
    tokens = draw.randint(4, 8)
    row = draw.randint(1, tokens - 1)
    return Sheet(
        Text(
            f"You may run a causal attention of {tokens} tokens twice. Which change of the inputs tells whether row "
            f"{row} looks ahead?",
            f"你可以把一个 {tokens} 个 token 的因果注意力运行两次。改动哪个输入，能看出第 {row} 行有没有偷看未来？",
        ),
        "from softlookup.attention import attention\nfrom softlookup.learn.quiz.small import draw\n"
        f"query, key, value = (draw(1, 1, {tokens}, 4, seed=seed) for seed in range(3))\n"
        f"changed = value.clone()\nchanged[:, :, {row}:] += 100\n"
        "answer = [(attention(query, key, changed, causal=causal).output - attention(query, key, value, "
        "causal=causal)\n"
        f"           .output)[0, 0, {row - 1}].abs().max().item() for causal in (True, False)]",
        Text(
            "Change of that row with a right mask, and with none: {answer}. What a right row cannot see cannot move "
            "it.",
            "掩码正确与没有掩码时，该行的变化依次为 {answer}。正确的行看不见的东西动不了它。",
        ),
        options=(
            Text("only the values of later tokens", "只改后面 token 的 value"),
            Text("only the value of token 1", "只改第 1 个 token 的 value"),
            Text("all queries, by the same factor", "所有 query 乘同一个数"),
            Text("the order of the heads", "各个头的次序"),
        ),
        proof="answer[0] < 1e-9 and answer[1] > 0.01",
    )


def _shifted(draw: Draw) -> Sheet:
    tokens, constant = draw.randint(3, 7), draw.choice((5, 50, 700))
    return Sheet(
        Text(
            f"Claim: adding {constant} to all {tokens} scores of a row changes its weights.",
            f"判断：给一行的 {tokens} 个分数都加上 {constant}，权重会改变。",
        ),
        "from softlookup.learn.quiz.small import draw, row_weights\n"
        f"scores = draw({tokens}).tolist()\none = row_weights(scores)\n"
        f"other = row_weights([score + {constant} for score in scores])\n"
        "answer = max(abs(a - b) for a, b in zip(one, other)) > 1e-9",
        Text(
            "The claim is {answer}: softmax sees differences only. A checker uses this: outputs must stay, or "
            "softmax is not stable.",
            "这个说法是{answer}：softmax 只看差值。检查程序正是利用这一点：输出必须不变，否则 softmax 不稳定。",
        ),
        right=False,
        options=(
            false_because("softmax depends on differences of scores alone", "softmax 只取决于分数之差"),
            false_because("the weights are rounded to the same numbers", "权重会被舍入成相同的数"),
            true_because("larger scores mean larger weights", "分数越大，权重越大"),
            true_because(f"exp({constant}) does not fit fp16", f"exp({constant}) 在 fp16 里放不下"),
        ),
    )


def _mistake(draw: Draw) -> Sheet:
    return mistake_sheet(draw, ("sees_next", "not_itself", "over_queries", "right"))


def _any_mistake(draw: Draw) -> Sheet:
    return mistake_sheet(draw, ("masked_late", "over_queries", "not_scaled", "wrong_triangle"))


QUESTIONS = (
    Question("faults-row-sums", WRONG, "truth", _row_sums),
    Question("faults-future", WRONG, "choice", _future),
    Question("faults-shift", WRONG, "truth", _shifted),
    Question("faults-mistake", WRONG, "mistake", _mistake),
    Question("faults-mistake-mixed", WRONG, "mistake", _any_mistake),
)
