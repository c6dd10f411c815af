"""Questions about checking an account of costs: the course page's contract of 131,072 tokens."""

from __future__ import annotations

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text, false_because, true_because
from softlookup.learn.quiz.topics import COST

_LINES = "from softlookup.cost.course import course_account\nlines = {line.what: line for line in course_account()}\n"


def _both_products(draw: Draw) -> Sheet:
    tokens, width = draw.choice((2048, 4096, 8192)), draw.choice((2048, 4096))
    return Sheet(
        Text(
            f"T = {tokens}, d = {width}, full square: someone writes T^2 d as the FLOPs of Q K^T and A V. By what "
            "factor is that too small?",
            f"T = {tokens}，d = {width}，按完整方阵：有人把 Q K^T 与 A V 的 FLOPs 写成 T²d。少算了多少倍？",
        ),
        "from softlookup.cost.flops import attention_flops\nfrom softlookup.learn.quiz.shapes import decoder\n"
        f"layer = decoder(1, {width // 128}, {width // 128}, 128).layers[0]\n"
        f"answer = {tokens} * attention_flops(layer, 1, {tokens - 1}) / ({tokens}**2 * {width})",
        Text(
            "2 FLOPs per multiply-add, and two products: {answer}.",
            "每次乘加 2 FLOPs，而且有两个乘积：{answer}。",
        ),
        right=4.0,
    )


def _on_one_card(draw: Draw) -> Sheet:
    kv_heads, storage, size = draw.choice(((32, "bf16", 2), (32, "fp8", 1), (8, "bf16", 2), (8, "fp8", 1)))
    types = "" if storage == "bf16" else ', KVDtypes("fp8", "fp8")'
    each = 2 * 24 * kv_heads * 128 * 131_072 * size
    return Sheet(
        Text(
            "24 layers, d_k = 128, 131,072 tokens per contract. Weights, activations and graphs leave 57 GiB of an "
            f"80 GB card. How many contracts fit at once with {kv_heads} key/value heads in {storage}?",
            f"24 层，d_k = 128，每份合同 131,072 个 token。80 GB 的卡扣掉权重、激活与计算图后还剩 57 GiB。{kv_heads} "
            f"个 key/value 头、{storage} 时，同时能放几份合同？",
        ),
        "from softlookup.cost.course import requests_on_80_gb\nfrom softlookup.cost.kv_cache import KVDtypes\n"
        f"answer = int(requests_on_80_gb({kv_heads}{types}))",
        Text(
            f"One cache takes {each / 2**30:g} GiB, and only whole ones count: {{answer}}.",
            f"一份缓存占 {each / 2**30:g} GiB，只算整数份：{{answer}}。",
        ),
        right=57 * 2**30 // each,
        tolerance=0,
    )


def _lucky(draw: Draw) -> Sheet:
    tokens = draw.choice((32_768, 65_536, 131_072))
    return Sheet(
        Text(
            "The course page puts its prefill at 8 s on 1000 TFLOP/s, and an H100 would need about that. Claim: so a "
            f"prefill of {tokens:,} tokens may be counted with T^2 pairs and the full peak.",
            f"课程页按 1000 TFLOP/s 估出预填充 8 秒，H100 实际上也差不多。判断：所以 {tokens:,} 个 token "
            "的预填充可以按 T² 对和满峰值来算。",
        ),
        "from softlookup.cost.flops import seen_keys\nfrom softlookup.cost.devices import find_device\n"
        'from softlookup.cost.efficiency import efficiency_of\nh100 = find_device("H100")\n'
        f"pairs = {tokens}**2 / seen_keys({tokens}, 0)\nshare = efficiency_of(h100).attention\n"
        "print(pairs, share)\nanswer = pairs < 1.5 and share > 0.9",
        Text(
            "The claim is {answer}: twice too many pairs and a rate almost twice too high cancel here and nowhere "
            "else.",
            "这个说法是{answer}：（query，key）对多数了近一倍，速率也高估近一倍，只是在这里碰巧抵消。",
        ),
        right=False,
        options=(
            false_because("two errors of a factor of about 2 cancel by luck", "两个约 2 倍的错误碰巧抵消"),
            false_because("8 s is ten times too short", "8 秒少了十倍"),
            true_because("a causal prefill computes all T^2 pairs", "因果预填充也要算全部 T² 对"),
            true_because("matrix products reach the listed peak", "矩阵乘法能跑到标称峰值"),
        ),
    )


def _forgotten(draw: Draw) -> Sheet:
    tokens = draw.choice((100, 200, 400))
    return Sheet(
        Text(
            f"The page counts {tokens} tokens of answer as 51.5 GB of cache each, at 3 TB/s. What was forgotten?",
            f"课程页按每个 token 读 51.5 GB 缓存、3 TB/s 来估 {tokens} 个 token 的回答。漏了什么？",
        ),
        f"{_LINES}line = lines['decode per token']\nanswer = [{tokens} * line.page_value, {tokens} * line.right]",
        Text(
            "Seconds by the page and by the account with weights and a usual share of the bandwidth: {answer}.",
            "秒数，按课程页与按计入权重和实际带宽比例的账：{answer}。",
        ),
        options=(
            Text("the weights, which every token reads as well", "权重：每个 token 也要读一遍"),
            Text("the scores of all earlier queries", "之前所有 query 的分数"),
            Text("half of the cache, which a causal mask hides", "因果掩码挡住的那一半缓存"),
            Text("the logits of all positions", "所有位置的 logits"),
        ),
        proof="answer[1] > answer[0]",
    )


QUESTIONS = (
    Question("account-products", COST, "number", _both_products),
    Question("account-contracts", COST, "number", _on_one_card),
    Question("account-luck", COST, "truth", _lucky),
    Question("account-forgotten", COST, "choice", _forgotten),
)
