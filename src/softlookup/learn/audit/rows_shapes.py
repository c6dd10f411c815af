"""Claims of the lead and of sections 1, 2.4, 4.1, 10 and 11 about shapes, heads and the memory of tiles."""

from __future__ import annotations

from softlookup.cost.course_shapes import TOKENS, course_shape
from softlookup.cost.flops import seen_keys
from softlookup.cost.memory import score_chunk_bytes
from softlookup.cost.model.presets import preset_names, preset_shape
from softlookup.learn.audit.row import AuditRow, Fact, Reading, Verdict

# one size per letter, so that a shape can be told by its sizes
_SIZES = {"B": 3, "H": 4, "T": 5, "d_k": 7, "D": 28, "Hkv": 2}


def _letters(shape: tuple[int, ...]) -> str:
    names = {size: name for name, size in _SIZES.items()}
    return "[" + ", ".join(names[size] for size in shape) + "]"


def _chain(kv_heads: int) -> str:
    """Shapes of query, key, weights, output and joined output of attention on tensors of these sizes."""
    import torch

    from softlookup.attention.api import attention

    batch, heads, length, width = (_SIZES[name] for name in ("B", "H", "T", "d_k"))
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(batch, heads, length, width, generator=generator, dtype=torch.float64)
    key = torch.randn(batch, kv_heads, length, width, generator=generator, dtype=torch.float64)
    unit = torch.eye(length, dtype=torch.float64).expand(batch, kv_heads, length, length)
    weights, output = attention(query, key, unit).output, attention(query, key, key).output
    joined = output.transpose(1, 2).flatten(2)
    return " ".join(_letters(tuple(each.shape)) for each in (query, key, weights, output, joined))


def _sees_all() -> Fact:
    share = seen_keys(TOKENS, 0) / TOKENS**2
    return Fact(share == 1, f"{share:.0%} of the pairs, on average", f"平均只有{share:.0%}的配对")


def _own_keys(*, least: float) -> Fact:
    """Whether at least that share of named models has as many key/value heads as query heads."""
    shapes = [preset_shape(name) for name in preset_names()]
    plain = [shape for shape in shapes if all(layer.kv_heads == layer.query_heads for layer in shape.layers)]
    share = len(plain) / len(shapes)
    return Fact(share >= least, f"{share:.0%} of the named models", f"具名模型的{share:.0%}")


def _page_model_has_own_keys() -> Fact:
    layer = course_shape().layers[0]
    shown = f"{layer.kv_heads} = {layer.query_heads}"
    return Fact(layer.kv_heads == layer.query_heads, f"{shown} heads in the page's model", f"本页模型{shown}个头")


_MHA_CHAIN = "[B, H, T, d_k] [B, H, T, d_k] [B, H, T, T] [B, H, T, d_k] [B, T, D]"

SHAPES = (
    AuditRow(
        "lead-all", "head", "every token asks all tokens", "每个token去问所有token", None, "", _sees_all,
        "in a decoder only itself and those before it", "解码器里只能问自己和之前的token",
    ),
    AuditRow(
        "shape-flow", "1", "scores [H, T, T], heads [H, T, d], joined [T, D]", "分数[H,T,T]，各头[H,T,d]，拼接回[T,D]",
        _MHA_CHAIN, "", lambda: _chain(_SIZES["H"]), "with a batch in front: query, key, weights, output, joined",
        "前面再加一个批维：query、key、权重、输出、合并后",
    ),
    AuditRow(
        "own-projections", "2.4", "every head has its own W_K and W_V", "每个头有独立的W_K、W_V", None, "",
        _page_model_has_own_keys, "grouped heads share them: only {other} have one per head",
        "分组的头共用它们：每头各一份的只有{other}",
        Reading(Verdict.MHA_ONLY, lambda: _own_keys(least=0.5), "named models", "具名模型"),
    ),
    AuditRow(
        "shape-chain", "4.1", "Q, K, V are [B, H, T, d_k], scores [B, H, T, T], output [B, T, D]",
        "Q、K、V为[B,H,T,d_k]，分数[B,H,T,T]，输出[B,T,D]", _MHA_CHAIN, "", lambda: _chain(_SIZES["H"]),
        "in this order; with fewer KV heads: {other}", "依此顺序；KV头更少时为{other}",
        Reading(Verdict.MHA_ONLY, lambda: _chain(_SIZES["Hkv"]), "2 KV heads", "2个KV头"),
        command="softlookup learn 4",
    ),
    AuditRow(
        "shape-again", "10", "[B, H, T, d_k] to [B, H, T, T] and back", "[B,H,T,d_k]到[B,H,T,T]再回来", _MHA_CHAIN, "",
        lambda: _chain(_SIZES["H"]), "as in 4.1; with fewer KV heads: {other}", "同4.1；KV头更少时为{other}",
        Reading(Verdict.MHA_ONLY, lambda: _chain(_SIZES["Hkv"]), "2 KV heads", "2个KV头"),
    ),
    AuditRow(
        "flash-linear", "11", "FlashAttention's memory grows as O(T)", "FlashAttention的显存按O(T)增长", "2", "",
        lambda: score_chunk_bytes(course_shape(), 2 * TOKENS) / score_chunk_bytes(course_shape(), TOKENS),
        "a chunk of rows at twice the length; its own tiles do not grow at all",
        "长度翻倍时一块行的分数；它自己的小块完全不增长",
    ),
)  # fmt: skip
