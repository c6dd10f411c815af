"""The document's text in the report: all of it where it fits, else what lies around the places that count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from softlookup.documents.language import Language
from softlookup.documents.model import Document, Span
from softlookup.ui.document_view import Piece, neighbourhood
from softlookup.ui.escape import html_text
from softlookup.ui.report.words import WORDS

# characters before and behind each place, tried one after another until the text fits
AROUND = (300_000, 100_000, 40_000, 20_000, 8_000, 3_000, 1_000, 300, 0)
_LINK = re.compile(r'href="#cl-(\d+)"')


@dataclass(frozen=True, slots=True)
class TextSection:
    """``shown`` of ``total`` characters are in ``html``."""

    html: str = field(repr=False)
    shown: int
    total: int

    @property
    def complete(self) -> bool:
        """Whether the whole text is there."""
        return self.shown >= self.total


def text_section(
    document: Document,
    pieces: Sequence[Piece],
    places: Sequence[Span],
    links: str,
    language: Language,
    room: int,
) -> TextSection:
    """The most text that takes at most ``room`` bytes; if nothing does, the paragraphs of ``places`` alone.

    ``links``: the rest of the report, of which every link into the text finds its place, or the gap that it is in.
    """
    total = sum(piece.end - piece.start for piece in pieces)
    found = _section(document, pieces, pieces, links, language, total)
    for characters in AROUND:
        if len(found.html.encode()) <= room:
            break
        near = neighbourhood(document, places, characters)
        found = _section(document, pieces, _within(pieces, near), links, language, total)
    return found


def _within(pieces: Sequence[Piece], spans: Sequence[Span]) -> list[Piece]:
    """Pieces that touch one of ``spans``, which are in order and apart."""
    found, at = [], 0
    for piece in pieces:
        while at < len(spans) and spans[at].end <= piece.start:
            at += 1
        if at < len(spans) and spans[at].start < piece.end:
            found.append(piece)
    return found


def _section(
    document: Document, pieces: Sequence[Piece], shown: Sequence[Piece], links: str, language: Language, total: int
) -> TextSection:
    """Shown pieces with page rules between pages and a line for every gap."""
    words = WORDS[language]
    missing = _missing_targets(document, shown, links)
    parts: list[str] = []
    page: int | None = None
    left, gap_start = 0, 0
    kept = {id(piece) for piece in shown}
    for piece in [*pieces, None]:
        if piece is not None and id(piece) not in kept:
            left += piece.end - piece.start
            continue
        end = len(document.text) if piece is None else piece.start
        if left:
            anchors = "".join(f'<span id="cl-{i}"></span>' for start, i in missing if gap_start <= start < end)
            parts.append(f'<p class="gap">{anchors}[… {html_text(words["gap"].format(count=left))} …]</p>')
            left = 0
        if piece is not None:
            if piece.page is not None and piece.page != page:
                page = piece.page
                parts.append(
                    f'<p class="pr" id="pg-{page}"><span>{html_text(words["page_rule"].format(page=page))}</span></p>'
                )
            parts.append(piece.html)
            gap_start = piece.end
    return TextSection("\n".join(parts), sum(piece.end - piece.start for piece in shown), total)


def _missing_targets(document: Document, shown: Sequence[Piece], links: str) -> list[tuple[int, int]]:
    """(start, index) of clauses that something links to and that no shown piece holds."""
    wanted = _targets([links, *(piece.html for piece in shown)])
    there = {int(i) for piece in shown for i in re.findall(r'id="cl-(\d+)"', piece.html)}
    return [(document.clauses[i].span.start, i) for i in sorted(wanted - there) if i < len(document.clauses)]


def _targets(texts: Iterable[str]) -> set[int]:
    return {int(i) for text in texts for i in _LINK.findall(text)}
