"""Plain text: encodings, line ends, paragraphs."""

from __future__ import annotations

import pytest

from softlookup.documents.readers.text import decode, paragraphs, read_text
from softlookup.errors import DocumentError, UsageError

from .builders import LEASE_EN, SERVICE_ZH

CHINESE = SERVICE_ZH * 4
TRADITIONAL = "甲方應當按照本合約的規定，在本月三十日以前支付價款。對於違約責任，乙方不得主張免除。\n" * 12


@pytest.mark.parametrize(
    "codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "gb18030"]
)
@pytest.mark.parametrize("text", [LEASE_EN, CHINESE], ids=["en", "zh"])
def test_every_encoding_gives_the_same_text(codec, text):
    assert decode(text.encode(codec))[0] == text


def test_big5_and_cp1252_are_told_from_gb18030():
    assert decode(TRADITIONAL.encode("big5"))[0] == TRADITIONAL
    western = LEASE_EN.replace("'", "’").replace('"', "“") * 3
    text, notes = decode(western.encode("cp1252"))
    assert text == western
    assert "cp1252" in notes[0]


def test_utf32_mark_is_not_taken_for_utf16():
    text, notes = decode(b"\xff\xfe\x00\x00" + "Lease".encode("utf-32-le"))
    assert (text, notes) == ("Lease", ("encoding utf-32-le (byte order mark)",))


def test_line_ends_become_newlines_and_nothing_else_changes():
    result = read_text(b"  1. One\r\n\r\n2. Two\rthree\n\tend ")
    assert result.text == "  1. One\n\n2. Two\nthree\n\tend "
    assert "1 CR" in result.coverage.notes[0]


def test_named_encoding_wins_and_must_fit():
    assert decode("é".encode("cp1252"), encoding="cp1252")[0] == "é"
    with pytest.raises(UsageError, match="known codec"):
        decode(b"x", encoding="no-such-codec")
    with pytest.raises(DocumentError, match="does not decode"):
        decode(b"\xff\xfe\xfd", encoding="utf-8")


def test_nul_characters_are_never_accepted():
    with pytest.raises(DocumentError):
        decode(b"abc\x00def\x01\x02" * 7)
    with pytest.raises(DocumentError, match="NUL"):
        decode("Lease".encode("utf-16-le"), encoding="latin-1")


def test_bytes_that_fit_no_encoding_ask_for_one():
    with pytest.raises(DocumentError, match="--encoding"):
        decode(bytes(range(0x80, 0x100)) * 3)


def test_paragraphs_are_lines_or_blank_line_blocks():
    lines = "第一条 甲方。\n第二条 乙方。\n"
    assert [lines[b.span.start : b.span.end] for b in paragraphs(lines)] == ["第一条 甲方。", "第二条 乙方。"]
    wrapped = "\n\n".join("\n".join("word " * 14 + "end" for _ in range(4)) for _ in range(8))
    assert len(paragraphs(wrapped)) == 8


@pytest.mark.parametrize("data", ["租赁合同\n第一条 船".encode(), "é".encode("utf-8-sig"), b"1. Boat\r\n2. Rent\r\n"])
def test_plain_utf8_needs_no_note(data):
    assert read_text(data).coverage.notes == ()


@pytest.mark.parametrize(
    ("data", "words"),
    [(CHINESE.encode("gb18030"), "gb18030"), (LEASE_EN.encode("utf-16"), "utf-16"), (b"a\r\nb\nc", "1 CRLF")],
)
def test_another_encoding_or_mixed_line_ends_are_told(data, words):
    assert words in read_text(data).coverage.notes[0]
