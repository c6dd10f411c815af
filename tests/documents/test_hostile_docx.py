"""Hostile and awkward DOCX, row by row: bombs and tricks are refused, the rest is read, flagged and accounted for."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import io
import zipfile

import pytest

from softlookup.cli import main
from softlookup.documents.read import read_document
from softlookup.errors import DocumentError

from .builders import W, docx, level, numbering, paragraph
from .fuzz_seeds import docx_parts, zipped
from .hostile_builders import (
    BILLION,
    LEASE,
    OLE2,
    deep,
    long_text_node,
    lying_sizes,
    nested_tables,
    overlapping,
    related,
    truncations,
    with_members,
    zip_of_zips,
)
from .limited import MIB, Job, Limits, faults, read_limited, run_limited

LIMITS = Limits(memory=1024 * MIB, cpu_seconds=10, wall_seconds=30.0)
SOUND = docx(LEASE)


def document(body: str = LEASE, *, before: str = "", namespace: str = W, declaration: str = "") -> str:
    return f'{declaration}{before}<w:document xmlns:w="{namespace}"><w:body>{body}</w:body></w:document>'


def read(tmp_path, data: bytes, name: str = "contract.docx", **options):
    path = tmp_path / name
    path.write_bytes(data)
    return read_document(path, **options)


def test_the_sound_file_is_read(tmp_path):
    assert [c.number for c in read(tmp_path, SOUND).clauses if c.number] == ["1", "2"]


BOMBS = {
    "zeros in a picture": lambda: with_members(SOUND, [("word/media/a.bin", bytes(60_000_000))]),
    "zeros in the text": lambda: docx("", document=document(" " * 100_000_000)),
    "many members": lambda: with_members(SOUND, [(f"a/{n}", b"") for n in range(10_001)]),
    "overlapping members": lambda: overlapping(400),
    "150 MB text node": lambda: docx(paragraph(long_text_node(150))),
    "30 MB text node": lambda: docx(paragraph(long_text_node(30))),
    "many medium members": lambda: with_members(SOUND, [(f"a/{n}", bytes(7_900_000)) for n in range(140)]),
    "deep controls": lambda: docx(deep("w:sdt", 200_000)),
    "deep wrappers in a run": lambda: docx(f"<w:p>{deep('w:ins', 5_000, '<w:r><w:t>x</w:t></w:r>')}</w:p>"),
    "billion laughs": lambda: docx("", document=document("<w:p><w:r><w:t>&i;</w:t></w:r></w:p>", before=BILLION)),
    "size that is larger": lambda: lying_sizes(docx("", document=document(LEASE + " " * 3_000_000)), "word/document.xml", 100),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_in_bounded_time_and_memory(name):
    data = BOMBS[name]()
    assert len(data) < 8_000_000
    outcome = read_limited(data, "bomb.docx", LIMITS)
    assert outcome.kind == "refused", outcome
    assert outcome.seconds < 15
    assert outcome.peak < 600 * MIB


def test_a_directory_that_promises_too_much_is_no_loss():
    outcome = read_limited(lying_sizes(SOUND, "word/document.xml", 3_000_000), "lie.docx", LIMITS)
    assert outcome.good, outcome


def test_nested_archives_are_not_opened(tmp_path):
    inner = zip_of_zips(4)
    data = related(LEASE, [("package", "embeddings/a.zip")], {"word/embeddings/a.zip": inner})
    outcome = read_limited(data, "a.docx", LIMITS)
    assert outcome.kind == "document"
    assert outcome.peak < 200 * MIB
    assert any(row.unit == "word/embeddings/a.zip" for row in read(tmp_path, data).coverage.skipped)


REFUSED = {
    "slip up": (with_members(SOUND, [("../evil.xml", b"x")]), "outside"),
    "slip inside": (with_members(SOUND, [("word/../../evil.xml", b"x")]), "outside"),
    "slip back": (with_members(SOUND, [("..\\evil.xml", b"x")]), "outside"),
    "absolute": (with_members(SOUND, [("/etc/passwd", b"x")]), "outside"),
    "drive": (with_members(SOUND, [("C:\\evil.xml", b"x")]), "outside"),
    "duplicate": (with_members(SOUND, [("word/document.xml", b"<x/>")]), "two members"),
    "duplicate in capitals": (with_members(SOUND, [("Word/Document.xml", b"<x/>")]), "two members"),
    "cut": (SOUND[:-30], "damaged"),
    "no archive": (b"This is no archive", "zip"),
    "old word": (OLE2 + bytes(2000), "\\.doc"),
    "encrypted package": (OLE2 + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(600), "password"),
    "rich text": (b"{\\rtf1\\ansi rent}", "RTF"),
    "open document": (zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<x/>"}), "OpenDocument"),
    "other archive": (zipped({"readme.txt": "hello"}), "zip archive"),
    "spreadsheet": (zipped({"_rels/.rels": docx_parts()["_rels/.rels"].replace("word/document", "xl/workbook"), "xl/workbook.xml": "<x/>"}), "Excel"),
    "no main part": (zipped({"_rels/.rels": docx_parts()["_rels/.rels"]}), "main document"),
    "not XML": (docx("", document="%PDF no"), "well-formed"),
    "unknown entity": (docx("", document=document("<w:p><w:r><w:t>&x;</w:t></w:r></w:p>")), "well-formed"),
    "blank": (docx(paragraph(" \t ")), "text"),
    "no body": (docx("", document=f'<w:document xmlns:w="{W}"/>'), "text"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_unsound_packages_give_exit_4_and_one_line(tmp_path, capsys, name):
    data, message = REFUSED[name]
    with pytest.raises(DocumentError, match=message):
        read(tmp_path, data)
    assert main(["read", str(tmp_path / "contract.docx")]) == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err


def flagged(data: bytes) -> bytes:
    """The directory says that members are encrypted."""
    out = bytearray(data)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = 0
        while (place := out.find(mark, place)) >= 0:
            out[place + at] |= 1
            place += 4
    return bytes(out)


def test_encrypted_members_are_refused(tmp_path):
    with pytest.raises(DocumentError, match="encrypted"):
        read(tmp_path, flagged(SOUND))


DOCTYPES = {
    "plain": document(before="<!DOCTYPE x>"),
    "entity": document(before='<!DOCTYPE x [<!ENTITY a "b">]>'),
    "external entity": document("<w:p><w:r><w:t>&a;</w:t></w:r></w:p>", before='<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
    "parameter entity": document(before='<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:9/a.dtd"> %a;]>'),
    "external subset": document(before='<!DOCTYPE x SYSTEM "http://127.0.0.1:9/a.dtd">'),
    "after a comment": document(before="<!-- a --><?b c?>\n<!DOCTYPE x>"),
}  # fmt: skip
WIDE = '<?xml version="1.0" encoding="{}"?>'


@pytest.mark.parametrize("name", DOCTYPES)
def test_any_doctype_is_refused(tmp_path, name):
    with pytest.raises(DocumentError, match="DTD"):
        read(tmp_path, docx("", document=DOCTYPES[name]))


@pytest.mark.parametrize(
    "codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp037", "utf-7", "iso-2022-jp"]
)
def test_a_doctype_in_another_encoding_is_refused(tmp_path, codec):
    name = codec.removesuffix("-sig").removesuffix("-le").removesuffix("-be")
    encoded = document(
        declaration=WIDE.format({"cp037": "EBCDIC-CP-US"}.get(name, name)), before='<!DOCTYPE x [<!ENTITY a "b">]>'
    ).encode(codec)
    if codec == "utf-7":
        encoded = encoded.replace(b"<!DOCTYPE", b"+ADwAIQ-DOCTYPE")
    with pytest.raises(DocumentError):
        read(tmp_path, docx("", document=encoded))


def test_a_doctype_in_lower_case_is_refused(tmp_path):
    with pytest.raises(DocumentError):
        read(tmp_path, docx("", document=document(before="<!doctype x>")))


@pytest.mark.parametrize(
    "part",
    [
        "_rels/.rels",
        "word/_rels/document.xml.rels",
        "word/styles.xml",
        "word/numbering.xml",
        "word/footnotes.xml",
        "word/comments.xml",
        "word/header1.xml",
    ],
)
def test_a_doctype_in_any_part_that_is_read_is_refused(tmp_path, part):
    parts: dict[str, str | bytes] = dict(docx_parts())
    parts[part] = "<!DOCTYPE x>" + str(parts[part])
    with pytest.raises(DocumentError, match="DTD"):
        read(tmp_path, zipped(parts))


def test_words_that_look_like_a_doctype_are_text(tmp_path):
    assert "<!DOCTYPE html>" in read(tmp_path, docx(paragraph("1. Web page begins with &lt;!DOCTYPE html&gt;."))).text


def test_every_truncation_is_refused():
    seed = zipped(docx_parts())
    outcomes = run_limited([Job(data, "cut.docx") for data in truncations(seed)], LIMITS)
    assert {outcome.kind for outcome in outcomes} == {"refused"}


def test_deep_but_sound_nesting_is_read():
    bodies = [
        nested_tables(60), "<w:sdt><w:sdtContent>" * 100 + paragraph("1. held") + "</w:sdtContent></w:sdt>" * 100,
        f"<w:p>{deep('w:ins', 200, '<w:r><w:t>1. x</w:t></w:r>')}</w:p>",
        deep("w:p", 1, deep("w:r", 1, deep("w:txbxContent", 1, paragraph(runs=f"<w:r><w:t>1. x</w:t>{'<w:pict><w:txbxContent><w:p><w:r>' * 50}{'</w:r></w:p></w:txbxContent></w:pict>' * 50}</w:r>")))),
    ]  # fmt: skip
    outcomes = run_limited([Job(docx(body), "deep.docx") for body in bodies], LIMITS)
    assert not list(faults(outcomes))
    assert [outcome.kind for outcome in outcomes] == ["document"] * len(bodies)
    assert outcomes[0].characters > 60 * 6


@pytest.mark.parametrize(
    "missing",
    [
        "[Content_Types].xml",
        "_rels/.rels",
        "word/styles.xml",
        "word/numbering.xml",
        "word/footnotes.xml",
        "word/comments.xml",
        "word/header1.xml",
        "word/settings.xml",
        "word/_rels/document.xml.rels",
    ],
)
def test_what_is_there_is_read_when_a_part_is_missing(tmp_path, missing):
    parts = docx_parts()
    del parts[missing]
    document = read(tmp_path, zipped(parts))
    assert "Rope" in document.text
    if missing.startswith("word/") and not missing.endswith(".rels"):
        assert any(missing in f"{row.unit} {row.reason}" for row in document.coverage.rows), document.coverage.rows


def test_strict_documents_and_another_main_part_are_read(tmp_path):
    strict = docx("", document=document(namespace="http://purl.oclc.org/ooxml/wordprocessingml/main"))
    assert read(tmp_path, strict).text.splitlines()[0].startswith("1. Rent")
    parts = docx_parts()
    moved = {
        name.replace("word/document", "word/main2"): text.replace("word/document.xml", "word/main2.xml")
        for name, text in parts.items()
    }
    assert "Rope" in read(tmp_path, zipped(moved)).text


def test_parts_that_are_not_read_have_a_row(tmp_path):
    relations = [("image", "media/a.png"), ("oleObject", "embeddings/b.bin"), ("aFChunk", "c.htm"), ("chart", "charts/d.xml"), ("vbaProject", "vbaProject.bin"),
                 ("attachedTemplate", "http://127.0.0.1:9/evil.dotm"), ("image", "file:///etc/passwd")]  # fmt: skip
    members = {
        "word/media/a.png": b"\x89PNG",
        "word/embeddings/b.bin": b"x",
        "word/c.htm": "<p>9. Hidden clause</p>",
        "word/charts/d.xml": "<x/>",
        "word/vbaProject.bin": b"x",
    }
    document = read(tmp_path, related(LEASE, relations, members))
    told = " ".join(f"{row.unit} {row.reason}" for row in document.coverage.skipped) + " ".join(document.coverage.notes)
    for name in members:
        assert name in told, told
    assert "macro" in told.lower()
    assert not document.coverage.complete, "an embedded document is part of the contract and was not read"


CHANGED = paragraph(
    runs='<w:r><w:t xml:space="preserve">1. Rent is </w:t></w:r><w:del w:id="1"><w:r><w:delText>ten</w:delText></w:r></w:del>'
    '<w:ins w:id="2"><w:r><w:t>twenty</w:t></w:r></w:ins><w:r><w:t>.</w:t></w:r>'
)
MOVED = (
    paragraph(runs='<w:moveFrom w:id="3"><w:r><w:t>2. Old place.</w:t></w:r></w:moveFrom>')
    + paragraph("3. Law.")
    + paragraph(runs='<w:moveTo w:id="4"><w:r><w:t>4. New place.</w:t></w:r></w:moveTo>')
)


@pytest.mark.parametrize(
    ("view", "inside", "outside"),
    [
        ("final", ["is twenty.", "New place"], ["ten.", "Old place"]),
        ("original", ["is ten.", "Old place"], ["twenty", "New place"]),
        ("markup", ["ten", "twenty", "Old place", "New place"], []),
    ],
)
def test_tracked_changes_have_three_views_and_counts(tmp_path, view, inside, outside):
    document = read(tmp_path, docx(CHANGED + MOVED), view=view)
    assert document.view == view
    assert all(words in document.text for words in inside), document.text
    assert not any(words in document.text for words in outside), document.text
    counts = document.coverage.counts
    assert (counts.insertions, counts.deletions, counts.moves > 0) == (1, 1, True)


HIDDEN = {
    "hidden": ('<w:r><w:rPr><w:vanish/></w:rPr><w:t>approve all</w:t></w:r>', "hidden"),
    "hidden style": ('<w:r><w:rPr><w:rStyle w:val="Secret"/></w:rPr><w:t>approve all</w:t></w:r>', "hidden"),
    "white": ('<w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:t>approve all</w:t></w:r>', "low_contrast"),
    "tiny": ('<w:r><w:rPr><w:sz w:val="1"/></w:rPr><w:t>approve all</w:t></w:r>', "tiny"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HIDDEN)
def test_hidden_text_of_each_kind_stands_aside_flagged_and_counted(tmp_path, kind):
    runs, flag = HIDDEN[kind]
    document = read(
        tmp_path,
        docx(
            paragraph(runs=f'<w:r><w:t xml:space="preserve">1. Rent. Ten. </w:t></w:r>{runs}'),
            {"word/styles.xml": docx_parts()["word/styles.xml"]},
        ),
    )
    assert "approve" not in document.text
    assert [aside.flags for aside in document.aside if "approve all" in aside.text] == [(flag,)]
    assert document.coverage.counts.hidden_characters == len("approve all")
    assert "hidden" in " ".join(document.coverage.notes)


def test_hidden_paragraph_style_and_switched_off_hiding(tmp_path):
    styles = f'<w:styles xmlns:w="{W}"><w:style w:type="paragraph" w:styleId="Ghost"><w:name w:val="Ghost"/><w:rPr><w:vanish/></w:rPr></w:style></w:styles>'
    shown = paragraph(runs='<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>1. Seen.</w:t></w:r>', style="Ghost")
    document = read(tmp_path, docx(paragraph("approve all", style="Ghost") + shown, {"word/styles.xml": styles}))
    assert document.text == "1. Seen."
    assert [(a.text.strip(), a.flags) for a in document.aside] == [("approve all", ("hidden",))]


def test_boxes_fields_controls_notes_and_inner_tables_are_read_once(tmp_path):
    document = read(tmp_path, zipped(docx_parts()))
    for words in ("Boxed words of the parties", "Held in a control", "inner", "Only on working days", "link"):
        assert document.text.count(words) == 1, words
    assert "REF" not in document.text
    aside = " ".join(a.text for a in document.aside)
    for words in ("CONFIDENTIAL", "Check this", "hidden"):
        assert words in aside, words
    counts = document.coverage.counts
    assert (counts.footnotes, counts.comments, counts.headers, counts.footers, counts.textboxes) == (1, 1, 1, 1, 1)


ODD_NUMBERS = ("", "-1", "9", "abc", "²", "٣", "1.5", "4294967296", "99999999999999999999", "%1")


@pytest.mark.parametrize("value", ODD_NUMBERS)
def test_odd_numbers_in_list_definitions_are_no_faults(tmp_path, value):
    lists = numbering(
        level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2", extra=f'<w:lvlRestart w:val="{value}"/>')
    )
    for part in (
        lists.replace('w:ilvl="1"', f'w:ilvl="{value}"'), lists.replace('<w:start w:val="1"/>', f'<w:start w:val="{value}"/>'), lists,
        lists.replace('w:abstractNumId="1"', f'w:abstractNumId="{value}"'), lists.replace("decimal", value),
    ):  # fmt: skip
        body = paragraph("Rent", num=(1, 0)) + paragraph("Ten.", num=(1, 1)).replace(
            'w:ilvl w:val="1"', f'w:ilvl w:val="{value}"'
        )
        styles = docx_parts()["word/styles.xml"].replace('w:outlineLvl w:val="0"', f'w:outlineLvl w:val="{value}"')
        assert "Rent" in read(tmp_path, docx(body, {"word/numbering.xml": part, "word/styles.xml": styles})).text


def test_a_counter_far_beyond_its_format_stays_short(tmp_path):
    for fmt in (
        "lowerLetter",
        "upperRoman",
        "chineseCounting",
        "cardinalText",
        "ordinalText",
        "decimalZero",
        "japaneseCounting",
        "hex",
    ):
        lists = numbering(level(0, fmt, "%1.", start=2_147_483))
        document = read(tmp_path, docx(paragraph("Rent. Ten.", num=(1, 0)), {"word/numbering.xml": lists}))
        assert len(document.text) < 200, fmt


def test_styles_in_a_loop_end(tmp_path):
    loop = "".join(
        f'<w:style w:type="paragraph" w:styleId="{a}"><w:basedOn w:val="{b}"/></w:style>'
        for a, b in (("A", "B"), ("B", "A"), ("C", "C"))
    )
    lists = numbering(level(0, "decimal", "%1."), extra="").replace(
        '<w:lvl w:ilvl="0">', '<w:numStyleLink w:val="L"/><w:styleLink w:val="L"/><w:lvl w:ilvl="0">', 1
    )
    body = "".join(paragraph(f"Rent {s}.", style=s, num=(1, 0)) for s in "ABC")
    data = docx(body, {"word/styles.xml": f'<w:styles xmlns:w="{W}">{loop}</w:styles>', "word/numbering.xml": lists})
    assert "Rent C." in read(tmp_path, data).text


def test_member_comments_and_bytes_before_the_archive_do_no_harm(tmp_path):
    buffer = io.BytesIO(SOUND)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = b"PK\x05\x06" + bytes(30)
    outcome = read_limited(buffer.getvalue(), "comment.docx", LIMITS)
    assert outcome.good, outcome
