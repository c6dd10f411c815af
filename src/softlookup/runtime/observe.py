"""How a Hugging Face model attends, while it runs as usual: statistics of every layer without the [T, T] weights.

The model's own kernel computes the output, so that logits are the same bit for bit; the statistics are computed
beside it in O(T) memory. Not for single calls with raw queries and keys: see `runtime/attention_hook.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from softlookup.attention.stats import StatsRequest
from softlookup.errors import UsageError
from softlookup.runtime.attention_hook import hook_attention
from softlookup.runtime.eager_check import check_weights
from softlookup.runtime.layer_collector import LayerCollector, Runs
from softlookup.runtime.load import LoadedModel
from softlookup.runtime.observation import LayerObservation, Observation
from softlookup.runtime.visibility import VisibilityReader

if TYPE_CHECKING:
    from softlookup.runtime.attention_hook import LayerCall


class ObservationRun:
    """What one block has seen so far; made by :func:`observe`, readable inside the block and after it."""

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
                self._results[number] = replace(self._collectors[number].result(), layer=number)
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


@contextlib.contextmanager
def observe(
    model: Any,
    stats: StatsRequest | None = None,
    *,
    layers: Collection[int] | None = None,
    rows: Sequence[int] | None = None,
    reductions: bool | None = None,
) -> Iterator[ObservationRun]:
    """Collect attention statistics of every forward pass of ``model`` inside the block; restored after it.

    ``model``: a transformers model with SDPA or eager attention, or what :func:`softlookup.load_model` returns.
    ``stats``: which statistics; its key positions are columns of the sequence, an int ``sink_mass`` counts
    from the first token that is no padding. ``layers``: numbers from 0, None for all.

    ``rows=None``: every query row is computed and reduced per (layer, head) to mean, minimum and maximum,
    ``run.layers[3].entropy.mean`` [Hq]. ``rows``: only these query rows are computed, and kept one by one in
    ``run.layers[3].rows`` [B, Hq, R]; columns of the sequence, which goes on over chunked prefill and
    decoding with a cache; those that did not run inside the block are absent. ``reductions=True`` gives both.
    argmax, top_k and span_mass are per row and need ``rows``.

    Passes of other threads are not observed. Raises ``UsageError`` for arguments that do not fit, for a model
    that is observed already and for a pass that does not continue the block's sequence; ``ModelError`` for a
    model, feature or mask that cannot be observed rightly, by name.
    """
    model = model.model if isinstance(model, LoadedModel) else model
    request = StatsRequest() if stats is None else stats
    runs = None if rows is None else _runs(rows)
    reduce = rows is None if reductions is None else reductions
    _check_request(request, runs, reduce)
    run = ObservationRun(model, request, runs, reductions=reduce)
    with hook_attention(model, run.receive, _checked_layers(layers, model)):
        yield run


def _check_request(request: StatsRequest, runs: Runs | None, reduce: bool) -> None:
    if not isinstance(request, StatsRequest):
        raise UsageError(f"stats must be a StatsRequest or None, got {type(request).__name__}", "e.g. StatsRequest()")
    if runs is None and not reduce:
        raise UsageError("rows=None with reductions=False observes nothing", "leave reductions out, or choose rows")
    if request.span_rows is not None or request.key_mass_rows is not None:
        raise UsageError("span_rows and key_mass_rows count rows of one call", "choose rows with observe(rows=...)")
    if runs is None and (request.top_k or request.span_mass is not None):
        raise UsageError("top_k and span_mass are kept per query row", "choose rows with observe(rows=...)")
    columns = [*(() if request.sink_mass is None or isinstance(request.sink_mass, int) else request.sink_mass)]
    for span in request.span_mass or ():
        if len(span) != 2 or span[0] > span[1]:
            raise UsageError(f"spans must be (start, stop) with start <= stop, got {tuple(span)}", "e.g. (0, 12)")
        columns.extend(span)
    if any(isinstance(at, bool) or not isinstance(at, int) or at < 0 for at in columns):
        raise UsageError(f"positions must be integers from 0, got {columns}", "count columns of the sequence")


def _runs(rows: Sequence[int]) -> Runs:
    """Sorted half-open ranges of consecutive rows."""
    if isinstance(rows, range) and rows.step == 1 and rows.start >= 0 and len(rows):
        return ((rows.start, rows.stop),)
    wrong = [row for row in rows if isinstance(row, bool) or not isinstance(row, int) or row < 0]
    if wrong or len(set(rows)) != len(rows):
        came = f"got {wrong[0]!r}" if wrong else "got a repeated one"
        raise UsageError(f"rows must be distinct integers from 0, {came}", "count columns of the sequence")
    runs: list[tuple[int, int]] = []
    for row in sorted(rows):
        if runs and runs[-1][1] == row:
            runs[-1] = (runs[-1][0], row + 1)
        else:
            runs.append((row, row + 1))
    return tuple(runs)


def _checked_layers(layers: Collection[int] | None, model: Any) -> frozenset[int] | None:
    if layers is None:
        return None
    config = getattr(model, "config", None)
    count = None if config is None else getattr(config.get_text_config(), "num_hidden_layers", None)
    for layer in layers:
        if isinstance(layer, bool) or not isinstance(layer, int) or layer < 0 or (count is not None and layer >= count):
            upper = "" if count is None else f"..{count - 1}"
            raise UsageError(f"layers must be numbers 0{upper}, got {layer!r}", "count layers from 0")
    return frozenset(layers)
