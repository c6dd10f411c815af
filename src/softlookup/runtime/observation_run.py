"""Gathers what the attention calls of one block show, layer by layer; decides nothing about what to compute."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from softlookup.errors import UsageError
from softlookup.runtime.eager_check import check_weights
from softlookup.runtime.layer_collector import LayerCollector, Runs
from softlookup.runtime.observation import LayerObservation, Observation
from softlookup.runtime.visibility import VisibilityReader

if TYPE_CHECKING:
    from softlookup.attention.stats import StatsRequest
    from softlookup.runtime.attention_hook import LayerCall


class ObservationRun:
    """What one block has seen so far; made by :func:`softlookup.observe`, readable inside the block and after it."""

    def __init__(self, model: Any, request: StatsRequest, runs: Runs | None, *, reductions: bool) -> None:
        self._model = type(model).__name__
        self._request = request
        self._runs = runs
        self._reductions = reductions
        self._implementation = ""
        self._batch = 0
        self._start = 0
        self._next: dict[int, int] = {}
        self._collectors: dict[int, LayerCollector] = {}
        self._results: dict[int, LayerObservation] = {}
        self._reader = VisibilityReader()

    @property
    def layers(self) -> Mapping[int, LayerObservation]:
        """What every layer that ran has shown so far, by its number from 0."""
        for number in sorted(self._collectors):
            if number not in self._results:
                self._results[number] = self._collectors[number].result(number)
        return MappingProxyType({number: self._results[number] for number in sorted(self._results)})

    @property
    def result(self) -> Observation:
        """All of it, as of now."""
        stop = max(self._next.values(), default=0)
        return Observation(
            self._model, self._implementation, self._batch, (self._start, stop), self._request, self.layers
        )

    def receive(self, call: LayerCall) -> None:
        """Take one call. Raises ``UsageError`` for a pass that does not continue the sequence."""
        expected = self._next.get(call.layer)
        batch = call.query.shape[0]
        if expected is None and not self._next:
            self._start, self._batch, self._implementation = call.q_offset, batch, call.implementation
        if batch != self._batch or (expected is not None and call.q_offset != expected):
            raise UsageError(
                f"one block observes one sequence (or batch): {self._batch} entries up to position {expected} are "
                f"followed by a pass of {batch} at position {call.q_offset}",
                "open a new observe block for each sequence, and keep its cache",
            )
        collector = self._collectors.get(call.layer)
        if collector is None:
            check_weights(call, self._reader)
            collector = LayerCollector(self._request, self._runs, self._reductions)
            self._collectors[call.layer] = collector
        collector.add(call, self._reader)
        self._next[call.layer] = call.q_offset + call.query.shape[-2]
        self._results.pop(call.layer, None)
