"""Questions about what attention costs: multiply-adds and FLOPs, the causal half, growth with length."""

from __future__ import annotations

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text
from softlookup.learn.quiz.topics import COST

_DECODER = "from softlookup.learn.quiz.shapes import decoder\n"
_FLOPS = f"from softlookup.cost.flops import attention_flops\n{_DECODER}"


def _one_product(draw: Draw) -> Sheet:
    tokens, width = draw.choice((512, 1024, 2048, 4096, 8192)), draw.choice((32, 64, 80, 128))
    return Sheet(
        Text(
            f"One head, T = {tokens}, d_k = {width}: how many multiply-adds does the full square Q K^T take?",
            f"一个头，T = {tokens}，d_k = {width}：完整的方阵 Q K^T 需要多少次乘加？",
        ),
        f"{_FLOPS}layer = decoder(1, 1, 1, {width}).layers[0]\n"
        f"one_query = attention_flops(layer, 1, {tokens - 1})  # FLOPs of both products for a query that sees T keys\n"
        f"answer = {tokens} * one_query // 4",
        Text("T T d_k = {answer}; as FLOPs it is twice that.", "T·T·d_k = {answer}；换成 FLOPs 要乘 2。"),
        right=tokens * tokens * width,
        counts="multiply-adds",
    )


def _causal_layer(draw: Draw) -> Sheet:
    tokens, heads, width = draw.choice((2048, 4096, 32_768, 131_072)), draw.choice((8, 16, 32)), draw.choice((64, 128))
    return Sheet(
        Text(
            f"One layer, {heads} heads, d_k = {width}, T = {tokens:,}, causal: how many FLOPs do Q K^T and A V take "
            "together?",
            f"一层，{heads} 个头，d_k = {width}，T = {tokens:,}，因果：Q K^T 与 A V 一共多少 FLOPs？",
        ),
        f"{_FLOPS}answer = attention_flops(decoder(1, {heads}, {heads}, {width}).layers[0], {tokens})",
        Text(
            "4 H d_k per visible pair and T (T + 1) / 2 pairs: {answer}. T^2 pairs would be twice as many.",
            "每个可见的对 4 H d_k，共 T (T + 1) / 2 对：{answer}。按 T² 对来数会多一倍。",
        ),
        right=4 * heads * width * (tokens * (tokens + 1) // 2),
        counts="FLOPs",
    )


def _growth(draw: Draw) -> Sheet:
    tokens, times = draw.choice((4096, 16_384, 32_768)), draw.choice((2, 3, 4, 8))
    return Sheet(
        Text(
            f"A contract grows from {tokens:,} to {times * tokens:,} tokens. By what factor do the FLOPs of Q K^T "
            "and A V grow?",
            f"合同从 {tokens:,} 个 token 变成 {times * tokens:,} 个。Q K^T 与 A V 的 FLOPs 变为多少倍？",
        ),
        f"from softlookup.cost.flops import seen_keys\nanswer = seen_keys({times * tokens}, 0) / "
        f"seen_keys({tokens}, 0)",
        Text(
            "The causal half changes the number of pairs, not how it grows: {answer}.",
            "因果掩码减半，但不改变增长方式：{answer}。",
        ),
        right=float(times * times),
        tolerance=0.01,
    )


def _linear_layers(draw: Draw) -> Sheet:
    tokens, layers, heads = draw.choice((1000, 8192, 32_768)), draw.choice((12, 24, 32)), draw.choice((8, 16, 32))
    width = heads * 128
    return Sheet(
        Text(
            f"{layers} layers, D = {width}: Q, K, V and output are D x D, the FFN two D x 4D matrices. How many "
            f"FLOPs do these products take for {tokens:,} tokens?",
            f"{layers} 层，D = {width}：Q、K、V、输出各为 D × D，FFN 是两个 D × 4D 矩阵。处理 {tokens:,} 个 token，"
            "这些矩阵乘法要多少 FLOPs？",
        ),
        f"from softlookup.cost.flops import model_flops\n{_DECODER}"
        f"flops = model_flops(decoder({layers}, {heads}, {heads}, 128), {tokens})\n"
        "answer = flops.projections + flops.ffn",
        Text(
            "2 FLOPs per weight and token, 12 D^2 weights per layer: {answer}.",
            "每个权重每个 token 2 FLOPs，每层 12 D² 个权重：{answer}。",
        ),
        right=2 * tokens * layers * 12 * width**2,
        counts="FLOPs",
    )


def _crossover(draw: Draw) -> Sheet:
    heads, head_dim = draw.choice((8, 12, 16, 32)), draw.choice((64, 128))
    return Sheet(
        Text(
            f"D = {heads * head_dim}, {heads} heads, 12 D^2 weights per layer. At which length does causal attention "
            "cost as much as the products with weights?",
            f"D = {heads * head_dim}，{heads} 个头，每层 12 D² 个权重。序列多长时，"
            "因果注意力的开销等于权重矩阵乘法的开销？",
        ),
        f"from softlookup.cost.flops import crossover_tokens\n{_DECODER}"
        f"answer = crossover_tokens(decoder(24, {heads}, {heads}, {head_dim}))",
        Text(
            "24 D^2 per token against 2 D per token and token of length: at {answer} tokens, 12 D. Below it the "
            "model is linear in T for most of its cost.",
            "每个 token 24 D²，对比每个 token 每单位长度 2 D：在 {answer} 个 token 处相等，即 12 D。更短时开销大体随 "
            "T 线性增长。",
        ),
        right=12 * heads * head_dim,
    )


QUESTIONS = (
    Question("cost-product", COST, "number", _one_product),
    Question("cost-causal", COST, "number", _causal_layer),
    Question("cost-growth", COST, "number", _growth),
    Question("cost-linear", COST, "number", _linear_layers),
    Question("cost-crossover", COST, "number", _crossover),
)
