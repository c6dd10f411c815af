"""Claims of sections 5.4, 8 and 10: the account of the contract, line by line, and the sizes repeated at the end."""

from __future__ import annotations

from softlookup.cost.course import requests_on_80_gb
from softlookup.cost.course_shapes import HEADS, LAYERS, TOKENS, WIDTH, course_shape
from softlookup.cost.devices import find_device
from softlookup.cost.efficiency import efficiency_of
from softlookup.cost.flops import attention_flops, crossover_tokens, model_flops, seen_keys
from softlookup.cost.kv_cache import kv_bytes
from softlookup.cost.memory import score_matrix_bytes
from softlookup.cost.seconds import weights_read
from softlookup.learn.audit.row import AuditRow, Fact, Reading, Verdict
from softlookup.learn.audit.scenario import GQA_HEADS, PLAN, flops, limits, page_way, right

_H100 = "H100"
_SMALL = 4096


def _mha(what: str) -> Reading:
    """The page's own shape with 8 KV heads."""
    return Reading(Verdict.MHA_ONLY, lambda: float(getattr(flops(GQA_HEADS), what)), "8 KV heads", "8个KV头")


def _kv(kv_heads: int = HEADS, layers: int = LAYERS) -> float:
    return kv_bytes(course_shape(kv_heads), TOKENS) / LAYERS * layers / 1e9


def _kv_reading(layers: int) -> Reading:
    return Reading(Verdict.MHA_ONLY, lambda: _kv(GQA_HEADS, layers), "8 KV heads", "8个KV头")


def _bandwidth() -> float:
    """TB/s that decoding gets of an H100."""
    device = find_device(_H100)
    return device.bandwidth * efficiency_of(device).bandwidth / 1e12


def _compute() -> float:
    """TFLOP/s that this prefill gets of an H100."""
    return right("total") / right("prefill") / 1e12


def _new_projections() -> Fact:
    """What a decoded token projects, in units of one D x D matrix per layer."""
    matrices = model_flops(course_shape(), 1, TOKENS).projections / (2 * WIDTH**2 * LAYERS)
    return Fact(
        matrices == 1,
        f"{matrices:.0f} projections of the new token: Q, K, V and the output",
        f"新token要做{matrices:.0f}个投影：Q、K、V和输出",
    )


def _cache_saves() -> Fact:
    """One decoded token behind a cache against the whole sequence again."""
    shape = course_shape()
    again, one = model_flops(shape, TOKENS + 1).total, model_flops(shape, 1, TOKENS).total
    times = f"{again / one:,.0f}"
    return Fact(again > one, f"{times} times the FLOP without it", f"没有它要做{times}倍的FLOP")


def _main_cost(tokens: int) -> Fact:
    part = model_flops(course_shape(), tokens)
    share = part.attention / part.total
    return Fact(
        share > 0.5, f"attention is {share:.0%} at {tokens:,} tokens", f"{tokens:,} token时attention占{share:.0%}"
    )


def _small_flops() -> float:
    """QK^T and AV of one layer at T = 4096 over the full square."""
    return attention_flops(course_shape().layers[0], _SMALL) * _SMALL**2 / seen_keys(_SMALL, 0)


