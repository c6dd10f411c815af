"""Attention functions as people write them, checked as their authors would: does the report lead to the mistake?

    python benchmarks/human_functions.py [NAME] [--json] [--write FOLDER --key FILE]

Fourteen of eighteen hold one mistake; ``MISTAKES`` says which. A summary counts what was detected, what was named
right, and false alarms. --write puts every report, without name and answer, into a file of its own, shuffled.
Not a self-test: the functions were written as people write them, not as the checker likes them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import human_written as written
import torch
from softlookup.conformance import Adapter, Report, check_fn, find_contract

# name -> (stable part of the code that names it, the mistake in words); a name that is missing here is correct
MISTAKES: dict[str, tuple[str, str]] = {
    "course_numpy": ("softmax.axis", "softmax sums over axis 0, the queries, instead of the last axis"),
    "gpt_fused": ("heads.split_without_transpose", "q, k, v are viewed as [B, H, T, D] without a transpose"),
    "einsum_embed": ("scale.model_dim", "divided by sqrt(embed_size), the model's width, not sqrt(head_dim)"),
    "cached_rotary": ("rotary.cache", "keys are cached before they are rotated"),
    "decoder_rotary": ("rotary.position", "with a cache, positions start one too late"),
    "gqa_repeat": ("gqa.tile", "repeat instead of repeat_interleave for grouped heads"),
    "local_window": ("window.size", "i - j <= window where < is promised: one key too many"),
    "padding": ("mask.polarity", "masked_fill(pad_mask) hides the real tokens"),
    "tiny_fill": ("mask.finite_fill", "hidden scores become 1e-9 instead of -inf"),
    "half_bert": ("mask.finite", "-10000 is added: large scores come through"),
    "bthd_cache": ("causal.align", "tril(T, S) is aligned top left: wrong with a cache"),
    "chinese": ("mask.after_softmax", "the mask is applied after softmax"),
    "encoder_padding": ("mask.axes", "the padding mask is broadcast over the query axis instead of the key axis"),
    "triangle": ("causal.triangle", "the lower triangle is hidden instead of the upper one"),
}


@dataclass(frozen=True)
class Written:
    """A function with the contract and adapter of its author; ``hard``: what was not obvious about them."""

    function: Callable[..., Any]
    contract: Any = "standard"
    adapter: Adapter = field(default_factory=Adapter)
    hard: str = ""


def _one_head(fn, query, key, value):
    """[T, D] in, [T, D] out."""
    return fn(query[0, 0], key[0, 0], value[0, 0])[None, None]


def _fused(make, query, key, value):
    """The projection hands out the q, k and v that are asked about; the last one does nothing."""
    module = make(query.shape[-1])
    module.c_attn.forward = lambda x: torch.cat((query, key, value), -1)
    module.c_proj = torch.nn.Identity()
    return module(query)


def _values_first(make, query, key, value, mask=None):
    module = make(query.shape[-1])
    module.fc_out = torch.nn.Identity()
    return module(value, key, query, mask)


def _one_module(make, query, key, value):
    """Key, query and value projections give what is asked about."""
    module = make(query.shape[-1])
    for layer, given in ((module.query, query), (module.key, key), (module.value, value)):
        layer.forward = lambda x, given=given: given[:, 0]
    return module(query[:, 0])[:, None]


def _in_two_parts(make, query, key, value):
    """The past first, then the new tokens."""
    module, past = make(query.shape, key.shape), key.shape[2] - query.shape[2]
    if past:
        module(torch.zeros(*query.shape[:2], past, query.shape[3]), key[:, :, :past], value[:, :, :past])
    return module(query, key[:, :, past:], value[:, :, past:])


_ROPE = find_contract("standard").but(rope={"head_dim": 16, "rope_theta": 10000.0})
_CACHED: dict[str, Any] = {"framework": "torch", "always_causal": True, "rotates": True, "head_dim": 16}
_FILLED = find_contract("standard").but(dead_row="uniform", masked_nan="unspecified")
_NO_GUARD = find_contract("standard").but(dead_row="nan", masked_nan="unspecified")
_FILLED_WHY = "that -1e9 is a mask was known, that it makes rows without keys uniform was not: a contract of one's own"


def written_functions() -> dict[str, Written]:
    """Every function by name."""
    fused = Adapter(call=_fused, framework="torch", always_causal=True, layout="bte", heads=4, kv_heads=4)
    merged = Adapter(call=_values_first, framework="torch", layout="bte", heads=4, kv_heads=4)
    head = Adapter(call=_one_module, framework="torch", always_causal=True, heads=1, kv_heads=1)
    projections = "projections must be made to hand out q, k and v"
    return {
        "course_numpy": Written(written.scaled_dot_product, adapter=Adapter(
            call=_one_head, framework="numpy", batch=1, heads=1, kv_heads=1), hard="two axes: an adapter of one line"),
        "gpt_fused": Written(_made(lambda width: written.CausalSelfAttention(width, 4)), adapter=fused,
                             hard=projections),
        "einsum_embed": Written(_made(lambda width: written.SelfAttention(width, 4)), _FILLED, merged,
                                hard="values come first"),
        "cached_rotary": Written(_made(lambda q, k: written.CachedAttention()), _ROPE, Adapter(
            call=_in_two_parts, **_CACHED), hard="a cache must be filled first; the rotation must be declared"),
        "decoder_rotary": Written(_made(lambda q, k: written.RotaryDecoder(q[3])), _ROPE, Adapter(
            call=_in_two_parts, **_CACHED), hard="as cached_rotary"),
        "gqa_repeat": Written(written.gqa_attention),
        "local_window": Written(written.local_attention, adapter=Adapter(always_causal=True)),
        "padding": Written(written.attention_with_padding, _NO_GUARD, Adapter(names={"mask": "pad_mask"}),
                           hard="the mask has a name of its own"),
        "tiny_fill": Written(written.masked_attention),
        "half_bert": Written(written.half_attention, find_contract("standard").but(
            dead_row="unspecified", masked_nan="unspecified"), Adapter(dtype="float16")),
        "loop_correct": Written(written.loop_attention),
        "annotated_correct": Written(written.attention, _FILLED, hard=_FILLED_WHY),
        "bthd_cache": Written(written.bthd_attention, adapter=Adapter(layout="bthd")),
        "chinese": Written(written.duotou_zhuyili),
        "head_correct": Written(_made(lambda width: written.Head(width, width)), adapter=head, hard=projections),
        "encoder_padding": Written(written.encoder_attention, _FILLED, Adapter(names={"mask": "src_mask"}),
                                   hard="the mask has a name of its own"),
        "triangle": Written(written.causal_attention, adapter=Adapter(always_causal=True)),
        "grouped_cache_correct": Written(
            _made(lambda q, k: written.GroupedCache(q[1], k[1], q[3], q[0])), _ROPE,
            Adapter(call=_in_two_parts, **_CACHED), hard="as cached_rotary"),
    }  # fmt: skip


def _made(make: Callable[..., Any]) -> Callable[..., Any]:
    """A class under test: a fresh object per call, so that its cache starts empty."""
    return make


def checked(name: str, entry: Written, shown: str = "") -> tuple[Report, dict[str, Any]]:
    """The report of one function, and its row of the summary."""
    started = time.monotonic()
    report = check_fn(entry.function, entry.contract, adapter=entry.adapter, name=shown or f"mine:{name}", budget=120)
    want = MISTAKES.get(name, ("", ""))[0]
    keys = [finding.key for finding in report.serious]
    # a name that no call can tell apart is as good: 0 times the score, or a score of 1e-9
    names = {*keys, *(also.split("(")[0].split("=")[0] for finding in report.serious for also in finding.also)}
    row = {
        "name": name, "want": want, "codes": [finding.code for finding in report.serious], "problem": report.problem,
        "detected": bool(want and keys), "named": len(keys) == 1 and want in names, "false_alarm": bool(not want and keys),
        "seconds": round(time.monotonic() - started, 1), "hard": entry.hard,
    }  # fmt: skip
    return report, row


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts over all functions."""
    wrong = [row for row in rows if row["want"]]
    return {
        "functions": len(rows), "mistakes": len(wrong), "detected": sum(row["detected"] for row in wrong),
        "named": sum(row["named"] for row in wrong), "false_alarms": sum(row["false_alarm"] for row in rows),
        "untested": [row["name"] for row in rows if row["problem"]],
        "slowest_seconds": max(row["seconds"] for row in rows),
    }  # fmt: skip


