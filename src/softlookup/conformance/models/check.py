"""``check_model``: whether a decoder gives the same logits along every path, and attends as its configuration says.

It needs no reference model: passes of one model are compared with one another, keys with the configuration's rotation,
and every layer's attention with the definition in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from softlookup.conformance.environment import environment
from softlookup.conformance.models.caching import aliasing, caching
from softlookup.conformance.models.decoder import Capture, Decoder
from softlookup.conformance.models.forward import forward
from softlookup.conformance.models.kernels import kernels
from softlookup.conformance.models.padding import packing, padding
from softlookup.conformance.models.quantised import quantised
from softlookup.conformance.models.rotation import rotation
from softlookup.conformance.models.runs import LENGTH, CallFailedError, Runs
from softlookup.conformance.models.verdict import Verdict
from softlookup.conformance.report import ProbeResult, Report, by_severity

# what says nothing after a finding of these areas: it would be named a second time
_ALWAYS = ("call.nan", "dropout.", "cache.aliased")
_SPOILED_BY = {"rotation": ("rope.", "decode."), "caching": ("causal.",), "kernels": ("causal.", "window.ignored", "window.size")}


def check_model(model: Decoder, *, capture: Capture | None = None, name: str = "", budget: float = 60.0) -> Report:
    """Compare the paths through ``model`` with one another and its attention with the definition.

    ``capture(model)`` is a context manager around passes that yields the list of attention calls made inside it;
    without it what the layers get is not looked at. ``budget``: seconds for all passes.
    """
    where = environment("torch")
    try:
        runs = Runs(model, budget)
    except CallFailedError as error:
        return Report(name, "one pass", problem=f"call.raises: {error}", environment=where)
    verdicts: list[Verdict] = []
    for group, probes in _groups(runs, capture, verdicts):
        codes = [verdict.finding.code for verdict in verdicts if verdict.finding is not None]
        spoiled = [code for code in codes if code.startswith((*_SPOILED_BY.get(group, ()), *_ALWAYS))]
        if spoiled:
            verdicts.append(Verdict(f"{group}.*", "skipped", f"after {spoiled[0]}"))
            continue
        verdicts += _asked(group, probes)
    findings = [verdict.finding for verdict in verdicts if verdict.finding is not None]
    probes = tuple(ProbeResult(verdict.probe, verdict.status, verdict.reason) for verdict in verdicts)
    tried = {"tokens": str(LENGTH), "passes": str(runs.calls), "layers": str(len(runs.abilities.windows))}
    return Report(name, "one pass", by_severity(findings), probes, tried, where)


def _groups(
    runs: Runs, capture: Capture | None, verdicts: list[Verdict]
) -> Iterator[tuple[str, Callable[[], Iterator[Verdict]]]]:
    yield "forward", lambda: forward(runs)
    yield "aliasing", lambda: aliasing(runs)
    yield "padding", lambda: padding(runs)
    yield "packing", lambda: packing(runs)
    yield "caching", lambda: caching(runs)
    yield "quantised", lambda: quantised(runs)
    yield "rotation", lambda: rotation(runs)
    # what a cache spoils has its name by now
    cached = not any(v.finding is not None and v.probe.startswith(("cache.", "chunk.")) for v in verdicts)
    yield "kernels", lambda: kernels(runs, capture, cached=cached)


def _asked(group: str, probes: Callable[[], Iterator[Verdict]]) -> list[Verdict]:
    """What a group says until a call fails; that is no finding, and no pass either."""
    verdicts: list[Verdict] = []
    try:
        for verdict in chain(probes()):
            verdicts.append(verdict)
    except CallFailedError as error:
        verdicts.append(Verdict(f"{group}.*", "untestable", str(error)))
    return verdicts
