"""The answer object: its JSON has exactly the documented fields, and exit codes have one precedence."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest

from softlookup.errors import ExitCode
from softlookup.evidence.answer import SCHEMA, Answer, Citation, CoverageSummary, PlanSummary, Seconds
from tiny_answers import ANSWER

# the published JSON: a change here is a change of the schema, and its number must change as well
DOCUMENTED = {
    "": "schema question outcome needs_review reason answer p_value alpha citations ranking evidence_score plan "
    "coverage alerts document model seconds reasons ranked_by clauses",
    "citations": "clause heading start end page quote quote_check score p_value via why boxes",
    "ranking": "start end clause score",
    "clauses": "clause heading start end score p_value",
    "plan": "strategy reason document_tokens context_tokens window",
    "coverage": "pages characters tokens_total tokens_read skipped complete notes tokens_seen clauses_not_fed",
    "document": "path sha256 format clauses",
    "model": "name sha256 template_sha256 heads",
    "seconds": "read load prefill calibrate question answer total",
}


@pytest.mark.parametrize("part", DOCUMENTED)
def test_the_json_has_exactly_the_documented_fields(part):
    whole = json.loads(json.dumps(ANSWER.to_dict()))
    found = whole if not part else whole[part][0] if isinstance(whole[part], list) else whole[part]
    assert list(found) == DOCUMENTED[part].split()


def test_the_json_survives_a_round_trip():
    whole = ANSWER.to_dict()
    assert next(iter(whole)) == "schema"
    assert whole["schema"] == SCHEMA == 1
    decoded = json.loads(json.dumps(whole, ensure_ascii=False, allow_nan=False))
    assert decoded["question"] == "谁付款？"
    assert decoded["model"]["heads"] == [[1, 2], [3, 4]]
    assert decoded["citations"][0]["page"] is None


@pytest.mark.parametrize("holder", [Answer, Citation, CoverageSummary, PlanSummary, Seconds])
def test_results_are_frozen(holder):
    assert holder.__dataclass_params__.frozen
    assert fields(holder)


@pytest.mark.parametrize(
    ("outcome", "complete", "code"),
    [
        ("answered", True, ExitCode.OK),
        ("conflict", True, ExitCode.OK),
        ("no_evidence", True, ExitCode.NO_EVIDENCE),
        ("answered", False, ExitCode.DOCUMENT),
        ("no_evidence", False, ExitCode.DOCUMENT),
    ],
)
def test_exit_codes(outcome, complete, code):
    answer = replace(ANSWER, outcome=outcome, coverage=replace(ANSWER.coverage, complete=complete))
    assert answer.exit_code == code
