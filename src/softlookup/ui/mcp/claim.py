"""Compares a claimed citation with the document, without the model: the clause exists, the words stand there.

Words are compared as they are first; where they stand nowhere so, the search of ``softlookup diagnose`` finds those
that differ in blanks, width or case only, and those that the reader kept out of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from softlookup.diagnostics.place import Place, expected_place, quoted_places
from softlookup.documents.model import Clause, Document, Span
from softlookup.errors import UsageError
from softlookup.evidence.citation import clause_label, quote_span
from softlookup.ui.escape import printable
from softlookup.ui.mcp.outline import named_clauses
from softlookup.ui.mcp.rows import cut

_PLACES = 5

QuoteCheck = Literal["verbatim", "differs", "set_aside", "unread", "absent"]


@dataclass(frozen=True, slots=True)
class ClausePlace:
    """The claimed clause; ``matches`` clauses are printed so, of which the first is described. 0: there is none."""

    named: str
    matches: int
    clause: str
    heading: str
    start: int | None
    end: int | None
    page: int | None
    advice: Annotated[str, Field(description="What may have been meant, where no clause is printed so.")]


@dataclass(frozen=True, slots=True)
class QuotePlace:
    """Where the words stand."""

    clause: str
    start: int
    end: int
    page: int | None


@dataclass(frozen=True, slots=True)
class QuoteFound:
    """How the claimed words compare with the document.

    ``check``: verbatim; differs (in blanks, width or case: ``stands`` has the document's words); set_aside (in the
    file, not in its text, such as deleted words: ``where``); unread (nowhere, but parts could not be read); absent.
    ``places``: the first of ``count``. ``in_clause``: of those, how many lie in the claimed clause; null without one.
    """

    check: QuoteCheck
    count: int
    in_clause: int | None
    places: tuple[QuotePlace, ...]
    stands: str
    where: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What was found of a claim, and ``place``, the one that it is about; None when there is none or several."""

    clause: ClausePlace | None
    quote: QuoteFound | None
    place: Place | None


def find_claim(document: Document, named: str | None, quote: str | None) -> Claim:
    """Look for the clause ``named`` and the words ``quote``. Raises ``UsageError`` when neither is given."""
    if not (named or "").strip() and not (quote or "").strip():
        raise UsageError("a claim needs expect_clause or quote, got neither", "give the clause, its words, or both")
    clauses, advice = _clauses(document, named) if (named or "").strip() else ((), "")
    claimed = None if not (named or "").strip() else _clause_place(document, named or "", clauses, advice)
    if not (quote or "").strip():
        place = _clause_span(document, named or "", clauses)
        return Claim(claimed, None, place)
    spans, found = _words(document, quote or "", clauses if claimed is not None else None)
    return Claim(claimed, found, _place(document, clauses, quote or "", spans))


def _clauses(document: Document, named: str | None) -> tuple[tuple[Clause, ...], str]:
    try:
        return named_clauses(document, (named or "").strip()), ""
    except UsageError as error:
        return (), error.remedy


def _clause_place(document: Document, named: str, clauses: Sequence[Clause], advice: str) -> ClausePlace:
    if not clauses:
        return ClausePlace(named, 0, "", "", None, None, None, cut(advice))
    first = clauses[0]
    return ClausePlace(
        named, len(clauses), cut(clause_label(document, first.index)), cut(first.heading), first.span.start,
        first.span.end, document.page_at(first.span.start), "",
    )  # fmt: skip


def _clause_span(document: Document, named: str, clauses: Sequence[Clause]) -> Place | None:
    if len(clauses) != 1:
        return None
    span = clauses[0].span
    text = document.text[span.start : span.end]
    start = span.start + len(text) - len(text.lstrip())
    return Place(named, Span(start, start + len(text.strip())), clauses[0].path or named, is_quote=False)


def _words(document: Document, quote: str, clauses: Sequence[Clause] | None) -> tuple[tuple[Span, ...], QuoteFound]:
    """Where ``quote`` stands, and what is told of it."""
    words = quote.strip()
    check, spans, where = _compared(document, words)
    differs = document.text[spans[0].start : quote_span(document.text, spans[0]).end] if check == "differs" else ""
    inside = None if clauses is None else sum(_within(span, clauses) for span in spans)
    places = tuple(
        QuotePlace(_label(document, span), span.start, span.end, document.page_at(span.start))
        for span in sorted(spans, key=lambda span: not _within(span, clauses or ()))[:_PLACES]
    )
    return spans, QuoteFound(check, len(spans), inside, places, differs, cut(where))


def _compared(document: Document, words: str) -> tuple[QuoteCheck, tuple[Span, ...], str]:
    copied = _as_shown(document.text, words)
    if copied is not None:
        return "verbatim", (copied,), ""
    spans = quoted_places(document.text, words)
    if spans:
        same = document.text[spans[0].start : spans[0].end] in words
        return "verbatim" if same else "differs", tuple(spans), ""
    try:
        found = expected_place(document, words)
    except UsageError:
        return "absent", (), ""
    elsewhere = None if found is None else found.elsewhere
    if elsewhere is None:  # "none", or a heading by its name
        return "absent", (), ""
    return "set_aside" if elsewhere.kind == "aside" else "unread", (), elsewhere.where


def _as_shown(text: str, words: str) -> Span | None:
    """Place of words copied from a result, where invisible characters stand as escapes; None for other words."""
    if "\\" not in words or words in text:
        return None
    escaped = printable(text)
    at = -1 if escaped == text else escaped.find(words)
    return None if at < 0 else Span(_plain(text, at), _plain(text, at + len(words)))


def _plain(text: str, offset: int) -> int:
    """Offset in ``text`` of an offset in its printable form."""
    at = 0
    for place, character in enumerate(text):
        if at >= offset:
            return place
        at += len(printable(character))
    return len(text)


def _place(document: Document, clauses: Sequence[Clause], quote: str, spans: Sequence[Span]) -> Place | None:
    """The place of the words: in the claimed clause where they stand there, else the only one."""
    within = [span for span in spans if _within(span, clauses)]
    if len(within) > 1 and len(clauses) == 1:
        return _clause_span(document, clauses[0].path, clauses)
    chosen = within or list(spans)
    return Place(quote, chosen[0], _label(document, chosen[0]), is_quote=True) if len(chosen) == 1 else None


def _within(span: Span, clauses: Sequence[Clause]) -> bool:
    return any(clause.span.start <= span.start and span.end <= clause.span.end for clause in clauses)


def _label(document: Document, span: Span) -> str:
    return cut(clause_label(document, document.clause_at(span.start).index)) if document.clauses else ""
