"""The document's text as pieces of HTML with anchors and marks, for the report and for the page; every string escaped.

One piece per printed paragraph (or table row): a ``<p>`` with the classes ``t-KIND`` (none for a plain one) and
``lLEVEL`` (none for 0). Clause ``i`` has the anchor ``cl-i``, highlight ``h`` its own one at its first character;
cross references inside the document are links. What the pieces stand in is the caller's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from softlookup.documents.model import Block, Clause, Document, Span
from softlookup.ui.escape import html_text

_DEEPEST = 6
_MARK, _LINK, _NAME = 0, 1, 2  # nesting, from outside


@dataclass(frozen=True, slots=True)
class Highlight:
    """``span`` stands in a ``<mark class=kind>``; its first run has the ``anchor``, pointing at it shows ``title``."""

    span: Span
    kind: str
    anchor: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph: ``html`` is one ``<p>`` element; ``clause`` is the innermost one at its start, None before any."""

    start: int
    end: int
    page: int | None
    clause: int | None
    html: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Range:
    """``open`` and ``close`` around every run of ``[start, end)``; ``rank`` orders nesting, the lowest outside."""

    start: int
    end: int
    rank: int
    open: str
    close: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class _Paragraph:
    span: Span
    kind: str
    page: int | None


def document_pieces(
    document: Document, highlights: Sequence[Highlight] = (), *, within: Sequence[Span] | None = None, prefix: str = ""
) -> Iterator[Piece]:
    """Pieces in reading order; ``within``: only paragraphs that touch one of these spans.

    ``prefix`` goes before every anchor and link, for a document that is shown twice on one page.
    """
    starts = [clause.span.start for clause in document.clauses]
    ranges = sorted(_ranges(document, highlights, prefix), key=lambda item: item.start)
    active: list[_Range] = []
    at = first = 0
    for paragraph in _paragraphs(document):
        begin, end = paragraph.span.start, paragraph.span.end
        while at < len(ranges) and ranges[at].start < end:
            active.append(ranges[at])
            at += 1
        active = [item for item in active if item.end > begin]
        clauses = document.clauses[first : bisect_left(starts, end)]
        first += len(clauses)
        if within is not None and not any(paragraph.span.overlap(span) for span in within):
            continue
        owner = _owner(document, begin, end)
        yield Piece(
            begin,
            end,
            paragraph.page,
            None if owner is None else owner.index,
            _markup(document.text, paragraph, active, clauses, 0 if owner is None else owner.level, prefix),
        )


def clause_anchor(document: Document, offset: int, prefix: str = "") -> str:
    """Anchor of the innermost clause at ``offset``; "" outside every clause."""
    try:
        return f"{prefix}cl-{document.clause_at(offset).index}"
    except IndexError:
        return ""


def neighbourhood(document: Document, spans: Sequence[Span], characters: int) -> tuple[Span, ...]:
    """``spans`` with about ``characters`` before and behind each, to whole paragraphs, merged, in order."""
    paragraphs = _paragraphs(document)
    starts = [paragraph.span.start for paragraph in paragraphs]
    wide: list[Span] = []
    for span in sorted(spans):
        first = max(0, bisect_right(starts, max(0, span.start - characters)) - 1)
        last = max(first, bisect_right(starts, span.end + characters) - 1)
        if not paragraphs:
            break
        begin, end = paragraphs[first].span.start, paragraphs[last].span.end
        if wide and begin <= wide[-1].end:
            wide[-1] = Span(wide[-1].start, max(end, wide[-1].end))
        else:
            wide.append(Span(begin, end))
    return tuple(wide)


def _paragraphs(document: Document) -> list[_Paragraph]:
    """Blocks, those on one line as one (cells of a row); text between blocks that is no blank stands alone."""
    found: list[_Paragraph] = []
    cursor = 0
    for block in sorted(document.blocks, key=lambda block: block.span.start):
        begin, end = max(block.span.start, cursor), block.span.end
        if begin >= end:
            continue
        between = document.text[cursor:begin]
        if between.strip():
            found.append(_Paragraph(_trimmed(document.text, cursor, begin), "paragraph", block.page))
        if found and "\n" not in between and found[-1].span.end == cursor and found[-1].kind == _kind(block):
            found[-1] = _Paragraph(Span(found[-1].span.start, end), found[-1].kind, found[-1].page)
        else:
            found.append(_Paragraph(Span(begin, end), _kind(block), block.page))
        cursor = end
    if document.text[cursor:].strip():
        found.append(_Paragraph(_trimmed(document.text, cursor, len(document.text)), "paragraph", None))
    return found


