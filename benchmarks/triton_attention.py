"""Time of the Triton kernel with row statistics over torch's flash attention without, and errors of the statistics.

    python benchmarks/triton_attention.py [--lengths 8192 32768 131072] [--dims 64 128] [--heads 32 8]

bfloat16, causal, batch 1; statistics: lse, entropy, largest weight and score, argmax, mass of the first 4 keys. Errors
are against float64 on a few rows. Needs an NVIDIA GPU; without one it says so and measures nothing.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from softlookup.attention import AttentionOutput, StatsRequest, attention

REQUEST = StatsRequest(max_score=False, sink_mass=4)
SAMPLED_ROWS = 12
# one repetition of 131072 tokens takes as long as hundreds of 8192
WORK_PER_CELL = 2**36


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=[8192, 32768, 131072])
    parser.add_argument("--dims", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--heads", type=int, nargs=2, default=[32, 8], metavar=("QUERY", "KEY"))
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("not measured: no CUDA device")
        return
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, heads {options.heads}, bfloat16, causal")
    print("     T    D  flash ms  triton ms  ratio  with statistics ms  ratio  errors on sampled rows")
    for dim in options.dims:
        for length in options.lengths:
            print(row(length, dim, *options.heads), flush=True)


def row(length: int, dim: int, heads: int, kv_heads: int) -> str:
    """One line of the table."""
    generator = torch.Generator("cuda").manual_seed(0)

    def numbers(count: int) -> torch.Tensor:
        return torch.randn(1, count, length, dim, generator=generator, device="cuda", dtype=torch.bfloat16)

    query, key, value = numbers(heads), numbers(kv_heads), numbers(kv_heads)
    repeats = max(3, min(50, WORK_PER_CELL // length**2))

    def flash() -> torch.Tensor:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)

    base = milliseconds(flash, repeats)
    plain = milliseconds(lambda: attention(query, key, value, causal=True, impl="triton"), repeats)
    full = milliseconds(lambda: attention(query, key, value, causal=True, impl="triton", stats=REQUEST), repeats)
    result = attention(query, key, value, causal=True, impl="triton", stats=REQUEST)
    return (
        f"{length:6d} {dim:4d} {base:9.2f} {plain:10.2f} {plain / base:6.2f} {full:19.2f} {full / base:6.2f}  "
        + errors(result, query, key, value)
    )


def milliseconds(call: Callable[[], object], repeats: int) -> float:
    """Median over ``repeats`` calls after two that compile and warm up."""
    for _ in range(2):
        call()
    times = []
    for _ in range(repeats):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times)


def errors(result: AttentionOutput, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> str:
    """Largest difference of output and statistics from float64 on sampled rows of the first and the last head."""
    stats = result.stats
    if stats is None:
        raise RuntimeError("asked for statistics")
    length, group = query.shape[2], query.shape[1] // key.shape[1]
    worst = dict.fromkeys(("output", "lse", "entropy", "max_weight", "sink_mass"), 0.0)
    other_keys = 0
    for head in (0, query.shape[1] - 1):
        own = slice(head // group, head // group + 1)
        for number in torch.linspace(0, length - 1, SAMPLED_ROWS).long().tolist():
            exact = attention(
                query[:, head : head + 1, number : number + 1].double(), key[:, own].double(), value[:, own].double(),
                causal=True, q_offset=number, impl="reference", stats=REQUEST,
            )  # fmt: skip
            at = (slice(None), slice(head, head + 1), slice(number, number + 1))
            for name in worst:
                got = result.output[at] if name == "output" else getattr(stats, name)[at]
                want = exact.output if name == "output" else getattr(exact.stats, name)
                worst[name] = max(worst[name], float((got.double() - want).abs().max()))
            other_keys += int((stats.argmax[at] != exact.stats.argmax).sum())
    return ", ".join(f"{name} {error:.1e}" for name, error in worst.items()) + f", argmax differs {other_keys}"


if __name__ == "__main__":
    main()
