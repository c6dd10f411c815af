"""The DOCX container: limits, damage, missing parts, foreign parts; every one told or refused."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import contextlib
import io
import struct
import warnings
import zipfile

import pytest

from softlookup.documents.read import read_document
from softlookup.documents.readers.docx.reader import read_docx
from softlookup.errors import DocumentError

from .builders import W, docx, level, numbering, paragraph, relationships, story

MAIN_RELS = "word/_rels/document.xml.rels"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def main(inner: str) -> str:
    return f'<w:document xmlns:w="{W}"><w:body>{inner}</w:body></w:document>'


def archive(*members: tuple[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as opened:
        warnings.simplefilter("ignore")  # zipfile warns of duplicate names, which are the point here
        for name, content in members:
            opened.writestr(name, content)
    return buffer.getvalue()


def rows(data: bytes) -> dict[str, tuple[str, str]]:
    return {row.unit: (row.state, row.reason) for row in read_docx(data).coverage.rows}


SOUND = ("word/document.xml", main(paragraph("Sound.")))


def encrypted() -> bytes:
    """The sound archive with the flag of an encrypted member set in both of its headers."""
    data = bytearray(archive(SOUND))
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def lying_size() -> bytes:
    """A member that says it is small and is not."""
    data = bytearray(archive(("word/document.xml", main(paragraph("x" * 50_000)))))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (archive(SOUND, *((f"word/{i}.bin", "") for i in range(10_001))), "members"),
        (archive(SOUND, SOUND), "two members"),
        (archive(SOUND, ("word/Document.xml", main("other"))), "two members"),
        (archive(SOUND, ("/etc/passwd", "x")), "outside"),
        (archive(SOUND, ("word/../../x", "x")), "outside"),
        (archive(SOUND, ("..\\x", "x")), "outside"),
        (encrypted(), "encrypted"),
        (archive(("word/document.xml", b" " * 20_000_000)), "zip bomb"),
        (lying_size(), "damaged"),
        (archive(("xl/workbook.xml", "<x/>"), ("_rels/.rels", relationships(("r", "officeDocument", "xl/workbook.xml")))), "spreadsheet"),
        (docx("", document="<html/>"), "no Word document"),
        (docx("", document=f'<w:styles xmlns:w="{W}"/>'), "no Word document"),
    ],
    ids=["members", "duplicate", "case", "absolute", "slip", "backslash", "encrypted", "bomb", "lying", "xlsx", "html", "styles"],
)  # fmt: skip
def test_unsound_archives_are_refused(data, message):
    with pytest.raises(DocumentError, match=message):
        read_docx(data)


def test_sound_archives_near_the_limits_are_read():
    assert read_docx(archive(SOUND)).text == "Sound."
    many = archive(SOUND, *((f"word/{i}.bin", "") for i in range(3000)))
    assert read_docx(many).text == "Sound."
    assert read_docx(archive(("word/document.xml", main(paragraph("x" * 3_000_000))))).text == "x" * 3_000_000


DTD = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_doctype_is_refused_in_every_encoding(encoding):
    text = f'<?xml version="1.0" encoding="{encoding.upper()}"?>{DTD}{main("")}'
    with pytest.raises(DocumentError, match="DTD"):
        read_docx(archive(("word/document.xml", text.encode(encoding))))


@pytest.mark.parametrize(
    "part",
    ["word/styles.xml", "word/numbering.xml", MAIN_RELS, "_rels/.rels", "word/footnotes.xml", "word/comments.xml"],
)
def test_doctype_is_refused_in_every_part_that_is_read(part):
    with pytest.raises(DocumentError, match="DTD"):
        read_docx(archive(SOUND, (part, DTD + "<x/>")))


@pytest.mark.parametrize("encoding", ["UTF-7", "IBM037", "GBK", "x-none"])
def test_encodings_in_which_a_doctype_could_hide_are_refused(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?>{main(paragraph("x"))}'
    with pytest.raises(DocumentError, match="UTF-8 or UTF-16"):
        read_docx(archive(("word/document.xml", text)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_plain_encodings_are_read(encoding):
    declared = "UTF-16" if encoding == "utf-16" else "UTF-8"
    text = f'<?xml version="1.0" encoding="{declared}"?>{main(paragraph("租金 é"))}'
    assert read_docx(archive(("word/document.xml", text.encode(encoding)))).text == "租金 é"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"<w:sdt>{'<w:sdtContent>' * 300}{'</w:sdtContent>' * 300}</w:sdt>", "nests too deeply"),
        (paragraph("x" * 10_500_000), "absurdly long"),
        (f'<w:p w:x="{"x" * 10_500_000}"/>', "absurdly long"),
        (f"<w:p>{'<r/>' * 8_100_000}</w:p>", "too many elements"),
        ("<w:p><q:r/></w:p>", "not well-formed"),
        ("<w:p>&undefined;</w:p>", "not well-formed"),
        ("<w:p><w:r></w:p>", "not well-formed"),
        ("<w:p>\x01</w:p>", "not well-formed"),
    ],
    ids=["deep", "text", "attribute", "elements", "prefix", "entity", "crossed", "control"],
)
def test_unsound_xml_is_refused(body, message):
    with pytest.raises(DocumentError, match=message):
        read_docx(archive(("word/document.xml", main(body)), method=zipfile.ZIP_STORED))  # no ratio to stumble over


def test_deep_nesting_within_the_limit_is_read():
    deep = "<w:sdt><w:sdtContent>" * 60 + paragraph("deep") + "</w:sdtContent></w:sdt>" * 60
    nested = "<w:tbl><w:tr><w:tc>" * 60 + paragraph("cell") + "</w:tc></w:tr></w:tbl>" * 60
    assert read_docx(docx(deep + nested)).text == "deep\ncell"


def test_boxes_in_boxes_beyond_all_sense_are_refused_and_a_few_are_read():
    def nested(depth: int) -> str:
        return "<w:p><w:r><w:t>x</w:t></w:r><w:txbxContent>" * depth + "</w:txbxContent></w:p>" * depth

    assert read_docx(docx(nested(20))).text.split() == ["x"] * 20
    with pytest.raises(DocumentError, match="nest"):
        read_docx(docx(nested(400)))
    with contextlib.suppress(DocumentError):  # what the parser lets through may be too deep to walk
        assert read_docx(docx(nested(120))).text.split() == ["x"] * 120


def test_main_part_is_found_through_relationships_and_without_them():
    named = archive(
        ("custom/body.xml", main(paragraph("There"))),
        ("_rels/.rels", relationships(("r", "officeDocument", "/custom/body.xml"))),
    )
    assert read_docx(named).text == "There"
    odd_case = archive(
        ("word/Document.xml", main(paragraph("Case"))),
        ("_rels/.rels", relationships(("r", "officeDocument", "word/document.xml"))),
    )
    assert read_docx(odd_case).text == "Case"
    assert read_docx(archive(SOUND)).text == "Sound."


def test_strict_files_are_read_whole():
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    parts = {
        "word/numbering.xml": numbering(level(0, "decimal", "%1.")).replace(W, strict),
        "word/styles.xml": f'<w:styles xmlns:w="{strict}"/>',
        MAIN_RELS: relationships(("n", "numbering", "numbering.xml"), ("s", "styles", "styles.xml")).replace(OFFICE, "http://purl.oclc.org/ooxml/officeDocument/relationships"),
    }  # fmt: skip
    body = main(paragraph("Strict", num=(1, 0), style="x")).replace(W, strict)
    result = read_docx(docx("", parts, document=body))
    assert result.text == "1.\tStrict"
    assert [row.unit for row in result.coverage.rows] == ["word/document.xml"]


@pytest.mark.parametrize(
    ("kind", "target", "state", "reason"),
    [
        ("image", "media/a.png", "skipped", "picture"), ("aFChunk", "chunk.html", "failed", "altChunk"), ("subDocument", "sub.docx", "failed", "sub-document"),
        ("chart", "charts/chart1.xml", "skipped", "chart"), ("diagramData", "diagrams/data1.xml", "skipped", "SmartArt"), ("oleObject", "embeddings/o.bin", "skipped", "embedded object"),
        ("package", "embeddings/s.xlsx", "skipped", "embedded file"), ("control", "activeX/a.xml", "skipped", "ActiveX"), ("vbaProject", "vbaProject.bin", "skipped", "macros"),
        ("novelty", "new/thing.bin", "skipped", "novelty, not read"),
    ],
)  # fmt: skip
def test_foreign_parts_have_a_row_with_a_reason(kind, target, state, reason):
    content = '<c xmlns:a="x"><a:t>Sales</a:t></c>' if target.endswith(".xml") else "x"
    data = docx(paragraph("Body"), {MAIN_RELS: relationships(("r", kind, target)), f"word/{target}": content})
    found = rows(data)[f"word/{target}"]
    assert found[0] == state
    assert reason in found[1]
    assert read_docx(data).coverage.complete == (state == "skipped")


def test_words_of_charts_are_counted():
    chart = '<c:chart xmlns:c="c" xmlns:a="a"><a:t>Sales</a:t><c:v>12</c:v></c:chart>'
    data = docx(
        paragraph("Body"),
        {MAIN_RELS: relationships(("r", "chart", "charts/chart1.xml")), "word/charts/chart1.xml": chart},
    )
    assert next(r for r in read_docx(data).coverage.rows if r.unit == "word/charts/chart1.xml").characters_aside == 7


def test_many_parts_of_one_kind_share_a_row_and_lost_words_never_do():
    pictures = [(f"p{n}", "image", f"media/{n}.png") for n in range(40)]
    chunks = [(f"c{n}", "aFChunk", f"chunk{n}.html") for n in range(20)]
    parts = {MAIN_RELS: relationships(*pictures, *chunks)} | {
        f"word/{target}": "x" for _, _, target in pictures + chunks
    }
    found = rows(docx(paragraph("Body"), parts))
    assert found["31 more parts"] == ("skipped", "picture")
    assert sum(reason == "picture" for _, reason in found.values()) == 10
    assert sum(state == "failed" for state, _ in found.values()) == 20


def test_targets_outside_the_file_are_told_and_links_are_not():
    parts = {
        MAIN_RELS: relationships(("a", "hyperlink", "http://x.example"), ("b", "image", "http://x.example/i.png"), ("s", "settings", "settings.xml"), external=("a", "b")),
        "word/settings.xml": story("settings", ""),
        "word/_rels/settings.xml.rels": relationships(("t", "attachedTemplate", "file:///c:/evil.dotm"), external=("t",)),
    }  # fmt: skip
    found = rows(docx(paragraph("Body"), parts))
    assert found["image outside the file"] == ("skipped", "picture")
    assert found["attachedTemplate outside the file"] == ("skipped", "template outside the file, not loaded")
    assert not [unit for unit in found if "hyperlink" in unit]


def test_missing_parts_are_told_and_the_rest_is_read():
    named = {
        MAIN_RELS: relationships(
            ("n", "numbering", "numbering.xml"), ("f", "footnotes", "footnotes.xml"), ("i", "image", "media/i.png")
        )
    }
    body = (
        paragraph("One", num=(1, 0), style="Heading1")
        + '<w:p><w:r><w:t>Two</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r></w:p>'
    )
    data = docx(body, named)
    assert read_docx(data).text == "One\nTwo[1]"
    found = rows(data)
    assert found["word/numbering.xml"] == ("failed", "missing from the file")
    assert found["word/footnotes.xml"] == ("failed", "missing from the file")
    assert found["word/media/i.png"] == ("skipped", "missing from the file")
    assert found["word/styles.xml"][0] == "skipped"
    assert "missing" in found["word/styles.xml"][1]
    assert not read_docx(data).coverage.complete


def test_without_relationships_parts_are_found_by_their_names():
    data = docx(paragraph("One", num=(1, 0)), {"word/numbering.xml": numbering(level(0, "decimal", "%1."))})
    assert read_docx(data).text == "1.\tOne"
    assert rows(data)[MAIN_RELS][0] == "skipped"
    whole = docx(paragraph("One"), {MAIN_RELS: relationships()})
    assert list(rows(whole)) == ["word/document.xml"]


def test_macro_file_is_read_and_its_macros_told(tmp_path):
    path = tmp_path / "a.docm"
    path.write_bytes(
        docx(
            paragraph("Body"),
            {MAIN_RELS: relationships(("v", "vbaProject", "vbaProject.bin")), "word/vbaProject.bin": "x"},
        )
    )
    document = read_document(path)
    assert document.text == "Body"
    assert any("macros" in str(row) for row in document.coverage.skipped)


@pytest.mark.parametrize(("inside", "message"), [("EncryptedPackage", "encrypted"), ("WordDocument", r"\.doc")])
def test_old_and_encrypted_files_are_told_apart(tmp_path, inside, message):
    path = tmp_path / "a.docx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500 + inside.encode("utf-16-le"))
    with pytest.raises(DocumentError, match=message):
        read_document(path)


def test_relationships_may_lead_nowhere_or_in_circles():
    circle = relationships(
        ("a", "header", "document.xml"),
        ("b", "footnotes", "../../outside.xml"),
        ("c", "header", ""),
        ("d", "image", "%zz"),
    )
    section = f'<w:sectPr xmlns:r="{OFFICE}"><w:headerReference r:id="a"/><w:headerReference r:id="zz"/><w:headerReference/></w:sectPr>'
    assert read_docx(docx(paragraph("Body") + section, {MAIN_RELS: circle})).text == "Body"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.docx", docx(paragraph("  \t ")), "holds none"),
        ("a.docx", docx(""), "holds none"),
        ("a.docx", archive(("word/document.xml", f'<w:document xmlns:w="{W}"/>')), "holds none"),
        ("~$a.docx", b"\x03Ada" + b"\0" * 158, "lock file"),
        ("a.docx", b"", "empty"),
    ],
    ids=["blank", "no paragraph", "no body", "lock file", "nothing"],
)
def test_files_without_words_are_refused(tmp_path, name, data, message):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DocumentError, match=message):
        read_document(path)


def test_a_file_with_hidden_words_alone_says_so(tmp_path):
    path = tmp_path / "a.docx"
    path.write_bytes(docx("<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>ghost</w:t></w:r></w:p>"))
    with pytest.raises(DocumentError, match="holds only text that is not seen"):
        read_document(path)


def test_word_opens_what_the_extension_denies(tmp_path):
    path = tmp_path / "contract.doc"
    path.write_bytes(docx(paragraph("Really a DOCX.")))
    assert read_document(path).source.format == "docx"
