"""Attention functions of jax, mlx, onnxruntime, keras and x-transformers as calls the checker can make; no judgement.

Every builder imports its library when it is called, so that a missing one is an ``ImportError`` of that entry alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from softlookup.conformance import Adapter, Contract, find_contract

Call = tuple[Callable[..., Any], Contract, Adapter]


def jax_attention() -> Call:
    """The XLA implementation; all arguments are read off its signature."""
    import jax

    return jax.nn.dot_product_attention, find_contract("jax"), Adapter()


def mlx_attention() -> Call:
    """``mask`` is an array or "causal"; both at once cannot be asked."""
    import mlx.core as mx

    def call(fn, query, key, value, causal=False, mask=None, bias=None, scale=None, sinks=None):
        given = "causal" if causal else mask if bias is None else bias
        if (causal and (mask is not None or bias is not None)) or (mask is not None and bias is not None):
            raise NotImplementedError("one mask at a time")
        scale = query.shape[-1] ** -0.5 if scale is None else scale
        return fn(query, key, value, scale=scale, mask=given, sinks=sinks)

    adapter = Adapter(call=call, framework="mlx")
    return mx.fast.scaled_dot_product_attention, find_contract("mlx"), adapter


def onnxruntime_attention() -> Call:
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

    def call(fn, query, key, value, causal=False, mask=None, bias=None, scale=None, softcap=None, window=None):
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


def keras_ops() -> Call:
    """On torch unless KERAS_BACKEND says otherwise."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras

    def attend(query, key, value, bias=None, mask=None, scale=None, is_causal=False, softcap=None):
        return keras.ops.dot_product_attention(query, key, value, bias=bias, mask=mask, scale=scale,
                                               is_causal=is_causal, attn_logits_soft_cap=softcap)  # fmt: skip

    contract = find_contract("torch_sdpa").but(layout="bthd", dead_row="unspecified", dtypes=("float32",))
    return attend, contract, Adapter(framework="torch")


def keras_multihead() -> Call:
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

    def call(fn, query, key, value, causal=False, mask=None):
        if mask is not None and mask.shape[1] > 1:
            raise NotImplementedError("its mask is [B, T, S]")
        given = None if mask is None else mask[:, 0]
        made = fn(query.shape[-1], 4)
        return made(query, value, key, attention_mask=given, use_causal_mask=causal).detach()

    rules = {"mask_and_causal": "intersect", "dead_row": "unspecified", "dtypes": ("float32",)}
    contract = find_contract("torch_sdpa").but(layout="bte", **rules)
    return layer, contract, Adapter(call=call, framework="torch", heads=4, kv_heads=4)


def x_transformers(*, flash: bool, grouped: bool = False) -> Call:
    """``Attend`` with plain settings."""
    from x_transformers.attend import Attend

    made = {causal: Attend(causal=causal, flash=flash).eval() for causal in (False, True)}

    def call(fn, query, key, value, causal=False, mask=None, bias=None):
        return fn[causal](query, key, value, mask=mask, attn_bias=None if bias is None else bias)[0]

    contract = find_contract("standard").but(framework="torch", masked_nan="unspecified", dead_row="unspecified")
    return _Callable(made), contract, Adapter(call=call, heads=6, kv_heads=3 if grouped else 6)


class _Callable(dict):  # type: ignore[type-arg]
    """A table of functions that the checker accepts for one."""

    def __call__(self) -> None:
        """Not used: the adapter picks an entry."""
