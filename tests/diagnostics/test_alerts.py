"""Alerts: one readable line, every monitor explained in both languages, JSON without NaN."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

import softlookup.diagnostics as package
from softlookup.diagnostics.alert_texts import ALERT_TEXTS
from softlookup.diagnostics.alerts import Alert, condensed, finite_or_none

SOURCES = Path(package.__file__).parent


def test_an_alert_is_one_line_with_place_value_threshold_meaning_and_remedy():
    line = str(Alert("head_entropy_low", 0.01234, 0.2, 3, 5, heads=4, detail="d"))
    text = ALERT_TEXTS["head_entropy_low"]
    assert line == (
        f"head_entropy_low in layer 3, head 5 (4 heads of the layer): {text.meaning} (0.0123, threshold 0.2) [d]; "
        f"{text.remedy}"
    )
    assert str(Alert("attention_sink", 0.97123, 0.95)).startswith("attention_sink: nearly all attention is on")


@pytest.mark.parametrize("name", ALERT_TEXTS)
def test_every_text_is_there_in_both_languages(name):
    text = ALERT_TEXTS[name]
    assert all(text)
    assert not re.search("[\u4e00-\u9fff]", text.meaning + text.remedy)
    assert re.search("[\u4e00-\u9fff]", text.meaning_zh)
    assert re.search("[\u4e00-\u9fff]", text.remedy_zh)
    assert "verified" not in text.meaning


def test_every_monitor_that_the_code_names_has_a_text_and_every_text_a_monitor():
    code = "".join(path.read_text("utf-8") for path in SOURCES.glob("*.py") if path.name != "alert_texts.py")
    for name in ALERT_TEXTS:
        assert f'"{name}"' in code, name
    for name in re.findall(r'Alert\(\s*"(\w+)"', code):
        assert name in ALERT_TEXTS


def test_many_layers_of_one_monitor_become_one_alert_that_counts_them():
    many = [Alert("layer_uniform", 1.0, 0.9, layer) for layer in range(30)]
    (alert,) = condensed(many)
    assert (alert.layer, alert.layers) == (0, 30)
    assert "and 29 more layers" in str(alert)
    few = many[:3]
    assert condensed(few) == tuple(few)
    assert condensed([]) == ()


def test_alerts_of_the_answer_are_never_put_together():
    found = [Alert("phantom_clauses", 1, 0, detail=str(number)) for number in range(6)]
    assert condensed(found) == tuple(found)


def test_json_has_no_infinity():
    data = Alert("non_finite", math.inf, 0.0, 1, 2).to_dict()
    assert data["value"] is None
    assert data["layer"] == 1
    json.dumps(data, allow_nan=False)
    assert finite_or_none(math.nan) is None
    assert finite_or_none(0.12345678) == 0.123457
