"""How well `softlookup plan --calibrate` predicts: seconds predicted and measured, for lengths that were not timed.

    python benchmarks/plan_accuracy.py [--model PATH] [--no-wide] [--repeats 3] [--json FILE]

Each model is calibrated as on the command line (nothing is stored) and then read at 512 to 8,000 tokens, decoded and
observed behind them; medians against the prediction. Two models: the embedded one (30 narrow layers, attention is half
of the work at 6,144 tokens) and one with 2 layers of width 2048 and random weights, made here from a configuration. The
second is also predicted with the rates of the first, which is what `plan` does for a model that was never timed.
Goal: no error above 15 % with a model's own rates. Numbers mean nothing while other programs run.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PREFILL, DECODE, OBSERVE = (512, 1024, 2048, 4096, 8000), (1024, 4096, 8000), (512, 1024, 2048, 4096, 8000)
STEPS, ROWS = 24, 160
GOAL = 0.15


@dataclass(frozen=True)
class Row:
    """One figure: ``low`` and ``high`` limit the prediction."""

    model: str
    rates: str
    phase: str
    tokens: int
    predicted: float
    low: float
    high: float
    measured: float

    @property
    def error(self) -> float:
        """Relative to what was measured."""
        return self.predicted / self.measured - 1

    @property
    def inside(self) -> bool:
        """Whether the interval holds what was measured."""
        return self.low <= self.measured <= self.high


def wide_folder(folder: Path) -> Path:
    """A folder with a Llama of 2 layers, 2048 wide, random, stored in bfloat16, and a byte tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={text: number for number, text in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="!", bos_token="!").save_pretrained(folder)
    config = LlamaConfig(
        hidden_size=2048, intermediate_size=8192, num_hidden_layers=2, num_attention_heads=16, num_key_value_heads=8,
        head_dim=128, vocab_size=len(alphabet), max_position_embeddings=16384, tie_word_embeddings=False,
        bos_token_id=0, eos_token_id=0, pad_token_id=0,
    )  # fmt: skip
    torch.manual_seed(5)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


def timed_rows(bench: Any, repeats: int, window: int) -> Iterator[tuple[str, int, float]]:
    """(phase, tokens, median seconds) at every length that the window holds."""
    for tokens in sorted({*PREFILL, *DECODE, *OBSERVE}):
        if tokens + ROWS > window:
            continue
        yield "prefill", tokens, statistics.median(bench.prefill(tokens)[0] for _ in range(repeats))
        if tokens in DECODE:
            yield "decode", tokens + STEPS // 2, statistics.median(bench.decode(STEPS)[0] for _ in range(repeats + 2))
        if tokens in OBSERVE:
            yield "observe", tokens, statistics.median(bench.observe(ROWS) for _ in range(repeats))
        print(f"  {tokens} tokens timed", file=sys.stderr, flush=True)


def own_rows(name: str, shape: Any, calibration: Any, timings: list[tuple[str, int, float]]) -> Iterator[Row]:
    """Predictions with the model's own rates."""
    from softlookup.cost.timing import prediction

    ways = {
        "prefill": lambda tokens: prediction.predicted_prefill(calibration, shape, tokens),
        "decode": lambda tokens: prediction.predicted_token(calibration, shape, tokens),
        "observe": lambda tokens: prediction.predicted_observed(calibration, shape, ROWS, tokens),
    }
    for phase, tokens, seconds in timings:
        value = ways[phase](tokens)
        width = 1 + prediction.interval_width(calibration, phase, tokens)
        yield Row(name, "own", phase, tokens, value, value / width, value * width, seconds)


