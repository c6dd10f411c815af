"""Other planners and ours on the same questions: KV cache at 131,072 tokens and time to first token.

    python benchmarks/cost_peers.py [--folder DIR]

Every peer gets a virtual environment of its own under --folder (default: a temporary one) and `pip install PACKAGE`
from the configured index. Peers that take a local config.json are called by their command; those that only take a name
of a model hub are called by the function behind the command with the same config.json, and where a function fetches,
its fetching alone is replaced. A tool that cannot be installed or run shows its last error line. True values are rows
of ../shared (or SOFTLOOKUP_SHARED) data/cost/reference.json: logs of engines and timings; tensor sizes where there is
no log. No figure of a peer is written down here. Not a judgement of what peers do besides these two quantities.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from cost_peer_tools import PEERS, Peer, ask, install, run
from results import shared_data

GIB = 1 << 30
MIB = 1 << 20
TOKENS = 131_072
TTFT_TOKENS = (10_000, 100_000)
DEVICE = {"softlookup": "A100-80GB", "ridgepoint": "a100-80gb", "servcalc": "A100 80GB"}
Config = Mapping[str, Any]


def _config(kind: str, layers: int, width: int, heads: int, kv: int, ffn: int, vocabulary: int, **more: Any) -> Config:
    """A config.json with the field names of Hugging Face."""
    return {
        "model_type": kind, "num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": heads,
        "num_key_value_heads": kv, "intermediate_size": ffn, "vocab_size": vocabulary, "torch_dtype": "bfloat16",
        "max_position_embeddings": 2 * TOKENS, "tie_word_embeddings": False, **more,
    }  # fmt: skip


def _windows(layers: int, every: int) -> list[str]:
    return ["full_attention" if (n + 1) % every == 0 else "sliding_attention" for n in range(layers)]


LLAMA_3 = _config("llama", 32, 4096, 32, 8, 14336, 128256, architectures=["LlamaForCausalLM"])
MODELS: dict[str, Config] = {
    "Llama-3.1-8B": LLAMA_3,
    "Qwen3-30B-A3B": _config(
        "qwen3_moe", 48, 2048, 32, 4, 6144, 151936, head_dim=128, num_experts=128, num_experts_per_tok=8,
        moe_intermediate_size=768, decoder_sparse_step=1, architectures=["Qwen3MoeForCausalLM"],
    ),
    "Gemma-3-27B": _config(
        "gemma3_text", 62, 5376, 32, 16, 21504, 262208, head_dim=128, sliding_window=1024, layer_types=_windows(62, 6),
        architectures=["Gemma3ForCausalLM"],
    ),
    "DeepSeek-V3": _config(
        "deepseek_v3", 61, 7168, 128, 128, 18432, 129280, q_lora_rank=1536, kv_lora_rank=512, qk_rope_head_dim=64,
        qk_nope_head_dim=128, v_head_dim=128, n_routed_experts=256, n_shared_experts=1, num_experts_per_tok=8,
        moe_intermediate_size=2048, first_k_dense_replace=3, architectures=["DeepseekV3ForCausalLM"],
    ),
    "gpt-oss-20b": _config(
        "gpt_oss", 24, 2880, 64, 8, 2880, 201088, head_dim=64, sliding_window=128, num_local_experts=32,
        num_experts_per_tok=4, layer_types=["sliding_attention", "full_attention"] * 12,
        architectures=["GptOssForCausalLM"],
    ),
}  # fmt: skip
# the engine whose log is the truth; "tensors" is what the architecture needs
ENGINES = {"Gemma-3-27B": "llama.cpp", "gpt-oss-20b": "llama.cpp"}
# logged MiB; of gpt-oss the full layers alone were logged
TRUE_ROWS = {"Llama-3.1-8B": ("kv-01",), "Gemma-3-27B": ("kv-14", "kv-15"), "gpt-oss-20b": ("kv-25",)}
TIMED = {"vllm": {10_000: "prefill-02", 100_000: "prefill-04"}, "hf": {10_000: "prefill-06", 100_000: "prefill-08"}}


def plan(path: Path, tokens: int, engine: str) -> dict[str, Any]:
    """`softlookup plan` on the same config.json."""
    command = ["plan", "--tokens", str(tokens), "--model", str(path), "--device", DEVICE["softlookup"]]
    output, error = run([sys.executable, "-m", "softlookup", *command, "--engine", engine, "--json"])
    return {"error": error} if error else json.loads(output)


@cache
def parameters(path: Path) -> int:
    """Parameters of a config.json, which some peers want beside it."""
    return int(plan(path, 1024, "tensors").get("parameters", 0))


def truth(reference: Mapping[str, Mapping[str, Any]], model: str) -> tuple[float, str]:
    """(KV bytes at 131,072 tokens, where from): the engine's log as far as there is one, else the tensors."""
    config = MODELS[model]
    full = sum(kind == "full_attention" for kind in config.get("layer_types", ())) or config["num_hidden_layers"]
    width = 2 * config["num_key_value_heads"] * config.get("head_dim", 128)
    if "kv_lora_rank" in config:
        width = config["kv_lora_rank"] + config["qk_rope_head_dim"]
    windows = (config["num_hidden_layers"] - full) * min(TOKENS, config.get("sliding_window", 0))
    rows = TRUE_ROWS.get(model, ())
    if not rows or not all(row in reference for row in rows):
        return 2.0 * width * (full * TOKENS + windows), "tensors"
    logged = sum(reference[row]["value"] for row in rows) * MIB
    if len(rows) == 1 and windows:
        return logged + 2.0 * width * windows, f"log of {reference[rows[0]]['engine']}, window layers from tensors"
    return logged, f"log of {reference[rows[0]]['engine']}"


