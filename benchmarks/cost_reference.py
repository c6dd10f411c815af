"""The cost model against 89 public reference rows: counts, caches, pools, seconds; exit 1 when a row misses.

    python benchmarks/cost_reference.py            # table of absolute errors by group, and every missed row
    python benchmarks/cost_reference.py --rows     # every row

Rows marked * were used to fit an efficiency, so their error is no prediction; rows marked = are stored as logged.
The rows lie in ../shared (or SOFTLOOKUP_SHARED); without them the script says so and ends with 0.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softlookup.cost.devices import find_device
from softlookup.cost.efficiency import efficiency_of, fit_rates
from softlookup.cost.flops import model_flops
from softlookup.cost.kv_cache import EnginePolicy, KVDtypes, kv_bytes, kv_bytes_per_token
from softlookup.cost.memory import llama_cpp_compute_bytes, logits_bytes
from softlookup.cost.model.config_json import shape_from_config
from softlookup.cost.model.dtypes import dtype_name, storage_bytes
from softlookup.cost.model.presets import preset_shape
from softlookup.cost.model.safetensors_files import llama_file_bytes
from softlookup.cost.model.shapes import ModelShape
from softlookup.cost.seconds import DecodeTraffic, decode_figure, prefill_figure, weights_read
from softlookup.cost.vllm_pool import GIB, LOGGED_ACTIVATION_PEAKS, BlockPool, available_kv_bytes, block_pool

MIB = 1 << 20
Row = Mapping[str, Any]
# efficiencies were fitted on these: three A100 series, one RTX 5090 log, two H20 logs, two chunks on a CPU, and the
# share of bandwidth that the same CPU reaches
_A100 = {"vllm": (1, 2, 4), "transformers": (6, 7, 8, 10), "transformers dense": (13, 14, 15, 17)}
SERIES = {name: [f"prefill-{number:02}" for number in numbers] for name, numbers in _A100.items()}
FITTED = frozenset(
    {row for series in SERIES.values() for row in series}
    | {f"prefill-{number}" for number in (20, 23, 24)}
    | {f"decode-0{number}" for number in (3, 4, 6)}
    | {"throughput-02", "throughput-03"}
)
# kept by version, since no formula gives them
STORED = frozenset({"vllm-22"})


@dataclass(frozen=True)
class Outcome:
    """One row, predicted."""

    row: Row
    predicted: float

    @property
    def error(self) -> float:
        """Absolute relative error."""
        return abs(self.predicted / self.row["value"] - 1)

    @property
    def ok(self) -> bool:
        """Within the row's tolerance, up to the rounding of a float."""
        return self.error <= self.row["rel_tol"] + 1e-12


def shape_of(row: Row) -> ModelShape:
    """The row's abbreviated configuration, written as a config.json and read like one."""
    config = row["config"]
    layers = config.get("layers") or config.get("n_full") if row["id"] != "kv-17" else config["L"]
    if row["group"] in ("params", "weights", "workspace", "decode") or not layers:
        layers = config.get("L", 1)
    heads = config.get("H") or config.get("Hkv", 1)
    experts = {} if "E" not in config else {
        "num_experts": config["E"], "num_experts_per_tok": config["K"], "moe_intermediate_size": config["Fm"],
        "n_shared_experts": config.get("shared", 0), "first_k_dense_replace": config.get("dense_layers", 0),
    }  # fmt: skip
    latent = {} if "kv_lora" not in config else {
        "kv_lora_rank": config["kv_lora"], "qk_rope_head_dim": config["rope"], "q_lora_rank": config.get("q_lora"),
        "qk_nope_head_dim": config.get("nope", 128), "v_head_dim": config.get("v_hd", 128),
    }  # fmt: skip
    window = {} if "pattern" not in config or "layers" in config else {
        "sliding_window": config["window"], "sliding_window_pattern": config["pattern"]
    }  # fmt: skip
    return shape_from_config(
        {
            "model_type": _family(config), "num_hidden_layers": layers, "hidden_size": config.get("D", heads * 64),
            "num_attention_heads": heads, "num_key_value_heads": config.get("Hkv", heads),
            "head_dim": config.get("hd", config.get("k_hd", 64)), "intermediate_size": config.get("F", 1),
            "vocab_size": config.get("V", 1), "tie_word_embeddings": config.get("tie", False), "sliding_window": None,
            **experts, **latent, **window,
        },
        row["model"],
    )  # fmt: skip


def _family(config: Mapping[str, Any]) -> str:
    if "kv_lora" in config:
        return "deepseek_v3"
    if config.get("norms") == 4:
        return "gemma3_text"
    if config.get("qkv_bias"):
        return "qwen2"
    return "qwen3" if config.get("qk_norm") else "llama"


