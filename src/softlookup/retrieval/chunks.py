"""Cuts a document into passages of bounded length, the unit of ranking and citing; not for ranking them.

Passages tile the text (only blank characters between them are left out), stay inside one clause below
chapter level, end at sentence ends and keep a heading with the text that it heads.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from softlookup.documents.model import Clause, Document, Span
from softlookup.documents.positions import ClausePositions
from softlookup.documents.references.labels import STRUCTURE_KINDS, label_key
from softlookup.documents.tree.long_blanks import with_marks
from softlookup.errors import UsageError

MAX_CHARS = 600
_SHORT = 200  # characters: below this a piece is a heading or a list item and joins its neighbour
_MIN_LIMIT = 40  # a smaller limit leaves no room for a sentence

# white space and the zero-width characters that web pages leave in empty paragraphs
_BLANK = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\u200b\u2060\ufeff"
)
_SENTENCE_END = re.compile(r"[。！？；：][”’」』）)】]*|[.!?;:][\"'”’)\]]*(?=\s|$)|\n")
_CONTENTS_ENTRY = re.compile(
    r"(?:(?:section|article|clause)\s+[\dIVXLC.]+\.?\s+|第\S{1,6}[章节条]\s*)[^\n]{2,90}?[\s.…]\s*(?P<page>\d{1,3})"
    r"(?=\s*(?:\n|$)|\s+(?:section|article|clause|exhibit|annex|schedule|第))"
    r"|(?:(?<!\.)\.{4,}+|(?<!…)…{2,}+)[ \t]{0,40}(?P<leader>\d{1,3})(?=\s|$)",
    re.IGNORECASE,
)
_CONTENTS_LEAST = 3  # entries
_CONTENTS_ENTRY_CHARS = 130  # per entry: more is text with numbers in it
_ABBREVIATION = re.compile(
    r"(?:\b(?:Inc|Ltd|Corp|Co|Cos|No|Nos|Sec|Secs|Art|Arts|Mr|Mrs|Ms|Dr|Prof|St|vs?|Cl|Para|Ex|Exh|Sched|Fig|p|pp|"
    r"Jr|Sr|Rev|Reg|Treas|Dept|Univ|approx|etc|cf|al|seq|i\.e|e\.g|viz|Bros|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|"
    r"Nov|Dec)|\b[A-Z](?:\.[A-Z])*|(?:^|[\s(])\d{1,3}(?:\.\d{1,3})*|(?:^|\n)\s*[a-zA-Z])\.$"
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: ``document.text[span.start:span.end]`` without white space at either end.

    ``index`` is its place in the document, ``clause`` the innermost clause that holds all of it; the heading
    of a chapter that opens a passage does not count, so that the passage is cited by its own clause.
    """

    index: int
    span: Span
    clause: int


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    unit: int  # clause that a passage must not leave; -1 outside all numbered clauses
    clause: int

    def __len__(self) -> int:
        return self.end - self.start


def passages(document: Document, max_chars: int = MAX_CHARS) -> tuple[Chunk, ...]:
    """The passages of ``document`` in order; every character that is not white space is in exactly one.

    Each has 1 to ``max_chars`` characters. Raises ``UsageError`` for a limit below 40.
    """
    if max_chars < _MIN_LIMIT:
        raise UsageError(f"passages need room for at least {_MIN_LIMIT} characters, got {max_chars}", "raise max_chars")
    positions = ClausePositions(document.clauses)
    pieces = [
        _Piece(span.start, span.end, piece.unit, piece.clause)
        for piece in _own_pieces(document, positions)
        for span in _split(document.text, piece.start, piece.end, max_chars)
    ]
    merged = _merge(pieces, positions, max_chars)
    return tuple(Chunk(i, Span(p.start, p.end), p.clause) for i, p in enumerate(merged))


def is_contents(text: str) -> bool:
    """Whether a passage is a table of contents: labelled titles with rising page numbers, or dot leaders.

    Such a passage has the words of every question and the answer to none.
    """
    return _lists_pages(_pages(text))


def _pages(text: str) -> list[int]:
    """Page numbers of the entries of a table of contents; none when the text is more than such entries."""
    pages = [int(match["page"] or match["leader"]) for match in _CONTENTS_ENTRY.finditer(with_marks(text))]
    return pages if pages and len(text) / len(pages) < _CONTENTS_ENTRY_CHARS else []


def _lists_pages(pages: Sequence[int]) -> bool:
    return len(pages) >= _CONTENTS_LEAST and all(a <= b for a, b in pairwise(pages))


