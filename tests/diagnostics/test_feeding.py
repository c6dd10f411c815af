"""Rungs 0a and 0c: what was lost before the model, and what lies beyond its window."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from softlookup.diagnostics.feeding import beyond_window, not_fed, trained_window
from softlookup.documents.model import Span
from softlookup.retrieval.context import Context


def test_a_place_that_was_fed(make_case):
    step = not_fed(make_case("3"))
    assert step.hit is None
    assert [(t.name, t.value, t.passed) for t in step.tests] == [
        ("in_reading_text", 1.0, True), ("share_in_context", 1.0, True), ("share_in_tokens", 1.0, True),
    ]  # fmt: skip


def without_clause_3(document):
    at = document.text.index("3. Repairs")
    spans = (Span(0, at), Span(document.text.index("4. Termination"), len(document.text)))
    return Context("\n[...]\n".join(document.text[s.start : s.end] for s in spans), spans, ())


def test_a_place_that_retrieval_lost(make_case):
    step = not_fed(make_case("3", context=without_clause_3, retrieved=True))
    assert (step.hit.verdict, step.hit.variant) == ("not_fed", "retrieval")
    assert step.hit.facts["share"] == "0%"
    assert step.hit.facts["rank"] == "4"
    assert not_fed(make_case("4.1", context=without_clause_3, retrieved=True)).hit is None


def test_a_place_that_was_cut_in_its_middle(make_case):
    def cut(document):
        span = Span(0, document.text.index("within thirty"))
        return Context(document.text[: span.end], (span,), ())

    step = not_fed(make_case("3", context=cut))
    assert (step.hit.verdict, step.hit.variant) == ("not_fed", "truncated")
    assert 0.2 < step.tests[1].value < 0.8


def test_tokens_that_a_tokenizer_dropped(make_case):
    case = make_case("5")
    prefix = case.prefix
    kept = prefix.document[1] - 40
    case.prefix = dataclasses.replace(prefix, offsets=prefix.offsets[: kept - prefix.document[0]])
    step = not_fed(case)
    assert (step.hit.verdict, step.hit.variant) == ("not_fed", "truncated")
    assert step.tests[-1].name == "share_in_tokens"
    assert step.tests[-1].value < 0.9


def test_nothing_expected_is_nothing_lost(make_case):
    assert not_fed(make_case("none")).tests == ()


def test_the_window(make_case):
    case = make_case("6")
    assert beyond_window(case, 10).hit is None
    total = len(case.prefix) + len(case.suffix) + 10
    assert beyond_window(case, 10 + 4096 - total).hit is None
    step = beyond_window(case, 11 + 4096 - total)
    assert (step.hit.verdict, step.hit.variant) == ("beyond_window", "")
    assert step.tests[0].value == 4097


def test_a_place_beyond_the_window_is_named(make_case, monkeypatch):
    case = make_case("6")
    last = int(case.place_columns.max())
    monkeypatch.setattr(type(case.loaded), "window", property(lambda _: last))
    step = beyond_window(case, 10)
    assert step.hit.variant == "place"
    assert step.hit.facts["position"] == f"{last:,}"


def test_scaled_positions_count_with_their_factor(make_case, monkeypatch):
    case = make_case("6")
    rope = {"rope_type": "yarn", "original_max_position_embeddings": 64, "factor": 4.0}
    monkeypatch.setattr(case.loaded.model.config, "rope_parameters", rope)
    assert trained_window(case) == 256
    assert beyond_window(case, 10).hit is not None


@pytest.mark.parametrize("expect", ["3", "within thirty days"])
def test_columns_hold_the_words_of_the_place(make_case, expect):
    case = make_case(expect)
    ids = np.array(case.prefix.ids)[case.place_columns]
    words = case.document.text[case.span.start : case.span.end]
    decoded = case.loaded.tokenizer.decode(ids.tolist())
    assert decoded.split() == words.split() or words in decoded
