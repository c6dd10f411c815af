"""The planted contracts of ``benchmarks/diagnosis.py`` are what they claim: one clause holds each value."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from softlookup.documents.read import read_document
from softlookup.evidence.question_bank import question_bank
from softlookup.evidence.values import values_in

ROOT = Path(__file__).resolve().parents[1] / "benchmarks"


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def planted():
    return load("planted_contracts")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("number", range(8))
def test_a_contract(planted, tmp_path, language, number):
    made = planted.planted_contract(language, number)
    assert made == planted.planted_contract(language, number)
    for text, twin in ((made.text, 0), (made.with_twin, 1)):
        assert text.count(made.quote) == 1
        assert text.count(made.value) == 1
        assert text.count(made.twin_value) == twin
        assert made.invented not in text
        assert all(text.count(quote) == 1 for _, quote in made.others)
    assert made.with_twin.count(made.twin_quote) == 1
    assert made.value not in made.without
    assert made.topic.quote in made.topic.text
    assert values_in(made.topic.answer.format(v=made.value)) == {made.value}
    path = tmp_path / "contract.txt"
    path.write_text(made.with_twin, "utf-8")
    document = read_document(path)
    places = [document.clause_at(document.text.index(words)) for words in (made.quote, made.twin_quote)]
    assert places[0].number
    assert places[0] != places[1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_two_hops_and_long_texts(planted, language):
    text, question, use, answer, definition = planted.two_hop(language, 3)
    assert text.count(use) == text.count(definition) == 1
    assert values_in(answer) <= values_in(definition)
    assert not values_in(use) & values_in(definition)
    assert values_in(question) & values_in(answer) == set()
    long = planted.long_contract(language, 3, 2000)
    assert long.text.index(long.quote) > 2000
    assert long.text.count(long.quote) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_unrelated_questions_are_not_in_the_bank(planted, language):
    assert not set(planted.UNRELATED[language]) & set(question_bank(language).questions)


def test_the_intervals_and_the_score():
    sys.path.insert(0, str(ROOT))
    try:
        bench = load("diagnosis")
    finally:
        sys.path.remove(str(ROOT))
    low, high = bench.wilson(9, 10)
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)  # 0.789 -/+ 0.193, worked out by hand
    right = [{"kind": kind, "verdict": verdict} for kind, verdict in bench.EXPECTED.items()]
    assert bench.macro_f1(right) == 1.0
    wrong = [{**row, "verdict": "misread"} if row["kind"] == "lost" else row for row in right]
    assert bench.macro_f1(wrong) == pytest.approx((7 + 0 + 2 / 3) / 9)  # nine verdicts
