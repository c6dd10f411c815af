"""Plain text: line ends, paragraphs, pages, marked characters; nothing is changed that has an offset."""

from __future__ import annotations

import textwrap

import pytest

from softlookup.documents.readers.text import is_hard_wrapped, paragraphs, read_text
from softlookup.documents.tree.structure import build_clauses

from .builders import LEASE_EN


def words(result, block) -> str:
    return result.text[block.span.start : block.span.end]


def test_line_ends_become_newlines_and_nothing_else_changes():
    result = read_text(b"  1. One\r\n\r\n2. Two\rthree\n\tend ")
    assert result.text == "  1. One\n\n2. Two\nthree\n\tend "
    assert result.coverage.notes == ("line ends: 2 CRLF and 1 CR read as LF",)


@pytest.mark.parametrize("data", ["租赁合同\n第一条 船".encode(), "é".encode("utf-8-sig"), b"1. Boat\r\n2. Rent\r\n"])
def test_plain_utf8_needs_no_note(data):
    assert read_text(data).coverage.notes == ()


def test_paragraphs_are_lines_or_blank_line_blocks():
    lines = "第一条 甲方。\n第二条 乙方。\n"
    assert [lines[b.span.start : b.span.end] for b in paragraphs(lines)] == ["第一条 甲方。", "第二条 乙方。"]
    wrapped = "\n\n".join("\n".join("word " * 14 + "end" for _ in range(4)) for _ in range(8))
    assert len(paragraphs(wrapped)) == 8
    assert len(paragraphs(wrapped, is_wrapped=False)) == 32


def wrapped_pages(mark: str) -> str:
    sentence = "The yard repairs the hull of every boat that the owner brings to the slip. "
    first = textwrap.fill("1. Repairs. " + sentence * 20, 70)
    second = textwrap.fill("of the owner, whoever pays. " + sentence * 20, 70)
    third = textwrap.fill("2. Fees. " + sentence * 10, 70)
    return f"{first[: first.rindex(' slip')]}\n\n  1\n{mark}\n{second}\n\n  2\n{mark}\n{third}\n"


@pytest.mark.parametrize("mark", ["\f", "<PAGE>"])
def test_pages_are_counted_and_broken_paragraphs_are_one_block(mark):
    text = wrapped_pages(mark)
    assert is_hard_wrapped(text)
    result = read_text(text.encode())
    assert result.text == text  # lines are joined by the blocks only
    assert result.coverage.pages == 3
    pages = {words(result, b).split("\n")[0][:9]: b.page for b in result.blocks}
    assert pages["1. Repair"] == 1
    assert pages["2. Fees. "] == 3
    assert "of the owner, whoever" in words(result, result.blocks[0])
    assert [(c.number, c.page) for c in build_clauses(text, result.blocks) if c.number] == [("1", 1), ("2", 3)]


def test_a_finished_paragraph_does_not_join_the_next_page():
    text = wrapped_pages("\f").replace("\f\nof the owner", ".\n\f\n3. Of the owner", 1)
    result = read_text(text.encode())
    assert not any("\f" in words(result, b) and "3. Of the" in words(result, b) for b in result.blocks)


def test_a_form_feed_before_all_text_or_after_it_is_no_page():
    assert read_text(b"\f1. Boat\n\n2. Rent\n\f").coverage.pages == 1
    assert read_text(b"1. Boat\n\f2. Rent\n").coverage.pages == 2
    assert read_text(b"1. Boat\n\n2. Rent\n").coverage.pages is None


def test_control_and_invisible_characters_stay_and_are_marked():
    text = "1. Term.\x1b[31m red\x1b[0m\x07 one\u200b year\u202e.\n"
    result = read_text(text.encode())
    assert result.text == text
    marked = [(result.text[m.span.start : m.span.end], m.flag, m.detail) for m in result.marks]
    assert marked == [
        ("\x1b[31m", "control_chars", "terminal escape sequence"),
        ("\x1b[0m", "control_chars", "terminal escape sequence"),
        ("\x07", "control_chars", "control character"),
        ("\u200b", "control_chars", "invisible character"),
        ("\u202e", "control_chars", "bidirectional override"),
    ]
    assert len(result.coverage.notes) == 4
    assert "2" in result.coverage.notes[0]
    assert read_text(LEASE_EN.encode()).marks == ()


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("pay [***] dollars", ["[***]"]), ("pay [ * * * ] dollars", ["[ * * * ]"]), ("pay {***} now", ["{***}"]),
        ("[REDACTED] and [●]", ["[REDACTED]", "[●]"]), ("Name: ________ Date: ____", ["________", "____"]),
        ("租金：＿＿＿＿元", ["＿＿＿＿"]), ("the ███ fee", ["███"]), ("***", ["***"]),
        ("By:\n__________\nName", ["__________"]), ("text\n\n__________\n\ntext", []), ("a **bold** [x] word", []),
    ],
)  # fmt: skip
def test_redactions_and_blanks_are_marked(text, marked):
    if text == "***":  # alone on the page it only draws a line
        marked = []
    result = read_text(text.encode())
    found = [result.text[m.span.start : m.span.end] for m in result.marks if m.flag == "redacted"]
    assert found == marked
    assert result.text == text


def test_very_many_marks_are_bounded():
    result = read_text(("[***] " * 30_000).encode())
    assert len(result.marks) == 20_000
    assert "20000 of 30000" in result.coverage.notes[0]


def test_every_character_is_accounted_for():
    result = read_text(LEASE_EN.encode())
    assert [(row.state, row.characters, row.characters_aside) for row in result.coverage.rows] == [
        ("read", len(LEASE_EN), 0)
    ]


HOSTILE = {
    "blanks": " " * 1_000_000 + "x", "form feeds": "\f" * 200_000, "pages of a word": "word\n\f" * 20_000,
    "pages of a line": ("word " * 12 + "\n<PAGE>\n") * 5_000,
    "line ends": "\n" * 500_000 + "x", "one word": "x" * 2_000_000,
    "brackets": "[ * " * 100_000, "escapes": "\x1b[" * 100_000, "underscores": "_" * 300_000,
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_read_in_bounded_time(text):
    result = read_text(text.encode())
    assert result.text == text
    assert all(a.span.end <= b.span.start for a, b in zip(result.blocks, result.blocks[1:], strict=False))
