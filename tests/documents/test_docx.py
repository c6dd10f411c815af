"""DOCX: automatic numbers, fields, tracked changes, tables, notes, hidden text, hostile packages."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import contextlib
import io
import random
import zipfile

import pytest

from softlookup.documents.readers.docx.numbering import print_counter
from softlookup.documents.readers.docx.reader import read_docx
from softlookup.documents.tree.structure import build_clauses
from softlookup.errors import DocumentError

from .builders import W, docx, level, numbering, paragraph

LEGAL = numbering(
    level(0, "upperRoman", "Article %1")
    + level(1, "decimal", "%1.%2", extra="<w:isLgl/>")
    + level(2, "lowerLetter", "(%3)")
    + level(3, "lowerRoman", "(%4)"),
    level(0, "chineseCounting", "第%1条") + level(1, "chineseCounting", "（%2）"),
    extra='<w:num w:numId="9"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>',
)


def read(body: str, **parts: str):
    return read_docx(docx(body, {f"word/{name}.xml": content for name, content in parts.items()}))


def test_automatic_numbers_are_printed_recorded_and_become_clauses():
    result = read(
        paragraph("Scope", num=(1, 0)) + paragraph("The boat.", num=(1, 1)) + paragraph("The oars:", num=(1, 1))
        + paragraph("left;", num=(1, 2)) + paragraph("new;", num=(1, 3)) + paragraph("old;", num=(1, 3)) + paragraph("right.", num=(1, 2))
        + paragraph("Price", num=(1, 0)) + paragraph("Ten.", num=(1, 1)) + paragraph("End", num=(9, 0)),
        numbering=LEGAL,
    )  # fmt: skip
    labels = [block.label for block in result.blocks]
    assert labels == [
        "Article I",
        "1.1",
        "1.2",
        "(a)",
        "(i)",
        "(ii)",
        "(b)",
        "Article II",
        "2.1",
        "Article V",
    ]
    assert [result.text[s.start : s.end].strip() for s in result.generated] == labels
    clauses = build_clauses(result.text, result.blocks)
    assert [c.path for c in clauses] == [
        "Article I", "1.1", "1.2", "1.2(a)", "1.2(a)(i)", "1.2(a)(ii)", "1.2(b)", "Article II", "2.1", "Article V",
    ]  # fmt: skip
    assert {c.label_source for c in clauses} == {"auto"}


def test_chinese_automatic_numbers():
    result = read(
        "".join(paragraph(f"条款{i}。", num=(2, 0)) for i in range(11)) + paragraph("其一。", num=(2, 1)),
        numbering=LEGAL,
    )
    assert result.blocks[10].label == "第十一条"
    assert result.blocks[11].label == "（一）"


@pytest.mark.parametrize(
    ("number", "style", "printed"),
    [(28, "lowerLetter", "bb"), (101, "chineseCounting", "一○一"), (101, "chineseCountingThousand", "一百零一"), (20, "chineseLegalSimplified", "贰拾"),
     (3, "decimalZero", "03"), (10, "decimalFullWidth", "１０"), (2, "ordinal", "2nd"), (3, "cardinalText", "Three"), (11, "ideographDigital", "一一"),
     (5, "decimalEnclosedCircle", "⑤"), (1, "ideographTraditional", "甲"), (7, "none", ""), (21, "decimalEnclosedCircle", "21")],
)  # fmt: skip
def test_number_formats(number, style, printed):
    assert print_counter(number, style) == printed


def field(instruction: str, result: str) -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>{instruction}</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>{result}</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def test_fields_controls_links_and_insertions_keep_their_text():
    runs = (
        '<w:r><w:t xml:space="preserve">See </w:t></w:r>' + field(" REF a \\\\r \\\\h ", "2.1")
        + '<w:fldSimple w:instr="REF b"><w:r><w:t>(a)</w:t></w:r></w:fldSimple>'
        + '<w:ins><w:r><w:t xml:space="preserve"> new</w:t></w:r></w:ins><w:del><w:r><w:delText> old</w:delText></w:r></w:del>'
        + '<w:sdt><w:sdtContent><w:r><w:t xml:space="preserve"> held</w:t></w:r></w:sdtContent></w:sdt>'
        + "<w:hyperlink><w:r><w:t xml:space='preserve"+"'> linked</w:t></w:r></w:hyperlink><w:r><w:rPr><w:vanish/></w:rPr><w:t> secret</w:t></w:r>"
    )  # fmt: skip
    result = read(paragraph(runs=runs))
    assert result.text == "See 2.1(a) new held linked"
    assert any("1 insertions, 1 deletions" in note for note in result.coverage.notes)
    assert any("hidden" in note for note in result.coverage.notes)


def test_block_level_control_tables_and_notes():
    table = (
        f"<w:tbl><w:tr><w:tc>{paragraph('Item')}</w:tc><w:tc>{paragraph('Price')}</w:tc></w:tr>"
        f"<w:tr><w:tc>{paragraph('Oar')}</w:tc><w:tc>{paragraph('9')}</w:tc></w:tr></w:tbl>"
    )
    note = '<w:r><w:t>Boats</w:t></w:r><w:r><w:footnoteReference w:id="3"/></w:r>'
    footnotes = f'<w:footnotes xmlns:w="{W}"><w:footnote w:type="separator" w:id="0"/><w:footnote w:id="3">{paragraph("wooden only")}</w:footnote></w:footnotes>'
    result = read(
        f"<w:sdt><w:sdtContent>{paragraph('Held block')}</w:sdtContent></w:sdt>" + table + paragraph(runs=note),
        footnotes=footnotes,
    )
    assert result.text == "Held block\nItem\tPrice\nOar\t9\nBoats[1]\n[1] wooden only"
    assert [b.kind for b in result.blocks] == ["paragraph", *["table_cell"] * 4, "paragraph", "footnote"]
    assert [b.origin.partition(" table ")[2] for b in result.blocks[1:5]] == [
        "1 row 1 column 1", "1 row 1 column 2", "1 row 2 column 1", "1 row 2 column 2",
    ]  # fmt: skip


def test_deleted_paragraph_mark_joins_and_takes_no_number():
    deleted = '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t xml:space="preserve">One </w:t></w:r></w:p>'
    result = read(deleted + paragraph("two.", num=(2, 0)) + paragraph("Three.", num=(2, 0)), numbering=LEGAL)
    assert result.text == "第一条\tOne two.\n第二条\tThree."


def test_strict_namespace_and_missing_parts_are_read():
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    data = docx(
        "",
        document=f'<w:document xmlns:w="{strict}"><w:body><w:p><w:r><w:t>Strict</w:t></w:r></w:p></w:body></w:document>',
    )
    assert read_docx(data).text == "Strict"


def test_contents_field_is_marked():
    toc = '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC \\o </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>1. Scope 3</w:t></w:r></w:p>'
    end = '<w:p><w:r><w:t>2. Price 4</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    result = read(toc + end + paragraph("1. Scope. All.") + paragraph("2. Price. Ten."))
    assert [b.kind for b in result.blocks] == ["toc", "toc", "paragraph", "paragraph"]
    assert [c.number for c in build_clauses(result.text, result.blocks) if c.number] == ["1", "2"]


def zipped(**members: bytes | str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


ENTITY = '<!DOCTYPE x [<!ENTITY a "aaaa">]>'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04 cut short", "damaged"),
        (docx(paragraph("x"))[:-40], "damaged"),
        (zipped(hello="x"), "main document"),
        (zipped(mimetype="application/vnd.oasis.opendocument.text"), "OpenDocument"),
        (docx("", document=ENTITY + f'<w:document xmlns:w="{W}"/>'), "DTD"),
        (docx("", document="<w:document>"), "not well-formed"),
        (docx(paragraph("x"), {"../evil.xml": "x"}), "outside"),
        (docx(paragraph("x"), {"word/media/a.bin": "0" * 40_000_000}), "zip bomb"),
    ],
    ids=["garbage", "cut", "no main part", "odt", "doctype", "bad xml", "slip", "bomb"],
)
def test_hostile_packages_are_refused(data, message):
    with pytest.raises(DocumentError, match=message):
        read_docx(data)


def test_doctype_in_utf16_is_refused_too():
    main = f'<?xml version="1.0" encoding="UTF-16"?>{ENTITY}<w:document xmlns:w="{W}"/>'.encode("utf-16")
    with pytest.raises(DocumentError, match="DTD"):
        read_docx(docx("", document=main))


def test_every_flipped_byte_gives_a_result_or_a_typed_error():
    seed = docx(paragraph("Scope", num=(1, 0)) + paragraph("All."), {"word/numbering.xml": LEGAL})
    source = random.Random(7)
    for _ in range(120):
        data = bytearray(seed)
        for _ in range(source.randint(1, 8)):
            data[source.randrange(len(data))] = source.randrange(256)
        with contextlib.suppress(DocumentError):  # any other exception fails the test
            assert isinstance(read_docx(bytes(data)).text, str)


PLAIN = numbering(
    level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2") + level(2, "lowerLetter", "(%3)"),
    level(0, "decimal", "(%1)"),
    level(0, "upperLetter", "(%1)"),
    level(0, "lowerRoman", "(%1)"),
    level(0, "ordinalText", "%1"),
    level(0, "upperLetter", "%1.") + level(1, "decimal", "%2."),
)


def numbered_paths(body: str) -> list[str]:
    result = read(body, numbering=PLAIN)
    return [clause.path for clause in build_clauses(result.text, result.blocks) if clause.number]


def test_short_automatic_list_that_comes_again_is_no_table_of_contents():
    items = "".join(paragraph(f"Ware {n};", num=(6, 1)) for n in range(1, 5))
    again = "".join(
        paragraph(f"Good number {n} of the second list, which is described at length;", num=(6, 1)) for n in range(1, 4)
    )
    body = paragraph("Prices", num=(6, 0)) + items + paragraph("Goods", num=(6, 0)) + again
    assert numbered_paths(body) == ["A", "A/1", "A/2", "A/3", "A/4", "B", "B/1", "B/2", "B/3"]


def test_parties_and_recitals_hold_no_clauses():
    body = (
        paragraph("Oak Boats Limited, the owner; and", num=(2, 0)) + paragraph("Elm Sails plc, the tenant.", num=(2, 0))
        + paragraph("Background") + paragraph("The owner has a boat.", num=(3, 0)) + paragraph("The tenant wants it.", num=(3, 0))
        + paragraph("The parties agree as follows:")
        + paragraph("Boat", num=(1, 0)) + paragraph("The boat is blue.", num=(1, 1)) + paragraph("It has:", num=(1, 1))
        + paragraph("oars; and", num=(1, 2)) + paragraph("sails.", num=(1, 2)) + paragraph("Rent", num=(1, 0))
    )  # fmt: skip
    assert numbered_paths(body) == ["(1)", "(2)", "(A)", "(B)", "1", "1.1", "1.2", "1.2(a)", "1.2(b)", "2"]


def test_another_list_inside_a_clause_is_inside_it_even_in_the_last_one():
    body = (
        paragraph("Boat", num=(1, 0)) + paragraph("It has:", num=(1, 1)) + paragraph("oars; and", num=(4, 0))
        + paragraph("sails.", num=(4, 0)) + paragraph("It is blue.", num=(1, 1)) + paragraph("Rent is due:", num=(1, 0))
        + paragraph("in May; and", num=(2, 0)) + paragraph("in June.", num=(2, 0))
    )  # fmt: skip
    assert numbered_paths(body) == ["1", "1.1", "1.1(i)", "1.1(ii)", "1.2", "2", "2(1)", "2(2)"]


def test_levels_decide_where_the_labels_alone_mislead():
    # "1." under "B." looks like a return to the first "1."; words such as "First" are labels too
    body = (
        paragraph("Name.", num=(5, 0)) + paragraph("Shares.", num=(5, 0))
        + paragraph("Common", num=(6, 0)) + paragraph("Votes", num=(6, 1)) + paragraph("Preferred", num=(6, 0))
        + paragraph("Votes", num=(6, 1)) + paragraph("Price", num=(6, 1)) + paragraph("Directors.", num=(5, 0))
    )  # fmt: skip
    result = read(body, numbering=PLAIN)
    clauses = build_clauses(result.text, result.blocks)
    shown = [(c.number, None if c.parent is None else clauses[c.parent].number) for c in clauses]
    assert shown == [
        ("First", None), ("Second", None), ("A", "Second"), ("1", "A"), ("B", "Second"), ("1", "B"), ("2", "B"), ("Third", None),
    ]  # fmt: skip
    assert {c.label_source for c in clauses} == {"auto"}


def test_number_of_an_empty_paragraph_is_printed():
    result = read(
        paragraph("Boat", num=(1, 0)) + paragraph("", num=(1, 0)) + paragraph("Rent", num=(1, 0)), numbering=PLAIN
    )
    assert result.text == "1.\tBoat\n2.\n3.\tRent"
    assert [block.list_id for block in result.blocks] == ["1", "1", "1"]
    assert [c.number for c in build_clauses(result.text, result.blocks)] == ["1", "2", "3"]
