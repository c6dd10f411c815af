"""``softlookup model profile``: what it prints and stores, and that ``ask`` and ``model info`` use it."""

from __future__ import annotations

import json

import pytest

from softlookup.cli import main
from softlookup.cli import profile as command
from softlookup.evidence import profiling
from softlookup.evidence.profile import HeadProfile
from softlookup.evidence.profile_store import profile_path, read_profile
from softlookup.evidence.profile_texts import planted_contracts
from softlookup.evidence.profiling import LanguageScores, ProfileReport
from softlookup.runtime.load import find_model_source

HEADS = HeadProfile(((1, 0), (2, 3)), (1.0, 0.25), profiled=True)
SCORES = tuple(LanguageScores(language, 33, 0.06, 0.7, 0.8, 1e-9) for language in ("en", "zh"))


@pytest.fixture
def report(monkeypatch):
    """Plants the result of the measurement."""

    def plant(kind="profiled", profile=HEADS):
        quality = (0.8,) * len(profile.heads)
        planted = ProfileReport(kind, profile, quality, SCORES, SCORES)
        monkeypatch.setattr(profiling, "profile_model", lambda *_a, **_k: planted)

    return plant


def test_a_measured_profile_is_stored_and_used(tiny_folder, contract, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(profiling, "planted_contracts", lambda: planted_contracts()[3:5])
    out = tmp_path / "profile.json"
    assert main(["model", "profile", str(tiny_folder), "--questions", "8", "--out", str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    stored = profile_path(find_model_source(tiny_folder).sha256)
    assert printed["stored"] == str(stored)
    assert out.read_bytes() == stored.read_bytes()
    assert printed["heads"] == read_profile(stored)["heads"]
    assert {row["questions"] for row in printed["held_out"]["chosen heads"]} == {8}
    code = main(["ask", str(contract), "Who pays?", "--model", str(tiny_folder), "--max-answer-tokens", "1", "--json"])
    answer = json.loads(capsys.readouterr().out)
    if printed["kind"] == "unavailable":  # a tiny random model may well be no evidence
        assert (code, answer["p_value"]) == (3, None)
    assert "not profiled" not in answer["reason"]


def test_the_human_form(tiny_folder, report, capsys):
    report()
    assert main(["model", "profile", str(tiny_folder)]) == 0
    out = capsys.readouterr().out
    assert "tiny-llama: 2 heads chosen" in out
    assert "2-3" in out
    assert "en R@1 0.700, MRR 0.800 of 33 (chance 0.060" in out
    assert "Stored in " in out
    assert main(["model", "info", "--model", str(tiny_folder)]) == 0
    assert "evidence: profiled on planted questions: 2 heads" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "profile", "words"),
    [
        ("middle layers", HEADS, "no choice of heads beats the middle layers"),
        ("unavailable", HeadProfile(((1, 0),), (1.0,), profiled=True, languages=(), note="chance"), "unavailable"),
        (
            "profiled",
            HeadProfile(((1, 0),), (1.0,), profiled=True, languages=("en",), note="chance"),
            "No attention evidence for Chinese questions: chance",
        ),
    ],
)
def test_lesser_results_are_said(kind, profile, words, tiny_folder, report, capsys):
    report(kind, profile)
    assert main(["model", "profile", str(tiny_folder)]) == 0
    assert words in capsys.readouterr().out


def test_a_built_in_profile_is_not_replaced(tiny_folder, report, tmp_path, capsys, monkeypatch):
    report()
    monkeypatch.setattr("softlookup.evidence.profile.has_built_in", lambda _: True)
    out = tmp_path / "p.json"
    assert main(["model", "profile", str(tiny_folder), "--out", str(out)]) == 0
    assert "built-in profile stays in use" in capsys.readouterr().out
    assert not profile_path(find_model_source(tiny_folder).sha256).exists()
    assert read_profile(out)["kind"] == "profiled"


@pytest.mark.parametrize("arguments", [["--out", "/no/such/folder/p.json"], ["--out", "/"], ["--questions", "2"]])
def test_a_wrong_call_is_refused_before_the_model_is_loaded(arguments, capsys):
    assert main(["model", "profile", "/nonexistent", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unknown_model_is_a_model_error(capsys):
    assert main(["model", "profile", "/nonexistent"]) == 5
    assert "neither a file nor a folder" in capsys.readouterr().err


def test_model_info_says_what_is_wrong_with_a_profile(tiny_folder, report, capsys):
    report()
    main(["model", "profile", str(tiny_folder)])
    profile_path(find_model_source(tiny_folder).sha256).write_text("{", "utf-8")
    capsys.readouterr()
    assert main(["model", "info", "--model", str(tiny_folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["evidence"].startswith("refused")
    assert callable(command.add_profile_arguments)
