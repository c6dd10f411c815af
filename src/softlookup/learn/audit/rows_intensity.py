"""Claims of section 1.1: bytes and FLOPs of one query, and what decoding is bound by."""

from __future__ import annotations

from softlookup.cost.course_shapes import HEAD_DIM, HEADS, TOKENS, course_shape
from softlookup.cost.devices import find_device
from softlookup.cost.flops import attention_flops, model_flops
from softlookup.cost.kv_cache import KVDtypes, kv_bytes, layer_kv_bytes
from softlookup.cost.seconds import weights_read
from softlookup.learn.audit.row import AuditRow, Fact, Reading, Verdict
from softlookup.learn.audit.scenario import GQA_HEADS, PLAN


def _kv(kv_heads: int = HEADS) -> float:
    return kv_bytes(course_shape(kv_heads), TOKENS) / 1e9


def _decode_is_traffic() -> Fact:
    """FLOP per byte of one decoded token against what a card can do per byte."""
    shape, ridge = course_shape(), find_device("H100").ridge
    read = kv_bytes(shape, TOKENS) + weights_read(shape)
    intensity = model_flops(shape, 1, TOKENS).total / read
    return Fact(
        intensity < ridge,
        f"{intensity:.2f} FLOP/B; an H100 does {ridge:.0f}",
        f"{intensity:.2f} FLOP/B；H100每字节可做{ridge:.0f}",
    )


def _kv_is_most() -> Fact:
    cache, weights = kv_bytes(course_shape(), TOKENS), weights_read(course_shape())
    share = cache / (cache + weights)
    return Fact(share > 0.5, f"KV is {share:.0%} of the bytes", f"KV占字节的{share:.0%}")


def _kv_is_most_when_short() -> Fact:
    cache, weights = kv_bytes(course_shape(), 4096), weights_read(course_shape())
    share = cache / (cache + weights)
    return Fact(share > 0.5, f"{share:.0%} at 4,096 tokens", f"4,096 token时{share:.0%}")


def _intensity(kv_heads: int, dtype: str = "bf16") -> float:
    layer = course_shape(kv_heads).layers[0]
    return attention_flops(layer, 1, TOKENS - 1) / layer_kv_bytes(layer, TOKENS, KVDtypes(dtype, dtype))


def _linear(dtype: str = "bf16") -> float:
    """FLOP per byte of the layers' matrices for one token."""
    shape = course_shape()
    return 2 * sum(layer.weights for layer in shape.layers) / weights_read(shape, dtype, lm_head=False)


def _one_head(tokens: int) -> tuple[float, float]:
    """FLOPs and bytes of one query and one head over ``tokens`` keys, in units of T d_k."""
    layer = course_shape(1).layers[0]
    flop = attention_flops(layer, 1, tokens - 1) / layer.query_heads
    return flop / (tokens * HEAD_DIM), layer_kv_bytes(layer, tokens, KVDtypes()) / (tokens * HEAD_DIM)


INTENSITY = (
    AuditRow(
        "intensity-bytes", "1.1", "one query and head reads 4 T d_k bytes of fp16 keys and values",
        "一个query、一个头要读4·T·d_k字节的fp16键和值", "4", "T d_k B", lambda: _one_head(TOKENS)[1],
        "2 T d_k numbers of 2 bytes", "2·T·d_k个数，每个2字节", on_page="4 16 4",
    ),
    AuditRow(
        "intensity-flops", "1.1", "and costs 4 T d_k FLOP", "并做4·T·d_k FLOP", "4", "T d_k FLOP",
        lambda: _one_head(TOKENS)[0], "2 T d_k multiply-adds (scores and values), each 2 FLOP",
        "分数和加权各T·d_k次乘加，每次2 FLOP", on_page="4",
    ),
    AuditRow(
        "intensity", "1.1", "their ratio is 1 FLOP per byte", "两者之比为1 FLOP/字节", "1", "FLOP/B",
        lambda: _intensity(HEADS), "with 8 KV heads every byte serves 4 query heads: {other:.0f}",
        "8个KV头时每个字节服务4个查询头，为{other:.0f}",
        Reading(Verdict.MHA_ONLY, lambda: _intensity(GQA_HEADS), "8 KV heads", "8个KV头"), on_page="1 4", command=PLAN,
    ),
    AuditRow(
        "intensity-linear", "1.1", "a linear layer has 1 FLOP per byte for one token too",
        "线性层单token的算术强度同样是1", "1", "FLOP/B", _linear,
        "2 FLOP and 2 bytes per weight; with 8-bit weights {other:.1f}",
        "每个权重2 FLOP、2字节；8位权重时为{other:.1f}",
        Reading(Verdict.CONVENTION, lambda: _linear("fp8"), "8-bit weights", "8位权重"), tolerance=0.01, on_page="1",
    ),
    AuditRow(
        "intensity-most", "1.1", "while decoding, attention moves the most data", "decode时搬数据最多的是attention",
        None, "", _kv_is_most, "at this length; at 4,096 tokens the weights are most of it",
        "在这个长度成立；4,096 token时大头是权重",
        Reading(Verdict.MISLEADING, _kv_is_most_when_short, "4,096 tokens", "4,096 token"),
    ),
    AuditRow(
        "intensity-sweep", "1.1", "a sweep over the KV of 24 layers reads 51.5 GB", "24层KV扫一次要读51.5 GB", "51.5",
        "GB", _kv, "with 8 KV heads {other:.1f} GB", "8个KV头时为{other:.1f} GB",
        Reading(Verdict.MHA_ONLY, lambda: _kv(GQA_HEADS), "8 KV heads", "8个KV头"), on_page="131072 24 51.5",
        command=PLAN,
    ),
    AuditRow(
        "decode-bound", "1.1", "decoding moves data rather than computes", "decode时整个模型都在搬数据", None, "",
        _decode_is_traffic, "one request; a batch shares the weights, not the cache",
        "指单条请求；成批时共用权重，但不共用缓存", command=PLAN,
    ),
    AuditRow(
        "linear-scan", "1.1", "a query scans all keys: O(T)", "每个query全表扫描，O(T)", "2", "",
        lambda: _one_head(2 * TOKENS)[0] * 2 / _one_head(TOKENS)[0], "twice the keys, twice the work",
        "键翻倍，工作量翻倍",
    ),
)  # fmt: skip