CONTRACT = (
    AuditRow(
        "contract-qkvo", "5.4", "projections: 4.2e14 FLOP", "投影：4.2e14 FLOP", "4.2e14", "FLOP",
        lambda: float(flops().projections), "with 8 KV heads {other:.3g}", "8个KV头时为{other:.3g}",
        _mha("projections"), on_page="4 2 2 4.2e14", command=PLAN,
    ),
    AuditRow(
        "contract-attention", "5.4", "QK^T and AV: 6.8e15 FLOP", "QKᵀ与AV：6.8e15 FLOP", "6.8e15", "FLOP",
        lambda: float(flops().attention), "the mask halves it: query i sees i keys; the full square is {0:.3g}",
        "掩码使它减半：第i个query只看i个key；整个方阵是{0:.3g}", facts=(lambda: page_way("QK^T and AV"),),
        on_page="2 2 2 6.8e15", command=PLAN,
    ),
    AuditRow(
        "contract-ffn", "5.4", "FFN: 8.4e14 FLOP", "FFN：8.4e14 FLOP", "8.4e14", "FLOP", lambda: float(flops().ffn),
        "of two D x 4D matrices; SwiGLU with three D x 3.5D {other:.3g}",
        "按两个D×4D矩阵；SwiGLU三个D×3.5D时为{other:.3g}",
        Reading(Verdict.CONVENTION, lambda: float(flops(gated=True).ffn), "SwiGLU", "SwiGLU"), on_page="2 8 2 8.4e14",
        command=PLAN,
    ),
    AuditRow(
        "contract-total", "5.4", "in all 8.0e15 FLOP", "合计8.0e15 FLOP", "8.0e15", "FLOP", lambda: right("total"),
        "follows from the causal half", "由因果的一半而来", on_page="8.0e15", command=PLAN,
    ),
    AuditRow(
        "contract-rate", "5.4", "a card computes at 1000 TFLOP/s", "一张卡按1000 TFLOP/s算", "1000", "TFLOP/s",
        _compute, "above an H100's peak of {0:.0f}; this is what is reached",
        "高于H100的峰值{0:.0f}；“我们”一列是实际能达到的", facts=(lambda: find_device(_H100).flops / 1e12,),
        on_page="1000",
    ),
    AuditRow(
        "contract-prefill", "5.4", "prefill about 8 s", "预填充约8 s", "8", "s", lambda: right("prefill"),
        "two errors cancel; prior interval {0:.1f} to {1:.1f} s", "两个错误相抵；先验区间{0:.1f}到{1:.1f}秒",
        Reading(
            Verdict.MISLEADING, lambda: right("total") / 1e15, "right FLOPs, 1000 TFLOP/s", "正确FLOP，1000 TFLOP/s",
        ), facts=(lambda: limits("prefill")[0], lambda: limits("prefill")[1]), on_page="8 8", command=PLAN,
    ),
    AuditRow(
        "contract-share", "5.4", "attention is 85 % of it", "attention占85%", "85", "%",
        lambda: 100 * right("share of attention"),
        "no causal half; the page's own formulas give {0:.1f} %, its rounded numbers 85",
        "没有减去因果的一半；按原文算式是{0:.1f}%，用它取整后的数才得85",
        facts=(lambda: 100 * page_way("share of attention"),), on_page="85", command=PLAN,
    ),
    AuditRow(
        "contract-doubling", "5.4", "twice the tokens, four times the attention", "token翻倍，注意力开销翻四倍", "4",
        "", lambda: flops(tokens=2 * TOKENS).attention / flops().attention, "causal too", "因果也一样",
        tolerance=0.001, on_page="2",
    ),
    AuditRow(
        "contract-scores", "5.4", "score matrix 1.1 TB", "分数矩阵1.1 TB", "1.1", "TB",
        lambda: score_matrix_bytes(course_shape(), TOKENS) / 1e12, "one layer; all of them {other:.3g} TB",
        "一层；所有层共{other:.3g} TB",
        Reading(Verdict.ONE_LAYER, lambda: right("score matrix, fp16") / 1e12, "24 layers", "24层"),
        on_page="32 131072 2 16 1.1", command=PLAN,
    ),
    AuditRow(
        "contract-kv-layer", "5.4", "KV per layer 2.1 GB", "KV每层2.1 GB", "2.1", "GB", lambda: _kv(layers=1),
        "with 8 KV heads {other:.2f}", "8个KV头时{other:.2f}", _kv_reading(1), on_page="2.1", command=PLAN,
    ),
    AuditRow(
        "contract-kv", "5.4", "24 layers 51.5 GB", "24层51.5 GB", "51.5", "GB", _kv, "with 8 KV heads {other:.1f}",
        "8个KV头时{other:.1f}", _kv_reading(LAYERS), on_page="24 51.5", command=PLAN,
    ),
    AuditRow(
        "contract-read", "5.4", "a decoded token reads these 51.5 GB", "每解码一个token要读这51.5 GB", "51.5", "GB",
        lambda: _kv() + weights_read(course_shape()) / 1e9, "and {0:.1f} GB of weights, LM head included",
        "还要读{0:.1f} GB权重（含LM head）", facts=(lambda: weights_read(course_shape()) / 1e9,), on_page="51.5",
        command=PLAN,
    ),
    AuditRow(
        "contract-bandwidth", "5.4", "at 3 TB/s", "3 TB/s", "3", "TB/s", _bandwidth,
        "3 to one digit: an H100 has {0:.2f}, of which 80 % arrive", "取一位即3：H100为{0:.2f}，实际约得80%",
        facts=(lambda: find_device(_H100).bandwidth / 1e12,), on_page="3",
    ),
    AuditRow(
        "contract-decode", "5.4", "17 ms per token", "17 ms/token", "17", "ms",
        lambda: 1e3 * right("decode per token"),
        "weights forgotten, and 100 % of the bandwidth; prior interval {0:.1f} to {1:.1f}",
        "漏了权重，且按满带宽算；先验区间{0:.1f}到{1:.1f}",
        facts=(lambda: 1e3 * limits("decode per token")[0], lambda: 1e3 * limits("decode per token")[1]), on_page="17",
        command=PLAN,
    ),
    AuditRow(
        "contract-answer", "5.4", "200 tokens in 3.4 s", "200 token共3.4 s", "3.4", "s",
        lambda: right("200 tokens of answer"), "follows from 17 ms", "由17 ms而来", on_page="200 200 17 3.4",
        command=PLAN,
    ),
    AuditRow(
        "contract-question", "5.4", "a question takes about 11 s", "一次提问约11 s", "11", "s",
        lambda: right("one question"),
        "prior interval {0:.1f} to {1:.1f}; a second question on the kept prefix takes the answer's time only",
        "先验区间{0:.1f}到{1:.1f}；保留前缀时第二问只花生成答案的时间",
        facts=(lambda: limits("one question")[0], lambda: limits("one question")[1]), on_page="11", command=PLAN,
    ),
    AuditRow(
        "contract-requests-low", "5.4", "one request fits on an 80 GB card", "80 GB的卡能跑1条", "1", "",
        lambda: float(int(requests_on_80_gb(HEADS))), "with 8 KV heads {other:.0f}", "8个KV头时{other:.0f}条",
        Reading(Verdict.MHA_ONLY, lambda: float(int(requests_on_80_gb(GQA_HEADS))), "8 KV heads", "8个KV头"),
        on_page="80 51.5 1", command=PLAN,
    ),
    AuditRow(
        "contract-requests-high", "5.4", "or two", "或2条", "2", "", lambda: float(int(requests_on_80_gb(HEADS))),
        "weights, activations and graphs leave room for {0:.2f}", "扣掉权重、激活和图，只放得下{0:.2f}条",
        facts=(lambda: requests_on_80_gb(HEADS),), on_page="2", command=PLAN,
    ),
    AuditRow(
        "projection-weights", "8", "4 D^2 = 67.1 million per layer", "每层4D²=6710万", "6710", "×10⁴",
        lambda: course_shape().layers[0].projection_weights / 1e4, "with 8 KV heads {other:.0f}",
        "8个KV头时为{other:.0f}",
        Reading(
            Verdict.MHA_ONLY, lambda: course_shape(GQA_HEADS).layers[0].projection_weights / 1e4, "8 KV heads",
            "8个KV头",
        ), on_page="4 2 4096 6710", tolerance=1.0, command=PLAN,
    ),
    AuditRow(
        "small-flops", "8", "T = 4096: QK^T and AV 6.9e10 FLOP per layer", "T=4096时QKᵀ与AV每层6.9e10 FLOP", "6.9e10",
        "FLOP", _small_flops,
        "that is T^2 d, the multiply-adds of one of both; FLOP of both are four times that, causal {0:.2g}",
        "那是T²d，即其中一个乘积的乘加次数；两个乘积的FLOP是它的四倍，因果时{0:.2g}",
        facts=(lambda: float(attention_flops(course_shape().layers[0], _SMALL)),), on_page="4096 4096 6.9e10 2",
        command=PLAN,
    ),
    AuditRow(
        "small-main-cost", "8", "and are the main cost", "并且是主要开销", None, "", lambda: _main_cost(_SMALL),
        "not at this length: attention overtakes the matrices at {0:,.0f} tokens",
        "这个长度还不是：到{0:,.0f} token才超过矩阵乘法", facts=(lambda: float(crossover_tokens(course_shape())),),
    ),
    AuditRow(
        "cache-saves", "8", "the cache avoids computing the history again", "KV Cache避免重复计算历史", None, "",
        _cache_saves, "per decoded token, at the page's length", "每解码一个token，按本页长度",
    ),
    AuditRow(
        "only-query", "8", "with a cache only the Q of the new token is computed", "有KV Cache时每步只算新token的Q",
        None, "", _new_projections, "its K and V are new too, and are appended", "它的K和V同样要算，再追加进缓存",
    ),
    AuditRow(
        "weights-again", "10", "about 4 D^2 weights per layer", "参数量约4D²/层", "4", "D^2",
        lambda: course_shape().layers[0].projection_weights / WIDTH**2,
        "attention only; with 8 KV heads {other:.1f}; the whole layer {0:.0f}",
        "只算attention；8个KV头时{other:.1f}；整层是{0:.0f}",
        Reading(
            Verdict.MHA_ONLY, lambda: course_shape(GQA_HEADS).layers[0].projection_weights / WIDTH**2, "8 KV heads",
            "8个KV头",
        ), facts=(lambda: course_shape().layers[0].weights / WIDTH**2,), on_page="4 2",
    ),
)  # fmt: skip
