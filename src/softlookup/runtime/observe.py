"""How a Hugging Face model attends, while it runs as usual: statistics of every layer without the [T, T] weights.

The model's own kernel computes the output, so that logits are the same bit for bit; the statistics are computed
beside it in O(T) memory. Not for single calls with raw queries and keys: see `runtime/attention_hook.py`.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from softlookup.errors import UsageError
from softlookup.runtime.load import LoadedModel

if TYPE_CHECKING:
    from softlookup.attention.stats import StatsRequest
    from softlookup.runtime.layer_collector import Runs
    from softlookup.runtime.observation_run import ObservationRun


@contextlib.contextmanager
def observe(
    model: Any,
    stats: StatsRequest | None = None,
    *,
    layers: Iterable[int] | None = None,
    rows: Iterable[int] | None = None,
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
    # torch and transformers change the process when they load: not on `import softlookup`
    from softlookup.attention.stats import StatsRequest
    from softlookup.runtime.attention_hook import hook_attention
    from softlookup.runtime.observation_run import ObservationRun

    model = model.model if isinstance(model, LoadedModel) else model
    request = StatsRequest() if stats is None else stats
    runs = None if rows is None else _runs(rows)
    reduce = rows is None if reductions is None else reductions
    if not isinstance(request, StatsRequest):
        raise UsageError(f"stats must be a StatsRequest or None, got {type(request).__name__}", "e.g. StatsRequest()")
    _check_request(request, runs, reduce)
    run = ObservationRun(model, request, runs, reductions=reduce)
    with hook_attention(model, run.receive, _checked_layers(layers, model)):
        yield run


def _check_request(request: StatsRequest, runs: Runs | None, reduce: bool) -> None:
    if not runs and not reduce:
        raise UsageError("without rows and reductions nothing is observed", "leave reductions out, or choose rows")
    if request.span_rows is not None or request.key_mass_rows is not None:
        raise UsageError("span_rows and key_mass_rows count rows of one call", "choose rows with observe(rows=...)")
    if runs is None and (request.top_k or request.span_mass is not None):
        raise UsageError("top_k and span_mass are kept per query row", "choose rows with observe(rows=...)")
    if request.sink_mass is not None and not isinstance(request.sink_mass, int):
        _integers("sink_mass positions", request.sink_mass)
    for span in request.span_mass or ():
        if len(span) != 2 or span[0] > span[1]:
            raise UsageError(f"spans must be (start, stop) with start <= stop, got {tuple(span)}", "e.g. (0, 12)")
        _integers("spans", span)


def _runs(rows: Iterable[int]) -> Runs:
    """Sorted half-open ranges of consecutive rows."""
    if isinstance(rows, range) and rows.step == 1 and rows.start >= 0 and len(rows):
        return ((rows.start, rows.stop),)
    chosen = _integers("rows", rows)
    if len(set(chosen)) != len(chosen):
        raise UsageError("rows must be distinct, got a repeated one", "drop the repetition")
    runs: list[tuple[int, int]] = []
    for row in sorted(chosen):
        if runs and runs[-1][1] == row:
            runs[-1] = (runs[-1][0], row + 1)
        else:
            runs.append((row, row + 1))
    return tuple(runs)


def _checked_layers(layers: Iterable[int] | None, model: Any) -> frozenset[int] | None:
    if layers is None:
        return None
    config = getattr(model, "config", None)
    count = None if config is None else getattr(config.get_text_config(), "num_hidden_layers", None)
    return frozenset(_integers("layers", layers, count))


def _integers(name: str, values: Iterable[int], stop: int | None = None) -> list[int]:
    """``values`` as integers of 0..stop-1; numpy's and torch's are taken too."""
    checked = []
    for value in values:
        try:
            number = -1 if isinstance(value, bool) else operator.index(value)
        except TypeError:
            number = -1
        if number < 0 or (stop is not None and number >= stop):
            upper = "" if stop is None else f" to {stop - 1}"
            raise UsageError(f"{name} must be integers from 0{upper}, got {value!r}", "count from 0")
        checked.append(number)
    return checked
