"""The ONNX cases as a second baseline of the self-test: a bug they see, one they cannot see, and no package."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from conformance import functions
from softlookup.conformance import self_test as exam
from softlookup.conformance.onnx_cases import tell_apart
from softlookup.conformance.onnx_cases.tell_apart import PublishedSuite
from softlookup.conformance.planted.corpus import PLAIN, Plant, controls, plants
from softlookup.conformance.planted.correct import TwoSided
from softlookup.conformance.planted.rotary import Rotary
from softlookup.conformance.self_test import Row, Scoreboard, _examined

PLANTS = {plant.id: plant for plant in plants()}
FUNCTIONS = {name: plant for name, plant in PLANTS.items() if not plant.rope}


@pytest.fixture(scope="module")
def suite():
    found = PublishedSuite()
    assert len(found.cases) == 93
    return found


def told(suite, plant):
    return suite.tells(plant.function, plant.twin, plant.contract)


@pytest.mark.parametrize(
    "name",
    ["mask.ignored", "mask.key_lengths_ignored", "scale.missing", "gqa.tile", "window.sym_leak", "num.fp16_softmax"],
)
def test_a_bug_within_the_cases_is_seen(suite, name):
    assert told(suite, PLANTS[name]) == "sees"


@pytest.mark.parametrize(
    "name",
    ["sink.ignored", "alibi.sign", "infra.inplace", "batch.seg_leak", "mask.poison", "softmax.max_init0",
     "num.fp16_qk"],
)  # fmt: skip
def test_a_bug_outside_of_the_cases_is_not(suite, name):
    """Features that the operator lacks; and numbers that no case has."""
    assert told(suite, PLANTS[name]) == "blind"


@pytest.mark.parametrize("plant", [plant for plant in controls() if not plant.rope], ids=lambda plant: plant.id)
def test_no_case_fails_for_a_correct_variant_that_its_twin_passes(suite, plant):
    assert told(suite, plant) == "blind"


def test_a_correct_function_given_as_a_bug_is_not_seen(suite):
    assert suite.tells(PLAIN, PLAIN, "standard") == "blind"


def test_every_bug_of_an_attention_function_has_a_correct_twin():
    assert len(FUNCTIONS) == 56
    assert all(callable(plant.twin) for plant in FUNCTIONS.values())
    assert all(plant.twin is None for plant in PLANTS.values() if plant.rope)


def test_a_case_that_the_twin_fails_as_well_tells_nothing(suite):
    """Planted fault: the same mistake in both."""
    wrong = PLANTS["mask.ignored"].function
    assert suite.tells(wrong, wrong, "standard") == "blind"


def test_what_cannot_be_called_is_not_asked(suite):
    assert suite.tells(functions.broken, PLAIN, "standard") == "n/a"


def test_the_first_case_that_fails_ends_it(suite, monkeypatch):
    asked = []
    run = tell_apart.case_result
    monkeypatch.setattr(tell_apart, "case_result", lambda *given: asked.append(run(*given)) or asked[-1])
    suite.tells(PLAIN, PLAIN, "standard")  # known or asked in full, from here on known
    asked.clear()
    assert suite.tells(PLANTS["scale.missing"].function, PLAIN, "standard") == "sees"
    assert [result.status for result in asked[:-1]].count("failed") == 0
    assert asked[-1].status == "failed"
    assert len(asked) < 88


def test_a_function_that_hangs_is_seen(suite, monkeypatch):
    def hangs(q, k, v, causal=False):
        if q.shape[2:] == (4, 8):  # as in the cases, not as in the search for sizes
            while True:
                pass
        return functions.right(q, k, v, causal)

    suite.tells(PLAIN, PLAIN, "standard")
    monkeypatch.setattr(tell_apart, "_BUDGET", 3.0)
    assert suite.tells(hangs, PLAIN, "standard") == "sees"


def test_the_two_sided_window_is_what_the_operator_says(suite):
    """The correct twin: as many cases passed as by a function with another form of window."""
    q = np.ones((1, 1, 3, 1), dtype=np.float32)
    got = TwoSided()(q, q, np.eye(3, dtype=np.float32)[None, None], window=(0, 1))
    np.testing.assert_allclose(got[0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]])
    suite.tells(PLAIN, PLAIN, "standard")
    twin = PLANTS["window.sym_leak"]
    assert told(suite, twin) == "sees"
    assert len({len(passed) for right, _, passed in suite._passed if right in (PLAIN, twin.twin)}) == 1


def test_the_row_tells_and_the_scoreboard_counts(suite):
    seen = _examined(PLANTS["scale.missing"], None, suite)
    blind = _examined(PLANTS["sink.ignored"], None, suite)
    rotary = Row("rope", "rope.theta", ("rope.theta",), detected=True, named=True, allclose=True)
    assert (seen.onnx, blind.onnx, rotary.onnx) == ("sees", "blind", "n/a")
    silent = _examined(Plant("ok", PLAIN, "", twin=PLAIN), None, suite)
    found = Scoreboard((seen, blind, rotary), (silent,), 93).to_dict()
    want = {"cases": 93, "asked": 2, "detected": 1, "blind": ["sink.ignored"], "false_alarms": 0, "missing": ""}
    assert found["onnx"] == want
    assert [row["onnx"] for row in found["rows"]] == ["sees", "blind", "n/a", "blind"]
    alarmed = Scoreboard((), (replace(silent, onnx="sees"),), 93)  # planted: a case fails for a correct variant
    assert alarmed.to_dict()["onnx"]["false_alarms"] == 1


def test_rotary_functions_and_decoders_are_not_asked(suite):
    assert _examined(Plant("x", Rotary(), "", PLANTS["rope.theta"].contract, rope=True), None, suite).onnx == "n/a"


NO_ONNX = """
import json, sys
sys.modules["onnx"] = None
from softlookup.conformance import self_test as exam
some = [plant for plant in exam.plants() if plant.id in ("scale.missing", "rope.theta")]
exam.plants, exam.toy_plants, exam.controls, exam.toy_controls = (lambda: some), list, list, list
from softlookup.cli import main
sys.exit(main(["check", "--self-test", *sys.argv[1:]]))
"""


def test_without_onnx_the_column_says_so_and_nothing_fails():
    """In a process of its own, where the package cannot be imported."""
    command = [sys.executable, "-c", NO_ONNX]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("scale.missing")]
    assert "onnx not installed" in line
    assert "ONNX Attention cases were not run: " in result.stdout
    assert "pip install onnx" in result.stdout
    result = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    found = json.loads(result.stdout)
    assert (found["onnx"]["cases"], found["onnx"]["asked"], found["onnx"]["detected"]) == (0, 0, 0)
    assert "onnx" in found["onnx"]["missing"]
    assert {row["id"]: row["onnx"] for row in found["rows"]} == {"scale.missing": "not installed", "rope.theta": "n/a"}


def test_the_command_prints_the_column(monkeypatch, capsys):
    from softlookup.cli import main

    some = [PLANTS["scale.missing"], PLANTS["sink.ignored"], PLANTS["rope.theta"]]
    monkeypatch.setattr(exam, "plants", lambda: some)
    for name in ("toy_plants", "controls", "toy_controls"):
        monkeypatch.setattr(exam, name, list)
    assert main(["check", "--self-test"]) == 0
    out = capsys.readouterr().out
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "onnx sees" in lines["scale.missing"]
    assert "onnx blind" in lines["sink.ignored"]
    assert "onnx n/a" in lines["rope.theta"]
    assert "the 93 published ONNX Attention cases detect 1 of the 2 in attention functions, with 0 false alarms" in out
