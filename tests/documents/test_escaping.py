"""Characters of a document that a terminal obeys or hides never reach it raw; JSON stays valid and reversible."""

# ruff: noqa: E501  (tables and file fragments are easier to check on one line)

from __future__ import annotations

import json

import pytest

from softlookup.cli import main
from softlookup.cli.escape import json_line, printable, printable_line
from softlookup.documents.read import read_document

from .builders import docx, paragraph
from .hostile_builders import drawn, pdf_pages
from .invariants import check_harmless

# colours, a title, a bell, a carriage return, eight-bit controls, bidi marks, invisible ones, tags, line separators
TRICKS = "\x1b[31mred\x1b[0m\x1b]0;title\x07\x08\x9b2J\u202egnp\u202c\u2066iso\u2069\u200b\u200d\u2060\ufeff\u061c\U000e0041\u2028\u2029"
CONTRACT = (
    f"1. Rent{TRICKS}. The “Rent{TRICKS}” means ten, as in Section 9{TRICKS}.\n\n"
    f"(a{TRICKS}) The “Yard” means Section 2 and Exhibit {TRICKS}B.\n\n2. Term{TRICKS}. A year.\n"
)
COMMANDS = (
    [],
    ["--terms"],
    ["--refs"],
    ["--terms", "--refs"],
    ["--clause", "1"],
    ["--clause", f"9{TRICKS}"],
    ["--json"],
    ["--json", "--clause", "2"],
)


@pytest.fixture
def contract(tmp_path):
    path = tmp_path / "tricks.txt"
    path.write_text(CONTRACT, "utf-8")
    return path


@pytest.mark.parametrize("options", COMMANDS, ids=" ".join)
def test_read_prints_no_trick(contract, capsys, options):
    code = main(["read", str(contract), *options])
    shown = capsys.readouterr()
    assert code in (0, 2, 4)
    assert shown.out or shown.err
    check_harmless(shown.out)
    check_harmless(shown.err)


def test_the_text_is_exact_when_redirected_and_escaped_on_a_terminal(contract, capsys, monkeypatch):
    assert main(["read", "--text", str(contract)]) == 0
    exact = capsys.readouterr().out
    assert exact == read_document(contract).text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["read", "--text", str(contract)]) == 0
    shown = capsys.readouterr().out
    check_harmless(shown)
    assert "\\x1b[31mred" in shown


def test_json_is_reversible(contract, capsys):
    assert main(["read", "--json", str(contract)]) == 0
    printed = json.loads(capsys.readouterr().out)
    document = read_document(contract)
    assert printed["characters"] == len(document.text)
    assert [row["heading"] for row in printed["clauses"]] == [clause.heading for clause in document.clauses]
    assert [row["term"] for row in printed["terms"]] == [term.term for term in document.terms]
    assert json.loads(json_line({TRICKS: TRICKS})) == {TRICKS: TRICKS}


@pytest.mark.parametrize("suffix", ["txt", "docx", "pdf", "html"])
def test_names_of_files_in_errors_and_headers_are_escaped(tmp_path, capsys, suffix):
    name = f"a\x1b[31m\u202e\u200b.{suffix}"
    assert main(["read", str(tmp_path / name)]) == 4
    (tmp_path / name).write_bytes(b"\x80\xff" * 40)
    assert main(["read", str(tmp_path / name)]) == 4
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 2
    check_harmless(shown.err)
    (tmp_path / name).write_bytes(
        b"<html><body><p>1. Rent. Ten.</p></body></html>" if suffix == "html" else docx(paragraph("1. Rent. Ten."))
    )
    assert main(["read", str(tmp_path / name)]) == 0
    check_harmless(capsys.readouterr().out)


def test_names_inside_a_file_are_escaped_in_errors_and_coverage(tmp_path, capsys):
    part = "word/\x1b[31m\u202e.xml"
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart" Target="\u202ea\u200b.xml"/></Relationships>'
    )
    path = tmp_path / "a.docx"
    path.write_bytes(
        docx(
            paragraph("1. Rent. Ten."),
            {"word/_rels/document.xml.rels": rels, "word/\u202ea\u200b.xml": "<x/>", part: "<x/>"},
        )
    )
    main(["read", str(path)])
    path.write_bytes(
        pdf_pages([drawn((72, 700, "1. Rent. Ten.")), b""], catalog=b"/PageLabels << /Nums [0 << /P (\x1b[31m) >>] >>")
    )
    main(["read", str(path)])
    filing = tmp_path / "filing.txt"
    member = "<DOCUMENT>\n<TYPE>EX-\x1b[31m{}\u202e\n<TEXT>\n1. Rent. Ten.\n\n2. Term. A year.\n</TEXT>\n</DOCUMENT>\n"
    filing.write_text("<SEC-DOCUMENT>x\n" + member.format(1) + member.format(2), "utf-8")
    main(["read", str(filing)])
    main(["read", str(filing), "--member", "\x1b[31m"])
    shown = capsys.readouterr()
    assert shown.out
    check_harmless(shown.out)
    check_harmless(shown.err)


@pytest.mark.parametrize(
    "options",
    [
        ["--clause", "\x1b[31m9"],
        ["--encoding", "\x1b[31m"],
        ["--member", "\u202e"],
        ["--view", "\x1b"],
        ["--password-env", "\x1b[31m"],
    ],
)
def test_arguments_in_errors_are_escaped(contract, capsys, options):
    try:
        code = main(["read", str(contract), *options])
    except SystemExit as ended:
        code = ended.code
    assert code in (0, 2, 4)
    shown = capsys.readouterr()
    check_harmless(shown.err)
    check_harmless(shown.out)


def test_escapes_say_which_character_it_was():
    assert printable("\x1b\x9b\u202e\U000e0041") == "\\x1b\\x9b\\u202e\\U000e0041"
    assert printable("合同\t“ok” é\n") == "合同\t“ok” é\n"
    assert printable_line("a\r\n b\u2028c") == "a b c"


def test_the_check_sees_each_trick():
    for trick in set(TRICKS) - set("red[310m]title;2Jgnpiso"):
        with pytest.raises(AssertionError, match="raw"):
            check_harmless(f"a{trick}b")
    check_harmless("合同 “ok” é\n\t")
