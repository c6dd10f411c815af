"""Which clauses the context of an answer leaves out; says nothing about what they hold."""

from __future__ import annotations

from collections.abc import Sequence

from softlookup.documents.model import Document, Span
from softlookup.evidence.citation import clause_label

# a clause counts as fed when at least this share of its own text was
_FED_SHARE = 0.5


def clauses_not_fed(document: Document, fed: Sequence[Span]) -> tuple[str, ...]:
    """Labels of numbered clauses of whose own text less than half lies in ``fed``, in document order."""
    read: dict[int, int] = {}
    size: dict[int, int] = {}
    for index, span in document.own_spans():
        size[index] = size.get(index, 0) + len(span)
        read[index] = read.get(index, 0) + sum(span.overlap(other) for other in fed)
    missing = [index for index in sorted(size) if read[index] < _FED_SHARE * size[index]]
    labels = (clause_label(document, index) for index in missing if document.clauses[index].number)
    return tuple(dict.fromkeys(label for label in labels if label))
