r"""Plain text: normalises line ends, cuts paragraphs, finds pages; no markup. ``encodings.py`` decodes.

The text is the decoded file with ``\\r\\n`` and ``\\r`` turned into ``\\n`` and a byte order mark removed;
nothing else is changed, so offsets can be checked against the file itself. Lines broken at a fixed width are
joined by the blocks only; form feeds and ``<PAGE>`` lines stay and give the pages.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from dataclasses import replace

from softlookup.documents.model import Block, Coverage, CoverageCounts, CoverageRow, Span
from softlookup.documents.readers import ReaderResult
from softlookup.documents.readers.encodings import decode as decode  # noqa: PLC0414  (the old place of it)
from softlookup.documents.readers.pages import goes_on, page_number
from softlookup.documents.readers.text_marks import find_marks

_LINE = re.compile(r"^[^\S\n]*+\S[^\n]*", re.M)  # anchored: a line of a million blanks is tried once
_PARAGRAPH = re.compile(r"\S(?:.*?)(?=\n[^\S\n]*\n|\Z)", re.DOTALL)
_NEAR = 400  # characters beside a page break that are looked at
_BREAK = re.compile(r"\f|^[ \t]{0,40}<PAGE>[^\n]{0,80}$", re.M)


def read_text(data: bytes, *, encoding: str | None = None) -> ReaderResult:
    """Text of a plain text file; raises ``DocumentError`` when no encoding fits."""
    decoded, notes = decode(data, encoding=encoding)
    return read_plain(decoded, notes)


def read_plain(decoded: str, notes: tuple[str, ...] = ()) -> ReaderResult:
    """The same for a file that is decoded already."""
    text, line_end_notes = normalise_line_ends(decoded)
    marks, mark_notes = find_marks(text)
    blocks, pages = with_pages(text, paragraphs(text))
    coverage = Coverage(
        rows=(CoverageRow(unit="file", state="read", characters=len(text)),),
        pages=pages,
        notes=notes + line_end_notes + mark_notes,
        counts=CoverageCounts(tables=len(re.findall(r"^<TABLE>", text, re.M))),
    )
    return ReaderResult(text=text, blocks=blocks, coverage=coverage, marks=marks)


def with_pages(text: str, blocks: tuple[Block, ...]) -> tuple[tuple[Block, ...], int | None]:
    """``blocks`` with the page each begins on, and the number of pages; unchanged and None without page breaks.

    Two blocks become one when the paragraph goes on across the break between them.
    """
    breaks = [match.end() for match in _BREAK.finditer(text)]
    if not breaks:
        return blocks, None
    first = 1 if text[: breaks[0]].replace("<PAGE>", "").strip() else 0
    paged: list[Block] = []
    for block in blocks:
        for span in _cut(text, block.span, breaks):
            paged.append(replace(block, span=span, page=max(1, first + bisect_right(breaks, span.start))))
    last = max((block.page or 1 for block in paged), default=1)
    return _joined(text, paged), last


def _cut(text: str, span: Span, breaks: list[int]) -> list[Span]:
    """``span`` cut at the page breaks inside it."""
    inside = breaks[bisect_right(breaks, span.start) : bisect_right(breaks, span.end)]
    edges = [span.start, *inside, span.end]
    pieces = [_trimmed(text, start, end, 0) for start, end in itertools.pairwise(edges)]
    return [piece for piece in pieces if len(piece)]


def _joined(text: str, blocks: list[Block]) -> tuple[Block, ...]:
    """Blocks of one paragraph on two pages made one; page marks and page numbers between them go in."""
    result: list[Block] = []
    for block in blocks:
        if result and result[-1].page != block.page and not _is_page_line(text, block.span):
            back = len(result) - 1
            while back > 0 and len(result) - back < 4 and _is_page_line(text, result[back].span):
                back -= 1
            before = result[back]
            tail = text[max(before.span.start, before.span.end - _NEAR) : before.span.end]
            above, last = ["", *tail.split("\n")][-2:]
            after = text[block.span.start : min(block.span.end, block.span.start + _NEAR)].split("\n", maxsplit=1)[0]
            if goes_on(last, after, above):
                result[back:] = [replace(before, span=Span(before.span.start, block.span.end))]
                continue
        result.append(block)
    return tuple(result)


def _is_page_line(text: str, span: Span) -> bool:
    """True for a page number or a page mark, or both."""
    if len(span) > _NEAR:
        return False
    lines = [line for line in text[span.start : span.end].split("\n") if line.strip()]
    return all(page_number(line) is not None or line.strip().startswith("<PAGE>") for line in lines)


def normalise_line_ends(text: str) -> tuple[str, tuple[str, ...]]:
    r"""``text`` with ``\\n`` line ends only, and a note when the file mixes line ends or has lone ``\\r``."""
    windows = text.count("\r\n")
    lone = text.count("\r") - windows
    if not windows and not lone:
        return text, ()
    is_mixed = lone or text.count("\n") > windows
    notes = (f"line ends: {windows} CRLF and {lone} CR read as LF",) if is_mixed else ()
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def paragraphs(text: str, offset: int = 0, *, is_wrapped: bool | None = None) -> tuple[Block, ...]:
    """Blocks between blank lines when lines were broken at a fixed width, else one block per line."""
    lines = list(_LINE.finditer(text))
    if not (is_hard_wrapped(text) if is_wrapped is None else is_wrapped):
        return tuple(Block(span=_trimmed(text, m.start(), m.end(), offset)) for m in lines)
    return tuple(Block(span=_trimmed(text, m.start(), m.end(), offset)) for m in _PARAGRAPH.finditer(text))


def is_hard_wrapped(text: str) -> bool:
    """True when lines were broken at a fixed width, so that a new line is no new paragraph."""
    lengths = sorted(len(line.rstrip()) for line in text.split("\n") if line.strip())
    if len(lengths) < 20:
        return False
    upper = lengths[int(len(lengths) * 0.9)]
    median = lengths[len(lengths) // 2]
    return 40 <= median <= 100 and upper <= 110 and upper - median <= 30


def _trimmed(text: str, start: int, end: int, offset: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start + offset, end + offset)
