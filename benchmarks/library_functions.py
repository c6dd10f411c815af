"""Attention functions of public libraries, each as a call the checker can make; not for judging what comes back.

Every builder imports its library when it is called, so that a missing one is an ``ImportError`` of that entry alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from softlookup.conformance import Adapter, Contract, find_contract

_TORCH_WITH_RULES = {"framework": "torch", "masked_nan": "unspecified"}


@dataclass(frozen=True)
class Entry:
    """One function: ``build`` gives it with its contract and adapter; ``package`` is what has to be installed."""

    name: str
    package: str
    build: Callable[[], tuple[Callable[..., Any], Contract, Adapter]]
    known: tuple[str, ...] = ()  # codes of true findings, examined in docs/findings.md


def entries() -> Iterator[Entry]:
    """All of them, cheap libraries first."""
    for impl in ("reference", "tiled", "probe", "triton"):
        yield Entry(f"softlookup {impl}", "torch", lambda impl=impl: softlookup_attention(impl))
    for backend in ("default", "MATH", "FLASH_ATTENTION"):
        yield Entry(f"torch SDPA {backend}", "torch", lambda backend=backend: torch_sdpa(backend))
    yield Entry("torch FlexAttention", "torch", torch_flex)
    for weights in (False, True):
        name = f"torch nn.MultiheadAttention need_weights={weights}"
        known = ("dead_row=nan(want=zero)",) if weights else ()
        yield Entry(name, "torch", lambda weights=weights: torch_multihead(need_weights=weights), known)
    for kind in ("eager", "sdpa"):
        yield Entry(f"transformers {kind}", "transformers", lambda kind=kind: transformers_attention(kind))
    yield Entry("jax dot_product_attention", "jax", jax_attention)
    yield Entry("mlx fast SDPA", "mlx", mlx_attention)
    yield Entry("onnxruntime Attention", "onnxruntime", onnxruntime_attention)
    yield Entry("keras ops dot_product_attention", "keras", keras_ops)
    yield Entry("keras MultiHeadAttention", "keras", keras_multihead)
    for flash in (False, True):
        name = f"x-transformers Attend flash={flash}"
        yield Entry(name, "x-transformers", lambda flash=flash: x_transformers(flash=flash))
        yield Entry(f"{name} grouped", "x-transformers", lambda flash=flash: x_transformers(flash=flash, grouped=True),
                    ("gqa.tile",))  # fmt: skip


def softlookup_attention(impl: str) -> tuple[Callable[..., Any], Contract, Adapter]:
    """Our own; the Triton kernel runs in its interpreter and takes key lengths of a compiled tile."""
    from softlookup.attention import attention

    if impl == "triton":
        os.environ.setdefault("TRITON_INTERPRET", "1")

    def attend(query, key, value, *, causal=False, mask=None, scale=None, softcap=None, sinks=None, window=None):  # noqa: ANN001, ANN202
        return attention(query, key, value, causal=causal, mask=mask, scale=scale, softcap=softcap, sinks=sinks,
                         sliding_window=window, impl=impl).output  # fmt: skip

    names = {"softcap": "", "sinks": ""} if impl == "probe" else {}
    return attend, find_contract("softlookup"), Adapter(names=names)


def torch_sdpa(backend: str) -> tuple[Callable[..., Any], Contract, Adapter]:
    """Whatever torch chooses, the composition, or the tiled CPU kernel, which takes no [Tq, Tk] scores."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as sdpa

    if backend == "default":
        return sdpa, find_contract("torch_sdpa"), Adapter()

    def attend(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):  # noqa: ANN001, ANN202, FBT002
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return sdpa(query, key, value, attn_mask=attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)

    return attend, find_contract("torch_sdpa"), Adapter()


