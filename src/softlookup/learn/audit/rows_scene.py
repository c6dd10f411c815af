"""Claims of sections 0 and 1.1: the contract, its score matrix, its cache, the choice, intensity."""

from __future__ import annotations

from softlookup.cost.course import requests_on_80_gb
from softlookup.cost.course_shapes import HEAD_DIM, HEADS, LAYERS, RETRIEVED, TOKENS, course_shape
from softlookup.cost.flops import model_flops, seen_keys
from softlookup.cost.kv_cache import KVDtypes, kv_bytes
from softlookup.cost.memory import score_matrix_bytes
from softlookup.learn.audit.row import AuditRow, Fact, Reading, Verdict
from softlookup.learn.audit.scenario import GQA_HEADS, PLAN, cards, flops, page_way, right

_QUESTION = 64


def _gqa(layers: int = LAYERS) -> Reading:
    return Reading(Verdict.MHA_ONLY, lambda: _kv(GQA_HEADS, layers), "8 KV heads", "8个KV头")


def _kv(kv_heads: int = HEADS, layers: int = LAYERS) -> float:
    return kv_bytes(course_shape(kv_heads), TOKENS) / LAYERS * layers / 1e9


def _no_card_holds_a_layer() -> Fact:
    need = score_matrix_bytes(course_shape(), TOKENS)
    largest = max(cards(), key=lambda card: card.memory)
    shown = f"{need / 1e9:,.0f} GB > {largest.memory / 1e9:,.0f} GB ({largest.name})"
    return Fact(need > largest.memory, shown, shown)


def _fits_and_fills() -> Fact:
    cache, total = kv_bytes(course_shape(), TOKENS), 80e9
    both = cache + 2 * course_shape().parameters
    shown = f"{cache / total:.0%}; + {2 * course_shape().parameters / 1e9:.1f} GB = {both / total:.0%}"
    return Fact(total / 2 < cache and both < total, f"{shown} with weights", f"加权重{shown}")


def _second_question() -> Fact:
    shape = course_shape()
    own = kv_bytes(shape, TOKENS + _QUESTION) - kv_bytes(shape, TOKENS)
    share = own / kv_bytes(shape, TOKENS)
    return Fact(
        share > 0.5,
        f"a second question of {_QUESTION} tokens adds {own / 1e9:.3f} GB ({share:.2%})",
        f"第二个{_QUESTION} token的问题只多占{own / 1e9:.3f} GB（{share:.2%}）",
    )


def _again() -> Fact:
    share = model_flops(course_shape(), _QUESTION, TOKENS).total / flops().total
    return Fact(
        share > 0.5,
        f"a second question of {_QUESTION} tokens costs {share:.2%} of the first",
        f"第二个{_QUESTION} token的问题只要第一问的{share:.2%}",
    )


