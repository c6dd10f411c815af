"""Costs of the page's model, from the cost model and the lines of ``plan --example contract-qa``."""

from __future__ import annotations

from functools import cache

from softlookup.cost.course import AccountLine, course_account
from softlookup.cost.course_shapes import TOKENS, course_shape
from softlookup.cost.devices import Device, device_names, find_device
from softlookup.cost.flops import Flops, model_flops
from softlookup.cost.model.presets import preset_names, preset_shape
from softlookup.cost.model.shapes import ModelShape

PLAN = "softlookup plan --example contract-qa"
GQA_HEADS = 8


@cache
def _account() -> dict[str, AccountLine]:
    return {line.what: line for line in course_account()}


def right(what: str) -> float:
    """Our value of a line of the account."""
    return float(_account()[what].right)


def page_way(what: str) -> float:
    """The same by the page's own convention."""
    value = _account()[what].page_value
    if value is None:
        raise KeyError(f"the page has no {what}")
    return float(value)


def limits(what: str) -> tuple[float, float]:
    """Interval of a line in seconds."""
    line = _account()[what]
    return float(line.low or line.right), float(line.high or line.right)


@cache
def flops(kv_heads: int = 32, *, gated: bool = False, tokens: int = TOKENS, cached: int = 0) -> Flops:
    """Of the page's model; ``kv_heads`` 8 is GQA, ``gated`` SwiGLU."""
    return model_flops(course_shape(kv_heads, gated=gated), tokens, cached)


def cards() -> list[Device]:
    """Every accelerator of the device table."""
    return [device for device in map(find_device, device_names()) if device.device_class in ("datacenter", "consumer")]


@cache
def _named() -> dict[str, ModelShape]:
    return {name: preset_shape(name) for name in preset_names()}


def head_widths() -> set[int]:
    """Key widths of all named models."""
    return {layer.key_dim for shape in _named().values() for layer in shape.layers if layer.query_heads}


def widths_apart() -> list[str]:
    """Named models, none of them MLA, whose head width is not D / H."""
    return [
        name
        for name, shape in _named().items()
        if any(
            layer.kind in ("full", "window") and layer.key_dim * layer.query_heads != shape.hidden_size
            for layer in shape.layers
        )
    ]