def kv_cell(found: Mapping[str, Any], true: float) -> str:
    """GiB and the error in per cent, or why there is none."""
    if "error" in found:
        return "failed"
    return f"{found['bytes'] / GIB:.2f} ({100 * (found['bytes'] / true - 1):+.1f} %)"


def ttft_cell(found: Mapping[str, Any]) -> str:
    """Seconds with the interval."""
    return "failed" if "error" in found else f"{found['best']:.2f} [{found['low']:.2f}, {found['high']:.2f}]"


def facts(path: Path, tokens: int, peer: str) -> dict[str, Any]:
    """What the programs of the peers get."""
    config = json.loads(path.read_text("utf-8"))
    given = {"path": str(path), "tokens": tokens, "device": DEVICE.get(peer, "")}
    return {"config": config, "parameters": parameters(path), **given}


def own_kv(path: Path, model: str) -> dict[str, Any]:
    """KV of `softlookup plan` under the engine whose log is the truth."""
    found = plan(path, TOKENS, ENGINES.get(model, "tensors"))
    return found if "error" in found else {"bytes": found["kv_bytes"]}


def own_ttft(path: Path, tokens: int, engine: str) -> dict[str, Any]:
    """Prefill seconds of `softlookup plan`."""
    found = plan(path, tokens, engine)
    if "error" in found:
        return found
    figure = found["figures"]["prefill_seconds"]
    return {"low": figure["low"], "best": figure["value"], "high": figure["high"]}


def kv_table(
    paths: Mapping[str, Path], peers: Mapping[Peer, str], reference: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Prints the table; yields (peer and model, error line) of what failed."""
    print(f"\nKV cache at {TOKENS:,} tokens, 16-bit, GiB (error)\n")
    print("| model | truth | softlookup | " + " | ".join(peer.package for peer in peers) + " |")
    print("|---" * (3 + len(peers)) + "|")
    for model, path in paths.items():
        true, source = truth(reference, model)
        cells = [f"{true / GIB:.2f} ({source})", kv_cell(own_kv(path, model), true)]
        for peer, python in peers.items():
            found = ask(python, peer.kv, facts(path, TOKENS, peer.package))
            cells.append(kv_cell(found, true))
            if "error" in found:
                yield f"{peer.package}, {model}", found["error"]
        print(f"| {model} | " + " | ".join(cells) + " |")


def ttft_table(
    path: Path, peers: Mapping[Peer, str], reference: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Prints the table; yields (peer, error line) of what failed."""
    timing = {peer: python for peer, python in peers.items() if peer.ttft}
    print("\nTime to first token, Llama-3-8B bf16, A100 80 GB, seconds [interval]\n")
    own = ("tensors *", "vllm *", "transformers *")
    print("| tokens | measured vLLM / HF | " + " | ".join(f"softlookup --engine {name}" for name in own), end=" | ")
    print(" | ".join(peer.package for peer in timing) + " |")
    print("|---" * (2 + len(own) + len(timing)) + "|")
    for tokens in TTFT_TOKENS:
        rows = (reference.get(TIMED[engine][tokens]) for engine in ("vllm", "hf"))
        cells = [" / ".join("?" if row is None else f"{row['value']:.2f}" for row in rows)]
        cells += [ttft_cell(own_ttft(path, tokens, name.split()[0])) for name in own]
        for peer, python in timing.items():
            found = ask(python, peer.ttft, facts(path, tokens, peer.package))
            cells.append(ttft_cell(found))
            if "error" in found:
                yield f"{peer.package}, {tokens:,} tokens", found["error"]
        print(f"| {tokens:,} | " + " | ".join(cells) + " |")
    print("\n* rates fitted on these series, in part for tensors (docs/cost.md, Efficiencies): no prediction")
    print("no time to first token: ", end="")
    print(", ".join(peer.package for peer in peers if not peer.ttft) or "none")


def installed(folder: Path) -> dict[Peer, str]:
    """Peers that can be imported, with their python; prints versions and what failed."""
    found: dict[Peer, str] = {}
    for peer in PEERS:
        python, version, error = install(peer, folder)
        print(f"{peer.package:14} {version or '-':8} {error or peer.how}", flush=True)
        if not error:
            found[peer] = python
    return found


def main() -> int:
    """Install, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", help="keep the environments of the peers here (default: a temporary folder)")
    options = parser.parse_args()
    source = shared_data() / "cost" / "reference.json"
    rows = json.loads(source.read_text("utf-8")) if source.is_file() else []
    if not rows:
        print(f"no {source}: tensor sizes stand for logs, timings are missing")
    reference = {row["id"]: row for row in rows}
    with tempfile.TemporaryDirectory() as temporary:
        peers = installed(Path(options.folder or temporary).resolve())
        paths = {}
        for model, config in MODELS.items():
            paths[model] = Path(temporary) / model / "config.json"
            paths[model].parent.mkdir()
            paths[model].write_text(json.dumps(config), "utf-8")
        failed = [*kv_table(paths, peers, reference), *ttft_table(paths["Llama-3.1-8B"], peers, reference)]
    for what, error in failed:
        print(f"failed: {what}: {error}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
