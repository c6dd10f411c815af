"""An inspection of a tiny model: every part agrees with what it is made of, and faults are told where they are."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from planted_attention import planted
from softlookup import Session
from softlookup.diagnostics.baseline import load_baseline, save_baseline
from softlookup.diagnostics.inspection import BANK_QUESTIONS
from softlookup.errors import DocumentError, UsageError
from softlookup.session import Options
from tiny_models import CONTRACT_ZH, LAYERS, save_folder

OPTIONS = Options(max_answer_tokens=4, alpha=0.5)
QUESTION = "Who repairs the jetty?"


@pytest.fixture(scope="module")
def inspected(tiny_folders, tmp_path_factory):
    """An inspection and the document behind it."""
    path = tmp_path_factory.mktemp("inspection") / "mooring.txt"
    from tiny_models import CONTRACT

    path.write_text(CONTRACT, "utf-8")
    document = Session(tiny_folders("llama"), options=OPTIONS).open(path)
    return document.inspect(QUESTION), document


def test_a_healthy_run_raises_nothing_and_tells_every_layer_and_head(inspected):
    found, _ = inspected
    assert found.alerts == ()
    assert found.failure == ""
    assert [layer.layer for layer in found.layers] == list(range(LAYERS))
    assert all(len(layer.heads) == 4 for layer in found.layers)
    assert found.bank_questions == BANK_QUESTIONS
    assert (found.sink_rows, found.baseline_runs) == ("all", None)


def test_means_of_a_layer_are_those_of_its_heads(inspected):
    for layer in inspected[0].layers:
        for name in ("entropy", "normalized_entropy", "first_token"):
            mean = np.mean([head[name] for head in layer.heads])
            assert getattr(layer, name) == pytest.approx(mean, rel=1e-4)
        assert 0 < layer.bank_normalized_entropy < 1


def test_the_strip_is_the_question_minus_the_bank(inspected):
    found, document = inspected
    text = document.document.text
    assert [row.score for row in found.strip] == sorted((row.score for row in found.strip), reverse=True)
    clauses = {clause.path for clause in document.document.clauses} | {""}
    for row in found.strip:
        assert len(row.mass) == LAYERS
        assert row.clause in clauses
        assert " ".join(text[row.start : row.end].split()).startswith(row.opening[:20])
    # mass is a share of 1 per layer: what one clause gains another loses, up to what lies outside of the clauses
    assert all(abs(sum(row.mass[layer] for row in found.strip)) < 1 for layer in range(LAYERS))
    assert any(value > 0 for row in found.strip for value in row.mass)


def test_heads_are_those_of_the_profile_with_their_best_clauses_first(inspected):
    found, _ = inspected
    assert [(head.layer, head.head) for head in found.heads] == [(1, head) for head in range(4)]
    for head in found.heads:
        masses = [share.mass for share in head.clauses]
        assert masses == sorted(masses, reverse=True)
        assert len(masses) == 3


def test_the_decision_is_that_of_ask(inspected):
    found, document = inspected
    answer = document.ask(QUESTION)
    assert found.p_value == answer.p_value
    assert found.found == (answer.outcome != "no_evidence")
    assert answer.alerts == ()


def test_json_is_plain_and_complete(inspected):
    data = inspected[0].to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == json.loads(json.dumps(data))
    assert data["schema"] == 1
    names = "schema question alerts evidence answer failure strip heads sinks layers rows baseline_runs"
    assert list(data) == [*names.split(), "context_tokens", "model"]


@pytest.mark.parametrize(
    ("fault", "name"),
    [("no 1/sqrt(d)", "wrong_scale"), ("mask after softmax", "kernel_mismatch"), ("nan", "non_finite")],
)
def test_a_planted_fault_is_told(fault, name, tmp_path, contract):
    session = Session(save_folder(tmp_path / "model"), options=OPTIONS)
    with planted(session.loaded.model, fault):
        found = session.open(contract).inspect(QUESTION)
        assert name in {alert.monitor for alert in found.alerts}
        assert all(alert.layer is not None for alert in found.alerts if alert.monitor == name)
        assert bool(found.failure) == (fault == "nan")
        if fault == "nan":
            assert (found.sink_rows, found.found, found.answer) == ("question", False, "")
            json.dumps(found.to_dict(), allow_nan=False)
    assert session.open(contract).inspect(QUESTION).alerts == ()


def test_a_stored_baseline_is_used(tiny_folder, contract):
    session = Session(tiny_folder, options=OPTIONS)
    document = session.open(contract)
    bank = document.inspect(QUESTION).healthy_bank
    identity = {"model_sha256": session.source.sha256, "template_sha256": session.template.sha256}
    save_baseline(dataclasses.replace(bank, **identity))
    assert load_baseline(**identity) is not None
    found = document.inspect(QUESTION)
    assert (found.alerts, found.baseline_runs) == ((), BANK_QUESTIONS)
    assert len(found.layers[0].heads[0]["normalized_entropy_range"]) == 2
    with planted(session.loaded.model, "collapsed keys"):
        alerts = " ".join(session.open(contract).ask(QUESTION).alerts)
    assert "head_entropy_high in layer" in alerts
    assert "mush: " in alerts


def test_a_retrieved_context_is_inspected_as_well(tiny_folder, tmp_path):
    path = tmp_path / "cangku.txt"
    path.write_text(CONTRACT_ZH * 3, "utf-8")
    document = Session(tiny_folder, options=Options(0.5, 2, 300)).open(path)
    assert document.strategy.strategy != "full_context"
    found = document.inspect("谁修理屋顶？")
    assert found.language == "zh"
    assert found.context_tokens <= 300
    assert found.strip


def test_what_cannot_be_asked_cannot_be_inspected(tiny_folder, contract, tmp_path):
    document = Session(tiny_folder, options=OPTIONS).open(contract)
    with pytest.raises(UsageError):
        document.inspect("  ")
    empty = tmp_path / "empty.txt"
    empty.write_text("   \n", "utf-8")
    with pytest.raises(DocumentError):
        Session(tiny_folder, options=OPTIONS).open(empty).inspect(QUESTION)
