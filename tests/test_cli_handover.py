"""Hand-over files: refused before a model is loaded, whole or absent, harmless in a browser and in a spreadsheet."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.cli import handover, main, output_file
from softlookup.documents.model import Span
from softlookup.documents.read import read_document
from softlookup.evidence.answer import Citation, ModelSummary, RankedPassage
from softlookup.evidence.handover import NOT_TESTED, Handover, question_record
from softlookup.ui.handover_csv import COLUMNS, csv_text, safe_cell
from softlookup.ui.handover_html import html_text
from softlookup.ui.handover_labels import HANDOVER_LABELS, heads_text
from softlookup.ui.labels import LABELS
from tiny_answers import ANSWER
from tiny_models import CONTRACT, CONTRACT_ZH

EVIL = '<script>alert(1)</script> " \' & =HYPERLINK("http://x") \u202e \x1b[31m'
RAW = set("\x1b\u202e\x07\u200b")


class Tags(HTMLParser):
    """All tags and attributes, and the text between them."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def made(tmp_path):
    """A hand-over whose every string from outside is hostile."""
    path = tmp_path / "evil.txt"
    path.write_text(f"LEASE\n\n1. Rent. {EVIL}\n\n2. =1+1 is paid.\n\n3. Fire {EVIL}\n", "utf-8")
    document = read_document(path)

    def build(question="Who pays?", **changes):
        ranking = tuple(RankedPassage(c.span.start, c.span.end, c.path, -0.5) for c in document.clauses[1:])
        span = document.clauses[1].span
        quote = document.text[span.start : span.end]
        cited = (Citation("1", EVIL, span.start, span.end, None, quote, "verbatim", 0.5, 0.025, "attention", EVIL),)
        answer = replace(
            ANSWER,
            **{
                "question": question,
                "answer": f"={EVIL}",
                "reasons": (f"@{EVIL}", "two"),
                "citations": cited,
                "ranking": ranking,
                "model": ModelSummary(EVIL, "1" * 64, "2" * 64, ((1, 2),)),
                "alerts": (EVIL,),
                **changes,
            },
        )
        record = question_record(document, answer, [Span(0, document.clauses[2].span.start)])
        return Handover(document, (record,), "2026-01-02T03:04:05+00:00", "1.2")

    return build


# --- refusals


@pytest.mark.parametrize("name", ["out.pdf", "out", "out.json.exe", "no/such/folder/out.html", "folder.csv"])
def test_a_wrong_target_is_a_usage_error_before_anything_is_read(name, tmp_path, capsys):
    (tmp_path / "folder.csv").mkdir()
    arguments = ["ask", "/nonexistent.pdf", "Who?", "--model", "/nonexistent", "--handover", str(tmp_path / name)]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert "--handover" in error
    assert error.count("\n") == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder.csv"]


def test_the_document_is_never_overwritten(tmp_path, capsys):
    path = tmp_path / "contract.html"
    path.write_text("<p>1. The tenant pays.</p>", "utf-8")
    assert main(["ask", str(path), "Who?", "--model", "/nonexistent", "--handover", str(path)]) == 2
    assert "the document itself" in capsys.readouterr().err
    assert path.read_text("utf-8") == "<p>1. The tenant pays.</p>"


# --- a run


@pytest.mark.parametrize(("text", "question"), [(CONTRACT, "Who repairs the jetty?"), (CONTRACT_ZH, "谁修理屋顶？")])
@pytest.mark.parametrize("suffix", ["html", "CSV", "json"])
def test_ask_writes_a_handover_beside_its_normal_output(text, question, suffix, tiny_folder, tmp_path, capsys):
    source, target = tmp_path / "contract.txt", tmp_path / f"out.{suffix}"
    source.write_text(text, "utf-8")
    target.write_text("old", "utf-8")
    arguments = ["ask", str(source), question, "Is it?", "--model", str(tiny_folder), "--max-answer-tokens", "2"]
    code = main([*arguments, "--json", "--handover", str(target)])
    captured = capsys.readouterr()
    assert code in (0, 3)
    answers = [json.loads(line) for line in captured.out.splitlines()]
    assert len(answers) == 2
    assert f"hand-over: {target}" in captured.err
    written = target.read_text("utf-8")
    assert question in html.unescape(written)
    assert "Is it?" in written
    language = "zh" if text is CONTRACT_ZH else "en"
    assert NOT_TESTED[language][0] in html.unescape(written)
    if suffix == "json":
        assert [entry["outcome"] for entry in json.loads(written)["questions"]] == [a["outcome"] for a in answers]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["contract.txt", target.name]


def test_a_failed_write_leaves_the_old_file_and_says_so(made, tmp_path, monkeypatch):
    from softlookup.errors import SoftlookupError

    content = made()
    target = tmp_path / "out.json"
    target.write_text("old", "utf-8")

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output_file.os, "fsync", fails)
    with pytest.raises(SoftlookupError, match="No space left"):
        handover.write_handover(target, content.document, list(content.records))
    assert target.read_text("utf-8") == "old"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["evil.txt", "out.json"]


