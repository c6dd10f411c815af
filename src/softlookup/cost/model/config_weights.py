"""Parameters of one layer, part by part. Source of the counts: the modelling code of transformers 5.24."""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.cost.model.architectures import Family
from softlookup.cost.model.config_fields import Fields
from softlookup.cost.model.config_layers import LayerPlan
from softlookup.cost.model.shapes import MAX_TOKENS, Layer
from softlookup.errors import ModelError


@dataclass(frozen=True, slots=True)
class FeedForward:
    """Weights of a feed-forward block: used by every token, by other experts only, and not in products."""

    used: int
    idle: int = 0
    small: int = 0


def attention_layer(fields: Fields, family: Family, plan: LayerPlan, ffn: FeedForward) -> Layer:
    """A layer with separate keys and values: 2 D H hd + 2 D Hkv hd, with biases and norms where the family has them."""
    width = fields.required("hidden_size")
    heads = fields.required("num_attention_heads", high=1 << 16)
    kv_heads = key_value_heads(fields, heads)
    dim = head_dim(fields, width, heads)
    values = True
    if family.global_heads and plan.kind == "full":
        values = not fields.flag("attention_k_eq_v", default=False)  # else one product gives both; both are cached
        if "per_layer_config" not in fields.values:  # the older form of the same file
            dim = fields.integer("global_head_dim") or 512
            kv_heads = (not values and fields.integer("num_global_key_value_heads", high=1 << 16)) or kv_heads
    own = plan.owner is None
    gate = 2 if fields.flag("attn_output_gate", default=bool(family.recurrent_every)) else 1
    products = (gate + 1) * width * heads * dim + (width * kv_heads * dim * (1 + values) if own else 0)
    keys_values = (1 + values) * kv_heads * dim if own else 0
    small = family.norms * width * (2 if family.norm_biases else 1)
    bias = fields.flag("use_bias", default=fields.flag("attention_bias", default=family.qkv_bias))
    out_bias = bias and (family.output_bias or not (family.qkv_bias or family.router_bias))
    small += (gate * heads * dim + keys_values if bias else 0) + (width if out_bias else 0)
    small += _qk_norm(fields, family, (heads, kv_heads, dim), own=own) + (heads if family.sinks else 0)
    return Layer(
        kind=plan.kind, query_heads=heads, kv_heads=kv_heads, key_dim=dim, value_dim=dim, projection_weights=products,
        ffn_weights=ffn.used, idle_expert_weights=ffn.idle, small_weights=small + ffn.small, window=plan.window,
        owner=plan.owner,
    )  # fmt: skip


def key_value_heads(fields: Fields, heads: int) -> int:
    """Heads with keys of their own: stated, 1 for ``multi_query`` (MQA), else one per query head (MHA)."""
    if fields.flag("multi_query", default=False) and not fields.flag("new_decoder_architecture", default=False):
        return 1
    return fields.integer("num_key_value_heads", "num_kv_heads", high=1 << 16) or heads


def head_dim(fields: Fields, width: int, heads: int) -> int:
    """An explicit ``head_dim`` wins over D/H (Qwen3-0.6B: 128, not 64)."""
    stated = fields.integer("head_dim", high=1 << 16)
    if stated is not None:
        return stated
    if width % heads:
        raise ModelError(
            f"{fields.where} states no head_dim, and {width} hidden features are no multiple of {heads} heads",
            "add head_dim",
        )
    return width // heads


def _qk_norm(fields: Fields, family: Family, sizes: tuple[int, int, int], *, own: bool) -> int:
    heads, kv_heads, dim = sizes
    if not family.qk_norm or (family.qk_norm_by_flag and not fields.flag("use_qk_norm", default=False)):
        return 0
    if family.qk_norm == "feature":
        return (heads + kv_heads) * dim
    return dim * (2 if own else 1)


def latent_layer(fields: Fields, plan: LayerPlan, ffn: FeedForward) -> Layer:
    """MLA: D rq + rq H(dn+dr) + D(rkv+dr) + rkv H(dn+dv) + H dv D, and two norms. Source: DeepSeek-V2, 2405.04434."""
    width, heads = fields.required("hidden_size"), fields.required("num_attention_heads", high=1 << 16)
    rank, rope = fields.required("kv_lora_rank"), fields.required("qk_rope_head_dim")
    nope, value = fields.required("qk_nope_head_dim"), fields.required("v_head_dim")
    query_rank = fields.integer("q_lora_rank")
    query = heads * (nope + rope) * (query_rank or width) + (width * query_rank if query_rank else 0)
    products = query + width * (rank + rope) + rank * heads * (nope + value) + heads * value * width
    return Layer(
        kind="latent", query_heads=heads, kv_heads=heads, key_dim=nope + rope, value_dim=value,
        projection_weights=products, ffn_weights=ffn.used, idle_expert_weights=ffn.idle,
        small_weights=2 * width + rank + (query_rank or 0) + ffn.small, owner=plan.owner, latent_width=rank + rope,
        rope_dim=rope,
    )  # fmt: skip