def _kind(block: Block) -> str:
    return block.kind.replace("_", "-")


def _trimmed(text: str, start: int, end: int) -> Span:
    inside = text[start:end]
    begin = start + len(inside) - len(inside.lstrip())
    return Span(begin, begin + len(inside.strip()))


def _owner(document: Document, begin: int, end: int) -> Clause | None:
    """The innermost clause at the first character of a paragraph that any clause holds."""
    for offset in (begin, end - 1):
        try:
            return document.clause_at(offset)
        except IndexError:
            continue
    return None


def _ranges(document: Document, highlights: Sequence[Highlight], prefix: str) -> Iterator[_Range]:
    for highlight in highlights:
        title = f' title="{html_text(highlight.title)}"' if highlight.title else ""
        opening = f'<mark class="{html_text(highlight.kind)}"{title}'
        span = highlight.span
        anchor = f"{prefix}{highlight.anchor}" if highlight.anchor else ""
        yield _Range(span.start, span.end, _MARK, opening, "</mark>", anchor)
    for reference in document.references:
        if reference.status in ("resolved", "inferred") and reference.targets:
            target = f'<a href="#{prefix}cl-{reference.targets[0]}"'
            yield _Range(reference.span.start, reference.span.end, _LINK, target, "</a>")
    for clause in document.clauses:
        yield from _names(document.text, clause)


def _names(text: str, clause: Clause) -> Iterator[_Range]:
    """Label and heading where they are printed."""
    at = clause.span.start
    if clause.label and text.startswith(clause.label, at):
        yield _Range(at, at + len(clause.label), _NAME, '<b class="n"', "</b>")
        at += len(clause.label)
    while at < clause.span.end and text[at].isspace():
        at += 1
    if clause.heading and text.startswith(clause.heading, at):
        yield _Range(at, at + len(clause.heading), _NAME, "<b", "</b>")


def _markup(
    text: str, paragraph: _Paragraph, ranges: Sequence[_Range], clauses: Sequence[Clause], level: int, prefix: str
) -> str:
    """One ``<p>``, with the anchor of the first clause that starts with it; the others have their own inside."""
    span = paragraph.span
    begins = [f"{prefix}cl-{clause.index}" for clause in clauses]
    own = ""
    anchors: dict[int, str] = {}
    for name, clause in zip(begins, clauses, strict=True):
        place = max(span.start, clause.span.start)
        if not own and not text[span.start : place].strip():
            own = f' id="{name}"'
        else:
            anchors[place] = anchors.get(place, "") + f'<span id="{name}"></span>'
    inner = _inner(text, span, ranges, anchors)
    # a paragraph at the outermost level needs no class: a thousand pages have fifty thousand of them
    kind = "" if paragraph.kind == "paragraph" else f"t-{paragraph.kind}"
    names = " ".join(name for name in (kind, f"l{min(level, _DEEPEST)}" if level else "") if name)
    names = f' class="{names}"' if names else ""
    return f"<p{names}{own}>{inner}</p>"


def _inner(text: str, span: Span, ranges: Sequence[_Range], anchors: dict[int, str]) -> str:
    """The escaped text of ``span`` within its ranges, cut wherever one of them begins or ends."""
    cuts = {span.start, span.end, *anchors}
    for item in ranges:
        cuts.update(cut for cut in (item.start, item.end) if span.start < cut < span.end)
    places = sorted(cuts)
    parts: list[str] = []
    for begin, end in pairwise(places):
        around = _around(ranges, begin, end)
        parts.append(anchors.get(begin, ""))
        for item in around:
            here = f' id="{html_text(item.anchor)}"' if item.anchor and item.start == begin else ""
            parts.append(f"{item.open}{here}>")
        parts.append(html_text(text[begin:end]))
        parts += [item.close for item in reversed(around)]
    return "".join(parts)


def _around(ranges: Sequence[_Range], begin: int, end: int) -> list[_Range]:
    """Ranges that hold ``[begin, end)``, outermost first; of links only one: a link inside a link is none."""
    found: list[_Range] = []
    for item in sorted((r for r in ranges if r.start <= begin and end <= r.end), key=lambda item: item.rank):
        if item.rank != _LINK or not any(other.rank == _LINK for other in found):
            found.append(item)
    return found
