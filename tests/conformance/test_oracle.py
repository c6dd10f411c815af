"""The definition agrees with an independent one, and every probe would notice if its feature were ignored."""

import numpy as np
import pytest

from softlookup.conformance.contract import Contract, find_contract, preset_names
from softlookup.conformance.hypotheses import all_hypotheses
from softlookup.conformance.oracle import attend
from softlookup.conformance.planted.plain import Plain
from softlookup.conformance.probes import build_probes
from softlookup.conformance.probes.probe import Probe
from softlookup.conformance.sizes import Sizes
from softlookup.conformance.variant import right_variant

SIZES = [Sizes(), Sizes(rectangular=False), Sizes(heads=4, kv_heads=4, head_dim=16, free_heads=False, free_dim=False)]
RIGHT = right_variant(Contract())
# the same function under the standard contract, where a window hides the future and is counted like causal
EQUIVALENT = {"causal.dropped_when(window)", "window.align=bottom_right"}


def independent(case):
    single = [part.astype(np.float32) for part in (case.query, case.key, case.value)]
    given = {name: getattr(case, name) for name in case.features if name != "window"}
    if case.window is not None:
        given["window"] = case.window[0] + 1
    return Plain()(*single, **given)


@pytest.mark.parametrize("sizes", SIZES, ids=["free", "square", "fixed"])
def test_the_oracle_agrees_with_an_independent_function_on_every_probe(sizes):
    for probe in build_probes(sizes, Contract()):
        for case in probe.cases:
            np.testing.assert_allclose(attend(case, RIGHT), independent(case), atol=0.02, err_msg=probe.id)


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize("sizes", SIZES, ids=["free", "square", "fixed"])
def test_every_probe_would_notice_its_feature_being_ignored(preset, sizes):
    contract = find_contract(preset)
    right = right_variant(contract)
    assert [probe.id for probe in build_probes(sizes, contract) if probe.is_vacuous(right)] == []
    assert all(
        probe.without for probe in build_probes(sizes, contract) if "rows" not in probe.id and "map" not in probe.id
    )


def test_a_probe_that_cannot_notice_is_vacuous():
    """Planted fault: a cap of 1000 on scores near 1."""
    case = Sizes().case(5, 5, 1).but(softcap=1000.0)
    assert Probe("softcap.blind", (case,), {"softcap": "off"}).is_vacuous(RIGHT)
    assert not Probe("softcap.seen", (case.but(softcap=0.5),), {"softcap": "off"}).is_vacuous(RIGHT)


def test_every_hypothesis_changes_something_on_some_probe():
    """A name that could never be told from the right function would be noise."""
    cases = [case for probe in build_probes(Sizes(), Contract()) for case in probe.cases if case.kv_length <= 140]
    right = [attend(case, RIGHT) for case in cases]
    blind = set()
    for entry in all_hypotheses(Contract()):
        if entry.changes.get("block", 0) > 64 or "merge" in entry.changes:
            continue  # as the smaller ones, and slow
        wrong = RIGHT.but(**entry.changes)
        if all(
            np.allclose(attend(case, wrong), want, atol=2e-4, equal_nan=True)
            for case, want in zip(cases, right, strict=True)
        ):
            blind.add(entry.code)
    assert blind == EQUIVALENT
