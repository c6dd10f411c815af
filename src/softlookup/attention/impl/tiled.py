"""Attention and statistics for long inputs: one pass over the keys, a second for what needs the final lse.

Memory is O(T); the engine of the first pass is chosen in :func:`_row_pass`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from softlookup.attention.impl.tiled_cpu import KINDS, cpu_row_pass
from softlookup.attention.impl.tiled_torch import torch_row_pass
from softlookup.attention.inputs import raise_for_non_finite
from softlookup.attention.masks import visible_keys
from softlookup.attention.row_sums import finalize, output_scale, row_lse, with_sinks
from softlookup.attention.second_pass import column_sums, span_mass, top_k
from softlookup.attention.stats import AttentionOutput, AttentionStats
from softlookup.errors import UsageError

if TYPE_CHECKING:
    from softlookup.attention.inputs import AttentionInputs
    from softlookup.attention.row_sums import RowSums
    from softlookup.attention.stats import StatsRequest

# from this many rows on, looking at every input first costs next to nothing
_ROWS_THAT_PAY_A_CHECK = 16
_SMALLEST_DIVISOR = 1e-12


def tiled_attention(inputs: AttentionInputs, request: StatsRequest | None) -> AttentionOutput:
    """Attention of ``inputs`` and the statistics that ``request`` asks for.

    NaN in the query, or in a key or value that a query sees, raises ``UsageError``, and so does infinity; in a key or
    value that is masked for every query they may be refused too. The one exception, on GPUs and in float64 with fewer
    than 16 query rows: a key so infinite that its scores are -inf may count as a key without weight.
    """
    sums, output = _row_pass(inputs, request, with_output=True)
    if output is None:
        raise AssertionError("asked for the output")
    stats = None if request is None else _statistics(inputs, request, sums)
    return AttentionOutput(output, stats, int((~_seen(inputs)).sum()))


def tiled_statistics(inputs: AttentionInputs, request: StatsRequest) -> AttentionStats:
    """The statistics alone; the values are not read. Errors as :func:`tiled_attention`."""
    sums, _ = _row_pass(inputs, request, with_output=False)
    return _statistics(inputs, request, sums)


def _row_pass(
    inputs: AttentionInputs, request: StatsRequest | None, *, with_output: bool
) -> tuple[RowSums, torch.Tensor | None]:
    """Row sums and output by the engine for the inputs: compiled on CPUs, torch operations for GPUs and float64."""
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in _given(inputs)):
        raise UsageError("tiled attention computes no gradients", "call it under torch.no_grad(), or detach the inputs")
    # the compiled pass finds max |q.k| by dividing scores by the scale
    divides = request is not None and request.max_score and abs(inputs.scale) < _SMALLEST_DIVISOR
    if inputs.query.device.type == "cpu" and inputs.dtype in KINDS and not divides:
        return cpu_row_pass(inputs, request, with_output=with_output)
    _check_before(inputs, with_output=with_output)
    sums, total = torch_row_pass(inputs, request, with_output=with_output)
    output = None if total is None else total.mul_(output_scale(sums, inputs.sinks)[..., None]).to(inputs.dtype)
    _check_after(inputs, sums, output)
    return sums, output


def _given(inputs: AttentionInputs) -> list[torch.Tensor]:
    return [inputs.query, inputs.key, inputs.value, *([] if inputs.sinks is None else [inputs.sinks])]


def _statistics(inputs: AttentionInputs, request: StatsRequest, sums: RowSums) -> AttentionStats:
    lse = with_sinks(row_lse(sums), inputs.sinks)
    return finalize(
        sums,
        inputs,
        request,
        top_k=top_k(inputs, lse, request.top_k) if request.top_k else None,
        span_mass=(
            span_mass(inputs, lse, request.span_mass, request.chosen_span_rows(inputs.q_length))
            if request.span_mass is not None
            else None
        ),
        key_mass=column_sums(inputs, lse, request.key_mass_rows) if request.key_mass else None,
    )


def _seen(inputs: AttentionInputs) -> torch.Tensor:
    """Bool [B, Hq, Tq]: the row sees a key."""
    return (visible_keys(inputs) > 0).expand(inputs.batch, inputs.heads, inputs.q_length)


def _check_before(inputs: AttentionInputs, *, with_output: bool) -> None:
    """For a few rows over a long cache the look at every key would double the time: there the sums tell."""
    few = inputs.q_length < _ROWS_THAT_PAY_A_CHECK
    raise_for_non_finite(inputs, names=("query",) if few else ("query", "key", "value")[: 3 if with_output else 2])


def _check_after(inputs: AttentionInputs, sums: RowSums, output: torch.Tensor | None) -> None:
    good = bool(torch.isfinite(row_lse(sums))[_seen(inputs)].all())
    good = good and (sums.centred is None or bool(torch.isfinite(sums.centred).all()))
    good = good and (output is None or bool(torch.isfinite(output).all()))
    if not good:
        raise_for_non_finite(inputs)
        raise UsageError(
            f"scores and weighted values must fit {inputs.compute_dtype}, they overflow",
            "scale query and value down, or pass float64",
        )
