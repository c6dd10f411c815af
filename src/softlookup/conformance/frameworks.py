"""Arrays between numpy and the library of the function under test; heavy libraries load when they are used."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from softlookup.conformance.case import Array


def framework_of(function: Callable[..., Any]) -> str:
    """One of "torch", "jax" or "mlx" where the function's code uses it, else "numpy"."""
    target = inspect.unwrap(function)
    target = getattr(target, "func", target)  # functools.partial
    if not hasattr(target, "__globals__"):
        target = getattr(target, "__call__", target)  # noqa: B004 - an object that is called: its method has globals
    if isinstance(target, type(len)) or not hasattr(target, "__globals__"):
        return "torch" if "torch" in str(getattr(function, "__doc__", "")) else "numpy"
    names = _names(target.__code__)
    roots = {_root(target.__globals__.get(name)) for name in names} | names  # names: imports inside the function
    for cell in target.__closure__ or ():  # imports of the function around it
        with contextlib.suppress(ValueError):  # not filled yet
            roots.add(_root(cell.cell_contents))
    for name in ("torch", "jax", "mlx"):
        if name in roots:
            return name
    if "numpy" in roots:
        return "numpy"
    module = sys.modules.get(getattr(target, "__module__", ""), None)
    everything = {_root(value) for value in vars(module).values()} if module else set()
    return next((name for name in ("torch", "jax", "mlx") if name in everything), "numpy")


def _names(code: Any) -> set[str]:
    """Global names of a function and of the functions inside it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names(constant)
    return found


def _root(value: Any) -> str:
    name = getattr(value, "__name__", "") if inspect.ismodule(value) else getattr(value, "__module__", "") or ""
    return str(name).split(".", maxsplit=1)[0]


def to_framework(given: Array, framework: str, dtype: str | None) -> Any:
    """``given`` as a fresh array of the library; ``dtype`` None keeps bool and integers as they are."""
    if framework == "torch":
        import torch

        tensor = torch.from_numpy(np.ascontiguousarray(given).copy())
        return tensor if dtype is None else tensor.to(getattr(torch, dtype))
    if framework == "jax":
        import jax.numpy as jnp

        return jnp.asarray(given, dtype=dtype)
    if framework == "mlx":
        import mlx.core as mx

        found = mx.array(np.ascontiguousarray(given))  # it takes no negative strides
        return found if dtype is None else found.astype(getattr(mx, dtype))
    if dtype == "bfloat16":
        raise TypeError("numpy has no bfloat16")
    return np.array(given, dtype=dtype or given.dtype, order="C")


def settled(result: Any, framework: str) -> Any:
    """``result`` with its numbers computed: mlx computes when they are read, and can do so only in the same thread."""
    if framework == "mlx":
        import mlx.core as mx

        mx.eval(result)
    return result


def to_numpy(given: Any) -> Array | None:
    """A float64 array, or None for what is no array."""
    if given is None or isinstance(given, str | bytes | dict | list | tuple | bool):
        return None
    for name in ("detach", "cpu"):
        if hasattr(given, name):
            given = getattr(given, name)()
    if "bfloat16" in str(getattr(given, "dtype", "")):
        given = given.float() if hasattr(given, "float") else given.astype("float32")
    try:
        if type(given).__module__.startswith("torch"):
            given = given.numpy()
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def dtype_name(given: Any) -> str:
    """Name of the number format, e.g. bfloat16."""
    return str(getattr(given, "dtype", type(given).__name__)).rsplit(".", maxsplit=1)[-1]


def swapped_view(given: Any, framework: str) -> Any:
    """The same numbers [B, H, T, D] as a view into [B, T, H, D] memory; None where the library has no views."""
    if framework == "torch":
        return given.transpose(1, 2).contiguous().transpose(1, 2)
    if framework == "numpy":
        return np.ascontiguousarray(given.swapaxes(1, 2)).swapaxes(1, 2)
    return None