def kv_types(row: Row) -> KVDtypes:
    """Storage of the row's cache; some rows name it in the model's name only."""
    named = row["config"].get("kv") or next((q for q in ("q8_0", "q4_0") if q in row["model"]), "f16")
    return KVDtypes(dtype_name(named), dtype_name(named))


def predict_kv(row: Row) -> float:
    """KV bytes in the row's unit."""
    config, unit = row["config"], {"MiB": MIB, "GiB": GIB, "GB": 1e9, "bytes": 1}[row["unit"]]
    tokens = config.get("cells") or config.get("T")
    if "hd_wrong" in config:  # what a planner must not say: width / heads, and every layer full
        wrong = 4 * config["L"] * config["T"] * config["Hkv"] * config["hd_wrong"] / unit
        if kv_bytes(shape_of(row), tokens) / unit > 0.2 * wrong:
            return math.inf  # the planner gives the size that this row warns of
        return wrong
    if "k_hd" in config:  # MLA as an engine caches it that decompresses the heads
        expanded = EnginePolicy(expand_latent=True)
        return kv_bytes(preset_shape("DeepSeek-Coder-V2-16B"), tokens, kv_types(row), expanded) / unit
    if "per token" in row["quantity"]:
        return kv_bytes_per_token(shape_of(row), kv_types(row)) / unit
    return kv_bytes(shape_of(row), tokens, kv_types(row)) / unit


def predict_counts(row: Row) -> float:
    """Parameters and bytes of weights."""
    shape = shape_of(row)
    if row["group"] == "params":
        return shape.active_parameters if "active" in row["quantity"] else shape.parameters
    if row["unit"] == "bytes":
        return llama_file_bytes(shape)
    return storage_bytes(shape.parameters, row["config"].get("dtype", "bf16")) / GIB


def predict_workspace(row: Row) -> float:
    """Compute buffers and logits."""
    config = row["config"]
    if "N" in config:
        return logits_bytes(config["V"], config["N"])
    return llama_cpp_compute_bytes(shape_of(row), config["cells"], config["n_ubatch"]) / MIB


def predict_vllm(row: Row) -> float:
    """Pools, log lines and budgets of vLLM."""
    config = row["config"]
    if "total" in config:
        graphs = config.get("cudagraph", 0) if row["engine"] != "vLLM 0.10" else 0
        return available_kv_bytes(
            config["total"], config["util"], config["weights"], config["act"], config["non_torch"], graphs
        )
    if "blocks" in config:
        return BlockPool(config["blocks"], (None,), config["block"], 8192).concurrency(config["max_len"])
    if row["id"] in STORED:
        return LOGGED_ACTIVATION_PEAKS[row["model"], config["vllm"].split()[0]]
    if "request" in row["quantity"]:
        return kv_bytes(shape_of(row), config["max_len"], kv_types(row)) / GIB
    available = config.get("available_kv_gib") or available_kv_bytes(
        79.19, 0.95, config["weights"], config["act"], config["non_torch"]
    )
    return block_pool(shape_of(row), available * GIB, kv_types(row), ranks=config.get("TP", 1)).logged_tokens


ENGINE_NAMES = {"vLLM FlashAttention-2": "vllm", "vLLM": "vllm", "HF FlashAttention-2": "transformers",
                "HF dense": "transformers dense"}  # fmt: skip


def predict_prefill(row: Row, rows: Mapping[str, Row]) -> float:
    """Seconds of a prefill, or tokens per second of a chunk on a CPU."""
    if "chunk" in row["config"]:
        return predict_chunk(row, rows)
    config, shape = row["config"], preset_shape(row["model"])
    flops = model_flops(shape, config["T"])
    if abs((flops.linear - flops.lm_head) / config["flops_linear"] - 1) > 0.01 or (
        abs(flops.attention / config["flops_attn_causal"] - 1) > 1e-9
    ):
        return math.inf  # other FLOPs than the row states
    device = find_device({"A100 80GB": "A100-80GB", "128x H100": "128xH100"}.get(row["hardware"], row["hardware"]))
    efficiency = efficiency_of(device, ENGINE_NAMES.get(row["engine"], ""))
    return prefill_figure(flops, config["T"], device, efficiency).value


def predict_chunk(row: Row, rows: Mapping[str, Row]) -> float:
    """Tokens per second of a chunk behind a cache: two rates from the two shallower depths."""
    shape = preset_shape(row["model"])

    def work(each: Row) -> tuple[float, float]:
        flops = model_flops(shape, each["config"]["chunk"], each["config"]["N_KV"])
        return flops.linear, flops.attention

    fitted = [rows[name] for name in ("prefill-23", "prefill-24")]
    linear, attention = fit_rates([(*work(each), each["config"]["chunk"] / each["value"]) for each in fitted])
    wanted = work(row)
    return row["config"]["chunk"] / (wanted[0] / linear + wanted[1] / attention)


