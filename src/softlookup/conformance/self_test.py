"""The exam of the checker: every planted bug must be found and named, every correct variant must stay silent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from softlookup.conformance.check import check_fn
from softlookup.conformance.models.check import check_model
from softlookup.conformance.onnx_cases.tell_apart import PublishedSuite, Told
from softlookup.conformance.planted.corpus import Plant, controls, plants
from softlookup.conformance.planted.plain import Plain
from softlookup.conformance.planted.rotary import PARTIAL_CONFIG, SCALED_CONFIG, Rotary
from softlookup.conformance.planted.toy import VOCABULARY, recorded
from softlookup.conformance.planted.toy_corpus import ToyPlant, toy_controls, toy_plants
from softlookup.conformance.report import Report
from softlookup.conformance.rope import check_rope


@dataclass(frozen=True)
class Row:
    """One planted bug: what was found, and whether allclose on square random input sees it.

    ``onnx``: whether the published cases of the ONNX operator tell it from the correct function it was made from.
    """

    id: str
    expected: str
    found: tuple[str, ...]
    detected: bool
    named: bool
    allclose: bool
    reason: str = ""
    onnx: Told = "n/a"


@dataclass(frozen=True)
class Scoreboard:
    """``named``: the one finding has the expected ``area.item``. ``total`` counts the bugs not covered as well.

    ``onnx_cases``: how many published cases there were; 0 where ``onnx_missing`` says why.
    """

    rows: tuple[Row, ...]
    controls: tuple[Row, ...]
    onnx_cases: int = 0
    onnx_missing: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        covered = [row for row in self.rows if not row.reason]
        return {
            "total": len(self.rows),
            "covered": len(covered),
            "detected": sum(row.detected for row in self.rows),
            "named": sum(row.named for row in self.rows),
            "false_alarms": sum(row.detected for row in self.controls),
            "controls": len(self.controls),
            "allclose_detected": sum(row.allclose for row in self.rows),
            "onnx": self._onnx(),
            "rows": [asdict(row) for row in (*self.rows, *self.controls)],
        }

    def _onnx(self) -> dict[str, Any]:
        asked = [row for row in self.rows if row.onnx in ("sees", "blind")]
        return {
            "cases": self.onnx_cases,
            "asked": len(asked),
            "detected": sum(row.onnx == "sees" for row in asked),
            "blind": [row.id for row in asked if row.onnx == "blind"],
            "false_alarms": sum(row.onnx == "sees" for row in self.controls),
            "missing": self.onnx_missing,
        }

    @property
    def passed(self) -> bool:
        """Every covered bug found and named, no false alarm."""
        return all(row.named or row.reason for row in self.rows) and not any(row.detected for row in self.controls)


def self_test(progress: Callable[[Row], None] | None = None) -> Scoreboard:
    """Run all planted bugs and controls; ``progress`` is called with every row."""
    wrong: list[Plant | ToyPlant] = [*plants(), *toy_plants()]
    right: list[Plant | ToyPlant] = [*controls(), *toy_controls()]
    suite = PublishedSuite()
    rows = [_examined(plant, progress, suite) for plant in wrong]
    silent = [_examined(plant, progress, suite) for plant in right]
    return Scoreboard(tuple(rows), tuple(silent), len(suite.cases), suite.missing)


def _examined(
    plant: Plant | ToyPlant, progress: Callable[[Row], None] | None, suite: PublishedSuite | None = None
) -> Row:
    told: Told = "n/a"
    if isinstance(plant, ToyPlant):
        report: Report = check_model(plant.decoder, capture=recorded, name=plant.id)
        usual = _logits_differ(plant)
    else:
        report = (check_rope if plant.rope else check_fn)(plant.function, plant.contract, name=plant.id)
        usual = _allclose(plant)
        if suite is not None and plant.twin is not None:
            told = suite.tells(plant.function, plant.twin, plant.contract)
    found = tuple(finding.code for finding in report.serious)
    keys = [finding.key for finding in report.serious]
    named = bool(keys) and keys == [plant.expected]
    row = Row(plant.id, plant.expected, found, bool(found), named, usual, onnx=told)
    if progress is not None:
        progress(row)
    return row


def _logits_differ(plant: ToyPlant) -> bool:
    """Whether the usual test of a model fails: the logits of one pass beside those of the right one."""
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, (2, 16))
    return not np.allclose(plant.decoder.forward(tokens), plant.right.forward(tokens), rtol=1e-3, atol=1e-3)


def _allclose(plant: Plant) -> bool:
    """Whether the usual unit test fails: square random input, as many key heads as query heads, T = 64, D = 64."""
    generator = np.random.default_rng(0)
    if plant.rope:
        x, positions = generator.standard_normal((2, 4, 64, 8)).astype(np.float32), np.arange(64)
        factor = 4.0 if plant.contract is SCALED_CONFIG else 1.0
        right = Rotary(factor=factor, rotated=4 if plant.contract is PARTIAL_CONFIG else None)
        return not np.allclose(plant.function(x, positions), right(x, positions), rtol=1e-3, atol=1e-3)
    q, k, v = (generator.standard_normal((2, 4, 64, 64)).astype(np.float32) for _ in range(3))
    return any(not _agrees(plant.function, (q, k, v), causal=causal) for causal in (True, False))


def _agrees(function: Callable[..., Any], tensors: tuple[Any, ...], *, causal: bool) -> bool:
    given: list[Any] = [tensor.copy() for tensor in tensors]
    asked: dict[str, Any] = {"causal": True} if causal else {}
    want = Plain()(*tensors, **asked)
    try:
        got = function(*given, **asked)
    except (TypeError, AttributeError):  # written for torch
        import torch

        got = function(*(torch.from_numpy(tensor) for tensor in given), **asked).numpy()
    return got.shape == want.shape and bool(np.allclose(got, want, rtol=1e-3, atol=1e-3))