def borrowed_rows(name: str, folder: Path, calibration: Any, timings: list[tuple[str, int, float]]) -> Iterator[Row]:
    """Predictions of `softlookup plan` with the rates of another model."""
    from softlookup.cost.kv_cache import KVDtypes
    from softlookup.cost.model.model_source import find_model
    from softlookup.cost.plan.estimate import estimate
    from softlookup.cost.plan.request import PlanRequest
    from softlookup.cost.timing.calibrated import measured_device, measured_efficiency

    model, dtype = find_model(str(folder)), calibration.key.kv_dtype
    for phase, tokens, seconds in timings:
        if phase == "observe":
            continue
        request = PlanRequest(
            model, tokens, measured_device(calibration), answer_tokens=1, kv=KVDtypes(dtype, dtype),
            measured=measured_efficiency(calibration, model.shape, same_model=False),
        )  # fmt: skip
        figures = estimate(request).figures
        figure, unit = (figures["prefill_seconds"], 1.0) if phase == "prefill" else (
            figures["decode_ms_per_token"], 1e-3)  # fmt: skip
        yield Row(name, "borrowed", phase, tokens, unit * figure.value, unit * figure.low, unit * figure.high, seconds)


def calibrated(model: str | Path | None, repeats: int) -> tuple[str, Any, Any, list[tuple[str, int, float]]]:
    """Name, shape, calibration and timings of one model."""
    from softlookup.cli.calibrate import calibration_lines
    from softlookup.cost.timing.measuring import measure
    from softlookup.evidence.timed_model import bench_and_subject
    from softlookup.runtime.load import load_model

    loaded = load_model(model)
    print(f"calibrating {loaded.source.name}", file=sys.stderr, flush=True)
    bench, subject = bench_and_subject(loaded, loaded.source.sha256)
    measured = measure(bench, subject)
    for finding in measured.findings:
        print(f"note: {finding}", file=sys.stderr)
    if measured.calibration is None:
        raise SystemExit("the timings cannot be true: close other programs")
    print("\n".join(calibration_lines(measured.calibration)) + "\n")
    timings = list(timed_rows(bench, repeats, loaded.window))
    return loaded.source.name, subject.shape, measured.calibration, timings


def print_table(rows: list[Row]) -> None:
    """One line per figure."""
    print(f"{'model':28}{'rates':10}{'phase':9}{'tokens':>7}{'predicted':>12}{'measured':>12}{'error':>8}  interval")
    for row in rows:
        unit, factor = ("ms", 1e3) if row.phase == "decode" else ("s", 1.0)
        values = (f"{factor * value:.3g} {unit}" for value in (row.predicted, row.measured))
        print(f"{row.model:28}{row.rates:10}{row.phase:9}{row.tokens:>7}" + "".join(f"{v:>12}" for v in values)
              + f"{row.error:>+8.1%}  {'holds' if row.inside else 'missed'}")  # fmt: skip


def main() -> int:
    """Print tables on stdout, progress on stderr; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model")
    parser.add_argument("--no-wide", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    name, shape, calibration, timings = calibrated(options.model, options.repeats)
    rows = list(own_rows(name, shape, calibration, timings))
    if not options.no_wide:
        gc.collect()
        with tempfile.TemporaryDirectory() as scratch:
            folder = wide_folder(Path(scratch) / "2 layers of 2048")
            wide, wide_shape, own, wide_timings = calibrated(folder, options.repeats)
            rows += own_rows(wide, wide_shape, own, wide_timings)
            rows += borrowed_rows(wide, folder, calibration, wide_timings)
    print_table(rows)
    worst = max((row for row in rows if row.rates == "own"), key=lambda row: abs(row.error))
    mean = statistics.mean(abs(row.error) for row in rows if row.rates == "own")
    held = sum(row.inside for row in rows)
    print(f"\nown rates: mean absolute error {mean:.1%}, worst {abs(worst.error):.1%} ({worst.phase} at {worst.tokens} "
          f"tokens, {worst.model}); {held} of {len(rows)} intervals hold")  # fmt: skip
    if options.json:
        record = {"calibration": calibration.to_dict(), "rows": [{**asdict(row), "error": row.error} for row in rows]}
        options.json.write_text(json.dumps(record, indent=1), "utf-8")
    return int(abs(worst.error) > GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
