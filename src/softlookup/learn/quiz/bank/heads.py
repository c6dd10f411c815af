"""Questions about several heads: shapes, shared keys, and weights of the projections."""

from __future__ import annotations

from softlookup.learn.quiz.question import Draw, Question, Sheet, Text
from softlookup.learn.quiz.topics import SHAPES


def _shape(draw: Draw) -> Sheet:
    batch, heads, tokens, width = 2, *draw.sample((3, 4, 5, 6, 7, 8), 3)
    shapes = ((batch, heads, tokens, tokens), (batch, tokens, tokens), (batch, heads, tokens, width),
              (batch, tokens, heads * width))  # fmt: skip
    return Sheet(
        Text(
            f"B = {batch}, H = {heads}, T = {tokens}, d_k = {width}: what is the shape of all weights of one layer?",
            f"B = {batch}，H = {heads}，T = {tokens}，d_k = {width}：一层的全部权重是什么形状？",
        ),
        "from softlookup.attention.impl.reference import unscaled_scores\n"
        "from softlookup.attention.inputs import check_inputs\nfrom softlookup.learn.quiz.small import draw\n"
        f"query = draw({batch}, {heads}, {tokens}, {width})\n"
        "answer = list(unscaled_scores(check_inputs(query, query, query)).shape)",
        Text("One [T, T] matrix per sequence and head: {answer}.", "每条序列、每个头一个 [T, T] 矩阵：{answer}。"),
        options=tuple(Text(str(list(shape)), str(list(shape))) for shape in shapes),
        proof=f"answer == {list(shapes[0])}",
    )


def _which_key_head(draw: Draw) -> Sheet:
    kv_heads, group = draw.choice((2, 4, 8)), draw.choice((2, 4))
    head = draw.randrange(kv_heads * group)
    return Sheet(
        Text(
            f"{kv_heads * group} query heads share {kv_heads} key/value heads (GQA). Which key head does query head "
            f"{head} read? Both are counted from 0.",
            f"{kv_heads * group} 个 query 头共用 {kv_heads} 个 key/value 头（GQA）。第 {head} 个 query 头读第几个 "
            "key 头？都从 0 数起。",
        ),
        "import torch\nfrom softlookup.attention import attention\n"
        f"query, key = torch.zeros(1, {kv_heads * group}, 1, 2), torch.zeros(1, {kv_heads}, 3, 2)\n"
        f"value = torch.arange({kv_heads}.0).reshape(1, {kv_heads}, 1, 1).expand(1, {kv_heads}, 3, 1)\n"
        f"answer = round(attention(query, key, value, impl='reference').output[0, {head}, 0, 0].item())",
        Text(
            "Groups are neighbours, h // (H / Hkv); values that carry their head's number read {answer}.",
            "相邻的头成一组，即 h // (H / Hkv)；让 value 带上头的编号，读出 {answer}。",
        ),
        right=head // group,
        tolerance=0,
    )


def _projections(draw: Draw) -> Sheet:
    kv_heads = draw.choice((1, 2, 4, 8, 16, 32))
    return Sheet(
        Text(
            f"D = 4096, 32 query heads of width 128, {kv_heads} key/value head(s): how many weights do the Q, K, V "
            "and output projections of one layer have?",
            f"D = 4096，32 个 query 头，宽 128，{kv_heads} 个 key/value 头：一层的 Q、K、V 和输出投影共有多少权重？",
        ),
        "from softlookup.cost.course_shapes import course_shape\n"
        f"answer = course_shape({kv_heads}).layers[0].projection_weights",
        Text(
            "Q and output are D x D, K and V are D x (Hkv d_k): {answer}. 4 D^2 holds only when Hkv = H.",
            "Q 和输出是 D × D，K 和 V 是 D × (Hkv d_k)：共 {answer}。只有 Hkv = H 时才是 4 D²。",
        ),
        right=2 * 4096**2 + 2 * 4096 * kv_heads * 128,
    )


QUESTIONS = (
    Question("heads-shape", SHAPES, "choice", _shape),
    Question("heads-shared-keys", SHAPES, "number", _which_key_head),
    Question("heads-projections", SHAPES, "number", _projections),
)
