"""Questions about never storing the [T, T] scores: online softmax, merging, what tiling saves and what it does not."""

from __future__ import annotations

import math

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text, false_because, true_because
from softlookup.learn.quiz.topics import TILES


def _matrix_bytes(draw: Draw) -> Sheet:
    tokens, heads = draw.choice((8_192, 32_768, 65_536, 131_072)), draw.choice((8, 16, 32))
    return Sheet(
        Text(
            f"T = {tokens:,}, {heads} heads: how many bytes would the fp16 scores of one layer take if they were "
            "stored?",
            f"T = {tokens:,}，{heads} 个头：一层的 fp16 分数若要存下来，需要多少字节？",
        ),
        "from softlookup.cost.memory import score_matrix_bytes\nfrom softlookup.learn.quiz.shapes import decoder\n"
        f"answer = score_matrix_bytes(decoder(1, {heads}, {heads}, 128), {tokens})",
        Text("H T T scores of 2 bytes: {answer}.", "H·T·T 个分数，每个 2 字节：{answer}。"),
        right=2 * heads * tokens**2,
        tolerance=0.01,
        counts="bytes",
    )


def _merge(draw: Draw) -> Sheet:
    first, second = draw.randint(-30, 40) / 10, draw.randint(-30, 40) / 10
    return Sheet(
        Text(
            f"A row's keys are read in two tiles; ln(sum exp(score)) is {first:g} in one and {second:g} in the "
            "other. What is it over all keys?",
            f"一行的 key 分两块读，ln(Σ exp(分数)) 分别为 {first:g} 和 {second:g}。全部 key 合起来是多少？",
        ),
        "from softlookup.learn.quiz.small import row_statistics\n"
        f"one, other = (row_statistics([s], sink_mass=0) for s in ({first}, {second}))\n"
        "answer = one.merge(other).lse[0, 0, 0].item()",
        Text(
            "Sums of exponentials add, their logarithms do not: {answer}. This one number per row makes tiling exact.",
            "相加的是指数之和，不是对数：{answer}。每行只需这一个数，分块就是精确的。",
        ),
        right=max(first, second) + math.log1p(math.exp(-abs(first - second))),
        tolerance=0.01,
    )


def _approximate(draw: Draw) -> Sheet:
    tokens, width = draw.choice((96, 130, 200)), draw.choice((16, 32, 64))
    return Sheet(
        Text(
            "Claim: tiled attention (as in FlashAttention) approximates softmax; the more tiles, the less exact.",
            "判断：分块的注意力（如 FlashAttention）是 softmax 的近似，块越多越不准。",
        ),
        "from softlookup.attention import attention\nfrom softlookup.learn.quiz.small import draw\n"
        f"query, key, value = (draw(1, 1, {tokens}, {width}, seed=seed) for seed in range(3))\n"
        'tiled, whole = (attention(query, key, value, causal=True, impl=i).output for i in ("tiled", "reference"))\n'
        "difference = (tiled - whole).abs().max().item()\nprint(difference < 1e-12)\nanswer = difference > 1e-9",
        Text(
            "The claim is {answer}: in float64 both agree to the rounding of the last digits.",
            "这个说法是{answer}：在 float64 下两者只差末位的舍入。",
        ),
        right=False,
        options=(
            false_because("rescaling by the new maximum is exact algebra", "按新的最大值重新缩放是精确的代数恒等"),
            false_because("it stores the whole matrix and cuts it later", "它存下整个矩阵，之后再切块"),
            true_because("small scores are dropped at the edge of a tile", "块边缘的小分数会被丢掉"),
            true_because("each tile is normalised on its own", "每块各自归一化"),
        ),
    )


def _largest_exponent(draw: Draw) -> Sheet:
    name, largest, bits = draw.choice((("FP16_MAX", 65504.0, "fp16"), ("BF16_MAX", (2 - 2**-7) * 2.0**127, "bf16")))
    return Sheet(
        Text(
            f"Without subtracting the row's maximum: from which score on does exp(score) overflow in {bits} (largest "
            f"number {largest:.6g})?",
            f"如果不减去行内最大值：分数到多大时 exp(分数) 就会在 {bits} 中溢出（最大可表示 {largest:.6g}）？",
        ),
        f"import math\nfrom softlookup.diagnostics.monitors import {name}\nanswer = math.log({name})",
        Text(
            "At the logarithm of the largest number: {answer}. Subtracting the maximum first makes every exponent 0 "
            "or less.",
            "就是最大数的对数：{answer}。先减去最大值，指数就都不大于 0。",
        ),
        right=math.log(largest),
        tolerance=0.01,
    )


def _what_is_saved(draw: Draw) -> Sheet:
    tokens = draw.choice((4_096, 16_384, 65_536))
    return Sheet(
        Text(
            f"Attention over {tokens:,} tokens is computed tile by tile. What becomes smaller?",
            f"对 {tokens:,} 个 token 分块计算注意力，什么变小了？",
        ),
        "from softlookup.cost.memory import score_chunk_bytes, score_matrix_bytes\n"
        "from softlookup.learn.quiz.shapes import decoder\nshape = decoder(1, 32, 32, 128)\n"
        f"answer = [score_matrix_bytes(shape, {tokens}, 4), score_chunk_bytes(shape, {tokens}, rows=64)]",
        Text(
            "Bytes of fp32 scores, all at once and 64 rows at a time: {answer}. Each pair is still computed.",
            "fp32 分数占的字节，全存与每次 64 行：{answer}。每一对仍然都要算。",
        ),
        options=(
            Text("memory; the number of multiply-adds stays", "内存；乘加次数不变"),
            Text("the number of multiply-adds; memory stays", "乘加次数；内存不变"),
            Text("both, by the number of tiles", "两者都按块数缩小"),
            Text("the number of keys that a query sees", "一个 query 看到的 key 数"),
        ),
        proof="answer[1] < answer[0]",
    )


QUESTIONS = (
    Question("tiles-bytes", TILES, "number", _matrix_bytes),
    Question("tiles-merge", TILES, "number", _merge),
    Question("tiles-exact", TILES, "truth", _approximate),
    Question("tiles-overflow", TILES, "number", _largest_exponent),
    Question("tiles-saving", TILES, "choice", _what_is_saved),
)
