"""The exam: every planted bug is named as the one finding, correct variants are silent, and the exam can fail."""

import json
import os
from pathlib import Path

import pytest

from softlookup.conformance import check_fn, check_rope
from softlookup.conformance.planted.corpus import Plant, controls, plants
from softlookup.conformance.planted.plain import Plain
from softlookup.conformance.planted.toy import Toy
from softlookup.conformance.planted.toy_corpus import ToyPlant, toy_controls, toy_plants
from softlookup.conformance.self_test import Row, Scoreboard, _allclose, _examined

PLANTS = {plant.id: plant for plant in plants()}
CONTROLS = {plant.id: plant for plant in controls()}


def findings(plant):
    report = (check_rope if plant.rope else check_fn)(plant.function, plant.contract)
    assert not report.problem
    return report.serious


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_the_one_finding(name):
    found = findings(PLANTS[name])
    assert [finding.key for finding in found] == [PLANTS[name].expected]
    assert found[0].named
    assert found[0].script


@pytest.mark.parametrize("name", CONTROLS)
def test_a_correct_variant_is_silent(name):
    assert findings(CONTROLS[name]) == ()


def test_the_scoreboard_counts_and_fails_on_a_miss_and_on_a_false_alarm():
    """Planted faults: a bug without a name, and an alarm on a correct function."""
    named = Row("a", "scale.missing", ("scale.missing",), detected=True, named=True, allclose=True)
    missed = Row("b", "scale.missing", (), detected=False, named=False, allclose=True)
    later = Row("c", "", (), detected=False, named=False, allclose=False, reason="needs a model")
    silent = Row("ok", "", (), detected=False, named=False, allclose=False)
    alarm = Row("ok", "", ("unknown",), detected=True, named=False, allclose=False)
    board = Scoreboard((named, later), (silent,))
    assert board.passed
    assert {"total": 2, "covered": 1, "detected": 1, "named": 1, "false_alarms": 0}.items() <= board.to_dict().items()
    assert not Scoreboard((named, missed), (silent,)).passed
    assert not Scoreboard((named,), (alarm,)).passed


def test_a_correct_function_given_as_a_bug_is_not_detected():
    row = _examined(Plant("x", Plain(), "scale.missing"), None)
    assert not row.detected
    assert not row.named
    row = _examined(ToyPlant("x", Toy(), "decode.position=0"), None)
    assert not row.detected
    assert not row.allclose


def test_the_usual_unit_test_sees_a_wrong_scale_and_not_the_alignment():
    assert _allclose(PLANTS["scale.missing"])
    assert not _allclose(PLANTS["mask.align_top_left"])


@pytest.mark.shared_data
def test_the_corpus_covers_the_published_bugs():
    shared = Path(os.environ.get("SOFTLOOKUP_SHARED", "../shared")) / "data/conformance/planted_bugs.json"
    if not shared.is_file():
        pytest.skip("the published bugs are not here")
    published = {bug["id"]: bug["expected_diagnosis"] for bug in json.loads(shared.read_text("utf-8"))}
    covered = {plant.id: plant.expected for plant in (*plants(), *toy_plants())}
    assert covered == {name: code.split("(")[0].split("=")[0] for name, code in published.items()}


@pytest.mark.shared_data
def test_the_corpus_covers_the_published_correct_variants():
    shared = Path(os.environ.get("SOFTLOOKUP_SHARED", "../shared")) / "data/conformance/negative_controls.json"
    if not shared.is_file():
        pytest.skip("the published variants are not here")
    published = {entry["id"] for entry in json.loads(shared.read_text("utf-8"))}
    assert published <= {plant.id.split("(")[0] for plant in (*controls(), *toy_controls())}
