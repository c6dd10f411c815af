"""``softlookup diagnose``: exit codes, text and JSON in both languages, hostile text made harmless."""

from __future__ import annotations

import json

import pytest

from softlookup.cli import main
from tiny_models import CONTRACT_ZH

QUESTION = "When must the Owner repair the jetty?"


@pytest.fixture
def diagnose(tiny_folder, capsys):
    def run(*arguments):
        code = main(["diagnose", *map(str, arguments), "--model", str(tiny_folder), "--max-answer-tokens", "2"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_text(diagnose, contract):
    code, out, _ = diagnose(contract, QUESTION, "--expect", "3", "--answer", "Within thirty days.")
    assert code == 0
    assert "=> Verdict (-): no fault found" in out
    assert "Answer (given): Within thirty days." in out
    assert "1  ok   row_sums" in out
    assert "Remedy: " in out
    assert "Not tested: " in out


def test_json(diagnose, contract):
    code, out, _ = diagnose(contract, QUESTION, "--expect", "within thirty days", "--answer", "At once.", "--json")
    assert code == 0
    assert out.count("\n") == 1
    found = json.loads(out)
    assert found["schema"] == 1
    assert found["expected"]["quote"] == "within thirty days"
    assert {"rung", "name", "value", "threshold", "passed", "detail"} == set(found["tests"][0])
    assert found["verdict"] in {"not_seen", "not_selected", "misread", "unsupported_claim"}


def test_chinese(diagnose, tmp_path):
    path = tmp_path / "cangku.txt"
    path.write_text(CONTRACT_ZH, "utf-8")
    code, out, _ = diagnose(path, "甲方何时修理屋顶？", "--expect", "第三条", "--answer", "三十日内修理")
    assert code == 0
    assert "=> 结论 (-): 未发现问题" in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--expect", "clause 99"], 2, "no clause"),
        (["--expect", "the Keeper"], 2, "occur"),
        (["--expect", "3", "--answer", " "], 2, "answer is empty"),
        (["--expect", "3", "--alpha", "0.001"], 2, "alpha"),
    ],
)
def test_errors_are_one_line(diagnose, contract, arguments, code, words):
    found, out, err = diagnose(contract, QUESTION, *arguments)
    assert found == code
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


def test_expect_is_required(diagnose, contract):
    with pytest.raises(SystemExit) as exit_:
        diagnose(contract, QUESTION)
    assert exit_.value.code == 2


def test_hostile_words_are_escaped(diagnose, tmp_path):
    path = tmp_path / "hostile.txt"
    path.write_text("1. Fee. The fee is\u202e 700 \x1b[31mred\x1b[0m euros.\n\n2. Term. One year.\n", "utf-8")
    code, out, err = diagnose(path, "What is \x1b[2J the fee?", "--expect", "1", "--answer", "700 \x1b]0;x\x07")
    assert code == 0, err
    assert not set("\x1b\u202e\x07") & set(out)
