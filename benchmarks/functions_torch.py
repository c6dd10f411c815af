"""Attention functions on torch, each as a call the checker can make: our own, torch, transformers; no judgement.

Every builder imports its library when it is called, so that a missing one is an ``ImportError`` of that entry alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from softlookup.conformance import Adapter, Contract, find_contract

Call = tuple[Callable[..., Any], Contract, Adapter]


def softlookup_attention(impl: str) -> Call:
    """Our own; the Triton kernel runs in its interpreter and takes key lengths of a compiled tile."""
    from softlookup.attention import attention

    if impl == "triton":
        os.environ.setdefault("TRITON_INTERPRET", "1")

    def attend(query, key, value, *, causal=False, mask=None, scale=None, softcap=None, sinks=None, window=None):
        return attention(query, key, value, causal=causal, mask=mask, scale=scale, softcap=softcap, sinks=sinks,
                         sliding_window=window, impl=impl).output  # fmt: skip

    names = {"softcap": "", "sinks": ""} if impl == "probe" else {}
    return attend, find_contract("softlookup"), Adapter(names=names)


def torch_sdpa(backend: str) -> Call:
    """Whatever torch chooses, the composition, or the tiled CPU kernel, which takes no [Tq, Tk] scores."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as sdpa

    if backend == "default":
        return sdpa, find_contract("torch_sdpa"), Adapter()

    def attend(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return sdpa(query, key, value, attn_mask=attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)

    return attend, find_contract("torch_sdpa"), Adapter()


def torch_flex() -> Call:
    """Rules as ``mask_mod`` and ``score_mod``, not compiled; alignment and windows are therefore the adapter's."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def call(fn, query, key, value, causal=False, mask=None, bias=None, scale=None, softcap=None, window=None):
        offset = key.shape[2] - query.shape[2]

        def keep(b, h, i, j):
            kept = (j <= i + offset) if causal or window is not None else j >= 0
            kept = kept & (i + offset - j < window) if window is not None else kept
            return kept if mask is None else kept & mask[b, h if mask.shape[1] > 1 else 0, i, j]

        def score(s, b, h, i, j):
            s = s if softcap is None else softcap * torch.tanh(s / softcap)
            return s if bias is None else s + bias[b, h if bias.shape[1] > 1 else 0, i, j]

        ruled = causal or mask is not None or window is not None
        sizes = query.shape[0], query.shape[1], query.shape[2], key.shape[2]
        block = create_block_mask(keep, *sizes, device="cpu") if ruled else None
        return fn(query, key, value, score_mod=score, block_mask=block, scale=scale, enable_gqa=True)

    contract = find_contract("standard").but(framework="torch", masked_nan="unspecified")
    return flex_attention, contract, Adapter(call=call, framework="torch")


def torch_multihead(*, need_weights: bool) -> Call:
    """The module with identity projections; True in its masks means hidden, which the call turns around."""
    import torch

    modules: dict[tuple[int, Any], Any] = {}

    def module(width: int, heads: int, dtype: Any) -> Any:
        if (width, dtype) not in modules:
            made = torch.nn.MultiheadAttention(width, heads, bias=False, batch_first=True, dtype=dtype).eval()
            with torch.no_grad():
                made.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
                made.out_proj.weight.copy_(torch.eye(width))
            modules[width, dtype] = made
        return modules[width, dtype]

    def call(fn, query, key, value, causal=False, mask=None):
        hide = None
        if mask is not None:
            hide = ~mask.expand(-1, 4, -1, -1).flatten(0, 1)
        if causal:
            future = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).triu(1)
            hide = future if hide is None else hide | future
        with torch.no_grad():
            made = fn(query.shape[-1], 4, query.dtype)
            return made(query, key, value, attn_mask=hide, need_weights=need_weights)[0]

    contract = find_contract("torch_sdpa").but(mask_and_causal="intersect", dtypes=("float32",))
    return module, contract, Adapter(call=call, framework="torch", layout="bte", heads=4, kv_heads=4)


def transformers_attention(kind: str) -> Call:
    """The functions that every decoder model of transformers calls; masks are added, as its mask builder makes them."""
    from types import SimpleNamespace

    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.models.llama.modeling_llama import eager_attention_forward

    forward = eager_attention_forward if kind == "eager" else sdpa_attention_forward

    def call(fn, query, key, value, mask=None, bias=None, scale=None):
        module = SimpleNamespace(num_key_value_groups=query.shape[1] // key.shape[1], training=False, is_causal=False)
        given = mask if bias is None else bias if mask is None else mask + bias
        scaling = query.shape[-1] ** -0.5 if scale is None else scale
        return fn(module, query, key, value, given, scaling=scaling, dropout=0.0)[0].transpose(1, 2)

    return forward, find_contract("hf_eager"), Adapter(call=call)
