"""``check_model``: whether a decoder gives the same logits along every path, and attends as its configuration says.

It needs no reference model: passes of one model are compared with one another, keys with the configuration's rotation,
and every layer's attention with the definition in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from softlookup.attention.decoder import Capture, Decoder
from softlookup.conformance.environment import environment
from softlookup.conformance.models.caching import aliasing, caching
from softlookup.conformance.models.forward import forward
from softlookup.conformance.models.kernels import kernels
from softlookup.conformance.models.padding import packing, padding
from softlookup.conformance.models.quantised import quantised
from softlookup.conformance.models.rotation import rotation
from softlookup.conformance.models.runs import LENGTH, CallFailedError, OutOfTimeError, Runs
from softlookup.conformance.models.verdict import Verdict
from softlookup.conformance.report import Finding, ProbeResult, Report, by_severity

_LATE = "late"
_VAGUE = ("unknown", "cache.read_side")
# what says nothing after a finding of these areas: it would be named a second time
_ALWAYS = ("call.nan", "dropout.", "cache.aliased", "batch.")
_SPOILED_BY = {
    "rotation": ("rope.", "decode."),
    "packing": ("causal.",),
    "caching": ("causal.",),
    "kernels": ("causal.", "window.ignored", "window.size"),
}


def check_model(
    model: Decoder,
    *,
    capture: Capture | None = None,
    name: str = "",
    contract: str = "one pass",
    budget: float = 60.0,
) -> Report:
    """Compare the paths through ``model`` with one another and its attention with the definition.

    ``capture(model)`` is a context manager around passes that yields the list of attention calls made inside it;
    without it what the layers get is not looked at. ``budget``: seconds for all passes. ``contract`` is a name for
    the report alone: what is right is one pass without a cache, and the configuration.
    """
    where = environment("torch")
    try:
        runs = Runs(model, budget)
    except CallFailedError as error:
        return Report(name, contract, problem=f"call.raises: {error}", environment=where)
    verdicts: list[Verdict] = []
    for group, ask in _groups(runs, capture, verdicts):
        codes = [verdict.finding.code for verdict in verdicts if verdict.finding is not None]
        spoiled = [code for code in codes if code.startswith((*_SPOILED_BY.get(group, ()), *_ALWAYS))]
        if spoiled:
            verdicts.append(Verdict(f"{group}.*", "skipped", f"after {spoiled[0]}"))
            continue
        verdicts += _asked(group, ask)
    late = [verdict.reason for verdict in verdicts if verdict.status == _LATE]
    findings = _named_first(verdicts)
    probes = tuple(
        ProbeResult(verdict.probe, verdict.status.replace(_LATE, "untestable"), verdict.reason) for verdict in verdicts
    )
    if late and not findings:  # what was not asked is no pass
        return Report(name, contract, problem=f"call.hangs: {late[0]}", environment=where)
    tried = {"tokens": str(LENGTH), "passes": str(runs.calls), "layers": str(len(runs.abilities.windows))}
    return Report(name, contract, by_severity(findings), probes, tried, where)


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
    # what a cache spoils has its name by now, if it has one
    found = [each.finding.code for each in verdicts if each.finding and each.probe.startswith(("cache.", "chunk."))]
    cached = all(code in _VAGUE for code in found)
    yield "kernels", lambda: kernels(runs, capture, cached=cached)


def _named_first(verdicts: list[Verdict]) -> list[Finding]:
    """Without findings that have no name where what a layer's kernel gets has one."""
    findings = [verdict.finding for verdict in verdicts if verdict.finding is not None]
    if any(each.probes[0].startswith("kernel.") and each.named for each in findings):
        return [each for each in findings if each.code not in _VAGUE]
    if any(each.code in _VAGUE and each.probes[0].startswith(("cache.", "chunk.")) for each in findings):
        return [each for each in findings if not each.probes[0].startswith("kernel.")]
    return findings


def _asked(group: str, probes: Callable[[], Iterator[Verdict]]) -> list[Verdict]:
    """What a group says until a call fails; that is no finding, and no pass either."""
    verdicts: list[Verdict] = []
    try:
        verdicts.extend(probes())
    except OutOfTimeError as error:
        verdicts.append(Verdict(f"{group}.*", _LATE, str(error)))
    except CallFailedError as error:
        verdicts.append(Verdict(f"{group}.*", "untestable", str(error)))
    return verdicts