def shuffled(chosen: dict[str, Written], folder: Path, key: Path) -> None:
    """Reports under neutral names in a random order, and which is which."""
    order = list(chosen)
    random.Random(7).shuffle(order)
    folder.mkdir(parents=True, exist_ok=True)
    answers = {}
    for number, name in enumerate(order, 1):
        report, row = checked(name, chosen[name], f"mine:attention_{number:02d}")
        (folder / f"{number:02d}.txt").write_text(str(report), "utf-8")
        answers[f"{number:02d}"] = {**row, "mistake": MISTAKES.get(name, ("", "none: it is correct"))[1]}
    key.write_text(json.dumps(answers, indent=1), "utf-8")


def main() -> int:
    """Reports and a summary; 1 when a mistake is missed or misnamed, or a correct function raises an alarm."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("name", nargs="?", default="", help="one function")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--write", type=Path, help="a folder for shuffled reports")
    parser.add_argument("--key", type=Path, default=Path("key.json"), help="which report is which")
    options = parser.parse_args()
    chosen = {name: entry for name, entry in written_functions().items() if options.name in ("", name)}
    if not chosen:
        parser.error(f"no function {options.name!r}; there are {', '.join(written_functions())}")
    if options.write:
        shuffled(chosen, options.write, options.key)
        return 0
    rows = []
    for name, entry in chosen.items():
        report, row = checked(name, entry)
        rows.append(row)
        if not options.json:
            print(report, flush=True)
    counts = summary(rows)
    if options.json:
        print(json.dumps({"summary": counts, "rows": rows}, indent=1))
    else:
        for row in rows:
            said = "named" if row["named"] else "correct" if not row["want"] and not row["codes"] else "LOOK"
            print(f"{row['name']:24} {said:8} {', '.join(row['codes']) or row['problem'] or '-'}")
        print("  ".join(f"{word} {count}" for word, count in counts.items()))
    passed = counts["named"] == counts["mistakes"] and not counts["false_alarms"] and not counts["untested"]
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
