"""``softlookup plan --example contract-qa``: the course page's account, line by line, beside the right values.

Every number is computed: the page's by the page's own convention, the right one by the cost model.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from softlookup.cost.course_shapes import (
    HEAD_DIM,
    HEADS,
    LAYERS,
    RETRIEVED,
    TOKENS,
    VOCABULARY,
    WIDTH,
    course_shape,
)
from softlookup.cost.devices import find_device
from softlookup.cost.efficiency import efficiency_of
from softlookup.cost.figures import Figure
from softlookup.cost.flops import Flops, model_flops, score_count, seen_keys
from softlookup.cost.kv_cache import KVDtypes, kv_bytes
from softlookup.cost.memory import logits_bytes, score_chunk_bytes, score_matrix_bytes
from softlookup.cost.model.shapes import ModelShape
from softlookup.cost.seconds import DecodeTraffic, decode_figure, prefill_figure, weights_read
from softlookup.cost.vllm_pool import GIB, activation_peak, available_kv_bytes

# rates that the page uses: 1000 TFLOP/s and 3 TB/s
_PAGE_FLOPS, _PAGE_BYTES = 1e15, 3e12
_ANSWER = 200
_H100 = find_device("H100")
_FP8 = KVDtypes("fp8", "fp8")


@dataclass(frozen=True, slots=True)
class AccountLine:
    """``page``: what the page prints, ``page_value`` the same computed by its convention; ``right`` the value here.

    A line that the page lacks has an empty ``page`` and no ``page_value``.
    """

    what: str
    page: str
    page_value: float | None
    right: float
    unit: str
    verdict: str
    reason: str
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The line for JSON."""
        return asdict(self)


def course_account() -> tuple[AccountLine, ...]:
    """All lines in the order of the page."""
    return (
        *_memory_lines(),
        *_flops_lines(),
        *_seconds_lines(),
        *_retrieval_lines(),
        *_other_lines(),
        *_missing_lines(),
    )


def _memory_lines() -> list[AccountLine]:
    shape, grouped = course_shape(), course_shape(8)
    scores = score_matrix_bytes(shape, TOKENS)
    cache, layer = kv_bytes(shape, TOKENS), kv_bytes(shape, TOKENS) / LAYERS
    return [
        AccountLine("scores of QK^T", "5.5e11", HEADS * TOKENS**2, HEADS * TOKENS**2, "numbers", "right",
                    "one layer, all 32 heads"),
        AccountLine("score matrix, fp16", "1.1 TB", scores, LAYERS * scores, "B", "one layer",
                    "1.1 TB is one layer; output_attentions keeps all 24"),
        AccountLine("KV per layer", "2.1 GB", layer, layer, "B", "right for MHA",
                    f"32 KV heads; with 8 of them (GQA) {kv_bytes(grouped, TOKENS) / LAYERS / 1e9:.2f} GB"),
        AccountLine("KV of 24 layers", "51.5 GB", cache, cache, "B", "right for MHA",
                    f"GQA with 8 KV heads {kv_bytes(grouped, TOKENS) / 1e9:.1f} GB, in fp8 "
                    f"{kv_bytes(grouped, TOKENS, _FP8) / 1e9:.1f} GB"),
    ]  # fmt: skip


def _page_flops(tokens: int) -> Flops:
    """The page's convention: both products over the full square, no LM head."""
    flops = model_flops(course_shape(), tokens)
    return replace(flops, attention=LAYERS * 4 * tokens**2 * HEAD_DIM * HEADS, lm_head=0)


def _flops_lines() -> list[AccountLine]:
    page, right = _page_flops(TOKENS), model_flops(course_shape(), TOKENS)
    grouped, gated = model_flops(course_shape(8), TOKENS), model_flops(course_shape(gated=True), TOKENS)
    return [
        AccountLine("Q, K, V and output projections", "4.2e14", page.projections, right.projections, "FLOP", "right",
                    f"for MHA; with 8 KV heads {grouped.projections:.3g}"),
        AccountLine("QK^T and AV", "6.8e15", page.attention, right.attention, "FLOP", "twice too high",
                    "causal: query i sees i keys, T(T+1)/2 pairs and not T^2"),
        AccountLine("FFN", "8.4e14", page.ffn, right.ffn, "FLOP", "right",
                    f"for two D x 4D matrices; SwiGLU with 3 x 3.5D {gated.ffn:.3g}"),
        AccountLine("total", "8.0e15", page.total, right.total, "FLOP",
                    f"{page.total / right.total:.2f} times too high",
                    "follows from the causal half; the LM head runs for one position"),
        AccountLine("share of attention", "85%", page.attention / page.total, right.attention / right.total, "share",
                    "too high", "the causal half again; doubling T makes attention four times as dear all the same"),
    ]  # fmt: skip


def _prefill(shape: ModelShape, tokens: int) -> Figure:
    return prefill_figure(model_flops(shape, tokens), tokens, _H100, efficiency_of(_H100))


def _decode(shape: ModelShape, tokens: int) -> Figure:
    traffic = DecodeTraffic(weights_read(shape), kv_bytes(shape, tokens))
    return decode_figure(traffic, LAYERS, _H100, efficiency_of(_H100))


