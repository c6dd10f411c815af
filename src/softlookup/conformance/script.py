"""A counterexample as a script to paste: numpy, the function's own library, the function; nothing of this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from softlookup.conformance.assumptions import call_in_words
from softlookup.conformance.case import Array, Case
from softlookup.conformance.rope_variants import Rotation
from softlookup.conformance.source import defined, import_lines, importable
from softlookup.conformance.subject import Subject

DOES_NOT_RUN = "# does not run as it stands"
_WHOLE = 64  # numbers of an output that are shown beside those wanted
_LIBRARIES = {"torch": "torch", "jax": "jax.numpy as jnp", "mlx": "mlx.core as mx"}


def script(
    subject: Subject, name: str, case: Case, want: Array, *, got: Array | None = None, adapter_name: str = "",
    rotation: Rotation | None = None,
) -> str:  # fmt: skip
    """Python text that prints what the function gives beside what it should give; it says so where it cannot run."""
    framework, arguments = subject.framework, subject.arguments
    dtype = subject.adapter.dtype or case.dtype
    defined_here, missing = _function(subject, name)
    through, more = _through(subject, adapter_name)
    missing += more
    lines = [f"{DOES_NOT_RUN}: put {' and '.join(missing)} in place of the dots"] if missing else []
    lines += [f"# {line}" for line in call_in_words(case, arguments.layout, dtype, rotation)]
    library = [f"import {_LIBRARIES[framework]}"] if framework in _LIBRARIES else []
    lines += [*dict.fromkeys(("import numpy as np", *library, *defined_here, *through)), ""]
    for short, given in (("q", case.query), ("k", case.key), ("v", case.value)):
        laid_out = arguments._to_layout(given)
        lines.append(f"{short} = {_array(laid_out, framework, dtype)}  # {list(laid_out.shape)}")
    lines.append(_call_line(subject, case))
    lines.append("got = call(q, k, v)")
    lines.append("got = got[0] if isinstance(got, (tuple, list)) else got")
    if framework == "torch":
        lines.append("got = got.detach().double()")
    lines.append(f"want = {_expression(_shown(subject, want))}")
    if got is not None and got.size <= _WHOLE:
        lines.append(f"# gave {_expression(_shown(subject, got))}")
    lines.append('print("got ", np.asarray(got).round(4).tolist())')
    lines.append('print("want", np.asarray(want).tolist())')
    return "\n".join(lines) + "\n"


def runs(text: str) -> bool:
    """Whether a script claims to run."""
    return bool(text) and not text.startswith(DOES_NOT_RUN)


def _shown(subject: Subject, output: Array) -> Array:
    """An output in the function's own layout."""
    if subject.arguments.layout != "bhtd":
        output = output.transpose(0, 2, 1, 3).reshape(subject.arguments.shape(output.shape))
    return np.round(output, 4) + 0.0  # no -0


def _function(subject: Subject, name: str) -> tuple[list[str], list[str]]:
    """Lines that make ``fn``, and what a reader has to put in."""
    if importable(name):
        return import_lines(name, "fn"), []
    lines = defined(subject.function, "fn")
    return (lines, []) if lines else (["fn = ...  # the function under test"], ["the function under test"])


def _through(subject: Subject, adapter_name: str) -> tuple[list[str], list[str]]:
    """Lines that make the adapter's call ``through``: the adapter imported, its call imported, or its source."""
    call = subject.adapter.call
    if call is None:
        return [], []
    if importable(adapter_name):
        return [*import_lines(adapter_name, "adapter"), "through = adapter.call"], []
    lines = defined(call, "through")
    return (lines, []) if lines else (["through = ...  # the adapter's call"], ["the adapter's call"])


def _call_line(subject: Subject, case: Case) -> str:
    _, keywords = subject.arguments.build(case)
    given = [f"{word}={_value(value, subject.framework)}" for word, value in keywords.items()]
    tensors = subject.signature.tensors
    positional = [f"{word}={short}" for word, short in zip(tensors, "qkv", strict=False)] if tensors else list("qkv")
    function = ["fn"] if subject.adapter.call is None else ["through", "fn"]
    return f"call = lambda q, k, v: {function[0]}({', '.join([*function[1:], *positional, *given])})"


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
