"""Which sizes a function takes: found by trying, smallest demands first; not for judging any number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from softlookup.conformance.case import Array, Case, identity_values, integers
from softlookup.conformance.subject import Subject


@dataclass(frozen=True)
class Sizes:
    """Sizes that cases are built with.

    They differ pairwise wherever the function lets them, so that nothing can be taken for something else.
    ``free_heads``, ``free_dim``: any will do; ``rectangular``: Tq may differ from Tk.
    """

    batch: int = 2
    heads: int = 6
    kv_heads: int = 3
    head_dim: int = 12
    dtype: str = "float32"
    rectangular: bool = True
    free_heads: bool = True
    free_dim: bool = True

    def case(
        self, rows: int, keys: int, seed: int, *, batch: int | None = None, heads: int | None = None,
        kv_heads: int | None = None, dim: int | None = None, values: Array | None = None,
    ) -> Case:  # fmt: skip
        """Small integer queries and keys, one-hot values."""
        batch = self.batch if batch is None or self.batch == 1 else batch
        heads = heads if heads is not None and self.free_heads else self.heads
        kv_heads = kv_heads if kv_heads is not None and self.free_heads else self.kv_heads
        dim = dim if dim is not None and self.free_dim else self.head_dim
        return Case(
            integers((batch, heads, rows, dim), seed),
            integers((batch, kv_heads, keys, dim), seed + 1),
            identity_values(batch, kv_heads, keys) if values is None else values,
            dtype=self.dtype,
        )

    def scored(self, scores: Array, *, values: Array | None = None, scale: float | None = None) -> Case:
        """A case with scores [Tq, Tk] of our choice, the same for all heads: q is one-hot in the row, k its scores.

        The rows must be multiples of each other where D < Tq; there q carries the factor of the row.
        """
        rows, keys = scores.shape
        case = self.case(rows, keys, 0, values=values)
        query, key = np.zeros_like(case.query), np.zeros_like(case.key)
        factor = case.head_dim**0.5 if scale is None else 1.0 / scale
        if rows <= case.head_dim:
            for row in range(rows):
                query[:, :, row, row] = factor
                key[:, :, :, row] = scores[row]
        else:
            query[..., 0], key[..., 0] = factor, scores[0]
        return case.but(query=rounded(query, self.dtype), key=rounded(key, self.dtype))


def rounded(given: Array, dtype: str) -> Array:
    """As the function gets it: the reference must not know digits that were never passed."""
    return given.astype(np.float16).astype(np.float64) if dtype == "float16" else given


def find_sizes(subject: Subject) -> tuple[Sizes | None, list[str]]:
    """Sizes that work, and what was refused on the way; None when no call works."""
    refused: list[str] = []
    adapter = subject.adapter
    for sizes, free_values in _attempts(subject):
        subject.value_is_free = free_values
        rows = 3 if sizes.rectangular else 5
        found = subject.run(sizes.case(rows, 5, 11).but(causal=adapter.always_causal))
        if found.output is not None:
            return _widened(subject, sizes), refused
        refused.append(f"B={sizes.batch} H={sizes.heads} Hkv={sizes.kv_heads} D={sizes.head_dim} {sizes.dtype}"
                       f"{'' if sizes.rectangular else ' Tq=Tk'}: {found.error}")  # fmt: skip
        if "numpy.ndarray" in found.error or "must be Tensor" in found.error:
            break  # it wants the arrays of another library
    return None, refused


def _attempts(subject: Subject) -> Iterator[tuple[Sizes, bool]]:
    adapter, contract = subject.adapter, subject.contract
    dtypes = (adapter.dtype,) if adapter.dtype else tuple(dict.fromkeys((*contract.dtypes, "float16", "float64")))
    grouped = [(adapter.heads or 6, adapter.kv_heads or (3 if adapter.heads is None else adapter.heads))]
    if adapter.heads is None:
        grouped += [(3, 3), (8, 2), (8, 8), (4, 4), (1, 1)]
    dims = [adapter.head_dim] if adapter.head_dim else [12, 16, 64]
    batches = [adapter.batch] if adapter.batch else [2, 1]
    for dtype in dtypes:
        for batch in batches:
            for dim in dims:
                for heads, kv_heads in grouped:
                    for rectangular in (True, False):
                        for free in (True, False):
                            yield Sizes(
                                batch, heads, kv_heads, dim, dtype, rectangular,
                                adapter.heads is None, adapter.head_dim is None,
                            ), free  # fmt: skip


def _widened(subject: Subject, sizes: Sizes) -> Sizes:
    """Marks as fixed what turns out to be fixed."""
    from dataclasses import replace

    causal = subject.adapter.always_causal
    rows = 3 if sizes.rectangular else 5
    if sizes.free_dim:
        other = sizes.case(rows, 5, 3, dim=20).but(causal=causal)
        sizes = replace(sizes, free_dim=subject.run(other).output is not None)
    if sizes.free_heads:
        groups = sizes.heads // sizes.kv_heads
        other = sizes.case(rows, 5, 3, heads=4 * groups, kv_heads=4).but(causal=causal)
        sizes = replace(sizes, free_heads=subject.run(other).output is not None)
    return sizes