def _seconds_lines() -> list[AccountLine]:
    shape = course_shape()
    page_prefill = _page_flops(TOKENS).total / _PAGE_FLOPS
    page_decode = kv_bytes(shape, TOKENS) / _PAGE_BYTES
    prefill, decode = _prefill(shape, TOKENS), _decode(shape, TOKENS)
    weights = weights_read(shape)
    answer = 1e-3 * _ANSWER
    return [
        AccountLine("prefill", "8 s", page_prefill, prefill.value, "s", "right by luck",
                    "no causal half, and 100 % of more than an H100's peak of 989: the errors cancel", prefill.low,
                    prefill.high),
        AccountLine("decode per token", "17 ms", page_decode, decode.value / 1e3, "s", "too low",
                    f"weights forgotten: {weights / 1e9:.1f} GB (LM head included) are read beside the KV, at 80 % of "
                    "the bandwidth", decode.low / 1e3, decode.high / 1e3),
        AccountLine("200 tokens of answer", "3.4 s", _ANSWER * page_decode, answer * decode.value, "s", "too low",
                    "follows from the weights", answer * decode.low, answer * decode.high),
        AccountLine("one question", "11 s", page_prefill + _ANSWER * page_decode, prefill.value + answer * decode.value,
                    "s", "too low", "the second question costs the answer only, if the prefix is kept",
                    prefill.low + answer * decode.low, prefill.high + answer * decode.high),
    ]  # fmt: skip


def _retrieval_lines() -> list[AccountLine]:
    shape = course_shape()
    page, right = _page_flops(RETRIEVED), model_flops(shape, RETRIEVED)
    apart = model_flops(shape, RETRIEVED // 8).times(8)
    prefill = _prefill(shape, RETRIEVED)
    whole = model_flops(shape, TOKENS).total
    page_share = (TOKENS / 32_000) ** 2  # "3.2 万 token"
    share = seen_keys(TOKENS, 0) / seen_keys(RETRIEVED, 0)
    return [
        AccountLine("attention of retrieval, 1 in", "17", page_share, share, "",
                    "rounded", "8 x 4,096 are 32,768 tokens, a quarter of the length: 1/16"),
        AccountLine("retrieval, 8 x 4k", "7e14", page.total, right.total, "FLOP", "too high",
                    f"causal, as one prompt; {apart.total:.2g} if the chunks do not see each other"),
        AccountLine("retrieval, seconds", "0.7 s", page.total / _PAGE_FLOPS, prefill.value, "s", "too low",
                    "an H100 reaches 56 to 58 % of its peak", prefill.low, prefill.high),
        AccountLine("saving of retrieval", "11 times", _page_flops(TOKENS).total / page.total, whole / right.total,
                    "times", "too high", "full context is cheaper than the page says"),
    ]  # fmt: skip


def requests_on_80_gb(kv_heads: int, dtypes: KVDtypes | None = None) -> float:
    """Contracts of T tokens that an 80 GB card (79.19 GiB) holds at utilisation 0.9."""
    shape = course_shape(kv_heads)
    other = activation_peak(shape, _H100.memory)
    pool = available_kv_bytes(_H100.memory, 0.9, 2 * shape.parameters, other, 0.25 * GIB, 0.9 * GIB)
    return pool / kv_bytes(shape, TOKENS, dtypes)


def _other_lines() -> list[AccountLine]:
    mha, mha8, gqa, gqa8 = (int(requests_on_80_gb(h, t)) for h in (HEADS, 8) for t in (None, _FP8))
    small, pairs = 4096, seen_keys(4096, 0)
    return [
        AccountLine("contracts at once on 80 GB", "1-2", 80e9 / kv_bytes(course_shape(), TOKENS), mha, "",
                    "upper end wrong", f"weights, activations and graphs leave 57 GiB; "
                    f"KV in fp8 {mha8}, GQA {gqa}, both {gqa8}"),
        AccountLine("FLOP per byte of decode attention", "1", 1, 1, "FLOP/B", "right for MHA",
                    f"with 8 KV heads {HEADS // 8} query heads share every byte: {HEADS // 8}"),
        AccountLine("T = 4096, d = 4096: QK^T and AV", "6.9e10", small * small * 4096, 4 * small * small * 4096, "FLOP",
                    "a quarter", f"multiply-adds of one product; FLOP of both; causal {4 * pairs * 4096:.3g}"),
        AccountLine("projection weights per layer", "67.1 million", 4 * WIDTH**2, 4 * WIDTH**2, "weights",
                    "right for MHA", "4 D^2; with 8 KV heads 2.5 D^2"),
        AccountLine("exercise: T = 1024, d_k = 64", "6.7e7", 1024**2 * 64, 2 * 1024**2 * 64, "FLOP",
                    "right as multiply-adds", "2 FLOP each, as the page's answer says"),
    ]  # fmt: skip


def _missing_lines() -> list[AccountLine]:
    shape = course_shape()
    suffix = model_flops(shape, 64, TOKENS).total

    def line(what: str, value: float, unit: str, reason: str) -> AccountLine:
        return AccountLine(what, "", None, value, unit, "missing", reason)

    return [
        line(
            "softmax exponentials", score_count(shape, TOKENS), "exp", "one per causal score; may limit fused attention"
        ),
        line(
            "score chunk of 512 rows, fp32",
            score_chunk_bytes(shape, TOKENS),
            "B",
            "what unfused attention keeps at once",
        ),
        line("logits of all positions, fp32", logits_bytes(VOCABULARY, TOKENS), "B", "keep the last position only"),
        line("second question of 64 tokens", suffix, "FLOP", "behind a kept prefix; the page reads the contract again"),
    ]
