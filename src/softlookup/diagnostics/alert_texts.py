"""Meaning and remedy of every alert, in English and Chinese; no thresholds and no logic."""

from __future__ import annotations

from typing import NamedTuple


class AlertText(NamedTuple):
    """What an alert means and what an engineer can do, in both languages."""

    meaning: str
    remedy: str
    meaning_zh: str
    remedy_zh: str


_WEIGHTS = "fetch or convert the model again and compare it with transformers (`softlookup diagnose`)"
_WEIGHTS_ZH = "请重新获取或转换模型，并与 transformers 比对（`softlookup diagnose`）"
_SCALE = "check the factor 1/sqrt(head_dim) of the attention and the converted q and k weights"
_SCALE_ZH = "请检查注意力的 1/sqrt(head_dim) 缩放以及转换后的 q、k 权重"
_MASK = "check the mask: -infinity before the softmax on the keys after each query, and nowhere else"
_MASK_ZH = "请检查掩码：应在 softmax 之前、仅对未来位置加负无穷"
_ANSWER = "do not use the answer; read the cited clauses"
_ANSWER_ZH = "不要采用该回答，请直接阅读所引条款"

ALERT_TEXTS = {
    "non_finite": AlertText(
        "queries, keys, values or outputs are not finite", _WEIGHTS,
        "查询、键、值或输出含 NaN 或无穷大", _WEIGHTS_ZH,
    ),
    "attention_overflow": AlertText(
        "scores are not finite: they exceed float32", "check the weights and the scale of this layer",
        "分数超出 float32 范围", "请检查该层的权重与缩放",
    ),
    "fp16_headroom": AlertText(
        "unscaled scores would overflow fp16", "run this model in bfloat16 or float32, or scale q before the product",
        "未缩放分数会使 fp16 溢出", "请改用 bfloat16 或 float32，或先缩放 q 再相乘",
    ),
    "fp16_overflow": AlertText(
        "scores overflow fp16 even after the scale", "run this model in bfloat16 or float32",
        "缩放后的分数仍会使 fp16 溢出", "请改用 bfloat16 或 float32",
    ),
    "bf16_overflow": AlertText(
        "scores overflow bfloat16", "check the weights: no healthy model comes near",
        "分数超出 bfloat16 范围", "请检查权重：正常模型远不会如此",
    ),
    "bf16_precision": AlertText(
        "scaled scores so large that neighbouring bfloat16 numbers differ by 2: weights are rounded to nothing",
        "compute the scores in float32",
        "缩放后的分数过大，bfloat16 相邻数相差 2，权重失真", "请以 float32 计算分数",
    ),
    "wrong_scale": AlertText(
        "the scale of the scores is not the one that the model's configuration states", _SCALE,
        "分数的缩放因子与模型配置不符", _SCALE_ZH,
    ),
    "mask_future": AlertText("query rows see keys that come after them", _MASK, "查询行看到了其后的键", _MASK_ZH),
    "mask_past": AlertText(
        "query rows do not see keys before them that they should see", _MASK,
        "查询行看不到本应可见的之前的键", _MASK_ZH,
    ),
    "kernel_mismatch": AlertText(
        "the kernel's output is not softmax(scale q k, masked) v", _MASK + "; try attention implementation 'eager'",
        "注意力核的输出不等于 softmax(缩放分数, 掩码)·v", _MASK_ZH,
    ),
    "attention_sink": AlertText(
        "nearly all attention is on the first token", _SCALE,
        "几乎全部注意力落在第一个词元上", _SCALE_ZH,
    ),
    "entropy_collapse": AlertText(
        "attention has collapsed to single keys", _SCALE,
        "注意力坍缩到单个键上", _SCALE_ZH,
    ),
    "uniform_attention": AlertText(
        "attention is uniform: it selects nothing", _SCALE,
        "注意力近于均匀，什么也没有选中", _SCALE_ZH,
    ),
    "layer_collapse": AlertText(
        "all heads of the layer look at single keys", _SCALE, "该层所有头都只看单个键", _SCALE_ZH,
    ),
    "layer_uniform": AlertText(
        "all heads of the layer weigh all keys alike", _SCALE, "该层所有头对各键一视同仁", _SCALE_ZH,
    ),
    "heads_alike": AlertText(
        "all heads of the layer look at the same keys", _WEIGHTS, "该层所有头看的键完全相同", _WEIGHTS_ZH,
    ),
    "one_key": AlertText(
        "one key takes everything in every row of every head of the layer", _WEIGHTS,
        "该层每一行每个头都只看同一个键", _WEIGHTS_ZH,
    ),
    "constant_rows": AlertText(
        "the attention of the layer does not depend on the query", _WEIGHTS,
        "该层注意力与查询无关", _WEIGHTS_ZH,
    ),
    "smoke_2_over_t": AlertText(
        "implementation smoke alarm: the largest weight stays below 2/T in every row of the head",
        "not a statement about the document; " + _SCALE,
        "实现烟雾警报：该头每一行的最大权重都低于 2/T", "这与文件内容无关；" + _SCALE_ZH,
    ),
    "head_entropy_low": AlertText(
        "attention is far narrower than this model's own baseline", _SCALE,
        "注意力远比该模型自身基线集中", _SCALE_ZH,
    ),
    "head_entropy_high": AlertText(
        "attention is far wider than this model's own baseline", _SCALE,
        "注意力远比该模型自身基线分散", _SCALE_ZH,
    ),
    "head_sink_high": AlertText(
        "far more mass on the first token than in this model's own baseline", _SCALE,
        "第一个词元上的注意力远高于该模型自身基线", _SCALE_ZH,
    ),
    "head_sink_low": AlertText(
        "the sink on the first token is gone, against this model's own baseline",
        "check that the prompt begins as in the template, and that its first keys are in the cache",
        "第一个词元的注意力汇消失，与该模型自身基线不符", "请检查提示是否按模板开头，且首个键仍在缓存中",
    ),
    "question_unlike_bank": AlertText(
        "attention of the question's rows is unlike that of all questions of the bank on this document",
        "check that the question is one: a sentence about the document, in its language",
        "该问题的注意力与题库问题在本文件上的表现差异过大", "请确认问题是一句与文件同语言的完整提问",
    ),
    "repetition_loop": AlertText(
        "the answer repeats itself in a loop", _ANSWER + "; if it happens often, " + _MASK,
        "回答陷入循环复读", _ANSWER_ZH + "；若经常发生，" + _MASK_ZH,
    ),
    "stares_at_first_token": AlertText(
        "the model stares at the first token and reads little else", _ANSWER + "; " + _SCALE,
        "模型只盯着开头的词元，几乎不看别处", _ANSWER_ZH + "；" + _SCALE_ZH,
    ),
    "mush": AlertText(
        "the model looks at everything a little: the answer is an average of the document", _ANSWER + "; " + _SCALE,
        "模型对所有内容平均用力（糊墙式回答）", _ANSWER_ZH + "；" + _SCALE_ZH,
    ),
    "phantom_clauses": AlertText(
        "the answer names clauses that the document does not have",
        _ANSWER + "; after thousands of tokens compare cache and positions (`softlookup diagnose`)",
        "回答提到了文件中不存在的条款",
        _ANSWER_ZH + "；若仅见于数千词元之后，请核对缓存写入位置与位置编码（`softlookup diagnose`）",
    ),
}  # fmt: skip
