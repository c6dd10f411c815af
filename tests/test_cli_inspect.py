"""``softlookup inspect``: text within its width in both languages, JSON, colours only where wanted, hostile text."""

from __future__ import annotations

import io
import json
import re
import unicodedata

import pytest

from planted_attention import planted
from softlookup import Session
from softlookup.cli import main
from softlookup.cli.inspect import wants_color
from softlookup.cli.render_inspect import LABELS, inspection_text
from softlookup.session import Options
from tiny_models import CONTRACT, CONTRACT_ZH

QUESTION = "Who repairs the jetty?"
HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;title\x07 a\rb \u202etxt\u202c \u200bzero"


@pytest.fixture
def inspect(tiny_folder, capsys):
    def run(*arguments):
        code = main(["inspect", *map(str, arguments), "--model", str(tiny_folder), "--max-answer-tokens", "2"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture(scope="module")
def inspected(tiny_folders, tmp_path_factory):
    """English and Chinese inspections, and one of a broken model."""
    folder = tmp_path_factory.mktemp("cli-inspect")
    (folder / "en.txt").write_text(CONTRACT, "utf-8")
    (folder / "zh.txt").write_text(CONTRACT_ZH, "utf-8")
    session = Session(tiny_folders("llama"), options=Options(0.5, 2))
    found = {"en": session.open(folder / "en.txt").inspect(QUESTION)}
    found["zh"] = session.open(folder / "zh.txt").inspect("谁修理屋顶？")
    with planted(session.loaded.model, "collapsed keys"):
        found["en broken"] = session.open(folder / "en.txt").inspect(QUESTION)
        found["zh broken"] = session.open(folder / "zh.txt").inspect("谁修理屋顶？")
    return found


def columns(line):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


def test_text_for_humans(inspect, contract):
    code, out, err = inspect(contract, QUESTION)
    assert code == 0
    assert out.startswith(f"Question: {QUESTION}\n=> ")
    for part in ("Alerts: none", "clause x layer", "layer.head", "Sinks", "Entropy per layer", "not that an answer"):
        assert part in out
    assert "\x1b" not in out + err


def test_text_in_the_question_s_language(inspect, tmp_path):
    path = tmp_path / "zh.txt"
    path.write_text(CONTRACT_ZH, "utf-8")
    _, out, _ = inspect(path, "谁修理屋顶？")
    for part in ("问题: 谁修理屋顶？", "警报: 无", "条款 × 层", "注意力汇", "各层熵", "第三条"):
        assert part in out
    assert "Alerts" not in out


def test_json_is_one_object_and_nothing_else(inspect, contract):
    code, out, _ = inspect(contract, QUESTION, "--json")
    data = json.loads(out)
    assert (code, data["schema"], data["question"], out.count("\n")) == (0, 1, QUESTION, 1)
    assert len(data["layers"]) == 3
    assert data["alerts"] == []
    assert {len(row["mass"]) for row in data["strip"]} == {3}


@pytest.mark.parametrize("width", [60, 80, 100, 160])
@pytest.mark.parametrize("name", ["en", "zh", "en broken", "zh broken"])
def test_lines_fit_the_terminal(name, width, inspected):
    text = inspection_text(inspected[name], width=width, colored=False)
    assert max(columns(line) for line in text.splitlines()) <= width


def test_alerts_say_where_how_much_what_and_what_to_do(inspected):
    text = inspection_text(inspected["en broken"], width=200, colored=False)
    assert "! layer_uniform (layer 0): value 1, threshold 0.995" in text
    assert "! smoke_2_over_t (layer 0, head 0, 4 heads)" in text
    assert "means: implementation smoke alarm" in text
    assert "do: check the factor 1/sqrt(head_dim)" in text
    chinese = inspection_text(inspected["zh broken"], width=200, colored=False)
    assert "实现烟雾警报" in chinese
    assert "处理: " in chinese


def test_labels_are_the_same_in_both_languages():
    assert LABELS["en"].keys() == LABELS["zh"].keys()
    assert all(re.search("[\u4e00-\u9fff]", text) for text in LABELS["zh"].values())


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_colours_only_on_a_terminal_that_wants_them(inspected, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_color(Terminal())
    assert not wants_color(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_color(Terminal())
    assert "\x1b[31m" in inspection_text(inspected["en broken"], width=80, colored=True)
    assert "\x1b" not in inspection_text(inspected["en"], width=80, colored=True)  # nothing to warn of
    assert "\x1b" not in inspection_text(inspected["en broken"], width=80, colored=False)


def test_hostile_text_is_made_harmless(inspect, tmp_path):
    path = tmp_path / "hostile.txt"
    path.write_text(
        CONTRACT.replace("3. Repairs.", f"3. {HOSTILE} Repairs.").replace("1. Definitions", f"{HOSTILE}"), "utf-8"
    )
    for arguments in ((), ("--json",)):
        _, out, err = inspect(path, f"{QUESTION} {HOSTILE}", *arguments)
        assert not set("\x1b\x07\r\u202e\u202c\u200b") & set(out + err)


def test_wrong_calls_are_one_line(inspect, contract, tmp_path):
    code, out, err = inspect(contract, " ")
    assert (code, out) == (2, "")
    assert err.startswith("softlookup: error: the question is empty")
    code, out, err = inspect(tmp_path / "absent.txt", QUESTION)
    assert (code, out, err.count("\n")) == (4, "", 1)


def test_a_baseline_is_saved_merged_and_used(inspect, contract):
    assert json.loads(inspect(contract, QUESTION, "--json")[1])["baseline_runs"] is None
    code, _, err = inspect(contract, QUESTION, "--save-baseline")
    assert code == 0
    assert "baseline: " in err
    assert json.loads(inspect(contract, QUESTION, "--json", "--save-baseline")[1])["baseline_runs"] == 12
    assert "compared with 24 healthy questions" in inspect(contract, QUESTION)[1]


def test_a_broken_model_makes_no_baseline(inspect, contract, monkeypatch):
    from softlookup.diagnostics import monitors

    monkeypatch.setattr(monitors, "UNIFORM_THRESHOLD", 0.0)
    code, _, err = inspect(contract, QUESTION, "--save-baseline")
    assert code == 5
    assert "uniform_attention" in err
