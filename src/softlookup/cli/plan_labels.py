"""Words of the plan's table in English and Chinese; reasons and losses come from ``cost/plan/plan_texts.py``."""

from __future__ import annotations

from typing import Literal

_EN = {
    "title": "{name} on {device}: {tokens:,} tokens, answers of {answer:,}, trained window {window}",
    "unknown": "unknown",
    "engine": ", KV cache of {engine}",
    "document": "{path}: {clauses:,} clauses, {references:,} cross references, {tokens}",
    "counted": "{tokens:,} tokens counted with the model's tokenizer",
    "estimated": "about {tokens:,} tokens ({low:,} to {high:,}), counted with another model's tokenizer",
    "partly": "part of the document could not be read: see `softlookup read`",
    "weights": "weights", "parameters": "{count:,} parameters", "active": ", {count:,} active",
    "cache": "KV cache", "per_token": "{size}, {bytes:,} B per token in layers that keep all",
    "scores": "scores", "score_matrix": "{size} for one layer in fp16: never stored, attention is fused",
    "prefill": "prefill",
    "prefill_line": "{span}: {linear:.3g} FLOP + {attention:.3g} of causal attention ({share:.0%}), {bound}-bound",
    "compute": "compute", "bandwidth": "bandwidth",
    "decode": "decode",
    "decode_line": "{value:.3g} ms/token ({low:.3g}-{high:.3g}): weights {weights} + KV {cache}; "
    "{intensity:.2g} FLOP/B, ridge {ridge:.0f}",
    "requests": "requests",
    "requests_line": "{count:,} at once in {left} left for KV; one of up to {longest:,} tokens",
    "observe": "observe",
    "observe_line": "{seconds} for bank and question of a context; column sums {sums}; all weights would be {weights}",
    "strategy": "strategy", "first": "first answer", "more": "each more", "memory": "memory", "lose": "can lose",
    "full_context": "full context", "retrieval": "retrieval", "hybrid": "hybrid windows",
    "none": "none", "impossible": "not possible: {obstacle}",
    "all_questions": "{questions:,} questions: ",
    "most": "   would help most: ",
    "priors": "   seconds are priors from tables, with their interval in brackets: nothing was measured here",
    "comma": ", ", "choice": "=> {strategy}: ",
    "exact": "exact", "measured": "measured", "version-bound": "version-bound", "prior": "prior",
}  # fmt: skip
_ZH = {
    "title": "{name}，设备 {device}：{tokens:,} 个词元，回答 {answer:,} 个，训练窗口 {window}",
    "unknown": "未知",
    "engine": "，KV 缓存按 {engine}",
    "document": "{path}：{clauses:,} 个条款，{references:,} 处引用，{tokens}",
    "counted": "{tokens:,} 个词元（用该模型的分词器数出）",
    "estimated": "约 {tokens:,} 个词元（{low:,} 至 {high:,}，用另一模型的分词器数出）",
    "partly": "文件有一部分没有读到：见 `softlookup read`",
    "weights": "权重", "parameters": "{count:,} 个参数", "active": "，每词元用 {count:,} 个",
    "cache": "KV 缓存", "per_token": "{size}，保留全部的层每词元 {bytes:,} B",
    "scores": "分数矩阵", "score_matrix": "一层 fp16 需 {size}：从不存储，注意力分块计算",
    "prefill": "预填充",
    "prefill_line": "{span}：{linear:.3g} FLOP + 因果注意力 {attention:.3g}（{share:.0%}），受限于{bound}",
    "compute": "算力", "bandwidth": "带宽",
    "decode": "解码",
    "decode_line": "每词元 {value:.3g} 毫秒（{low:.3g}-{high:.3g}）：权重 {weights} + KV {cache}；"
    "{intensity:.2g} FLOP/B，拐点 {ridge:.0f}",
    "requests": "并发",
    "requests_line": "KV 可用 {left}，同时 {count:,} 个请求；单个最长 {longest:,} 个词元",
    "observe": "观察",
    "observe_line": "每个上下文的题库与问题 {seconds}；列和 {sums}；全部注意力权重为 {weights}",
    "strategy": "策略", "first": "首个回答", "more": "其后每个", "memory": "内存", "lose": "可能丢失",
    "full_context": "全文阅读", "retrieval": "检索", "hybrid": "窗口混合",
    "impossible": "不可行：{obstacle}",
    "all_questions": "{questions:,} 个问题：",
    "most": "   最有用的改动：",
    "priors": "   秒数为按表估计的先验，括号内为区间：此处没有实测",
    "comma": "，", "choice": "=> {name}（{strategy}）：", "none": "都不行",
    "exact": "精确", "measured": "实测", "version-bound": "随版本", "prior": "先验",
}  # fmt: skip
PLAN_LABELS: dict[Literal["en", "zh"], dict[str, str]] = {"en": _EN, "zh": _ZH}
