"""What an attention function promises: alignment, polarity, dead rows, windows ...; presets of known libraries.

A contract is declared, never measured: self-consistent mistakes are visible only against it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from softlookup.errors import UsageError

Align = Literal["top_left", "bottom_right", "unspecified"]
Polarity = Literal["true_keeps", "true_drops"]
DeadRow = Literal["zero", "uniform", "nan", "unspecified"]
Promise = Literal["irrelevant", "unspecified"]
Window = Literal["size", "left_right"]
Unbounded = Literal["minus_one", "unspecified"]
Layout = Literal["bhtd", "bthd", "bte"]
Framework = Literal["auto", "numpy", "torch", "jax", "mlx"]


@dataclass(frozen=True, slots=True)
class Contract:
    """The convention a function is held to; the defaults are the preset ``standard``.

    ``causal_align``: query i of Tq sees keys up to i ("top_left") or i + Tk - Tq ("bottom_right").
    ``bool_mask``: what True means. ``mask_kind``: how a mask is handed over, "bool" or "additive" (0 / -inf).
    ``mask_and_causal``: both must hold, or the call is refused.
    ``dead_row``: output of a query that sees no key. ``masked_nan``: whether NaN in a hidden value may show.
    ``window``: "size" W counts the query's own position, "left_right" is a pair of inclusive distances.
    ``window_unbounded``: a distance of -1 in a pair means all keys of that side, or nothing that is promised.
    ``window_closed``: a window without causal hides the future. ``layout`` of inputs and output.
    ``dtypes``: the first that works is used, precision is looked at in each.
    ``rope`` is a config.json mapping for :func:`check_rope`.
    """

    name: str = "standard"
    causal_align: Align = "bottom_right"
    bool_mask: Polarity = "true_keeps"
    mask_kind: Literal["bool", "additive"] = "bool"
    mask_and_causal: Literal["intersect", "error"] = "intersect"
    dead_row: DeadRow = "zero"
    masked_nan: Promise = "irrelevant"
    overflow: Promise = "irrelevant"
    window: Window = "size"
    window_unbounded: Unbounded = "minus_one"
    window_closed: bool = True
    gqa: Literal["interleave"] = "interleave"
    layout: Layout = "bhtd"
    framework: Framework = "auto"
    dtypes: tuple[str, ...] = ("float32",)
    batch_invariant: bool = False
    alibi: Literal["paper"] = "paper"
    rope: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        choices = {
            "causal_align": Align, "bool_mask": Polarity, "dead_row": DeadRow, "masked_nan": Promise,
            "overflow": Promise, "window": Window, "window_unbounded": Unbounded, "layout": Layout,
            "framework": Framework,
            "mask_kind": Literal["bool", "additive"], "mask_and_causal": Literal["intersect", "error"],
        }  # fmt: skip
        for name, kinds in choices.items():
            if getattr(self, name) not in get_args(kinds):
                raise UsageError(
                    f"contract field {name} must be one of {', '.join(get_args(kinds))}, got {getattr(self, name)!r}",
                    "see docs/conformance.md",
                )

    def but(self, **changes: Any) -> Contract:
        """The same contract with some fields changed; ``UsageError`` for a field that does not exist."""
        known = {entry.name for entry in fields(Contract)}
        unknown = sorted(set(changes) - known)
        if unknown:
            raise UsageError(f"a contract has no field {', '.join(unknown)}", f"fields: {', '.join(sorted(known))}")
        return replace(self, **changes)


_EAGER = {"dead_row": "uniform", "masked_nan": "unspecified", "mask_kind": "additive"}

# declared conventions; top-left and zeros of torch_sdpa are measured (2.13, CPU), mlx is declared only
_PRESETS: dict[str, dict[str, Any]] = {
    "standard": {},
    "torch_sdpa": {
        "causal_align": "top_left", "mask_and_causal": "error", "masked_nan": "unspecified", "framework": "torch",
        "dtypes": ("float32", "float16"),
    },
    "flash_attn": {"window": "left_right", "layout": "bthd", "framework": "torch", "dtypes": ("float16",)},
    "onnx_attention": {
        "causal_align": "top_left", "window": "left_right", "masked_nan": "unspecified",
    },
    "hf_eager": {**_EAGER, "framework": "torch"},
    "llama": {**_EAGER, "framework": "torch"},
    "jax": {
        "causal_align": "top_left", "layout": "bthd", "framework": "jax", "window": "left_right",
        "window_unbounded": "unspecified", "dead_row": "unspecified", "masked_nan": "unspecified",
    },
    "mlx": {"framework": "mlx", "dead_row": "unspecified", "masked_nan": "unspecified"},
    "softlookup": {"window_closed": False, "framework": "torch", "masked_nan": "unspecified"},
}  # fmt: skip


def preset_names() -> tuple[str, ...]:
    """Names that :func:`find_contract` knows."""
    return tuple(_PRESETS)


def find_contract(given: str | Contract | Mapping[str, Any] | Path) -> Contract:
    """A contract from a preset's name, a JSON file, a mapping or itself.

    A file or mapping either holds fields of a contract (``preset`` names the one to start from), or is a
    Hugging Face config.json: then it is ``llama`` with that rotation. Raises ``UsageError``.
    """
    if isinstance(given, Contract):
        return given
    if isinstance(given, Mapping):
        return _from_mapping(given)
    if isinstance(given, str) and given in _PRESETS:
        return Contract(name=given).but(**_PRESETS[given])
    path = Path(given)
    if not path.is_file():
        raise UsageError(f"no contract {str(given)!r}", f"a JSON file, or one of {', '.join(_PRESETS)}")
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"the contract {path.name} cannot be read ({error})", "it must be a JSON object") from error
    if not isinstance(found, dict):
        raise UsageError(f"the contract {path.name} must be a JSON object", "see docs/conformance.md")
    return _from_mapping(found)


def _from_mapping(given: Mapping[str, Any]) -> Contract:
    if "num_attention_heads" in given or "rope_theta" in given or "rope_parameters" in given:
        return find_contract("llama").but(rope=dict(given))
    entries = dict(given)
    base = find_contract(str(entries.pop("preset", "standard")))
    if "dtypes" in entries:
        entries["dtypes"] = tuple(entries["dtypes"])
    return base.but(**entries)
