"""Which kind every layer of a Hugging Face configuration is; the weights are counted in ``config_weights``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from softlookup.cost.model.architectures import Family
from softlookup.cost.model.config_fields import Fields
from softlookup.cost.model.shapes import MAX_TOKENS
from softlookup.errors import ModelError

Plan = Literal["full", "window", "recurrent"]
_NAMES: dict[str, Plan] = {
    "full_attention": "full", "attention": "full", "global": "full", "global_attention": "full",
    "sliding_attention": "window", "local": "window", "chunked_attention": "window", "sliding": "window",
    "linear_attention": "recurrent",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LayerPlan:
    """Kind of a layer, its window, and the layer whose keys and values it reads (shared KV)."""

    kind: Plan
    window: int | None = None
    owner: int | None = None


def plan_layers(fields: Fields, family: Family, count: int) -> tuple[LayerPlan, ...]:
    """The plan of ``count`` layers, from ``layer_types``, an interval, or the pattern of the family."""
    kinds = _kinds(fields, family, count)
    window = None
    if "window" in kinds:
        window = fields.required("sliding_window", "attention_chunk_size", high=MAX_TOKENS)
    shared = fields.integer("num_kv_shared_layers", low=0, high=count) or 0
    plans = []
    for index, kind in enumerate(kinds):
        owner = _owner(kinds, count - shared, kind) if index >= count - shared else None
        plans.append(LayerPlan(kind, window if kind == "window" else None, owner))
    return tuple(plans)


def _kinds(fields: Fields, family: Family, count: int) -> list[Plan]:
    named = fields.names("layer_types", count)
    if named is not None:
        unknown = next((name for name in named if name not in _NAMES), None)
        if unknown is not None:
            raise ModelError(
                f"layer type {unknown[:40]!r} of {fields.where} is not supported",
                "supported are full, sliding, chunked and linear attention",
            )
        return [_NAMES[name] for name in named]
    interval = fields.integer("full_attention_interval", high=MAX_TOKENS) or family.recurrent_every
    if interval:
        return ["recurrent" if (index + 1) % interval else "full" for index in range(count)]
    return _windows(fields, family, count)


def _windows(fields: Fields, family: Family, count: int) -> list[Plan]:
    """Window layers by the pattern: every n-th layer is full. ``use_sliding_window: false`` switches them off."""
    if family.window_every and "sliding_window" not in fields.values:
        fields.required("sliding_window")
    window = fields.integer("sliding_window", "attention_chunk_size", high=MAX_TOKENS)
    if window is None or not fields.flag("use_sliding_window", default=True):
        return ["full"] * count
    first = fields.integer("max_window_layers", low=0, high=1 << 20)
    if first is not None and "use_sliding_window" in fields.values:  # Qwen: the upper layers have the window
        return ["window" if index >= first else "full" for index in range(count)]
    every = fields.integer("sliding_window_pattern", high=1 << 20) or family.window_every
    if not every:
        return ["window"] * count
    return ["window" if (index + 1) % every else "full" for index in range(count)]


def _owner(kinds: list[Plan], first_shared: int, kind: Plan) -> int:
    """The last layer of the same kind that has its own keys and values. Source: transformers, Gemma 3n and 4."""
    for index in range(first_shared - 1, -1, -1):
        if kinds[index] == kind:
            return index
    raise ModelError(f"no {kind} layer is left whose KV the last layers could share", "check num_kv_shared_layers")
