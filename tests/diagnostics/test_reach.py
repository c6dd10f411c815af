"""Rung 0b: the masks of the actual pass, with windows and planted masks."""

from __future__ import annotations

import faults
import pytest

from softlookup.diagnostics.reach import out_of_reach
from softlookup.runtime.load import load_model
from tiny_models import edit_config, save_folder


@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_full_attention_reaches_every_place(make_case, kind):
    step = out_of_reach(make_case("1" if kind == "llama" else "6", kind=kind))
    assert step.tests[0].value >= 1
    if kind == "llama":
        assert step.hit is None
        assert [test.value for test in step.tests] == [3.0, 1.0]


def test_a_place_that_a_mask_hides(make_case):
    case = make_case("3")
    columns = case.place_columns
    with faults.hiding(columns):
        step = out_of_reach(case)
    assert step.hit.verdict == "masked"
    assert step.hit.facts["columns"] == f"{columns.min()}-{columns.max()}"
    with faults.hiding(columns[:-1]):
        step = out_of_reach(case)
    assert step.hit is None
    assert step.tests[1].value == pytest.approx(1 / len(columns))


def test_windows_that_end_before_the_place(make_case):
    # gemma 3: one layer of three sees everything
    far = out_of_reach(make_case("1", kind="gemma3"))
    assert far.hit.verdict == "out_of_reach"
    assert (far.hit.facts["local"], far.hit.facts["seeing"]) == ("2", "1")
    assert far.tests[-1].passed is False
    # mistral: every layer has the window
    assert out_of_reach(make_case("1", kind="mistral")).hit.verdict == "masked"


def test_a_window_that_reaches_the_place(make_case, tmp_path):
    folder = save_folder(tmp_path / "wide", "gemma3")
    edit_config(folder, sliding_window=120)
    wide = load_model(folder)
    step = out_of_reach(make_case("at least 40,000", loaded=wide))
    assert step.hit is None
    assert step.tests[0].value == 3
    assert out_of_reach(make_case("1", loaded=wide)).hit.verdict == "out_of_reach"