SCENE = (
    AuditRow(
        "scene-width", "0", "32 heads of width 128 make D = 4096", "32个头、每头128，正好D=4096", "4096", "",
        lambda: float(HEADS * HEAD_DIM), "D = H d_k", "D等于H乘d_k", on_page="32 4096 128 24",
    ),
    AuditRow(
        "scene-scores", "0", "QK^T of the whole contract has 5.5e11 numbers", "整份合同的QKᵀ共5.5e11个数", "5.5e11",
        "", lambda: float(HEADS * TOKENS**2), "H T^2 is one layer with all heads; the model has {other:.3g}",
        "H·T²只是一层全部头；整个模型是{other:.3g}",
        Reading(Verdict.ONE_LAYER, lambda: float(LAYERS * HEADS * TOKENS**2), "24 layers", "24层"),
        on_page="5.5e11 1 32 131072 131072", command=PLAN,
    ),
    AuditRow(
        "scene-scores-bytes", "0", "stored in fp16 they take 1.1 TB", "用fp16存要1.1 TB", "1.1", "TB",
        lambda: score_matrix_bytes(course_shape(), TOKENS) / 1e12,
        "2 bytes each, one layer; output_attentions keeps all layers: {other:.3g} TB",
        "每个2字节，只是一层；output_attentions要保存所有层，共{other:.3g} TB",
        Reading(Verdict.ONE_LAYER, lambda: right("score matrix, fp16") / 1e12, "24 layers", "24层"), on_page="1.1 16",
        command=PLAN,
    ),
    AuditRow(
        "scene-one-layer", "0", "an 80 GB card cannot hold the scores of even one layer",
        "80 GB的卡连一层分数都放不下", None, "", _no_card_holds_a_layer, "holds for every card of the device table",
        "设备表里任何一张卡都放不下", on_page="80",
    ),
    AuditRow(
        "scene-kv-layer", "0", "KV of one layer, 2 x 131072 x 4096 in fp16: 2.1 GB",
        "一层KV为2×131072×4096个fp16，即2.1 GB", "2.1", "GB", lambda: _kv(layers=1),
        "with 8 KV heads (GQA), as current models have: {other:.2f} GB",
        "现在的模型多用GQA，8个KV头时为{other:.2f} GB", _gqa(1), on_page="2.1 2 131072 4096 16", command=PLAN,
    ),
    AuditRow(
        "scene-kv", "0", "KV of 24 layers: 51.5 GB", "24层KV共51.5 GB", "51.5", "GB", _kv,
        "with 8 KV heads {other:.1f} GB, in fp8 half of that", "8个KV头时为{other:.1f} GB，fp8再减半", _gqa(),
        on_page="51.5 24", command=PLAN,
    ),
    AuditRow(
        "scene-kv-fits", "0", "the cache fits a card of 80 GB and fills most of it", "KV放得下，但占掉80 GB卡的大半",
        None, "", _fits_and_fills, "one contract at most: see contract-requests-low",
        "最多一份合同，见contract-requests-low",
    ),
    AuditRow(
        "scene-flops", "0", "a question over the full context costs 8.0e15 FLOP", "全上下文每问8.0e15 FLOP", "8.0e15",
        "FLOP", lambda: right("total"), "no causal half; the page's own way gives {0:.3g}",
        "没有减去因果的一半；按原文算法为{0:.3g}", facts=(lambda: page_way("total"),), on_page="8.0e15", command=PLAN,
    ),
    AuditRow(
        "scene-every-question", "0", "every question pays for the whole prefill", "每个问题都要付一次整份预填充的账",
        None, "", _again, "the prefix is read once and kept; only the first question pays",
        "前缀只读一次并保留，只有第一问付这笔账", command=PLAN,
    ),
    AuditRow(
        "scene-seconds", "0", "about 8 s at 1000 TFLOP/s", "按1000 TFLOP/s约8秒", "8", "s", lambda: right("prefill"),
        "two errors cancel: no causal half, and 100 % of a rate above an H100's peak of {0:.0f} TFLOP/s; the right "
        "FLOPs at that rate take {other:.1f} s",
        "两个错误相抵：没有因果的一半，又按超过H100峰值{0:.0f} TFLOP/s的速度满速计；用正确的FLOP和这个速度只要"
        "{other:.1f}秒",
        Reading(
            Verdict.MISLEADING, lambda: right("total") / 1e15, "right FLOPs, 1000 TFLOP/s", "正确FLOP，1000 TFLOP/s",
        ), facts=(lambda: max(card.flops for card in cards() if card.name == "H100") / 1e12,), on_page="8 1000",
        command=PLAN,
    ),
    AuditRow(
        "scene-retrieved", "0", "8 chunks of 4k are 3.2 x 10^4 tokens", "8个4k块是3.2万token", "3.2", "×10⁴",
        lambda: RETRIEVED / 1e4, "4k is 4,000 here, while 131072 is 128 x 1,024; 8 x 4,096 is {ours:.4g}",
        "这里4k按4,000计，而131072是128×1,024；8×4,096是{ours:.4g}",
        Reading(Verdict.CONVENTION, lambda: 8 * 4000 / 1e4, "4k = 4,000", "4k=4,000"), on_page="8 4 3.2",
    ),
    AuditRow(
        "scene-retrieval-attention", "0", "attention shrinks to 1/17", "注意力项缩到1/17", "17", "",
        lambda: seen_keys(TOKENS, 0) / seen_keys(RETRIEVED, 0),
        "a quarter of the length is 1/16, causal or not; 17 is (131072 / 32000)^2 = {0:.1f}: two meanings of k in "
        "one ratio", "长度的四分之一就是1/16，因果与否都一样；17来自(131072/32000)²={0:.1f}，同一个比值里k有两种含义",
        facts=(lambda: page_way("attention of retrieval, 1 in"),), on_page="1 17 2", command=PLAN,
    ),
    AuditRow(
        "scene-retrieval-flops", "0", "retrieval costs 7e14 FLOP in all", "检索方案共7e14 FLOP", "7e14", "FLOP",
        lambda: right("retrieval, 8 x 4k"),
        "no causal half; the page's own way gives {0:.2g}, {2:.2g} of 32,000 tokens; {1:.2g} if "
        "chunks do not see each other",
        "没有减去因果的一半；按原文算法为{0:.2g}（32,000个token时{2:.2g}）；各块互不可见时为{1:.2g}",
        facts=(
            lambda: page_way("retrieval, 8 x 4k"), lambda: float(flops(tokens=RETRIEVED // 8).times(8).total),
            lambda: float(flops(tokens=32_000).linear + 4 * 32_000**2 * HEADS * HEAD_DIM * LAYERS),
        ), on_page="7e14", command=PLAN,
    ),
    AuditRow(
        "scene-retrieval-seconds", "0", "retrieval answers in 0.7 s", "检索方案约0.7秒", "0.7", "s",
        lambda: right("retrieval, seconds"),
        "an H100 reaches 56 to 58 % of its peak; the saving is {0:.1f} times, not 11",
        "H100只能达到峰值的56%到58%；节省的是{0:.1f}倍而不是11倍", facts=(lambda: right("saving of retrieval"),),
        on_page="0.7", command=PLAN,
    ),
    AuditRow(
        "scene-requests", "0", "one or two requests at most on an 80 GB card", "80 GB的卡最多同时跑一两条请求", "2",
        "", lambda: float(int(requests_on_80_gb(HEADS))),
        "the upper end; {0:.2f} contracts fit beside weights, activations and graphs; with 8 KV heads {1:.0f}, in "
        "fp8 as well {2:.0f}", "指上限；扣掉权重、激活和图之后放得下{0:.2f}份；8个KV头时{1:.0f}份，再用fp8时{2:.0f}份",
        facts=(
            lambda: requests_on_80_gb(HEADS), lambda: float(int(requests_on_80_gb(GQA_HEADS))),
            lambda: float(int(requests_on_80_gb(GQA_HEADS, KVDtypes("fp8", "fp8")))),
        ), on_page="51.5 80", command=PLAN,
    ),
    AuditRow(
        "scene-not-shared", "0", "the cost of the cache cannot be spread over requests",
        "KV这笔开销无法由多个请求分摊", None, "", _second_question,
        "questions on the same contract share its prefix; only other contracts need their own",
        "同一份合同的问题共用前缀；只有不同的合同才各占一份",
    ),
)  # fmt: skip
