"""Statistics of more queries put together, as in chunked prefill; not for more keys: see :mod:`.merge`."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import torch

from softlookup.attention.stats import AttentionStats, TopK
from softlookup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


def concat_stats(first: AttentionStats, later: AttentionStats) -> AttentionStats:
    """See :meth:`AttentionStats.concat`. Both count keys from the same key 0."""
    check_alike(first, later, rows_may_differ=True)
    if first.kv_offset != later.kv_offset:
        raise UsageError(
            f"kv_offset must be the same, got {first.kv_offset} and {later.kv_offset}",
            "merge each part over all its keys first",
        )
    joined: dict[str, Any] = {"kv_length": max(first.kv_length, later.kv_length)}
    for field in fields(first):
        one, two = getattr(first, field.name), getattr(later, field.name)
        if isinstance(one, TopK):
            pairs = (one.index, two.index), (one.weight, two.weight), (one.score, two.score)
            joined[field.name] = TopK(*(torch.cat(pair, dim=2) for pair in pairs))
        elif isinstance(one, torch.Tensor) and field.name not in {"sinks", "key_mass"}:
            joined[field.name] = torch.cat((one, two), dim=2)
    rows, more_rows = first.visible_keys.shape[2], later.visible_keys.shape[2]
    if first.span_rows is not None and later.span_rows is not None:
        joined["span_rows"] = _joined_rows(first.span_rows, rows, later.span_rows)
    if first.key_mass is not None and later.key_mass is not None:
        joined["key_mass"] = sum(
            torch.nn.functional.pad(part.key_mass, (0, joined["kv_length"] - part.kv_length))
            for part in (first, later)
            if part.key_mass is not None
        )
        if first.key_mass_rows is not None or later.key_mass_rows is not None:
            one, two = first.key_mass_rows, later.key_mass_rows
            joined["key_mass_rows"] = _joined_rows(
                range(rows) if one is None else one, rows, range(more_rows) if two is None else two
            )
    return replace(first, **joined)


def _joined_rows(first: Sequence[int], rows: int, later: Sequence[int]) -> tuple[int, ...]:
    return (*first, *(rows + row for row in later))


def check_alike(first: AttentionStats, second: AttentionStats, *, rows_may_differ: bool) -> None:
    """Raise ``UsageError`` where two parts hold different statistics, heads, sinks or (unless allowed) rows."""
    for field in fields(first):
        one, two = getattr(first, field.name), getattr(second, field.name)
        if (one is None) != (two is None) and field.name != "key_mass_rows":
            raise UsageError(
                f"both parts must hold the same statistics, only one has {field.name}", "use one StatsRequest for both"
            )
    one, two = first.visible_keys.shape, second.visible_keys.shape
    if one[:2] != two[:2] or (one[2] != two[2] and not rows_may_differ):
        named = "[B, Hq]" if rows_may_differ else "[B, Hq, Tq]"
        raise UsageError(f"both parts must have the same {named}, got {list(one)} and {list(two)}", "check the parts")
    if first.visible_keys.device != second.visible_keys.device:
        raise UsageError(
            f"parts are on {first.visible_keys.device} and {second.visible_keys.device}",
            "move one with stats.to(device)",
        )
    if first.sinks is not None and second.sinks is not None and not torch.equal(first.sinks, second.sinks):
        raise UsageError("both parts must have the same sinks", "they belong to the heads, not to the keys")
    if first.span_rows != second.span_rows and not rows_may_differ:
        raise UsageError(
            f"both parts must have the same span_rows, got {first.span_rows} and {second.span_rows}",
            "use one StatsRequest for both",
        )
    _check_columns("spans", first.span_mass, second.span_mass)
    if first.top_k is not None and second.top_k is not None:
        _check_columns("top_k keys", first.top_k.index, second.top_k.index)


def _check_columns(name: str, one: torch.Tensor | None, two: torch.Tensor | None) -> None:
    if one is not None and two is not None and one.shape[-1] != two.shape[-1]:
        raise UsageError(
            f"both parts must have as many {name}, got {one.shape[-1]} and {two.shape[-1]}",
            "use one StatsRequest for both; where a part does not reach a span give it an empty one, (0, 0)",
        )
