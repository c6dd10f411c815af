"""What a function is asked: every probe is a list of cases for one feature, and proves that it would notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from softlookup.conformance.contract import Contract
from softlookup.conformance.probes import bias, heads, masking, softmax, window
from softlookup.conformance.probes.probe import Probe
from softlookup.conformance.sizes import Sizes

Builder = Callable[[Sizes, Contract], Iterator[Probe]]

_BUILDERS: tuple[Builder, ...] = (
    heads.probes, masking.probes, bias.probes, window.probes, softmax.probes,
)  # fmt: skip


def build_probes(sizes: Sizes, contract: Contract) -> list[Probe]:
    """All probes for functions of these sizes; which of them apply depends on the function's arguments."""
    return [probe for build in _BUILDERS for probe in build(sizes, contract)]
