"""Speed and memory of tiled attention with statistics of every query, against torch's own attention.

    python benchmarks/attention.py speed [--shapes 9,3,64 32,8,128] [--lengths 2048 8192 32768] [--rounds 5]
    python benchmarks/attention.py memory [--shapes ...] [--lengths 32768 131072]

speed: causal, fp32, one batch entry, 2 threads by default. Every round runs all variants once, and the table shows
medians as a ratio over ``scaled_dot_product_attention`` computing the output alone. "tiled" computes the
output and lse, entropy, max weight, argmax and sink mass of all queries. Nothing else may run meanwhile.

memory: what one call adds to the process beyond its inputs and results, with span mass of 256 rows x 500
spans, each case in a process of its own. Linux only.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import subprocess
import sys
import time
from pathlib import Path

# weights of the eager variant beyond this many bytes do not fit next to the softmax's copy
EAGER_BYTES = 3 * 2**30
# longer inputs take minutes: fewer rounds, no warm-up (shorter ones ran before), no FlexAttention
LONG = 8192


def main() -> int:
    """Run the part that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("speed", "memory", "memory-case"))
    parser.add_argument("--shapes", nargs="+", default=["9,3,64", "32,8,128"], help="Hq,Hkv,D")
    parser.add_argument("--lengths", nargs="+", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--long-rounds", type=int, default=2, help="rounds at lengths above 8192")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    shapes = [tuple(int(number) for number in shape.split(",")) for shape in options.shapes]
    if options.part == "speed":
        return speed(shapes, options.lengths or [2048, 8192, 32768], options.rounds, options.long_rounds)
    if options.part == "memory-case":
        return memory_case(shapes[0], options.lengths[0])
    for shape in options.shapes:
        for length in options.lengths or [32768, 131072]:
            case = [
                sys.executable,
                str(Path(__file__).resolve()),
                "memory-case",
                "--shapes",
                shape,
                "--lengths",
                str(length),
            ]
            subprocess.run(case, check=True)
    return 0


def speed(shapes: list[tuple[int, ...]], lengths: list[int], rounds: int, long_rounds: int) -> int:
    """Print one line per shape and length."""
    import torch

    peak = sgemm_flops()
    print(f"threads {torch.get_num_threads()}, sgemm peak {peak / 1e9:.0f} GFLOP/s (2048 x 2048)")
    print("shape          T      sdpa s  tiled  no stats  stats only  eager  flex  share of peak: sdpa tiled")
    for heads, kv_heads, dim in shapes:
        for length in lengths:
            seconds = measure(heads, kv_heads, dim, length, rounds if length <= LONG else long_rounds)
            sdpa = statistics.median(seconds["sdpa"])
            flops = heads * length * (length + 1) / 2 * 4 * dim

            def ratio(name: str, seconds: dict[str, list[float]] = seconds, sdpa: float = sdpa) -> str:
                return f"{statistics.median(seconds[name]) / sdpa:.3f}" if seconds.get(name) else "-"

            shares = [flops / statistics.median(seconds[name]) / peak for name in ("sdpa", "tiled")]
            print(
                f"{f'({heads},{kv_heads},{dim})':12} {length:6} {sdpa:9.4f}  {ratio('tiled'):>5}  {ratio('plain'):>8}  "
                f"{ratio('stats'):>10}  {ratio('eager'):>5}  {ratio('flex'):>4}  {shares[0]:18.2f} {shares[1]:5.2f}",
                flush=True,
            )
    return 0


def measure(heads: int, kv_heads: int, dim: int, length: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of every variant, round by round; variants that do not fit or run are left out."""
    import torch

    from softlookup.attention import StatsRequest, attention, attention_statistics

    generator = torch.Generator().manual_seed(length)
    query = torch.randn(1, heads, length, dim, generator=generator)
    key, value = (torch.randn(1, kv_heads, length, dim, generator=generator) for _ in range(2))
    request = StatsRequest(lse=True, entropy=True, max_weight=True, argmax=True, sink_mass=4)

    def sdpa() -> None:
        torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)

    def eager() -> None:
        hidden = torch.ones(length, length, dtype=torch.bool).triu_(1)
        scores = (query @ key.repeat_interleave(heads // kv_heads, 1).transpose(-1, -2)).mul_(dim**-0.5)
        weights = torch.softmax(scores.masked_fill_(hidden, -torch.inf), -1)
        weights @ value.repeat_interleave(heads // kv_heads, 1)

    variants = {
        "sdpa": sdpa,
        "tiled": lambda: attention(query, key, value, causal=True, stats=request),
        "plain": lambda: attention(query, key, value, causal=True),
        "stats": lambda: attention_statistics(query, key, causal=True, stats=request),
    }
    if 4 * heads * length * length <= EAGER_BYTES:
        variants["eager"] = eager
    flex = flex_attention(query, key, value, heads != kv_heads) if length <= LONG else None
    if flex is not None:
        variants["flex"] = flex
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    with torch.inference_mode():
        for name, variant in variants.items():
            if length <= (4096 if name == "eager" else LONG):  # first calls compile or set up threads
                variant()
        for _ in range(rounds):
            for name, variant in variants.items():
                start = time.perf_counter()
                variant()
                seconds[name].append(time.perf_counter() - start)
    return seconds


def flex_attention(query: object, key: object, value: object, grouped: bool) -> object:
    """A call of compiled FlexAttention, or None where this machine cannot compile it."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask
    from torch.nn.attention.flex_attention import flex_attention as flex

    try:
        length = query.shape[2]  # type: ignore[attr-defined]
        mask = create_block_mask(lambda _b, _h, q, k: q >= k, None, None, length, length, device="cpu")
        compiled = torch.compile(flex)

        def call() -> None:
            compiled(query, key, value, block_mask=mask, enable_gqa=grouped)

        with torch.inference_mode():
            call()
    except Exception as error:  # noqa: BLE001 - whatever the compiler raises, the table goes on without it
        print(f"FlexAttention does not run here: {type(error).__name__}", file=sys.stderr)
        return None
    return call


def sgemm_flops() -> float:
    """The best of some square products: the machine's fp32 peak as torch reaches it."""
    import torch

    size = 2048
    left, right = torch.randn(size, size), torch.randn(size, size)
    seconds = []
    for _ in range(12):
        start = time.perf_counter()
        left @ right
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / min(seconds)


def memory_case(shape: tuple[int, ...], length: int) -> int:
    """Print the peak beyond inputs and results, and the seconds, of one call."""
    import torch

    from softlookup.attention import StatsRequest, attention

    heads, kv_heads, dim = shape
    generator = torch.Generator().manual_seed(length)
    query = torch.randn(1, heads, length, dim, generator=generator)
    key, value = (torch.randn(1, kv_heads, length, dim, generator=generator) for _ in range(2))
    edges = torch.linspace(0, length, 501).long().tolist()
    request = StatsRequest(
        lse=True, entropy=True, max_weight=True, argmax=True, sink_mass=4,
        span_mass=list(itertools.pairwise(edges)), span_rows=range(length - 256, length),
    )  # fmt: skip
    small = query[:, :, :64]
    attention(small, key[:, :, :64], value[:, :, :64], causal=True, stats=StatsRequest())  # imports and compiles
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # resets the peak
    before = memory("VmRSS")
    start = time.perf_counter()
    result = attention(query, key, value, causal=True, stats=request)
    seconds = time.perf_counter() - start
    peak = memory("VmHWM")
    stats = result.stats
    tensors = [
        result.output,
        *(getattr(stats, name) for name in ("lse", "entropy", "max_weight", "argmax", "sink_mass", "span_mass")),
    ]
    results = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    print(
        f"({heads},{kv_heads},{dim}) T={length}: {seconds:.1f} s, results {results / 2**20:.0f} MiB, "
        f"peak beyond inputs and results {(peak - before - results) / 2**20:.0f} MiB",
        flush=True,
    )
    return 0


def memory(name: str) -> int:
    """Bytes that /proc/self/status reports."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


if __name__ == "__main__":
    sys.exit(main())
