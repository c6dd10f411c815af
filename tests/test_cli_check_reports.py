"""softlookup check with report files and baselines: what is written, what is printed, how it ends."""

import json

import pytest
from lxml import etree

from softlookup.cli import main

MODULE = "from conformance.functions import right, top_left, unscaled, broken\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    name = f"reported_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def run(*arguments):
    return main(["check", *arguments])


def test_both_files_are_written_beside_the_text(module, tmp_path, capsys):
    assert run(f"{module}:top_left", "--junit", "out.xml", "--sarif", "out.sarif") == 1
    assert "causal.align" in capsys.readouterr().out
    assert etree.parse(tmp_path / "out.xml").getroot().get("failures") == "4"
    (log,) = json.loads((tmp_path / "out.sarif").read_text("utf-8"))["runs"]
    assert log["results"][0]["ruleId"] == "causal.align"


def test_a_baseline_is_written_accepts_and_tells_what_is_gone(module, tmp_path, capsys):
    assert run(f"{module}:top_left", "--write-baseline", "known.json") == 0
    assert [entry["code"] for entry in json.loads((tmp_path / "known.json").read_text("utf-8"))["accepted"]] == [
        "causal.align=top_left"
    ]
    capsys.readouterr()
    assert run(f"{module}:top_left", "--baseline", "known.json") == 0
    assert "accepted  causal.align=top_left(want=bottom_right)" in capsys.readouterr().out
    assert run(f"{module}:top_left", "--baseline", "known.json", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert not found["conforms"]
    assert found["baseline"] == {"passed": True, "new": [], "gone": [], "accepted": [
        {"code": "causal.align=top_left(want=bottom_right)", "reason": ""}]}  # fmt: skip
    text = (tmp_path / "known.json").read_text("utf-8").replace(":top_left", ":right")
    (tmp_path / "known.json").write_text(text, "utf-8")
    assert run(f"{module}:right", "--baseline", "known.json") == 0
    assert "no longer found  causal.align=top_left" in capsys.readouterr().out


def test_a_new_finding_fails_in_spite_of_a_baseline(module, capsys):
    assert run(f"{module}:top_left", "--write-baseline", "known.json") == 0
    assert run(f"{module}:unscaled", "--baseline", "known.json") == 1
    assert "0 accepted, 1 new" in capsys.readouterr().out


def test_what_cannot_be_tested_is_an_error_in_the_files_too(module, tmp_path, capsys):
    assert run(f"{module}:broken", "--junit", "out.xml") == 5
    assert etree.parse(tmp_path / "out.xml").getroot().get("errors") == "1"
    assert run("no_such_module:f", "--junit", "out.xml", "--sarif", "out.sarif") == 5
    assert "no_such_module" in etree.parse(tmp_path / "out.xml").find(".//error").get("message")
    log = json.loads((tmp_path / "out.sarif").read_text("utf-8"))["runs"][0]
    assert log["invocations"][0]["executionSuccessful"] is False
    assert run(f"{module}:broken", "--write-baseline", "known.json") == 5
    assert not (tmp_path / "known.json").exists()
    assert "could not test" in capsys.readouterr().out.lower()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--junit", "missing/out.xml"],
        ["--sarif", "."],
        ["--baseline", "missing.json"],
        ["--junit", "same", "--sarif", "./same"],
        ["--baseline", "a.json", "--write-baseline", "b.json"],
    ],
)
def test_wrong_usage_is_told_before_anything_runs(module, arguments, capsys):
    assert run("no_such_module:f", *arguments) == 2
    assert capsys.readouterr().err
    assert run(f"{module}:right", "--self-test", *arguments) == 2


def test_a_file_that_is_no_baseline_is_not_overwritten(module, tmp_path):
    (tmp_path / "known.json").write_text("my notes", "utf-8")
    assert run(f"{module}:top_left", "--write-baseline", "known.json") == 2
    assert (tmp_path / "known.json").read_text("utf-8") == "my notes"
