"""Rung 1: does the program compute what the model is? Row sums, hidden keys, scale, positions, parity, decoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from softlookup.diagnostics.case import Case
from softlookup.diagnostics.diagnosis import Hit, Step, Test
from softlookup.errors import ModelError

if TYPE_CHECKING:
    from softlookup.runtime.parity import Reference
    from softlookup.runtime.prefilled import Prefilled

# tokens of the document in the short prompt; a sliding window is exceeded by it
SHORT_TOKENS = 96
_BEYOND = 48
# tokens of the question that run one at a time
_DECODED = 12
# float32: healthy runs differ from the reference by 1e-6, a suffix that is off by one position by 2e-2
_TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-3}
_COARSE = 6e-2
_HIDDEN_MASS = 1e-6


def implementation_fault(case: Case) -> Step:
    """1: every test of the run; the first that fails names the fault."""
    from softlookup.runtime.kernel_probe import probe_kernel
    from softlookup.runtime.parity import shortened, watched_positions

    prefilled = case.reading.prefilled
    tolerance = _TOLERANCE.get(case.loaded.model.dtype, _COARSE)
    tests: list[Test] = []
    with watched_positions(case.loaded.model) as gaps:
        short = shortened(prefilled, _short_tokens(case))
        probe = probe_kernel(short, case.suffix)
    tests += [
        Test("1", "row_sums", probe.row_sum_error, tolerance, probe.row_sum_error <= tolerance,
             "largest distance of a row's weights from one"),
        Test("1", "hidden_mass", probe.hidden_mass, _HIDDEN_MASS, probe.hidden_mass <= _HIDDEN_MASS,
             f"largest weight on keys of the future or outside the window (layer {probe.hidden_layer})"),
        Test("1", "position_gap", float(max(gaps, default=0)), 0.0, not any(gaps),
             "largest distance of a position from its column in the sequence"),
    ]  # fmt: skip
    reference = _reference(case)
    if reference is None:
        tests.append(Test("1", "parity", None, None, None, "not taken: no reference can be built for this model"))
    else:
        tests += _parity(case, short, reference, probe.scales, tolerance)
    failed = next((test for test in tests if test.passed is False), None)
    if failed is None:
        return Step(tuple(tests))
    value = "-" if failed.value is None else f"{failed.value:.3g}"
    limit = "-" if failed.threshold is None else f"{failed.threshold:.3g}"
    facts = {"test": failed.name, "value": value, "threshold": limit, "detail": failed.detail}
    return Step(tuple(tests), Hit("implementation_fault", failed.name, facts))


def _short_tokens(case: Case) -> int:
    window = getattr(case.loaded.model.config.get_text_config(), "sliding_window", None)
    return SHORT_TOKENS if window is None else max(SHORT_TOKENS, int(window) + _BEYOND)


def _reference(case: Case) -> Reference | None:
    from softlookup.runtime.parity import Reference

    try:
        return Reference(case.loaded)
    except ModelError:
        return None


def _parity(
    case: Case, short: Prefilled, reference: Reference, scales: dict[int, float | None], tolerance: float
) -> list[Test]:
    from softlookup.runtime.parity import decoded_logits, keys_difference, relative_difference, suffix_logits

    plain = reference.run((*short.prefix.ids, *case.suffix.ids))
    count = short.prefix.document[1]
    off = [abs((scales[layer] or 1.0) / (scale or 1.0) - 1) for layer, scale in enumerate(plain.scales)]
    logits = suffix_logits(short, case.suffix)
    measured = [
        ("score_scale", max(off), f"the scale of the scores against the model's own, {plain.scales[0]}"),
        ("parity", relative_difference(logits, plain.logits),
         f"logits of the cached path against a plain pass over {len(short.prefix) + len(case.suffix)} tokens"),
        ("cached_keys", keys_difference(case.reading.prefilled, plain, count),
         f"the first {count} keys of the document's own cache against those of the plain pass"),
        ("prefill_decode", relative_difference(decoded_logits(short, case.suffix, _DECODED), logits),
         f"logits when the last {_DECODED} tokens come one at a time"),
    ]  # fmt: skip
    return [Test("1", name, value, tolerance, value <= tolerance, detail) for name, value, detail in measured]
