"""Mistakes about heads and batch: which kv head is read, how heads are split and merged, which row is read."""

from __future__ import annotations

from collections.abc import Iterator

from softlookup.conformance.hypotheses.hypothesis import Hypothesis, hypothesis
from softlookup.conformance.scores import MAPS

_LIKELY = {
    "tile": "k.repeat / tile over the heads where repeat_interleave is meant: query head h reads h % Hkv",
    "first": "only kv head 0 is read",
    "last": "only the last kv head is read",
    "mean": "kv heads are averaged",
}


def of_heads() -> Iterator[Hypothesis]:
    """Head maps of keys and values together and apart; layouts; rows of the batch."""
    for kind in (*MAPS, "mean"):
        word = {"first": "single_head", "last": "single_head(last)"}.get(kind, kind)
        likely = _LIKELY.get(kind, f"query heads read kv heads {kind.replace('_', ' ')}")
        yield hypothesis(f"gqa.{word}", "wrong", likely, key_map=kind, value_map=kind)
        past = {"tile": "tiled", "first": "single_head", "last": "last_head"}.get(kind, kind)
        yield hypothesis(f"gqa.k_ok_v_{past}", "wrong", f"keys are right, values: {likely}", value_map=kind)
        yield hypothesis(f"gqa.v_ok_k_{past}", "wrong", f"values are right, keys: {likely}", key_map=kind)
    layouts = {
        "bthd": (
            "layout=bthd",
            "the function wants [B, T, H, D]: transpose, or a contract or adapter with that layout",
        ),
        "merge": ("merge_without_transpose", "[B, H, T, D].reshape(B, T, H * D) without transpose(1, 2)"),
        "split_all": ("split_without_transpose", "[B, T, H * D] viewed as [B, H, T, D] without transpose"),
        "split_view": (
            "split_without_transpose",
            "[B, T, H * D] viewed as [B, H, T, D], which mixes heads and positions: view(B, T, H, D).transpose(1, 2)",
        ),
        "split_query": ("query_split_without_transpose", "the query alone is viewed as [B, H, T, D]"),
        "heads_reversed": ("order=reversed", "heads come back in reverse order"),
        "interleaved_dims": ("merge_interleaved", "heads and head dims are merged the wrong way round"),
        "heads_mean": ("averaged", "heads are averaged"),
    }
    for kind, (word, likely) in layouts.items():
        yield hypothesis(f"heads.{word}", "wrong", likely, layout=kind)
    rows = {
        "key_row0": "keys of batch row 0 serve all rows", "value_row0": "values of batch row 0 serve all rows",
        "kv_row0": "keys and values of batch row 0 serve all rows", "kv_reversed": "the batch's rows are swapped",
    }  # fmt: skip
    for kind, likely in rows.items():
        yield hypothesis(f"batch.rows={kind}", "leak", likely, rows=kind)
    yield hypothesis("value.reversed", "wrong", "values run backwards over the keys", rows="value_reversed")
