"""Baselines: an accepted deviation does not fail, anything else does, and what no longer occurs is told."""

import json

import pytest

from conformance import functions
from softlookup.conformance import Finding, Report, check_fn
from softlookup.conformance.reporting import Baseline, read_baseline, verdict_of
from softlookup.conformance.reporting.baseline import Accepted
from softlookup.conformance.reporting.stable import stable_code
from softlookup.errors import UsageError


def finding(code, severity="wrong", **others):
    return Finding(code, severity, "likely", "1", "2", **others)


def report(*findings, subject="m:f", contract="standard"):
    return Report(subject, contract, findings)


@pytest.mark.parametrize(
    ("code", "stable"),
    [
        ("causal.align=top_left(want=bottom_right)", "causal.align=top_left"),
        ("mask.finite(value~-1e+04)", "mask.finite"),
        ("mask.finite_fill(value=-1e+09)", "mask.finite_fill"),
        ("scale.missing", "scale.missing"),
        ("scale.missing(when mask)", "scale.missing(when mask)"),
        ("scale.factor=1.013", "scale.factor"),
        ("scale.constant=1/sqrt(12)", "scale.constant"),
        ("scale.uses_padded_dim(pad=16)", "scale.uses_padded_dim"),
        ("causal.dropped_when(Tq!=Tk)", "causal.dropped_when(Tq!=Tk)"),
        ("dropout.active_in_eval(p~0.1)", "dropout.active_in_eval"),
        ("window.size=W+1", "window.size=W+1"),
        ("alibi.slopes=[0.5, 0.25]", "alibi.slopes"),
        ("input.mutated(query,mask)", "input.mutated(query,mask)"),
        ("softcap.constant(50)", "softcap.constant"),
        ("rope.theta=9995(want=10000)", "rope.theta=9995"),
        ("rope.position=+1+rope.low_precision(float16,angles,first_bad_pos=257)",
         "rope.position=+1+rope.low_precision(float16,angles)"),
    ],
)  # fmt: skip
def test_stable_codes_hold_no_measured_number(code, stable):
    assert stable_code(finding(code)) == stable


def test_what_was_accepted_passes_and_keeps_passing():
    found = check_fn(functions.top_left)
    assert not found.conforms
    baseline = Baseline().with_report(found)
    verdict = verdict_of(check_fn(functions.top_left), baseline)
    assert verdict.passed
    assert [known.code for known, _ in verdict.accepted] == ["causal.align=top_left(want=bottom_right)"]
    assert not verdict.gone
    assert not verdict_of(found).passed


def test_a_new_mistake_fails_beside_an_accepted_one():
    baseline = Baseline().with_report(report(finding("causal.align=top_left(want=bottom_right)")))
    verdict = verdict_of(report(finding("causal.align=top_left(want=bottom_right)"), finding("gqa.tile")), baseline)
    assert [new.code for new in verdict.open] == ["gqa.tile"]
    assert not verdict.passed
    assert "1 accepted, 1 new" in str(verdict)


@pytest.mark.parametrize(
    "changed",
    [
        report(finding("causal.align=none(want=bottom_right)")),
        report(finding("causal.align=top_left(want=bottom_right)", "leak")),
        report(finding("causal.align=top_left(want=bottom_right)"), subject="m:g"),
        report(finding("causal.align=top_left(want=bottom_right)"), contract="flash_attn"),
    ],
    ids=["another deviation", "a worse one", "another function", "another contract"],
)
def test_an_entry_covers_nothing_else(changed):
    baseline = Baseline().with_report(report(finding("causal.align=top_left(want=bottom_right)", "wrong")))
    assert not verdict_of(changed, baseline).passed


def test_an_unknown_mistake_is_accepted_only_where_it_was_seen():
    seen = report(finding("unknown", named=False, probes=("mask.rect", "mask.long")))
    baseline = Baseline().with_report(seen)
    assert verdict_of(report(finding("unknown", named=False, probes=("mask.rect",))), baseline).passed
    assert not verdict_of(report(finding("unknown", named=False, probes=("causal.long",))), baseline).passed


def test_what_no_longer_occurs_is_told_and_fails_nothing():
    baseline = Baseline().with_report(report(finding("gqa.tile")))
    verdict = verdict_of(report(), baseline)
    assert verdict.passed
    assert [entry.code for entry in verdict.gone] == ["gqa.tile"]
    assert "no longer found  gqa.tile; remove it" in str(verdict)
    untested = verdict_of(Report("m:f", "standard", problem="import failed"), baseline)
    assert not untested.gone
    assert not untested.passed


def test_writing_again_keeps_reasons_and_other_functions():
    old = Baseline((
        Accepted("m:f", "standard", "gqa.tile", "wrong", "as trained"),
        Accepted("m:f", "standard", "scale.missing", "wrong"),
        Accepted("m:g", "standard", "gqa.tile", "wrong", "other"),
    ))  # fmt: skip
    new = old.with_report(report(finding("gqa.tile"), finding("call.dtype=float64", "info")))
    assert [(entry.subject, entry.code, entry.reason) for entry in new.accepted] == [
        ("m:f", "gqa.tile", "as trained"), ("m:g", "gqa.tile", "other"),
    ]  # fmt: skip


def test_a_file_is_read_as_it_was_written(tmp_path):
    baseline = Baseline().with_report(report(finding("unknown", named=False, probes=("a.b",)), finding("gqa.tile")))
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(baseline.to_dict()), "utf-8")
    assert read_baseline(path) == baseline


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"schema": "softlookup.baseline/2", "accepted": []}',
        '{"schema": "softlookup.baseline/1", "accepted": [1]}',
        '{"schema": "softlookup.baseline/1", "accepted": [{"code": "x"}]}',
        '{"schema": "softlookup.baseline/1", "accepted": [{"subject":"a","contract":"b","code":"c","severity":"d"}]}',
    ],
)  # fmt: skip
def test_a_file_that_is_no_baseline_is_refused(tmp_path, text):
    path = tmp_path / "baseline.json"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match="write-baseline"):
        read_baseline(path)
