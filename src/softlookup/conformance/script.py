"""A counterexample as a script to paste: numpy, the function's own library, the function; nothing of this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.subject import Subject

_LIBRARIES = {"torch": "torch", "jax": "jax.numpy as jnp", "mlx": "mlx.core as mx"}


def script(subject: Subject, name: str, case: Case, want: Array) -> str:
    """Python text that prints what the function gives beside what it should give."""
    framework = subject.framework
    lines = ["import numpy as np"]
    if framework in _LIBRARIES:
        lines.append(f"import {_LIBRARIES[framework]}")
    module, _, path = name.partition(":")
    importable = bool(module) and path.isidentifier() and module != "__main__"
    lines.append(f"from {module} import {path} as fn" if importable else "fn = ...  # the function under test")
    lines.append("")
    arguments = subject.arguments
    dtype = subject.adapter.dtype or case.dtype
    for short, given in (("q", case.query), ("k", case.key), ("v", case.value)):
        laid_out = arguments._to_layout(given)
        lines.append(f"{short} = {_array(laid_out, framework, dtype)}  # {list(laid_out.shape)}")
    _, keywords = arguments.build(case)
    given_by_name = []
    for word, value in keywords.items():
        given_by_name.append(f"{word}={_value(value, framework)}")
    tensors = subject.signature.tensors
    positional = (
        [f"{word}={short}" for word, short in zip(tensors, "qkv", strict=False)] if tensors else ["q", "k", "v"]
    )
    through = subject.adapter.call
    if through is None:
        lines.append(f"call = lambda q, k, v: fn({', '.join([*positional, *given_by_name])})")
    else:
        lines.append(f"{_import_of(through)}  # the adapter's call")
        lines.append(f"call = lambda q, k, v: through({', '.join(['fn', *positional, *given_by_name])})")
    lines.append("got = call(q, k, v)")
    lines.append("got = got[0] if isinstance(got, tuple) else got")
    shown = arguments.shape(want.shape)
    laid_out = want if arguments.layout == "bhtd" else want.transpose(0, 2, 1, 3).reshape(shown)
    lines.append(f"want = {_expression(np.round(laid_out, 4))}")
    lines.append('print("got ", np.asarray(got).round(4).tolist())')
    lines.append('print("want", np.asarray(want).tolist())')
    return "\n".join(lines) + "\n"


def _import_of(call: Callable[..., Any]) -> str:
    """A line that makes the adapter's call ``through``; dots where it cannot be imported."""
    module, path = getattr(call, "__module__", "") or "", getattr(call, "__qualname__", "")
    importable = module not in ("", "__main__") and path.isidentifier()
    return f"from {module} import {path} as through" if importable else "through = ..."


# what shows a behaviour that one call does not show
DEMONSTRATIONS = {
    "input.mutated": 'print("q after the call", np.asarray(q).tolist())',
    "call.repeated": 'print("again", np.asarray(call(q, k, v)).round(4).tolist())',
    "dropout.eval": 'print("again", np.asarray(call(q, k, v)).round(4).tolist())',
    "input.strides": "view = lambda x: x.swapaxes(1, 2){copy}.swapaxes(1, 2)\n"
                     'print("of views", np.asarray(call(view(q), view(k), view(v))).round(4).tolist())',
    "batch.neighbours": "other = lambda x: x * np.array([1, 2], dtype=np.float32).reshape(2, 1, 1, 1)\n"
                        'print("row 1 changed:", np.asarray(call(q, other(k), other(v)))[0].round(4).tolist())',
}  # fmt: skip


def demonstration(probe: str, framework: str) -> str:
    """Lines to append to a script."""
    copy = ".contiguous()" if framework == "torch" else ".copy()"
    text = DEMONSTRATIONS.get(probe, "").replace("{copy}", copy)
    return text.replace("x * np.array([1, 2], dtype=np.float32)", "x * torch.tensor([1.0, 2.0])") if (
        framework == "torch") else text  # fmt: skip


def _array(given: Array, framework: str, dtype: str | None) -> str:
    text = _expression(given)
    if framework == "torch":
        return f"torch.tensor({text}, dtype=torch.{dtype})" if dtype else f"torch.tensor({text})"
    if framework == "jax":
        return f"jnp.asarray({text}, dtype={dtype!r})" if dtype else f"jnp.asarray({text})"
    if framework == "mlx":
        return f"mx.array({text})" + (f".astype(mx.{dtype})" if dtype else "")
    kind = f"np.{dtype or given.dtype}"
    return f"{text}.astype({kind})" if text.startswith("np.") else f"np.array({text}, dtype={kind})"


def _value(value: Any, framework: str) -> str:
    from softlookup.conformance.frameworks import dtype_name, to_numpy

    found = to_numpy(value) if not isinstance(value, int | float) else None
    if found is None:
        return repr(value)
    dtype = dtype_name(value)
    dtype = {"bool": "bool" if framework == "torch" else "bool_"}.get(dtype, dtype)
    return _array(found.astype(bool) if dtype.startswith("bool") else found, framework, dtype)


def _expression(given: Array) -> str:
    """Short where the array is all alike, an identity or a range; else a list."""
    flat = given.ravel()
    size = "" if given.size <= 12 else "long"
    if size and np.all(flat == flat[0]) and np.isfinite(flat[0]):
        return f"np.full({given.shape}, {flat[0]:g})"
    if size and given.ndim == 4 and given.shape[2] == given.shape[3] and (given == np.eye(given.shape[2])).all():
        return f"np.broadcast_to(np.eye({given.shape[2]}), {given.shape}).copy()"
    if size and flat.size > 2 and np.allclose(np.diff(flat, 2), 0) and np.isfinite(flat).all():
        return f"np.linspace({flat[0]:g}, {flat[-1]:g}, {flat.size}).reshape{given.shape}"
    text = str(given.tolist()).replace(".0,", ",").replace(".0]", "]")
    return (
        text.replace("nan", "np.nan").replace("-inf", "-np.inf").replace(" inf", " np.inf").replace("[inf", "[np.inf")
    )