def predict_decode(row: Row) -> float:
    """Tokens per second of one request."""
    config, shape, device = row["config"], preset_shape(row["model"]), find_device(row["hardware"])
    if "N_KV" in config:  # weights Q4_0, keys q8_0, values f16
        cached = kv_bytes(shape, config["N_KV"], KVDtypes("q8_0", "f16")) if config["N_KV"] else 0
        traffic = DecodeTraffic(weights_read(shape, "q4_0"), cached)
    else:
        traffic = DecodeTraffic(weights_read(shape), kv_bytes(shape, config["ctx"]))
    return 1e3 / decode_figure(traffic, len(shape.layers), device, efficiency_of(device)).value


def predict_throughput(row: Row) -> float:
    """Prefill tokens per second of one device; the source's runs have 4,096 tokens of input."""
    model, dtype = row["model"].rsplit(" ", 1)
    device = find_device(row["hardware"])
    seconds = prefill_figure(
        model_flops(preset_shape(model), 4096), 4096, device, efficiency_of(device), dtype_name(dtype)
    )
    return 4096 / seconds.value


def outcomes(rows: list[Row]) -> list[Outcome]:
    """Every row with its prediction."""
    by_id = {row["id"]: row for row in rows}
    predict: dict[str, Callable[[Row], float]] = {
        "params": predict_counts, "weights": predict_counts, "kv": predict_kv, "workspace": predict_workspace,
        "vllm": predict_vllm, "prefill": lambda row: predict_prefill(row, by_id), "decode": predict_decode,
        "throughput": predict_throughput,
    }  # fmt: skip
    return [Outcome(row, predict[row["group"]](row)) for row in rows]


def table(found: list[Outcome]) -> list[str]:
    """Absolute errors by group, rows that were fitted or stored apart from the predicted ones."""
    lines = [f"{'group':12} {'rows':>4} {'mean |error|':>13} {'worst':>9}  worst row", "-" * 62]
    for group in dict.fromkeys(outcome.row["group"] for outcome in found):
        for label, marked in (("", False), (" *=", True)):
            part = [o for o in found if o.row["group"] == group and (o.row["id"] in FITTED | STORED) == marked]
            if part:
                worst = max(part, key=lambda outcome: outcome.error)
                mean = sum(outcome.error for outcome in part) / len(part)
                lines.append(f"{group + label:12} {len(part):4} {mean:12.4%} {worst.error:9.4%}  {worst.row['id']}")
    return lines


def left_out(rows: list[Row]) -> list[str]:
    """Rows of a series predicted by a fit on the others: what the fitted rows cannot show."""
    by_id = {row["id"]: row for row in rows}
    lines = ["series, each row predicted from the others of its series:"]
    for series, names in SERIES.items():
        errors = []
        for name in names:
            others = [by_id[other] for other in names if other != name]
            linear, attention = fit_rates([(*_work(each), each["value"]) for each in others])
            wanted = _work(by_id[name])
            errors.append(abs((wanted[0] / linear + wanted[1] / attention) / by_id[name]["value"] - 1))
        each = ", ".join(f"{name} {error:.1%}" for name, error in zip(names, errors, strict=True))
        lines.append(f"  {series:20} mean {sum(errors) / len(errors):6.2%}  worst {max(errors):6.2%}  ({each})")
    return lines


def _work(row: Row) -> tuple[float, float]:
    """Linear and causal attention FLOPs of a prefill row."""
    flops = model_flops(preset_shape(row["model"]), row["config"]["T"])
    return flops.linear, flops.attention


def line(outcome: Outcome) -> str:
    """One row."""
    row = outcome.row
    mark = "*" if row["id"] in FITTED else "=" if row["id"] in STORED else " "
    return (
        f"{'ok  ' if outcome.ok else 'MISS'} {row['id']:13}{mark} {outcome.predicted:>20,.6g} {row['value']:>20,.6g} "
        f"{row['unit']:10} error {outcome.error:8.4%} of {row['rel_tol']:.4%}  {row['model']}, {row['quantity']}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 when a row misses its tolerance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", action="store_true", help="print every row")
    options = parser.parse_args(arguments)
    shared = Path(os.environ.get("SOFTLOOKUP_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    path = shared / "data" / "cost" / "reference.json"
    if not path.is_file():
        print(f"skipped: no reference rows at {path} (set SOFTLOOKUP_SHARED)")
        return 0
    rows = json.loads(path.read_text("utf-8"))
    found = outcomes(rows)
    missed = [outcome for outcome in found if not outcome.ok]
    print("\n".join(map(line, found if options.rows else missed)) or "every row is within its tolerance")
    print(f"\n{len(found) - len(missed)} of {len(found)} rows within tolerance\n")
    print("\n".join(table(found)))
    print("\n" + "\n".join(left_out(rows)))
    print("\n* fitted on these rows, no prediction   = stored as logged; errors are absolute, never signed means")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