def test_clauses_that_were_not_read_are_in_the_file_of_a_retrieved_context(tiny_folder, tmp_path, capsys):
    lines = [f"{n}. The Keeper feeds otter number {n} with {n + 3} buckets a day.\n" for n in range(1, 60)]
    (tmp_path / "farm.txt").write_text("FARM AGREEMENT\n\n" + "\n".join(lines), "utf-8")
    target = tmp_path / "out.json"
    main(
        ["ask", str(tmp_path / "farm.txt"), "How many buckets for otter number 7?", "--model", str(tiny_folder),
         "--max-context-tokens", "400", "--max-answer-tokens", "2", "--handover", str(target)]
    )  # fmt: skip
    capsys.readouterr()
    (question,) = json.loads(target.read_text("utf-8"))["questions"]
    assert question["plan"]["strategy"] == "retrieval"
    assert 10 < len(question["not_read_by_model"]) < 59
    assert "7" not in question["not_read_by_model"]


# --- HTML


def check_html(page):
    parser = Tags()
    parser.feed(page)
    assert not {"script", "img", "a", "link", "iframe", "object", "form"} & set(parser.tags)
    assert not [name for name, _ in parser.attributes if name.startswith("on") or name in {"src", "href"}]
    assert not RAW & set(page)
    return "".join(parser.text)


def test_hostile_strings_stay_text(made):
    page = html_text(made(EVIL))
    text = check_html(page)
    assert text.count("<script>alert(1)</script>") >= 8
    assert "default-src 'none'" in page


def test_an_unescaped_page_is_caught(made, monkeypatch):
    """Planted fault: the escaping is forgotten."""
    from softlookup.ui import handover_html

    monkeypatch.setattr(handover_html, "_safe", lambda text: text)
    with pytest.raises(AssertionError):
        check_html(html_text(made(EVIL)))


@pytest.mark.parametrize(("question", "language"), [("Who pays?", "en"), ("谁付款？", "zh")])
def test_labels_follow_the_question(made, question, language):
    text = check_html(html_text(made(question)))
    label = HANDOVER_LABELS[language]
    for name in ("nearest", "not_fed", "not_tested", "heads", "template", "coverage"):
        assert label[name] in text
    for words in NOT_TESTED[language]:
        assert words in text
    assert LABELS[language]["answered"] in text
    assert "p = 0.025, alpha 0.05" in text
    assert f"{label['off_topic']}: 39" in text
    assert "1-2" in text


def test_a_page_without_a_p_value(made):
    text = check_html(html_text(made(p_value=None, citations=(), answer="", outcome="no_evidence")))
    assert "p = " not in text
    assert LABELS["en"]["no_evidence"] in text


# --- CSV


def rows_of(text):
    assert text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def check_cells(rows):
    for row in rows:
        assert len(row) == len(COLUMNS)
        for cell in row:
            number = re.fullmatch(r"-?\d+(\.\d+)?", cell)
            assert number or not cell.lstrip().startswith(("=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠")), cell
            assert not RAW & set(cell)


def test_no_cell_is_a_formula(made):
    rows = rows_of(csv_text(made(f"={EVIL}")))
    check_cells(rows)
    flat = [cell for row in rows for cell in row]
    assert sum(cell.startswith("'=") for cell in flat) >= 2
    assert "'@" in "".join(cell[:2] for cell in flat)
    assert "-0.5" in flat  # a number stays one


def test_an_unguarded_cell_is_caught(made, monkeypatch):
    """Planted fault: cells are written as they are."""
    from softlookup.ui import handover_csv

    monkeypatch.setattr(handover_csv, "safe_cell", lambda value: "" if value is None else str(value))
    with pytest.raises(AssertionError):
        check_cells(rows_of(csv_text(made(f"={EVIL}"))))


@given(st.text(max_size=30))
def test_any_text_is_a_harmless_cell(text):
    cell = safe_cell(text)
    assert not cell.lstrip().startswith(("=", "+", "-", "@", "|", "%"))
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerow([cell, "end"])
    (row,) = csv.reader(io.StringIO(stream.getvalue(), newline=""))
    assert row == [cell, "end"]


@pytest.mark.parametrize(("question", "language"), [("Who pays?", "en"), ("谁付款？", "zh")])
def test_the_table_has_question_clauses_gaps_and_facts(made, question, language):
    rows = rows_of(csv_text(made(question)))
    label = HANDOVER_LABELS[language]
    assert rows[0] == [label[f"csv_{name}"] for name in COLUMNS]
    kinds = {row[0] for row in rows[1:]}
    expected = {label[name] for name in ("reason", "nearest", "not_fed", "read", "model", "template", "heads")}
    expected |= {label[name] for name in ("off_topic", "not_tested", "document", "coverage", "run")}
    assert expected | {LABELS[language]["question"], LABELS[language]["citations"]} <= kinds


def test_labels_are_complete_in_both_languages():
    assert set(HANDOVER_LABELS["en"]) == set(HANDOVER_LABELS["zh"])
    assert heads_text(((18, 7), (3, 0))) == "18-7, 3-0"
    assert heads_text("all heads") == "all heads"
