"""What observing every layer costs: prefill of the embedded model with and without statistics, side by side.

    python benchmarks/observation.py [--lengths 4096 8192] [--rounds 3] [--threads 2]

Every round prefills the same tokens once per variant; ratios are of medians over plain SDPA prefill. "all rows": lse,
entropy, max weight and sink mass of every query in every layer, reduced per head; "question": the last 40 rows
only. "tiled" variants compute the output by softlookup as well. Nothing else may run meanwhile.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

QUESTION_ROWS = 40


def main() -> int:
    """Print one line per length and variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", nargs="+", type=int, default=[4096, 8192])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    import torch

    from softlookup import load_model

    torch.set_num_threads(options.threads)
    model = load_model().model
    for length in options.lengths:
        ids = torch.randint(100, 40_000, (1, length), generator=torch.Generator().manual_seed(length))
        seconds = measure(model, ids, options.rounds)
        plain = statistics.median(seconds["sdpa"])
        for name, taken in seconds.items():
            median = statistics.median(taken)
            print(f"T={length} {name:28} {median:7.2f} s  {median / plain:.3f} of plain SDPA", flush=True)
    return 0


def measure(model: Any, ids: Any, rounds: int) -> dict[str, list[float]]:
    """Seconds of every variant, round by round."""
    import torch

    from softlookup import observe, tiled_attention
    from softlookup.attention import StatsRequest

    request = StatsRequest(lse=True, entropy=True, max_weight=True, argmax=False, sink_mass=4)
    question = range(ids.shape[1] - QUESTION_ROWS, ids.shape[1])
    nothing = contextlib.nullcontext
    variants: dict[str, tuple[Callable[[], AbstractContextManager[Any]], Callable[[], AbstractContextManager[Any]]]] = {
        "sdpa": (nothing, nothing),
        "sdpa, all rows": (nothing, lambda: observe(model, request)),
        "sdpa, question": (nothing, lambda: observe(model, request, rows=question)),
        "tiled": (lambda: tiled_attention(model), nothing),
        "tiled, all rows": (lambda: tiled_attention(model), lambda: observe(model, request)),
        "tiled, question": (lambda: tiled_attention(model), lambda: observe(model, request, rows=question)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    with torch.inference_mode():
        for attend, watch in variants.values():  # compiles
            with attend(), watch():
                model(ids[:, :64], logits_to_keep=1)
        for _ in range(rounds):
            for name, (attend, watch) in variants.items():
                start = time.perf_counter()
                with attend(), watch():
                    model(ids, logits_to_keep=1, use_cache=True)
                seconds[name].append(time.perf_counter() - start)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