def recurrent_layer(fields: Fields, ffn: FeedForward) -> Layer:
    """Gated delta net (Qwen3-Next, Qwen3.5): linear in T, a state of nv x dk x dv per sequence beside a short conv."""
    width = fields.required("hidden_size")
    key_heads, value_heads = fields.required("linear_num_key_heads"), fields.required("linear_num_value_heads")
    key, value = fields.required("linear_key_head_dim"), fields.required("linear_value_head_dim")
    kernel = fields.required("linear_conv_kernel_dim", high=1 << 10)
    keys, values = key_heads * key, value_heads * value
    convolved = 2 * keys + values
    products = width * (2 * keys + 2 * values + 2 * value_heads) + convolved * kernel + values * width
    return Layer(
        kind="recurrent", query_heads=0, kv_heads=0, key_dim=0, value_dim=0, projection_weights=products,
        ffn_weights=ffn.used, idle_expert_weights=ffn.idle,
        small_weights=2 * width + 2 * value_heads + value + ffn.small,
        state_elements=value_heads * key * value + convolved * kernel,
    )  # fmt: skip


def feed_forward(fields: Fields, family: Family, index: int, *, shared_kv: bool) -> FeedForward:
    """The block of layer ``index``: dense, or experts where the configuration has them at this layer."""
    width = fields.required("hidden_size")
    experts = expert_counts(fields)
    inputs = fields.integer("hidden_size_per_layer_input", low=0) or 0  # Gemma 3n and 4: a gate, a product, its share
    extra = FeedForward(3 * width * inputs, small=width) if inputs else FeedForward(0)
    dense = _dense(fields, family, width, shared_kv=shared_kv)
    if not experts or not _has_experts(fields, index):
        return FeedForward(dense.used + extra.used, 0, dense.small + extra.small)
    routed = _experts(fields, family, width, experts)
    if fields.flag("enable_moe_block", default=False):  # Gemma 4: experts beside the dense block
        scales = 4 * width + experts[0]
        return FeedForward(dense.used + routed.used + extra.used, routed.idle, dense.small + scales + extra.small)
    return FeedForward(routed.used + extra.used, routed.idle, routed.small + extra.small)


def expert_counts(fields: Fields) -> tuple[int, int] | None:
    """(E, K), None for a dense model."""
    total = fields.integer("num_experts", "num_local_experts", "n_routed_experts", low=0, high=1 << 16)
    if not total or not fields.flag("enable_moe_block", default=True):
        return None
    used = fields.required("num_experts_per_tok", "top_k_experts", high=1 << 16)
    if used > total:
        raise ModelError(f"a token cannot use {used} of {total} experts ({fields.where})", "check num_experts_per_tok")
    return total, used


def _has_experts(fields: Fields, index: int) -> bool:
    first = fields.integer("first_k_dense_replace", low=0, high=MAX_TOKENS) or 0
    step = fields.integer("decoder_sparse_step", "interleave_moe_layer_step", high=1 << 16) or 1
    every = fields.integer("moe_layer_freq", high=1 << 16) or 1
    return (
        index >= first
        and index not in fields.integers("mlp_only_layers")
        and (index + 1) % step == 0
        and index % every == 0
    )


def _dense(fields: Fields, family: Family, width: int, *, shared_kv: bool) -> FeedForward:
    inner = fields.integer("intermediate_size_mlp", "intermediate_size")
    if inner is None:
        if expert_counts(fields):
            return FeedForward(0)
        inner = fields.required("intermediate_size")
    if shared_kv and fields.flag("use_double_wide_mlp", default=False):
        inner *= 2
    bias = fields.flag("use_bias", default=fields.flag("mlp_bias", default=family.ffn_bias))
    return FeedForward(
        family.ffn_matrices * width * inner, small=(family.ffn_matrices - 1) * inner + width if bias else 0
    )


def _experts(fields: Fields, family: Family, width: int, counts: tuple[int, int]) -> FeedForward:
    """E experts of 3 D Fm of which K are used, the router D E, and experts that every token uses."""
    total, used = counts
    inner = fields.required("moe_intermediate_size", "intermediate_size")
    one = 3 * width * inner + (2 * inner + width if family.expert_biases else 0)
    shared = fields.integer("shared_expert_intermediate_size", low=0) or 0
    gate = width if shared else 0
    shared += (fields.integer("n_shared_experts", low=0, high=1 << 16) or 0) * inner
    if "interleave_moe_layer_step" in fields.values:  # Llama 4: one shared expert of the same width
        shared += inner
    used_weights = used * one + width * total + 3 * width * shared + gate
    return FeedForward(used_weights, (total - used) * one, total if family.router_bias else 0)
