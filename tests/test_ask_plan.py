"""``softlookup ask`` and its plan: the strategy asked for, how long it will take, and what was predicted beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from softlookup import Session
from softlookup.cli import main
from softlookup.cost.devices import find_device
from softlookup.cost.plan.request import PlanRequest
from softlookup.evidence.timed_model import bench_and_subject
from softlookup.session import Options
from timed_machine import Machine, subject
from tiny_models import save_folder

QUESTION = "Who repairs the jetty?"
FAST = ("--max-answer-tokens", "2")


def run(capsys, *arguments):
    code = main([*map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def calibrated(monkeypatch, capsys, tiny_folder):
    """Rates of a simulated machine are stored for the tiny model."""

    def simulated(loaded, fingerprint):
        _, given = bench_and_subject(loaded, fingerprint)
        return Machine(), subject(key=given.key, name=given.name)

    monkeypatch.setattr("softlookup.evidence.timed_model.bench_and_subject", simulated)
    assert main(["plan", "--calibrate", "--model", str(tiny_folder)]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("asked", "read"),
    [("auto", "full_context"), ("full", "full_context"), ("retrieval", "retrieval"), ("hybrid", "hybrid")],
)
def test_the_strategy_that_is_asked_for_is_used(asked, read, capsys, tiny_folder, contract):
    command = ("ask", contract, QUESTION, "--model", tiny_folder, "--strategy", asked, "--json", *FAST)
    code, out, _ = run(capsys, *command)
    answer = json.loads(out)
    assert code in (0, 3)
    assert answer["plan"]["strategy"] == read
    assert ("as asked" in answer["plan"]["reason"]) == (asked != "auto")
    assert answer["plan"]["first_answer_seconds"] >= 0


def test_retrieval_of_a_document_that_fits_reads_all_of_it(capsys, tiny_folder, contract):
    command = ("ask", contract, QUESTION, "--model", tiny_folder, "--strategy", "retrieval", "--json", *FAST)
    coverage = json.loads(run(capsys, *command)[1])["coverage"]
    assert coverage["tokens_read"] == coverage["tokens_seen"] == coverage["tokens_total"]
    assert coverage["clauses_not_fed"] == []


def test_plan_and_ask_say_the_same(capsys, tiny_folder, contract):
    _, out, _ = run(capsys, "ask", contract, QUESTION, "--model", tiny_folder, "--json", *FAST)
    _, planned, _ = run(capsys, "plan", contract, "--model", tiny_folder, "--json", "--answer-tokens", "2")
    decision = json.loads(planned)["decision"]
    asked = json.loads(out)["plan"]
    assert (asked["strategy"], asked["reason"]) == (decision["strategy"], decision["reason"])


def test_without_calibration_nothing_is_compared(capsys, tiny_folder, contract):
    _, _, err = run(capsys, "ask", contract, QUESTION, "--model", tiny_folder, *FAST)
    assert "predicted" not in err
    plan = Session(tiny_folder).open(contract).plan
    assert plan.request.efficiency.kind == "prior"


def test_with_calibration_what_happened_is_told_beside_the_prediction(capsys, tiny_folder, contract, calibrated):
    plan = Session(tiny_folder, options=Options(max_answer_tokens=2)).open(contract).plan
    assert plan.request.efficiency.kind == "measured"
    assert plan.chosen.first_answer.kind == "measured"
    _, _, err = run(capsys, "ask", contract, QUESTION, "Which law governs?", "--model", tiny_folder, *FAST)
    lines = [line for line in err.splitlines() if "predicted" in line]
    assert len(lines) == 1  # reading is paid for once
    assert lines[0].startswith("note: prefill ")
    assert "(measured 20" in lines[0]


def test_windows_found_on_disk_are_not_compared(capsys, tiny_folder, contract, calibrated, monkeypatch):
    from softlookup.runtime import prefix_store

    monkeypatch.setattr(prefix_store, "LEAST_FREE_BYTES", 0)
    monkeypatch.setattr(
        prefix_store.PrefixStore.__init__, "__kwdefaults__", {"most_bytes": 1 << 40, "least_free_bytes": 0}
    )
    command = ("ask", contract, QUESTION, "--model", tiny_folder, "--strategy", "hybrid", *FAST)
    _, _, first = run(capsys, *command)
    assert "predicted" in first
    assert "is kept for further questions" in first
    _, _, second = run(capsys, *command)
    assert "predicted" not in second
    assert "is kept" not in second


def test_a_long_wait_is_told_before(capsys, tiny_folder, contract, monkeypatch):
    from softlookup.cli import commands

    command = ("ask", contract, QUESTION, "--model", tiny_folder, *FAST)
    assert "for the first answer" not in run(capsys, *command)[2]
    monkeypatch.setattr(commands, "_LONG_WAIT_SECONDS", 0.0)
    assert "note: full_context, about " in run(capsys, *command)[2]


def test_a_limit_on_the_wait_leads_to_retrieval(capsys, tmp_path, monkeypatch):
    from softlookup.session import readings

    folder = save_folder(tmp_path / "tiny", window=2048)
    path = tmp_path / "farm.txt"
    lines = [f"{n}. The Keeper feeds heron number {n} with {n + 3} buckets a day." for n in range(1, 161)]
    path.write_text("\n\n".join(lines), "utf-8")
    command = ("ask", path, "Who feeds heron number 9?", "--model", folder, "--json", "--no-cache", *FAST)
    assert json.loads(run(capsys, *command)[1])["plan"]["strategy"] == "hybrid"
    slow = replace(find_device(), flops=1e5, fp32_flops=1e5)
    monkeypatch.setattr(readings, "PlanRequest", partial(PlanRequest, device=slow))
    answer = json.loads(run(capsys, *command)[1])
    assert answer["plan"]["strategy"] == "retrieval"
    assert "hybrid would see every token" in answer["plan"]["reason"]
    patient = json.loads(run(capsys, *command, "--max-seconds", "1000000")[1])
    assert patient["plan"]["strategy"] == "hybrid"
    assert run(capsys, *command, "--max-seconds", "-1")[0] == 2


def test_an_unknown_strategy_is_a_usage_error(capsys, contract):
    with pytest.raises(SystemExit) as stop:
        main(["ask", str(contract), QUESTION, "--strategy", "magic"])
    assert stop.value.code == 2
    assert "retrieval" in capsys.readouterr().err
