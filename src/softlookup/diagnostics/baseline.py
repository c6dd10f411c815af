"""What is normal for this very model: ranges of entropy and sink mass per layer and head over healthy runs.

A fixed threshold cannot judge one head: healthy heads of one model have normalised entropies from .03 to .97. So a
head is compared with itself. Two baselines are of one form: the stored one (many documents; for the embedded model it
comes with the package, for others it is saved in the cache) tells a broken model; the one made from the bank's
questions on the same document tells a question that behaves unlike all others, and cannot see a fault that they share.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from softlookup.diagnostics.alerts import Alert
from softlookup.diagnostics.head_statistics import HeadStatistics
from softlookup.errors import ModelError

FloatArray = npt.NDArray[np.float64]

SCHEMA = 1
# a head is out of its range by more than this part of the range's width, and by more than the floor
RANGE_MARGIN = 0.5
RANGE_FLOOR = 0.15
# heads of a layer, as a share, that must be out on the same side before the layer is reported; a single head is
# reported when it is out by a fifth more, but never for a sink that is gone: heads that search the document leave
# their sink when they find something
HEAD_SHARE = 0.34
FAR = 0.2
# healthy runs had more keys; over fewer the first token takes a larger share in every head, and that is no fault
LEAST_KEYS = 180
MEASURES = ("entropy", "normalized_entropy", "first_token")


@dataclass(frozen=True, slots=True)
class HeadRange:
    """Mean, smallest and largest value of healthy runs; each [L, Hq], NaN for a layer that was not seen."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray

    def bounds(self, layer: int) -> tuple[FloatArray, FloatArray]:
        """Below and above which a head of ``layer`` is out: [Hq] each."""
        low, high = self.low[layer], self.high[layer]
        margin = RANGE_MARGIN * (high - low) + RANGE_FLOOR
        return low - margin, high + margin


@dataclass(frozen=True, slots=True)
class Baseline:
    """Ranges over ``runs`` healthy questions; tied to weights and template by their digests.

    ``entropy`` in nats (it grows with the length of the document: for reading, not for alerts).
    """

    model_sha256: str
    template_sha256: str
    runs: int
    entropy: HeadRange
    normalized_entropy: HeadRange
    first_token: HeadRange

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, heads)."""
        layers, heads = self.entropy.mean.shape
        return int(layers), int(heads)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, three digits after the point: the ranges are wider than that."""
        return {
            "schema": SCHEMA,
            "model_sha256": self.model_sha256,
            "template_sha256": self.template_sha256,
            "runs": self.runs,
            **{
                name: {part: _listed(getattr(getattr(self, name), part)) for part in ("mean", "low", "high")}
                for name in MEASURES
            },
        }


def baseline_of(
    runs: Sequence[Mapping[int, HeadStatistics]], *, model_sha256: str = "", template_sha256: str = ""
) -> Baseline:
    """Ranges over ``runs``, each the layers of one question. Raises ``ValueError`` without a finite run."""
    usable = [run for run in runs if run and all(layer.finite for layer in run.values())]
    if not usable:
        raise ValueError("a baseline needs at least one run with finite statistics")
    layers = max(max(run) for run in usable) + 1
    heads = len(next(iter(usable[0].values())).entropy)
    ranges = {}
    for name in MEASURES:
        values = np.full((len(usable), layers, heads), np.nan)
        for index, run in enumerate(usable):
            for number, statistics in run.items():
                values[index, number] = getattr(statistics, name)
        seen = ~np.isnan(values)
        count = seen.sum(0)
        some = count > 0
        ranges[name] = HeadRange(
            np.where(some, np.where(seen, values, 0.0).sum(0) / np.maximum(count, 1), np.nan),
            np.where(some, np.where(seen, values, np.inf).min(0), np.nan),
            np.where(some, np.where(seen, values, -np.inf).max(0), np.nan),
        )
    return Baseline(model_sha256, template_sha256, len(usable), **ranges)


def merged(first: Baseline, second: Baseline) -> Baseline:
    """The baseline of both sets of runs. Raises ``ModelError`` for baselines of different models or templates."""
    same = (first.model_sha256, first.template_sha256) == (second.model_sha256, second.template_sha256)
    if not same or first.shape != second.shape:
        raise ModelError("the baselines belong to different models", "delete the stored one and make it again")
    share = first.runs / (first.runs + second.runs)
    ranges = {}
    for name in MEASURES:
        one, other = getattr(first, name), getattr(second, name)
        ranges[name] = HeadRange(
            share * one.mean + (1 - share) * other.mean,
            np.fmin(one.low, other.low),
            np.fmax(one.high, other.high),
        )
    return Baseline(first.model_sha256, first.template_sha256, first.runs + second.runs, **ranges)


