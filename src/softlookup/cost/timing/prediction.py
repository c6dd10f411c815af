"""Seconds that a calibration predicts for a prefill, a decoded token, observed rows and a whole question.

The same formulas are fitted in ``measuring`` and inverted in ``implied``. For the model that was timed; ``calibrated``
applies the rates to other models. No measuring here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from softlookup.cost.figures import Figure
from softlookup.cost.flops import Flops, model_flops
from softlookup.cost.kv_cache import KVDtypes, sequence_bytes
from softlookup.cost.model.shapes import ModelShape
from softlookup.cost.timing.calibration import Calibration, Phase

# rows of one observed pass, as runtime/prefilled.py packs them
PACK_ROWS = 768
# what `softlookup ask` says beside its measured seconds
LABELS = {"prefill": "prefill", "calibrate": "question bank", "question": "question", "answer": "answer"}
# a run this many times slower than the upper limit was not the run that was timed
_FAR_BEYOND = 3.0


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """What one question makes the model do: read ``prefix`` tokens, then rows of the bank, the question, the answer.

    A part that an earlier question or the disk has paid for is 0.
    """

    prefix: int
    read: bool
    bank_rows: int
    question_rows: int
    answer_tokens: int


def prefill_work(shape: ModelShape, tokens: int) -> Flops:
    """FLOPs of reading a document: no LM head runs."""
    return model_flops(shape, tokens, logits=0)


def observed_work(shape: ModelShape, rows: int, tokens: int, layers: int) -> tuple[float, float]:
    """(linear, attention) FLOPs of ``rows`` behind ``tokens`` in a pass that ends inside the last of ``layers``.

    Of that layer only queries, keys and values are made; its attention stands for what the evidence computes itself.
    """
    whole, alone = model_flops(shape, rows, tokens, logits=0), model_flops(shape, rows, tokens + rows, logits=0)
    # under a mask every row is computed against every row of its pass
    attention = (whole.attention + alone.attention) / 2
    return observed_share(shape, layers) * whole.linear, attention * layers / len(shape.layers)


def observed_share(shape: ModelShape, layers: int) -> float:
    """Share of the layers' weights that such a pass multiplies with."""
    *full, last = shape.layers[:layers]
    inputs = last.query_heads * last.key_dim + last.kv_heads * (last.key_dim + last.value_dim)
    part = inputs / max(1, inputs + last.query_heads * last.value_dim) * last.projection_weights
    used = sum(layer.projection_weights + layer.ffn_weights for layer in full) + part
    return used / max(1, sum(layer.projection_weights + layer.ffn_weights for layer in shape.layers))


def predicted_prefill(calibration: Calibration, shape: ModelShape, tokens: int) -> float:
    """Seconds of a prefill: c + F_linear/R1 + F_attention/R2."""
    work = prefill_work(shape, tokens)
    rates = calibration.linear_rate, calibration.attention_rate
    return calibration.fixed_seconds + work.linear / rates[0] + work.attention / rates[1]


def cache_bytes(shape: ModelShape, tokens: int, kv_dtype: str) -> int:
    """Bytes of keys and values that one decoded token reads behind ``tokens``."""
    return sequence_bytes(shape, tokens, KVDtypes(kv_dtype, kv_dtype))


def predicted_token(calibration: Calibration, shape: ModelShape, tokens: int) -> float:
    """Weights/B_weights + KV/B_kv: seconds of one decoded token behind ``tokens``."""
    kv = cache_bytes(shape, tokens, calibration.key.kv_dtype)
    return calibration.weight_bytes_read / calibration.weight_bandwidth + kv / calibration.kv_bandwidth


def predicted_observed(calibration: Calibration, shape: ModelShape, rows: int, tokens: int) -> float:
    """Seconds of ``rows`` observed rows behind ``tokens``, in passes of at most 768."""
    if not rows:
        return 0.0
    layers = calibration.observed_layers
    linear, attention = observed_work(shape, min(rows, PACK_ROWS), tokens, layers)
    fixed = calibration.fixed_seconds * observed_share(shape, layers)
    one = linear / calibration.observe_linear_rate + attention / calibration.observe_attention_rate
    return math.ceil(rows / PACK_ROWS) * fixed + one * rows / min(rows, PACK_ROWS)


def predicted_seconds(calibration: Calibration, shape: ModelShape, run: QuestionRun) -> dict[str, Figure]:
    """Seconds of the phases of a question, by the names of ``seconds`` in an answer's JSON."""
    token = predicted_token(calibration, shape, run.prefix + run.question_rows + run.answer_tokens // 2)
    # the question's own rows run through all layers, whatever the heads that are read
    work = model_flops(shape, run.question_rows, run.prefix)
    question = calibration.fixed_seconds + work.linear / calibration.observe_linear_rate
    question += work.attention / calibration.observe_attention_rate
    answer = calibration.start_seconds + run.answer_tokens * token if run.answer_tokens else 0.0
    return {
        "prefill": _figure(
            calibration, "prefill", predicted_prefill(calibration, shape, run.prefix) if run.read else 0.0, run.prefix
        ),
        "calibrate": _figure(
            calibration, "observe", predicted_observed(calibration, shape, run.bank_rows, run.prefix), run.prefix
        ),
        "question": _figure(calibration, "observe", question, run.prefix),
        "answer": _figure(calibration, "decode", answer, run.prefix),
    }


def interval_width(calibration: Calibration, phase: Phase, tokens: int) -> float:
    """Relative half-width: that of the timed lengths, and 5 % more with every doubling beyond the longest."""
    beyond = math.ceil(math.log2(max(1.0, tokens / calibration.longest(phase))))
    return calibration.width(phase) + 0.05 * beyond


def _figure(calibration: Calibration, phase: Phase, value: float, tokens: int) -> Figure:
    width = 1 + interval_width(calibration, phase, tokens)
    source = f"measured rates of {calibration.date[:10]}"
    return Figure(value, "s", "measured", value / width, value * width, source=source)


def compare(predicted: Figure, measured: float, phase: str = "prefill") -> str:
    """One line: what happened beside what was predicted, and a warning when the two do not go together.

    >>> compare(Figure(10.3, "s", "measured", 9.8, 10.8, source="measured rates of 2026-05-02"), 9.84)
    'prefill 9.84 s, predicted 10.3 s (measured rates of 2026-05-02)'
    """
    source = predicted.source or f"a {predicted.kind} figure"
    line = f"{LABELS.get(phase, phase)} {measured:.3g} s, predicted {predicted.value:.3g} s ({source})"
    if not math.isfinite(measured) or measured < 0:
        raise ValueError(f"measured seconds must be finite and not negative, got {measured}")
    if predicted.low <= measured <= predicted.high:
        return line
    line += f"; outside {predicted.low:.3g} to {predicted.high:.3g} s"
    if measured > _FAR_BEYOND * predicted.high:
        line += ": the machine was busy or throttled, or the calibration no longer holds"
    elif predicted.low > _FAR_BEYOND * measured:
        line += ": too fast to be the same work; was the document read in full?"
    return line


def compare_all(predicted: Mapping[str, Figure], measured: Mapping[str, float]) -> list[str]:
    """A line for every phase of ``predicted`` that took time."""
    return [
        compare(figure, measured[phase], phase)
        for phase, figure in predicted.items()
        if figure.value > 0 and measured.get(phase, 0.0) > 0
    ]