def torch_flex() -> tuple[Callable[..., Any], Contract, Adapter]:
    """Rules as ``mask_mod`` and ``score_mod``, not compiled; alignment and windows are therefore the adapter's."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def call(fn, query, key, value, causal=False, mask=None, bias=None, scale=None, softcap=None, window=None):  # noqa: ANN001, ANN202, FBT002
        offset = key.shape[2] - query.shape[2]

        def keep(b, h, i, j):  # noqa: ANN001, ANN202
            kept = (j <= i + offset) if causal or window is not None else j >= 0
            kept = kept & (i + offset - j < window) if window is not None else kept
            return kept if mask is None else kept & mask[b, h if mask.shape[1] > 1 else 0, i, j]

        def score(s, b, h, i, j):  # noqa: ANN001, ANN202
            s = s if softcap is None else softcap * torch.tanh(s / softcap)
            return s if bias is None else s + bias[b, h if bias.shape[1] > 1 else 0, i, j]

        ruled = causal or mask is not None or window is not None
        sizes = query.shape[0], query.shape[1], query.shape[2], key.shape[2]
        block = create_block_mask(keep, *sizes, device="cpu") if ruled else None
        return fn(query, key, value, score_mod=score, block_mask=block, scale=scale, enable_gqa=True)

    contract = find_contract("standard").but(**_TORCH_WITH_RULES)
    return flex_attention, contract, Adapter(call=call, framework="torch")


def torch_multihead(*, need_weights: bool) -> tuple[Callable[..., Any], Contract, Adapter]:
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

    def call(fn, query, key, value, causal=False, mask=None):  # noqa: ANN001, ANN202, FBT002
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


def transformers_attention(kind: str) -> tuple[Callable[..., Any], Contract, Adapter]:
    """The functions that every decoder model of transformers calls; masks are added, as its mask builder makes them."""
    from types import SimpleNamespace

    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.models.llama.modeling_llama import eager_attention_forward

    forward = eager_attention_forward if kind == "eager" else sdpa_attention_forward

    def call(fn, query, key, value, mask=None, bias=None, scale=None):  # noqa: ANN001, ANN202
        module = SimpleNamespace(num_key_value_groups=query.shape[1] // key.shape[1], training=False, is_causal=False)
        given = mask if bias is None else bias if mask is None else mask + bias
        scaling = query.shape[-1] ** -0.5 if scale is None else scale
        return fn(module, query, key, value, given, scaling=scaling, dropout=0.0)[0].transpose(1, 2)

    return forward, find_contract("hf_eager"), Adapter(call=call)


def jax_attention() -> tuple[Callable[..., Any], Contract, Adapter]:
    """The XLA implementation; all arguments are read off its signature."""
    import jax

    return jax.nn.dot_product_attention, find_contract("jax"), Adapter()


def mlx_attention() -> tuple[Callable[..., Any], Contract, Adapter]:
    """``mask`` is an array or "causal"; both at once cannot be asked."""
    import mlx.core as mx

    def call(fn, query, key, value, causal=False, mask=None, bias=None, scale=None, sinks=None):  # noqa: ANN001, ANN202, FBT002
        given = "causal" if causal else mask if bias is None else bias
        if (causal and (mask is not None or bias is not None)) or (mask is not None and bias is not None):
            raise NotImplementedError("one mask at a time")
        scale = query.shape[-1] ** -0.5 if scale is None else scale
        return fn(query, key, value, scale=scale, mask=given, sinks=sinks)

    adapter = Adapter(call=call, framework="mlx")
    return mx.fast.scaled_dot_product_attention, find_contract("mlx"), adapter


def onnxruntime_attention() -> tuple[Callable[..., Any], Contract, Adapter]:
    """The operator Attention of opset 25 on the CPU provider; one session per set of attributes and inputs."""
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper

    sessions: dict[Any, Any] = {}
    types = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bool": TensorProto.BOOL}

    def session(inputs: dict[str, Any], attributes: dict[str, Any]) -> Any:
        shapes = tuple((name, str(given.dtype), given.shape) for name, given in inputs.items())
        key = (shapes, tuple(attributes.items()))
        if key not in sessions:
            node = helper.make_node("Attention", list(inputs), ["Y"], **attributes)
            infos = [helper.make_tensor_value_info(name, types[dtype], shape) for name, dtype, shape in shapes]
            output = helper.make_tensor_value_info("Y", types[shapes[0][1]], None)
            graph = helper.make_graph([node], "attention", infos, [output])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=10)
            sessions[key] = onnxruntime.InferenceSession(model.SerializeToString(), _quiet(onnxruntime))
        return sessions[key]

    def call(fn, query, key, value, causal=False, mask=None, bias=None, scale=None, softcap=None, window=None):  # noqa: ANN001, ANN202, FBT002
        inputs = {"Q": query, "K": key, "V": value}
        if bias is not None:
            mask = bias if mask is None else np.where(mask, bias, -np.inf).astype(bias.dtype)
        if mask is not None:
            inputs["attn_mask"] = mask
        asked = {"is_causal": int(causal) or None, "scale": scale, "softcap": softcap}
        if window is not None:
            asked.update(left_window_size=window[0], right_window_size=window[1])
        attributes = {name: given for name, given in asked.items() if given is not None}
        return fn(inputs, attributes).run(None, inputs)[0]

    adapter = Adapter(call=call, framework="numpy")
    return session, find_contract("onnx_attention"), adapter


def _quiet(onnxruntime: Any) -> Any:
    """Options that keep warnings off the output."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return options