def baseline_from(data: Mapping[str, Any], where: str) -> Baseline:
    """The baseline that :meth:`Baseline.to_dict` wrote. Raises ``ModelError`` for anything else."""
    try:
        ranges = {
            name: HeadRange(*(np.array(data[name][part], dtype=np.float64) for part in ("mean", "low", "high")))
            for name in MEASURES
        }
        result = Baseline(str(data["model_sha256"]), str(data["template_sha256"]), int(data["runs"]), **ranges)
        shapes = {getattr(getattr(result, name), part).shape for name in MEASURES for part in ("mean", "low", "high")}
        sound = data["schema"] == SCHEMA and len(shapes) == 1 and len(next(iter(shapes))) == 2
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"the baseline {where} cannot be read ({error})", "delete it and make it again") from error
    if not sound:
        raise ModelError(f"the baseline {where} is not of schema {SCHEMA}", "delete it and make it again")
    return result


def load_baseline(model_sha256: str, template_sha256: str) -> Baseline | None:
    """The stored baseline of exactly this model under exactly this template; None when there is none."""
    name = _file_name(model_sha256, template_sha256)
    # the cache first: what was added to the package's own ranges is kept there
    for place in (baselines_directory() / name, resources.files("softlookup.diagnostics") / "baselines" / name):
        if not place.is_file():
            continue
        found = _read(str(place), place.read_text("utf-8"))
        if (found.model_sha256, found.template_sha256) == (model_sha256, template_sha256):
            return found
        raise ModelError(f"the baseline {place} belongs to another model", "delete it and make it again")
    return None


def save_baseline(baseline: Baseline, folder: Path | None = None) -> Path:
    """Write ``baseline`` into the cache (or ``folder``) in one step. Raises ``ModelError`` when it cannot."""
    folder = baselines_directory() if folder is None else folder
    path = folder / _file_name(baseline.model_sha256, baseline.template_sha256)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(baseline.to_dict(), separators=(",", ":")) + "\n", "utf-8")
        draft.replace(path)
    except OSError as error:
        raise ModelError(f"the baseline {path} cannot be written ({error.strerror})", "free some space") from error
    return path


def baselines_directory() -> Path:
    """Where baselines of models that are not the embedded one are kept; not created."""
    from softlookup.runtime.directories import cache_directory

    return cache_directory() / "baselines"


def baseline_alerts(baseline: Baseline, layers: Mapping[int, HeadStatistics]) -> Iterator[Alert]:
    """Layers of which a third of the heads left their own range on the same side, or one head left it far behind.

    The worst head is named. Nothing is said of a text that is shorter than those of the baseline.
    """
    if not _long_enough(layers):
        return
    for number, statistics in sorted(layers.items()):
        known = number < baseline.shape[0] and len(statistics.entropy) == baseline.shape[1]
        if not known or not statistics.finite:
            continue
        pairs = (
            ("head_entropy_low", "head_entropy_high", baseline.normalized_entropy, statistics.normalized_entropy),
            ("head_sink_low", "head_sink_high", baseline.first_token, statistics.first_token),
        )
        for below, above, ranges, values in pairs:
            low, high = ranges.bounds(number)
            yield from _beyond(below, number, values, low, -1)
            yield from _beyond(above, number, values, high, +1)


def _long_enough(layers: Mapping[int, HeadStatistics]) -> bool:
    """By the layer that sees most: a sliding window hides the length."""
    return max((statistics.visible_keys for statistics in layers.values()), default=0.0) >= LEAST_KEYS


def outside_share(baseline: Baseline, layers: Mapping[int, HeadStatistics], measure: str) -> tuple[float, float]:
    """Shares of all heads whose ``measure`` is below and above their own range; 0 for a text that is too short."""
    below = above = total = 0
    if not _long_enough(layers):
        return 0.0, 0.0
    for number, statistics in layers.items():
        if number >= baseline.shape[0] or len(statistics.entropy) != baseline.shape[1] or not statistics.finite:
            continue
        low, high = getattr(baseline, measure).bounds(number)
        values = getattr(statistics, measure)
        below += int((values < low).sum())
        above += int((values > high).sum())
        total += len(values)
    return (below / total, above / total) if total else (0.0, 0.0)


def _beyond(monitor: str, layer: int, values: FloatArray, limits: FloatArray, side: int) -> Iterator[Alert]:
    excess = np.nan_to_num(side * (values - limits), nan=-1.0)
    out = int((excess > 0).sum())
    worst = int(excess.argmax())
    alone = excess[worst] > FAR and monitor != "head_sink_low"
    if out and (out >= HEAD_SHARE * len(values) or alone):
        yield Alert(monitor, float(values[worst]), float(limits[worst]), layer, worst, heads=out)


def _file_name(model_sha256: str, template_sha256: str) -> str:
    return f"{model_sha256[:16]}-{template_sha256[:16]}.json"


@lru_cache(maxsize=8)
def _read(where: str, text: str) -> Baseline:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ModelError(f"the baseline {where} is no JSON ({error})", "delete it and make it again") from error
    if not isinstance(data, dict):
        raise ModelError(f"the baseline {where} is no JSON object", "delete it and make it again")
    return baseline_from(data, where)


def _listed(values: FloatArray) -> list[list[float | None]]:
    return [[None if np.isnan(value) else round(float(value), 3) for value in row] for row in values]
