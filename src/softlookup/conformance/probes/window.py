"""Sliding windows: size, both ends, with and without causal, with a cache."""

from __future__ import annotations

from collections.abc import Iterator

from softlookup.conformance.case import Case
from softlookup.conformance.contract import Contract
from softlookup.conformance.probes.probe import Probe
from softlookup.conformance.sizes import Sizes


def probes(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    """Windows of W positions that include the query's own."""

    def windowed(rows: int, keys: int, size: int, seed: int, *, causal: bool = True, right: int = 0) -> Case:
        return sizes.case(rows, keys, seed).but(window=(size - 1, right), causal=causal)

    off = {"window": "off"}
    sizes_tried = (windowed(4, 4, 2, 130), windowed(9, 9, 3, 131), windowed(6, 6, 1, 132), windowed(20, 20, 5, 133))
    yield Probe("window.causal", sizes_tried, off)
    yield Probe("window.wider_than_keys", (windowed(4, 4, 9, 137),), {"window": "complement"})
    if sizes.rectangular and contract.causal_align == "bottom_right":
        yield Probe("window.rect", (windowed(2, 7, 3, 134), windowed(1, 6, 2, 135), windowed(3, 12, 4, 136)), off)
    yield Probe("window.alone", (windowed(3, 3, 2, 138, causal=False), windowed(9, 9, 3, 139, causal=False)),
                {"window_future": "open"} if contract.window_closed else off)  # fmt: skip
    if contract.window == "left_right":
        sides = tuple(windowed(8, 8, left + 1, 140 + n, causal=False, right=right)
                      for n, (left, right) in enumerate(((2, 1), (1, 3), (0, 2))))  # fmt: skip
        yield Probe("window.sides", sides, off)
    if contract.window == "left_right" and contract.window_unbounded == "minus_one":
        yield Probe("window.unbounded", (windowed(7, 7, 0, 145, causal=False, right=1),), off)
