"""`softlookup read`: tree, terms, references, one clause, coverage; in both languages and for hostile text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from documents.builders import docx, paragraph
from softlookup.cli import main
from softlookup.documents.read import read_document
from softlookup.errors import UsageError

LEASE = """Lease of a boat

1. Terms
"Rent" means the sum in clause 2.1. "Boat" means the boat Curlew. "Mooring" means a place to lie.

2. Rent
2.1 The Tenant pays the Rent of 400 pounds a month for the Boat.
2.2 Clause 2.1 does not apply while the Boat is under repair under clause 3.

3. Repairs
Subject to clause 9, the Owner repairs the Boat. The Harbour Fee is paid by the Owner. If the Harbour Fee rises, so
does the Rent.
"""
LEASE_ZH = """租船合同
第一条 租金
本合同所称“租金”是指第二条约定的款项。
第二条 支付
承租人应当按月支付租金。除第九条另有约定外，逾期的，按日支付违约金。
第三条 维修
出租人负责维修，费用依照第二条处理。
"""


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    path = tmp_path / "lease.txt"
    path.write_text(LEASE, encoding="utf-8")
    return path


@pytest.fixture
def lease_zh(tmp_path: Path) -> Path:
    path = tmp_path / "租船.txt"
    path.write_text(LEASE_ZH, encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_tree_comes_first_and_the_coverage_last(lease, capsys):
    code, out, _ = run(capsys, "read", lease)
    lines = out.splitlines()
    assert code == 0
    assert "text, " in lines[0]
    assert "3 defined terms" in lines[0]
    assert [line.split("[")[0].rstrip() for line in lines if line.lstrip()[:2] in ("1 ", "2 ", "3 ", "2.")] == [
        "  1 Terms", "  2 Rent", "    2.1", "    2.2", "  3 Repairs",
    ]  # fmt: skip
    assert lines[-1].startswith("coverage: ")
    assert "nothing skipped" in lines[-1]


def test_terms_tell_uses_and_what_to_look_at(lease, capsys):
    code, out, _ = run(capsys, "read", lease, "--terms")
    assert code == 0
    assert "  Rent     clause 1 ¶2, means, used 3 times" in out
    assert "clause 1 ¶4: Mooring is used nowhere else" in out
    assert "clause 3: Harbour Fee is used 2 times and not defined" in out
    assert "Boat is used nowhere" not in out  # a used term is left alone


def test_references_tell_target_effect_and_dangling_ones(lease, capsys):
    _, out, _ = run(capsys, "read", lease, "--refs")
    assert "clause 2.2: Clause 2.1 -> clause 2.1 (explicit, exception to)" in out
    assert "clause 3: clause 9 (explicit, subject to, dangling)" in out
    assert "clause 3: clause 9 names no clause here" in out


def test_one_clause_comes_with_what_it_needs(lease, capsys):
    code, out, _ = run(capsys, "read", lease, "--clause", "2.1")
    assert code == 0
    assert "2.1 The Tenant pays the Rent of 400 pounds" in out
    assert "referred to by: clause 1 ¶2, clause 2.2" in out
    assert "clause 2.2 [198:274]: excepts clause 2.1" in out
    assert 'defines "Rent"' in out
    assert "Repairs" not in out


@pytest.mark.parametrize("wanted", ["第二条", "第2条", "支付", " 第 二 条 "])
def test_a_chinese_clause_is_found_by_number_and_heading(lease_zh, capsys, wanted):
    code, out, _ = run(capsys, "read", lease_zh, "--clause", wanted)
    assert code == 0
    assert "承租人应当按月支付租金" in out
    assert "第二条: 第九条 (explicit, exception to, dangling)" in out
    assert "referred to by: 第一条, 第三条" in out


def test_an_unknown_clause_is_a_usage_error_that_offers_near_ones(lease, capsys):
    code, out, err = run(capsys, "read", lease, "--clause", "2.3")
    assert code == 2
    assert not out
    assert "no clause '2.3'" in err
    assert "2.1" in err
    assert err.count("\n") == 1


def test_json_of_a_clause_and_of_a_document(lease, capsys):
    _, out, _ = run(capsys, "read", lease, "--clause", "2.2", "--json")
    (row,) = json.loads(out)["clauses"]
    assert LEASE[row["start"] : row["end"]].rstrip() == row["text"]
    assert row["number"] == "2.2"
    assert row["values"] == [2, 2]
    assert row["referred_to_by"] == []
    assert {r["effect"] for r in row["references"]} == {"exception_to", "refers"}
    _, out, _ = run(capsys, "read", lease, "--json")
    found = json.loads(out)
    assert {f["kind"] for f in found["findings"]} == {"dangling_reference", "unused_term", "undefined_term"}
    assert found["document"]["view"] == "final"
    assert sum(row["characters"] for row in found["coverage"]["rows"]) == len(LEASE)


def test_a_password_comes_from_a_variable_that_must_be_set(lease, capsys, monkeypatch):
    monkeypatch.delenv("BOAT_PASSWORD", raising=False)
    code, _, err = run(capsys, "read", lease, "--password-env", "BOAT_PASSWORD")
    assert code == 2
    assert "BOAT_PASSWORD" in err
    monkeypatch.setenv("BOAT_PASSWORD", "x")
    assert run(capsys, "read", lease, "--password-env", "BOAT_PASSWORD")[0] == 0


def test_hostile_words_of_a_document_never_reach_the_terminal(tmp_path, capsys):
    path = tmp_path / "odd.txt"
    path.write_text('1. Terms\n"Re\x1b[31mnt" means\u202e money.\n\n2. Pay\n\x1b]0;x\x07 the Re\x1b[31mnt, clause 7.\n')
    for options in (["--terms"], ["--refs"], ["--clause", "2"], []):
        _, out, _ = run(capsys, "read", path, *options)
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "\x07" not in out


def test_reading_does_not_load_torch(lease):
    code = (
        "import sys\nfrom softlookup.cli import main\n"
        f"main(['read', {os.fspath(lease)!r}, '--terms', '--refs'])\nassert 'torch' not in sys.modules\n"
    )
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--text", "--json"], "--json"),
        (["--text", "--terms", "--refs"], "--terms, --refs"),
        (["--clause", "2", "--refs"], "--refs"),
        (["--password-env", ""], "empty"),
        (["--member", "EX-10"], "EDGAR"),
        (["--member", " "], "empty"),
    ],
)
def test_options_that_contradict_each_other_or_the_file_are_refused(lease, capsys, words, named):
    code, out, err = run(capsys, "read", lease, *words)
    assert (code, out) == (2, "")
    assert named in err
    assert err.count("\n") == 1


def test_options_without_effect_are_told(lease, capsys):
    _, out, _ = run(capsys, "read", lease, "--view", "original", "--ocr")
    assert "option without effect: --view original: a text file has no tracked changes" in out
    assert "option without effect: --ocr" in out
    _, out, _ = run(capsys, "read", lease, "--encoding", "utf-8")
    assert "without effect" not in out


def test_an_unknown_view_is_refused(lease):
    with pytest.raises(UsageError, match="view must be one of"):
        read_document(lease, view="x")


def test_a_closed_standard_output_is_one_error(lease):
    command = [sys.executable, "-m", "softlookup", "read", os.fspath(lease)]
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], capture_output=True, text=True, check=False)
    assert closed.returncode == 1
    assert closed.stderr == "softlookup: error: standard output is closed; open it or redirect it to a file\n"


def test_changed_words_of_the_markup_view_are_marked(tmp_path, capsys):
    changed = (
        '<w:r><w:t xml:space="preserve">1. Rent is </w:t></w:r>'
        '<w:del w:author="A"><w:r><w:delText>400</w:delText></w:r></w:del>'
        '<w:ins w:author="A"><w:r><w:t>500</w:t></w:r></w:ins>'
        '<w:r><w:t xml:space="preserve"> pounds.</w:t></w:r>'
    )
    path = tmp_path / "redline.docx"
    path.write_bytes(docx(paragraph(runs=changed)))
    _, out, _ = run(capsys, "read", path, "--clause", "1", "--view", "markup")
    assert "1. Rent is [-400-]{+500+} pounds." in out
    _, out, _ = run(capsys, "read", path, "--clause", "1")
    assert "1. Rent is 500 pounds." in out
