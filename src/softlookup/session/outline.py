"""A document in numbers for the cost plan: token positions of its references, and what retrieval leaves unread."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate

from softlookup.cost.plan.losses import DocumentOutline, Unread
from softlookup.documents.model import Document, Span
from softlookup.errors import UsageError
from softlookup.retrieval.context import Context

# questions that a retrieved context is tried with: the plan comes before the user's own
_SAMPLE = 3


def document_outline(
    document: Document,
    count_tokens: Callable[[str], int],
    retrieve: Callable[[str, int], Context],
    questions: Sequence[str],
) -> DocumentOutline:
    """The outline of ``document``. ``retrieve`` gives the context of a question within a number of tokens.

    What is left unread is the mean over usual ``questions``, some of them evenly taken.
    """
    place = token_positions(document, count_tokens)
    references = tuple(
        (place(reference.span.start), place(document.clauses[target].span.start))
        for reference in document.references
        for target in reference.targets[:1]
    )
    sample = questions[:: max(1, len(questions) // _SAMPLE)][:_SAMPLE]

    def read(question: str, tokens: int) -> Sequence[Span]:
        try:
            return retrieve(question, tokens).spans
        except UsageError:  # no passage fits: nothing is read
            return ()

    @cache  # retrieval and hybrid often read contexts of one length
    def unread(tokens: int) -> Unread:
        found = [unread_of(document, read(question, tokens)) for question in sample]
        return Unread(*(round(sum(each) / len(found)) for each in zip(*found, strict=True)))

    return DocumentOutline(len(document.clauses), references, unread)


def token_positions(document: Document, count_tokens: Callable[[str], int]) -> Callable[[int], int]:
    """A function from character offsets to token positions, exact to one clause's own text."""
    spans = [span for _, span in document.own_spans()]
    starts = [span.start for span in spans]
    before = [0, *accumulate(count_tokens(document.text[span.start : span.end]) for span in spans)]

    def place(offset: int) -> int:
        at = bisect_right(starts, offset) - 1
        if at < 0:
            return 0
        inside = min(offset - starts[at], len(spans[at])) / max(1, len(spans[at]))
        return before[at] + int(inside * (before[at + 1] - before[at]))

    return place


def unread_of(document: Document, spans: Sequence[Span]) -> tuple[int, int, int]:
    """(clauses not read, references in the text of ``spans``, those of them whose target is not read).

    A clause is read when at least half of its own text is, descendants left out: a heading above a passage that was
    read is not the clause's text. ``spans`` are disjoint and in order.
    """
    own: dict[int, list[int]] = {}
    for index, span in document.own_spans():
        row = own.setdefault(index, [0, 0])
        row[0] += sum(span.overlap(other) for other in _touching(spans, span))
        row[1] += len(document.text[span.start : span.end].strip())
    read = {index for index, (seen, size) in own.items() if seen and 2 * seen >= size}
    clauses = len(document.clauses) - len(read)
    within = [reference for reference in document.references if reference.targets and _touching(spans, reference.span)]
    cut = sum(read.isdisjoint(reference.targets) for reference in within)
    return clauses, len(within), cut


def _touching(spans: Sequence[Span], span: Span) -> Sequence[Span]:
    """Those of ``spans`` that share a character with ``span``."""
    first = bisect_right(spans, span.start, key=lambda other: other.end)
    last = bisect_left(spans, span.end, key=lambda other: other.start)
    return spans[first:last]
