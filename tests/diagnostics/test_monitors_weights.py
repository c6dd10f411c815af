"""Monitors and symptoms on the embedded model: its stored baseline, a healthy run, and faults planted in it."""

from __future__ import annotations

import pytest

from planted_attention import planted
from softlookup import Session
from softlookup.diagnostics.baseline import load_baseline
from softlookup.session import Options
from tiny_models import CONTRACT

pytestmark = pytest.mark.weights

QUESTION = "Who repairs the jetty?"


@pytest.fixture(scope="module")
def session(weights):
    # almost every question counts as evidence: an answer is wanted whatever the faults do
    return Session(weights, options=Options(alpha=0.99, max_answer_tokens=24))


def test_the_embedded_model_has_its_baseline(session):
    baseline = load_baseline(session.source.sha256, session.template.sha256)
    assert baseline is not None
    assert (baseline.shape, baseline.runs) == ((30, 9), 120)


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        (None, ()),
        ("no 1/sqrt(d)", ("wrong_scale in layer 0", "head_entropy_low in layer")),
        ("1/d", ("wrong_scale in layer 0", "uniform_attention: ", "smoke_2_over_t in layer", "mush: ")),
        ("no mask", ("kernel_mismatch in layer 0",)),
        ("all-sink", ("attention_sink: ", "one_key in layer 0", "stares_at_first_token: ")),
    ],
)
def test_faults_planted_in_the_embedded_model(fault, names, session, contract):
    assert contract.read_text("utf-8") == CONTRACT
    with planted(session.loaded.model, fault):
        answer = session.open(contract).ask(QUESTION)
    if fault is None:
        assert answer.alerts == ()
    for name in names:
        assert any(alert.startswith(name) for alert in answer.alerts), (name, answer.alerts)
    assert answer.needs_review or not answer.alerts
