"""The documents are what the audit generates; both languages have the same rows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from softlookup.learn.audit import audit_rows
from softlookup.learn.audit.__main__ import main
from softlookup.learn.audit.render import FILES, audit_page

DOCS = Path(__file__).resolve().parents[2] / "docs"
COUNTS = re.compile(r"^(\d+ rows:|共\d+行：).*$", re.MULTILINE)


def committed(language):
    return (DOCS / FILES[language]).read_text("utf-8")


def plain_lines(text):
    """Without the rows of the embedded model and the counts, which include them."""
    return [line for line in COUNTS.sub("", text).splitlines() if "†" not in line]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_document_is_the_generated_one(language):
    assert plain_lines(committed(language)) == plain_lines(audit_page(language, with_model=False))


@pytest.mark.weights
def test_rows_of_the_embedded_model_too(weights, monkeypatch):
    monkeypatch.setenv("SOFTLOOKUP_CACHE", str(weights.parents[1]))
    for language in FILES:
        assert committed(language) == audit_page(language)


def test_a_changed_document_is_found():
    text = committed("en")
    assert plain_lines(text.replace("4.64e15", "4.65e15")) != plain_lines(audit_page("en", with_model=False))


def test_both_languages_have_the_same_rows():
    pages = [committed(language).splitlines() for language in FILES]
    rows = [[line for line in page if line.startswith("| ") and "--audit" in line] for page in pages]
    ids = [[re.split(r"[ |]+", line)[1] for line in lines] for lines in rows]
    assert ids[0] == ids[1] == [row.id for row in audit_rows()]


def test_the_command_prints_a_row(capsys):
    assert main(["--row", "contract-attention", "--lang", "zh"]) == 0
    assert "偏高，为应有值的2倍" in capsys.readouterr().out


def test_the_command_names_the_nearest_row(capsys):
    assert main(["--row", "contract-attentio"]) == 2
    assert "contract-attention" in capsys.readouterr().err


def test_the_command_writes_both_documents(tmp_path, monkeypatch):
    monkeypatch.setattr("softlookup.learn.audit.__main__.audit_page", lambda language: f"{language}\n")
    assert main(["--write", str(tmp_path)]) == 0
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == {
        "page-audit.md": "en\n", "page-audit.zh-CN.md": "zh\n",
    }  # fmt: skip
