"""Plain calls: scale at several head dims, head maps, head layout, decode shapes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.contract import Contract
from softlookup.conformance.probes.probe import Probe
from softlookup.conformance.sizes import Sizes

# 16 and 64 hide a padded head dim, the others show it
_DIMS = (4, 8, 12, 16, 20, 40, 72, 96)


def probes(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    """Everything that needs no argument besides the tensors."""
    del contract
    yield Probe("plain.square", (sizes.case(5, 5, 1), sizes.case(4, 4, 2, batch=3)), {"scale_factor": 0.0})
    if sizes.rectangular:
        yield Probe("plain.rect", (sizes.case(3, 7, 3), sizes.case(2, 5, 4)), {"scale_factor": 0.0})
        yield Probe("plain.decode", (sizes.case(1, 4, 5), sizes.case(1, 9, 6)), {"scale_factor": 0.0})
    if sizes.heads > 1:
        yield Probe("heads.map", (_marked(sizes, 5, 7), _marked(sizes, 4, 8)), {"value_map": "first"}
                    if sizes.kv_heads > 1 else {})  # fmt: skip
    if sizes.free_heads and sizes.kv_heads == sizes.heads:
        yield Probe("heads.grouped", (_marked(sizes, 5, 9, (4, 2)), _marked(sizes, 5, 10, (6, 3))),
                    {"key_map": "first"}, optional=True)  # fmt: skip
    elif sizes.free_heads:
        yield Probe("heads.grouped", (_marked(sizes, 5, 9, (4, 2)), _marked(sizes, 5, 10, (8, 4))),
                    {"key_map": "first"})  # fmt: skip
        yield Probe("heads.equal", (_marked(sizes, 5, 13, (3, 3)), _marked(sizes, 4, 14, (2, 2))),
                    {"key_map": "first"}, optional=True)  # fmt: skip
    if sizes.free_dim:
        cases = tuple(sizes.case(5, 5, 20 + dim, dim=dim, batch=1) for dim in _DIMS)
        yield Probe("scale.dims", cases, {"scale": "missing"})


def _marked(sizes: Sizes, length: int, seed: int, heads: tuple[int, int] | None = None) -> Case:
    """Values that tell key, kv head and batch row they come from: [I | one-hot of the head, times 1 + row / 2]."""
    case = sizes.case(length, length, seed, heads=heads[0] if heads else None, kv_heads=heads[1] if heads else None)
    marks: Array = np.zeros((case.batch, case.kv_heads, length, case.kv_heads))
    for head in range(case.kv_heads):
        marks[:, head, :, head] = 1.0 + np.arange(case.batch)[:, None] / 2
    return case.but(value=np.concatenate([case.value, marks], -1))
