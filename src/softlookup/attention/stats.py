"""What can be asked about every query's weights, and the answer: definition, shape and unit of each statistic.

Not for computing them: `impl/reference.py` is the definition as code, `impl/tiled.py` the one for long inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import torch

from softlookup.attention.inputs import check_positions
from softlookup.errors import CapacityError, UsageError

if TYPE_CHECKING:
    from softlookup.attention.inputs import AttentionInputs

# more than this of span_mass in one call is refused: it grows with rows x spans, against O(T) of all the rest
MAX_SPAN_MASS_BYTES = 256 * 2**20
MAX_TOP_K_BYTES = 4 * 2**30


@dataclass(frozen=True, slots=True)
class StatsRequest:
    """Which statistics :func:`softlookup.attention.attention` computes; each arrives under the same name.

    ``sink_mass``: an int n for the first n keys, or key positions, 0 or None for none. ``top_k``: how many
    keys per query. ``max_score`` gives ``max_score`` and ``max_unscaled_score``. ``span_mass``: half-open
    (start, stop) key ranges, which may overlap, counted for the query rows ``span_rows`` (None: all, refused
    where that needs more than 256 MiB). ``key_mass``: column sums over the query rows ``key_mass_rows``
    (None: all). Rows and keys count from 0 in this call's tensors.
    """

    lse: bool = True
    entropy: bool = True
    normalized_entropy: bool = False
    max_weight: bool = True
    argmax: bool = True
    top_k: int = 0
    max_score: bool = False
    sink_mass: int | Sequence[int] | None = 4
    distance: bool = False
    span_mass: Sequence[tuple[int, int]] | None = None
    span_rows: Sequence[int] | None = None
    key_mass: bool = False
    key_mass_rows: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.sink_mass, bool) or (isinstance(self.sink_mass, int) and self.sink_mass < 0):
            raise UsageError(
                f"sink_mass must be a number of keys or key positions, got {self.sink_mass}", "use 0 for none"
            )
        if isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or self.top_k < 0:
            raise UsageError(f"top_k must be a number of keys, got {self.top_k!r}", "use 0 for none")
        if self.span_rows is not None and self.span_mass is None:
            raise UsageError("span_rows needs span_mass", "give the spans as (start, stop) pairs")
        if self.key_mass_rows is not None and not self.key_mass:
            raise UsageError("key_mass_rows needs key_mass=True", "set it, or drop the rows")

    @property
    def sink_count(self) -> int | None:
        """N where ``sink_mass`` asks for the first n keys."""
        return self.sink_mass if isinstance(self.sink_mass, int) and self.sink_mass > 0 else None

    def sink_keys(self, kv_length: int) -> tuple[int, ...] | None:
        """Positions of the sink keys among ``kv_length`` keys; None when not asked for."""
        if self.sink_mass is None or (isinstance(self.sink_mass, int) and self.sink_mass == 0):
            return None
        if isinstance(self.sink_mass, int):
            return tuple(range(min(self.sink_mass, kv_length)))
        return check_positions("sink_mass keys", self.sink_mass, kv_length)

    def check(self, inputs: AttentionInputs) -> None:
        """Raise ``UsageError`` or ``CapacityError`` where the request does not fit the inputs."""
        self.sink_keys(inputs.kv_length)
        needed = 20 * self.top_k * inputs.batch * inputs.heads * inputs.q_length
        if needed > MAX_TOP_K_BYTES:
            raise CapacityError(
                f"top_k={self.top_k} of {inputs.batch * inputs.heads * inputs.q_length} rows needs {needed:,} bytes, "
                f"more than {MAX_TOP_K_BYTES:,}",
                "ask for fewer keys, or for fewer queries at a time",
            )
        if self.key_mass_rows is not None:
            check_positions("key_mass_rows", self.key_mass_rows, inputs.q_length)
        if self.span_mass is not None:
            self._check_spans(inputs)

    def chosen_span_rows(self, q_length: int) -> tuple[int, ...]:
        """The rows that span_mass counts."""
        return tuple(range(q_length)) if self.span_rows is None else tuple(int(row) for row in self.span_rows)

    def _check_spans(self, inputs: AttentionInputs) -> None:
        spans = self.span_mass or ()
        for span in spans:
            whole = len(span) == 2 and all(type(edge) is int for edge in span)
            if not whole or not 0 <= span[0] <= span[1] <= inputs.kv_length:
                raise UsageError(
                    f"spans must be (start, stop) with 0 <= start <= stop <= {inputs.kv_length}, got {tuple(span)}",
                    "clip them to the keys",
                )
        if self.span_rows is not None:
            check_positions("span_rows", self.span_rows, inputs.q_length)
        rows = inputs.q_length if self.span_rows is None else len(self.span_rows)
        size = 8 if inputs.compute_dtype == torch.float64 else 4
        needed = inputs.batch * inputs.heads * rows * len(spans) * size
        if needed > MAX_SPAN_MASS_BYTES:
            raise CapacityError(
                f"span_mass of {rows} rows x {len(spans)} spans x {inputs.batch * inputs.heads} heads needs "
                f"{needed:,} bytes, more than {MAX_SPAN_MASS_BYTES:,}",
                "choose query rows with span_rows",
            )


@dataclass(frozen=True, slots=True, eq=False)
class TopK:
    """The k keys of the largest scores, best first, ties by position; each [B, Hq, Tq, k].

    Where fewer keys are visible ``index`` is -1, ``weight`` 0 and ``score`` -inf.
    """

    index: torch.Tensor
    weight: torch.Tensor
    score: torch.Tensor


@dataclass(frozen=True, slots=True, eq=False)
class AttentionStats:
    """Statistics of one call; None = not asked for. Per-query ones are [B, Hq, Tq], float32 (float64 for float64).

    With weight a_ij = exp(s_ij - lse_i), s the final scores (scaled, capped), j over the visible keys:

    - ``visible_keys`` int64: n_i. A query with n_i = 0 has lse -inf (the sink's logit with sinks), argmax -1,
      and NaN elsewhere.
    - ``lse``: ln sum_j exp(s_ij), natural log, a learned sink included; ``lse_without_sinks`` only with sinks.
    - ``entropy`` in nats: -sum a ln a over the keys (with sinks: renormalised over the keys).
    - ``normalized_entropy``: entropy / ln n_i, NaN for n_i < 2.
    - ``max_weight``, ``argmax`` (int64, smallest position on a tie), ``top_k`` (:class:`TopK`).
    - ``max_score``: max_j s_ij; ``max_unscaled_score``: max_j |q_i . k_j| before scale, cap (fp16 overflows
      at 65504).
    - ``sink_mass``: sum of a_ij over the sink keys, the first ``sink_count`` where it is a number;
      ``learned_sink_mass`` only with sinks: exp(sink - lse).
    - ``distance``: mean of i + q_offset - j under the weights (with sinks: renormalised).
    - ``span_mass`` [B, Hq, rows, spans], rows as in ``span_rows``.
    - ``key_mass`` [B, Hq, Tk]: sum over ``key_mass_rows`` (None: all) of a_ij; rows without keys add nothing.

    ``kv_offset`` is the position of this call's key 0 and ``kv_length`` its number of keys: see :meth:`merge`.
    """

    visible_keys: torch.Tensor
    kv_length: int
    kv_offset: int = 0
    sinks: torch.Tensor | None = None
    lse: torch.Tensor | None = None
    lse_without_sinks: torch.Tensor | None = None
    entropy: torch.Tensor | None = None
    normalized_entropy: torch.Tensor | None = None
    max_weight: torch.Tensor | None = None
    argmax: torch.Tensor | None = None
    top_k: TopK | None = None
    max_score: torch.Tensor | None = None
    max_unscaled_score: torch.Tensor | None = None
    sink_mass: torch.Tensor | None = None
    sink_count: int | None = None
    learned_sink_mass: torch.Tensor | None = None
    distance: torch.Tensor | None = None
    span_mass: torch.Tensor | None = None
    span_rows: tuple[int, ...] | None = None
    key_mass: torch.Tensor | None = None
    key_mass_rows: tuple[int, ...] | None = None

    @property
    def empty_rows(self) -> int:
        """Number of (batch entry, head, query) rows that see no key."""
        return int((self.visible_keys == 0).sum())

    def merge(self, other: AttentionStats, *, kv_offset: int | None = None) -> AttentionStats:
        """Statistics over the keys of both parts: the same queries, disjoint keys, exact up to rounding.

        ``kv_offset``: position of ``other``'s key 0; by default its keys follow this part's. ``key_mass``
        cannot be merged, as each row's lse changes: see :func:`softlookup.attention.key_mass`.
        Raises ``UsageError`` where the parts hold different statistics or rows.
        """
        from softlookup.attention.merge import merge_stats

        return merge_stats(self, other, kv_offset)

    def concat(self, later: AttentionStats) -> AttentionStats:
        """The queries of this part followed by ``later``'s, as in chunked prefill and decoding with a cache.

        ``later`` may see more keys; ``key_mass`` adds. Raises ``UsageError`` where the statistics differ.
        """
        from softlookup.attention.concat import concat_stats

        return concat_stats(self, later)

    def to(self, device: torch.device | str) -> AttentionStats:
        """All tensors on ``device``."""

        def moved(value: object) -> object:
            if isinstance(value, TopK):
                return TopK(value.index.to(device), value.weight.to(device), value.score.to(device))
            return value.to(device) if isinstance(value, torch.Tensor) else value

        changed = {field.name: moved(getattr(self, field.name)) for field in fields(self)}
        return replace(self, **changed)  # type: ignore[arg-type]  # the types are unchanged by moving


@dataclass(frozen=True, slots=True, eq=False)
class AttentionOutput:
    """``output`` [B, Hq, Tq, Dv] in the inputs' dtype, zeros for a query that sees no key; ``stats`` as asked.

    ``empty_rows`` counts the (batch entry, head, query) rows that see no key.
    """

    output: torch.Tensor
    stats: AttentionStats | None
    empty_rows: int

    def merge(self, other: AttentionOutput, *, kv_offset: int | None = None) -> AttentionOutput:
        """Output and statistics over the keys of both parts; both need ``lse``. See :meth:`AttentionStats.merge`."""
        from softlookup.attention.merge import merge_outputs

        return merge_outputs(self, other, kv_offset)
