"""Sums up one layer's calls: reductions over all rows, statistics of chosen ones; nothing of size Tq x Tk."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from softlookup.attention.stats import AttentionStats, StatsRequest
from softlookup.runtime.observation import MAXIMA, REDUCED, LayerObservation, Reduction
from softlookup.runtime.observed_rows import ObservedRows, joined, observed_rows

if TYPE_CHECKING:
    from softlookup.runtime.attention_hook import LayerCall
    from softlookup.runtime.visibility import VisibilityReader

Runs = tuple[tuple[int, int], ...]


@dataclass(slots=True, eq=False)
class _Running:
    """Sum, minimum, maximum and count per head, float64, of the values seen so far."""

    total: torch.Tensor
    minimum: torch.Tensor
    maximum: torch.Tensor
    count: torch.Tensor

    @classmethod
    def of(cls, values: torch.Tensor, live: torch.Tensor) -> _Running:
        """Over [B, Hq, rows], leaving out NaN and rows that are not ``live``."""
        defined = live & ~torch.isnan(values)
        exact = values.double()
        return cls(
            torch.where(defined, exact, 0.0).sum((0, 2)),
            torch.where(defined, exact, torch.inf).amin((0, 2)),
            torch.where(defined, exact, -torch.inf).amax((0, 2)),
            defined.sum((0, 2)),
        )

    def plus(self, other: _Running) -> _Running:
        """Both sets of rows."""
        return _Running(
            self.total + other.total,
            torch.minimum(self.minimum, other.minimum),
            torch.maximum(self.maximum, other.maximum),
            self.count + other.count,
        )

    def result(self) -> Reduction:
        """On the CPU."""
        total, low, high, count = (t.cpu() for t in (self.total, self.minimum, self.maximum, self.count))
        some = count > 0
        return Reduction(total / count, torch.where(some, low, torch.nan), torch.where(some, high, torch.nan), count)


@dataclass(slots=True, eq=False)
class LayerCollector:
    """Takes the calls of one layer in the order of the sequence. ``runs``: the chosen rows, None for none."""

    request: StatsRequest
    runs: Runs | None
    reductions: bool
    _window: int | None = None
    _running: dict[str, _Running] = field(default_factory=dict)
    _rows: list[AttentionStats] = field(default_factory=list)
    _positions: list[int] = field(default_factory=list)
    _key_mass: torch.Tensor | None = None
    _columns: int = 0
    _live: int = 0
    _padded: int = 0
    _empty: int = 0

    def add(self, call: LayerCall, reader: VisibilityReader) -> None:
        """Take one call of the layer."""
        self._window = call.arguments.get("sliding_window")
        length = call.query.shape[-2]
        if self.reductions:
            # argmax stays where the chosen rows need it: one kernel is compiled for both
            argmax = self.request.argmax and bool(self.runs)
            request = replace(self.request, argmax=argmax, top_k=0, span_mass=None)
            found = observed_rows(call, reader.read(call, 0, length), 0, length, request)
            self._reduce(found)
            self._count(found, call)
        for first, stop in _within(self.runs or (), call.q_offset, call.q_offset + length):
            start, end = first - call.q_offset, stop - call.q_offset
            request = replace(self.request, key_mass=False) if self.reductions else self.request
            found = observed_rows(call, reader.read(call, start, end), start, end, request)
            self._rows.append(found.stats)
            self._positions.extend(range(first, stop))
            if not self.reductions:
                self._count(found, call)

    def _reduce(self, found: ObservedRows) -> None:
        live = found.stats.visible_keys > 0
        for name in (*REDUCED, *MAXIMA):
            values = getattr(found.stats, name)
            if values is not None:
                running = _Running.of(values, live)
                before = self._running.get(name)
                self._running[name] = running if before is None else before.plus(running)

    def _count(self, found: ObservedRows, call: LayerCall) -> None:
        empty = (found.stats.visible_keys == 0).all(1)
        padded = torch.zeros_like(empty) if found.padded is None else found.padded
        self._padded += int(padded.sum())
        self._empty += int((empty & ~padded).sum())
        self._live += int((~empty & ~padded).sum())
        if found.key_mass is not None:
            self._add_key_mass(found.key_mass, call.kv_offset)

    def _add_key_mass(self, mass: torch.Tensor, first: int) -> None:
        held = 0 if self._key_mass is None else self._key_mass.shape[-1]
        self._columns = max(self._columns, first + mass.shape[-1])
        if self._columns > held:
            # with room to spare: decoding adds a column a step
            grown = mass.new_zeros(*mass.shape[:2], self._columns + self._columns // 4)
            if self._key_mass is not None:
                grown[..., :held] = self._key_mass
            self._key_mass = grown
        if self._key_mass is not None:
            self._key_mass[..., first : first + mass.shape[-1]] += mass

    def result(self, layer: int) -> LayerObservation:
        """What was found so far, under the number ``layer``."""
        found: dict[str, Any] = {name: running.result() for name, running in self._running.items()}
        found |= {name: found[name].maximum for name in MAXIMA if name in found}
        return LayerObservation(
            layer=layer,
            sliding_window=self._window,
            live_rows=self._live,
            padded_rows=self._padded,
            empty_rows=self._empty,
            key_mass=None if self._key_mass is None else self._key_mass[..., : self._columns].cpu(),
            rows=joined(self._rows, dim=2).to("cpu") if self._rows else None,
            row_positions=tuple(self._positions),
            **found,
        )


def _within(runs: Runs, first: int, stop: int) -> Runs:
    """The parts of ``runs`` inside first..stop-1."""
    parts = ((max(start, first), min(end, stop)) for start, end in runs)
    return tuple((start, end) for start, end in parts if start < end)