def without_contents(document: Document, chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """``chunks`` without those that are a table of contents, in order; each keeps its ``index``.

    A table of contents has the words of every question and the answer to none: leave it out before ranking, also
    when the model reads the whole document. All chunks come back when nothing else would be left.
    """
    pages = [_pages(document.text[chunk.span.start : chunk.span.end]) for chunk in chunks]
    contents = _marked_as_contents(document, chunks)
    start = 0
    while start < len(chunks):  # a run of neighbours, since each line of a table may be a passage of its own
        end = start + 1
        while end < len(chunks) and pages[start] and pages[end]:
            end += 1
        together = _lists_pages([page for entries in pages[start:end] for page in entries])
        contents |= {at for at in range(start, end) if together or _lists_pages(pages[at])}
        start = end
    kept = tuple(chunk for at, chunk in enumerate(chunks) if at not in contents)
    return kept or tuple(chunks)


def _marked_as_contents(document: Document, chunks: Sequence[Chunk]) -> set[int]:
    """Places in ``chunks`` of those that blocks of a table of contents make up by more than half."""
    listed = [block.span for block in document.blocks if block.kind == "toc"]
    starts = [span.start for span in listed]
    marked = set()
    for at, chunk in enumerate(chunks):
        first = max(0, bisect_right(starts, chunk.span.start) - 1)
        last = bisect_left(starts, chunk.span.end)
        if 2 * sum(span.overlap(chunk.span) for span in listed[first:last]) > len(chunk.span):
            marked.add(at)
    return marked


def sentences(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Sentences of ``text[start:end]``, trimmed; only white space lies between them.

    A sentence ends at . ! ? ; : or their Chinese forms, not at "Inc.", "No. 5", "U.S." or "Sec. 4.2", and
    at a line end that follows such a mark, precedes an empty line or ends a short line (a heading).
    """
    end = len(text) if end is None else end
    found: list[Span] = []
    first = start
    for stop in [*_sentence_ends(text, start, end), end]:
        span = _trimmed(text, first, stop)
        if span is not None:
            found.append(span)
        first = stop
    return found


def _sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    line = start
    for match in _SENTENCE_END.finditer(text, start, end):
        mark = text[match.start()]
        if mark == "\n":
            before = text[line : match.start()].strip()
            line = match.end()
            blank = text[match.end() : match.end() + 40].lstrip(" \t").startswith("\n")
            if before and (blank or len(before) < 60 or before[-1] in ".;:!?。；：！？"):
                yield match.end()
        elif mark != "." or not _ABBREVIATION.search(text[max(start, match.start() - 12) : match.start() + 1]):
            yield match.end()


def _trimmed(text: str, start: int, end: int) -> Span | None:
    """``[start, end)`` without blank characters at the ends; None when nothing else is in it."""
    inside = text[start:end]
    stripped = inside.strip(_BLANK)
    if not stripped:
        return None
    first = start + len(inside) - len(inside.lstrip(_BLANK))
    return Span(first, first + len(stripped))


def _own_pieces(document: Document, positions: ClausePositions) -> Iterator[_Piece]:
    """Own text of every clause in document order, and whatever text lies outside all clauses."""
    last = 0
    for clause, span in positions.own_text():
        yield from _outside(document.text, last, span.start)
        last = span.end
        trimmed = _trimmed(document.text, span.start, span.end)
        if trimmed is not None:
            yield _Piece(trimmed.start, trimmed.end, _unit(clause, positions), clause)
    yield from _outside(document.text, last, len(document.text))


def _unit(clause: int, positions: ClausePositions) -> int:
    """The clause that a passage must not leave: the outermost numbered one below chapter level."""
    numbered = [c for c in positions.lineage(clause) if c.number]
    below = [c for c in numbered if not _is_container(c)]
    return below[-1].index if below else numbered[0].index if numbered else -1


def _is_container(clause: Clause) -> bool:
    key = label_key(clause.number)
    return key is not None and (key.kind in ("article", *STRUCTURE_KINDS) or key.opens_namespace)


def _outside(text: str, start: int, end: int) -> Iterator[_Piece]:
    trimmed = _trimmed(text, start, end)
    if trimmed is not None:
        yield _Piece(trimmed.start, trimmed.end, -1, 0)


def _split(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    """Parts of about equal length, each at most ``limit``, cut at sentence ends where there are any."""
    ends = list(_sentence_ends(text, start, end)) if end - start > limit else []
    while end - start > limit:
        parts = -(-(end - start) // limit)
        ideal = start + (end - start) // parts
        low, high = start + (ideal - start) // 2, start + limit
        stops = [stop for stop in ends if low <= stop <= high and end - stop <= (parts - 1) * limit + limit // 2]
        cut = min(stops, key=lambda stop: abs(stop - ideal)) if stops else _space(text, low, ideal, high)
        span = _trimmed(text, start, cut)
        if span is not None:
            yield span
        rest = _trimmed(text, cut, end)
        if rest is None:
            return
        start = rest.start
    yield Span(start, end)


def _space(text: str, low: int, ideal: int, high: int) -> int:
    """Cut at the white space or Chinese comma nearest below ``ideal``, else above it, else at ``ideal``."""
    for window in (range(ideal, low, -1), range(ideal + 1, high + 1)):
        for cut in window:
            if text[cut - 1].isspace() or text[cut - 1] in "，、":
                return cut
    return ideal


def _merge(pieces: list[_Piece], positions: ClausePositions, limit: int) -> list[_Piece]:
    """Joins short neighbours: headings to what they head, list items to each other."""
    merged: list[_Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and _joins(last, piece, positions, limit):
            clause = positions.containing(Span(last.start, piece.end))
            if clause is None or last.unit != piece.unit:  # the heading of a chapter does not widen the clause
                clause = piece.clause
            merged[-1] = _Piece(last.start, piece.end, piece.unit, clause)
        else:
            merged.append(piece)
    return merged


def _joins(last: _Piece, piece: _Piece, positions: ClausePositions, limit: int) -> bool:
    if piece.end - last.start > limit or min(len(last), len(piece)) >= _SHORT:
        return False
    mine = positions.clauses[last.clause]
    around = {clause.index for clause in positions.lineage(piece.clause)}
    if last.unit != piece.unit:  # only the heading of a chapter joins what it heads
        return len(last) < _SHORT and last.unit == mine.index and mine.index in around
    if mine.index in around:  # text or a child of the clause that the last piece belongs to
        return True
    # short neighbours below one parent; a short clause beside a long one is worth a citation of its own
    return mine.parent in around and max(len(last), len(piece)) < _SHORT