def keras_ops() -> tuple[Callable[..., Any], Contract, Adapter]:
    """On torch unless KERAS_BACKEND says otherwise."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras

    def attend(query, key, value, bias=None, mask=None, scale=None, is_causal=False, softcap=None):  # noqa: ANN001, ANN202, FBT002
        return keras.ops.dot_product_attention(query, key, value, bias=bias, mask=mask, scale=scale,
                                               is_causal=is_causal, attn_logits_soft_cap=softcap)  # fmt: skip

    contract = find_contract("torch_sdpa").but(layout="bthd", dead_row="unspecified", dtypes=("float32",))
    return attend, contract, Adapter(framework="torch")


def keras_multihead() -> tuple[Callable[..., Any], Contract, Adapter]:
    """The layer with identity kernels."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras
    import numpy as np

    layers: dict[int, Any] = {}

    def layer(width: int, heads: int) -> Any:
        if width not in layers:
            made = keras.layers.MultiHeadAttention(heads, width // heads, use_bias=False)
            made.build((None, None, width), (None, None, width), (None, None, width))
            eye = np.eye(width)
            made.set_weights([eye.reshape(width, heads, -1)] * 3 + [eye.reshape(heads, -1, width)])
            layers[width] = made
        return layers[width]

    def call(fn, query, key, value, causal=False, mask=None):  # noqa: ANN001, ANN202, FBT002
        if mask is not None and mask.shape[1] > 1:
            raise NotImplementedError("its mask is [B, T, S]")
        given = None if mask is None else mask[:, 0]
        made = fn(query.shape[-1], 4)
        return made(query, value, key, attention_mask=given, use_causal_mask=causal).detach()

    rules = {"mask_and_causal": "intersect", "dead_row": "unspecified", "dtypes": ("float32",)}
    contract = find_contract("torch_sdpa").but(layout="bte", **rules)
    return layer, contract, Adapter(call=call, framework="torch", heads=4, kv_heads=4)


def x_transformers(*, flash: bool, grouped: bool = False) -> tuple[Callable[..., Any], Contract, Adapter]:
    """``Attend`` with plain settings."""
    from x_transformers.attend import Attend

    made = {causal: Attend(causal=causal, flash=flash).eval() for causal in (False, True)}

    def call(fn, query, key, value, causal=False, mask=None, bias=None):  # noqa: ANN001, ANN202, FBT002
        return fn[causal](query, key, value, mask=mask, attn_bias=None if bias is None else bias)[0]

    contract = find_contract("standard").but(framework="torch", masked_nan="unspecified", dead_row="unspecified")
    return _Callable(made), contract, Adapter(call=call, heads=6, kv_heads=3 if grouped else 6)


class _Callable(dict):  # type: ignore[type-arg]
    """A table of functions that the checker accepts for one."""

    def __call__(self) -> None:
        """Not used: the adapter picks an entry."""
