"""``--report``: refused before any work, written whole or not at all, beside the normal output of a tiny run."""

from __future__ import annotations

import json
import re

import pytest

from softlookup.cli import main, output_file
from tiny_models import CONTRACT, CONTRACT_ZH

COMMANDS = {
    "ask": ["Who repairs the jetty?"],
    "inspect": ["Who repairs the jetty?"],
    "diagnose": ["Who repairs the jetty?", "--expect", "3"],
}


@pytest.fixture
def contract(tmp_path):
    path = tmp_path / "contract.txt"
    path.write_text(CONTRACT, "utf-8")
    return path


def without_seconds(text):
    return re.sub(r"<!-- measured -->.*?<!-- /measured -->", "", text, flags=re.S)


# --- refusals, with a document and a model that do not exist: nothing was opened


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["out.pdf", "out", "out.html.exe", "no/such/out.html", "folder.html"])
def test_a_wrong_target_is_one_line_before_any_work(command, name, tmp_path, capsys):
    (tmp_path / "folder.html").mkdir()
    arguments = [command, "/nonexistent.pdf", *COMMANDS[command], "--model", "/nonexistent"]
    assert main([*arguments, "--report", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert "--report" in error
    assert error.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.html"]


def test_the_document_is_never_overwritten(tmp_path, capsys):
    path = tmp_path / "contract.html"
    path.write_text("<p>1. The tenant pays.</p>", "utf-8")
    assert main(["ask", str(path), "Who?", "--model", "/nonexistent", "--report", str(path)]) == 2
    assert "the document itself" in capsys.readouterr().err
    assert path.read_text("utf-8") == "<p>1. The tenant pays.</p>"


def test_a_folder_that_cannot_be_written_is_told_at_once(contract, tmp_path, capsys, monkeypatch):
    def fails(**_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(output_file.tempfile, "TemporaryFile", fails)
    assert main(["ask", str(contract), "Who?", "--model", "/nonexistent", "--report", str(tmp_path / "o.html")]) == 2
    assert "Read-only file system" in capsys.readouterr().err


def test_two_files_of_one_name_and_a_language_of_nothing_are_refused(contract, tmp_path, capsys):
    target = str(tmp_path / "out.html")
    arguments = ["ask", str(contract), "Who?", "--model", "/nonexistent"]
    assert main([*arguments, "--report", target, "--handover", target]) == 2
    assert "both name" in capsys.readouterr().err
    assert main([*arguments, "--lang", "zh"]) == 2
    assert "add --report FILE" in capsys.readouterr().err


# --- runs


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_writes_its_report_beside_its_output(command, contract, tiny_folder, tmp_path, capsys):
    target = tmp_path / "out.html"
    target.write_text("old", "utf-8")
    arguments = [command, str(contract), *COMMANDS[command], "--model", str(tiny_folder), "--max-answer-tokens", "2"]
    plain = main([*arguments, "--json"])
    expected = json.loads(capsys.readouterr().out)
    code = main([*arguments, "--json", "--report", str(target)])
    captured = capsys.readouterr()
    assert code == plain
    found = json.loads(captured.out)
    for run in (found, expected):
        run.pop("seconds", None)
    assert found == expected  # the report changes nothing of what is printed
    assert f"report: {target}" in captured.err
    text = target.read_text("utf-8")
    assert "Who repairs the jetty?" in text
    assert ('id="inside"' in text) == (command == "inspect")
    assert ("<h3>Diagnosis" in text) == (command == "diagnose")
    assert 'class="at v' not in text if command != "inspect" else 'class="at v6"' in text
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["contract.txt", "out.html"]


def test_two_runs_write_the_same_bytes_but_for_seconds(contract, tiny_folder, tmp_path):
    texts = []
    for name in ("one.html", "two.html"):
        main(
            ["ask", str(contract), "Who pays?", "Is it so?", "--model", str(tiny_folder), "--max-answer-tokens", "2",
             "--no-cache", "--report", str(tmp_path / name)]
        )  # fmt: skip
        texts.append(without_seconds((tmp_path / name).read_text("utf-8")))
    assert texts[0] == texts[1]
    assert 'id="q2"' in texts[0]
    assert "All questions side by side" in texts[0]


def test_the_language_is_that_of_the_document_unless_asked_for(tiny_folder, tmp_path):
    path, target = tmp_path / "c.txt", tmp_path / "out.html"
    path.write_text(CONTRACT_ZH, "utf-8")
    arguments = ["ask", str(path), "谁修理屋顶？", "--model", str(tiny_folder), "--max-answer-tokens", "2"]
    main([*arguments, "--report", str(target)])
    assert '<html lang="zh-CN">' in target.read_text("utf-8")
    main([*arguments, "--report", str(target), "--lang", "en"])
    assert '<html lang="en">' in target.read_text("utf-8")


def test_a_failed_write_leaves_the_old_file_and_says_so(contract, tiny_folder, tmp_path, capsys, monkeypatch):
    target = tmp_path / "out.html"
    target.write_text("old", "utf-8")

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output_file.os, "fsync", fails)
    arguments = ["ask", str(contract), "Who pays?", "--model", str(tiny_folder), "--max-answer-tokens", "1"]
    assert main([*arguments, "--no-cache", "--report", str(target)]) == 1
    assert "No space left" in capsys.readouterr().err
    assert target.read_text("utf-8") == "old"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["contract.txt", "out.html"]


def test_a_file_that_changed_meanwhile_gives_no_page_images(tmp_path, capsys):
    from softlookup.cli.report import _source

    path = tmp_path / "a.pdf"
    path.write_bytes(b"one")
    assert _source(str(path), "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed") == b"one"
    assert capsys.readouterr().err == ""
    path.write_bytes(b"two")
    assert _source(str(path), "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed") is None
    assert "changed while it was read" in capsys.readouterr().err
