"""Questions about what a query may see: causal, sliding window, offset behind a cache."""

from __future__ import annotations

from softlookup.learn.quiz.mistakes import mistake_sheet
from softlookup.learn.quiz.question import Draw, Question, Sheet, Text
from softlookup.learn.quiz.topics import MASKS

_SEEN = "from softlookup.cost.flops import seen_keys\n"


def _pairs(draw: Draw) -> Sheet:
    tokens = draw.choice((6, 9, 12, 40, 100, 1000))
    return Sheet(
        Text(
            f"{tokens} tokens under a causal mask: how many pairs of query and visible key are there? (exactly)",
            f"{tokens} 个 token，因果掩码：可见的（query，key）对一共有多少？（要准确数）",
        ),
        f"{_SEEN}answer = seen_keys({tokens}, 0)",
        Text(
            "Query i sees i keys; they add up to T (T + 1) / 2 = {answer}.",
            "第 i 个 query 看 i 个 key，合计 T (T + 1) / 2 = {answer}。",
        ),
        right=tokens * (tokens + 1) // 2,
        tolerance=0,
    )


def _masked_late(draw: Draw) -> Sheet:
    tokens = draw.choice((4, 5, 8, 10))
    row = draw.randint(1, tokens - 1)
    return Sheet(
        Text(
            f"{tokens} tokens, all scores equal. Later keys are set to zero only after softmax. What does row {row} "
            "(counted from 1) sum to?",
            f"{tokens} 个 token，分数全部相等。softmax 之后才把未来的 key 置零。第 {row} 行（从 1 数起）之和是多少？",
        ),
        f"from softlookup.learn.quiz.small import row_weights\nanswer = sum(row_weights([0.0] * {tokens})[:{row}])",
        Text(
            "Softmax spread the weight over all keys first; what is left of it is {answer}, not 1. The mask belongs "
            "before softmax.",
            "softmax 先把权重分给了所有 key，剩下的只有 {answer}，不是 1。掩码要放在 softmax 之前。",
        ),
        right=row / tokens,
    )


def _window(draw: Draw) -> Sheet:
    tokens, window = draw.choice((10, 12, 20, 100)), draw.choice((2, 3, 4, 8))
    return Sheet(
        Text(
            f"Causal with a sliding window of {window} keys, the query's own included, {tokens} tokens: how many "
            "visible pairs? (exactly)",
            f"因果掩码加滑动窗口，窗口 {window} 个 key（含自己），共 {tokens} 个 token：可见的对有多少？（要准确数）",
        ),
        f"{_SEEN}answer = seen_keys({tokens}, 0, window={window})",
        Text(
            f"The first {window} queries see 1 to {window} keys, every later one {window}: {{answer}}. From there on "
            "the cost is linear in T.",
            f"前 {window} 个 query 依次看 1 到 {window} 个 key，之后每个看 {window} 个：{{answer}}。此后开销随 T "
            "线性增长。",
        ),
        right=window * (window + 1) // 2 + (tokens - window) * window,
        tolerance=0,
    )


def _behind_cache(draw: Draw) -> Sheet:
    cached, new = draw.randint(3, 40), draw.randint(2, 6)
    row = draw.randint(1, new)
    return Sheet(
        Text(
            f"{cached} tokens lie in the cache, {new} new ones are fed at once. How many keys does new query {row} "
            "(counted from 1) see?",
            f"缓存里已有 {cached} 个 token，一次再喂入 {new} 个。第 {row} 个新 query（从 1 数起）能看到多少个 key？",
        ),
        "import torch\nfrom softlookup.attention import StatsRequest, attention\n"
        f"query, key = torch.zeros(1, 1, {new}, 2), torch.zeros(1, 1, {cached + new}, 2)\n"
        'stats = attention(query, key, key, causal=True, stats=StatsRequest(), impl="reference").stats\n'
        f"answer = stats.visible_keys[0, 0, {row - 1}].item()",
        Text(
            f"The {cached} cached ones and the new ones up to itself: {{answer}}. A mask aligned at the upper left "
            "would show it far fewer.",
            f"缓存的 {cached} 个，加上到自己为止的新 key：{{answer}}。若掩码按左上角对齐，看到的会少得多。",
        ),
        right=cached + row,
        tolerance=0,
    )


def _first_row(draw: Draw) -> Sheet:
    values = draw.sample(range(1, 30), 4)
    mean, first, last = sum(values) / 4, values[0], values[-1]
    return Sheet(
        Text(
            f"Causal attention over values {values}: what does the first token read?",
            f"对 value {values} 做因果注意力：第一个 token 读到什么？",
        ),
        "from softlookup.learn.quiz.small import draw, output\n"
        "query, key = draw(4, 8).tolist(), draw(4, 8, seed=1).tolist()\n"
        f"answer = output(query, key, [[float(v)] for v in {values}], causal=True)[0][0]",
        Text(
            "It sees itself alone, with weight 1 whatever its score: {answer}.",
            "它只看得到自己，无论分数多少权重都是 1：{answer}。",
        ),
        options=(
            Text(f"{first}, its own value", f"{first}，它自己的 value"),
            Text(f"{mean:g}, the mean", f"{mean:g}，平均值")
            if mean not in (first, last)
            else Text("the sum of all values", "所有 value 之和"),
            Text(f"{last}, the last value", f"{last}，最后一个 value"),
            Text("it depends on the scores", "取决于分数"),
        ),
        proof=f"abs(answer - {first}) < 1e-9",
    )


def _mistake(draw: Draw) -> Sheet:
    return mistake_sheet(draw, ("masked_late", "wrong_triangle", "not_masked", "right"))


QUESTIONS = (
    Question("mask-pairs", MASKS, "number", _pairs),
    Question("mask-late", MASKS, "number", _masked_late),
    Question("mask-window", MASKS, "number", _window),
    Question("mask-cache", MASKS, "number", _behind_cache),
    Question("mask-first", MASKS, "choice", _first_row),
    Question("mask-mistake", MASKS, "mistake", _mistake),
)
