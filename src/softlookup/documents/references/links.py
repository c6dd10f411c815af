"""References that the file states itself: fields and anchors with a target; not for words that cite a label.

A printed "clause 8.2" whose field points to the paragraph now numbered 9.2 leads to 9.2: the author meant that
paragraph, and the number was not updated.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from softlookup.documents.model import CrossReference, Link
from softlookup.documents.positions import ClausePositions


def with_links(
    references: Iterable[CrossReference], links: Sequence[Link], positions: ClausePositions
) -> Iterator[CrossReference]:
    """``references`` with the targets of ``links`` where both name one place, and the links that none names.

    A link to the clause around it or to no clause adds nothing.
    """
    ordered = sorted(links, key=lambda link: link.span)
    starts = [link.span.start for link in ordered]
    taken: set[int] = set()
    for reference in references:
        at = _overlapping(ordered, starts, reference)
        target = None if at is None else _clause_of(ordered[at], positions)
        if at is None or target is None or len(reference.targets) > 1:
            yield reference
            continue
        taken.add(at)
        yield replace(reference, targets=(target,), status="resolved", kind="field")
    for at, link in enumerate(ordered):
        source, target = positions.innermost(link.span.start), _clause_of(link, positions)
        if at not in taken and source is not None and target is not None and source != target:
            yield CrossReference(link.span, source, (target,), "resolved", kind="field")


def _overlapping(ordered: Sequence[Link], starts: Sequence[int], reference: CrossReference) -> int | None:
    """Position of the first link inside the words of ``reference``."""
    at = bisect_left(starts, reference.span.start)
    at -= at > 0 and ordered[at - 1].span.end > reference.span.start
    return at if at < len(ordered) and ordered[at].span.overlap(reference.span) else None


def _clause_of(link: Link, positions: ClausePositions) -> int | None:
    """The numbered clause that begins at or around the target."""
    found = positions.innermost(link.target)
    return next((c.index for c in positions.lineage(found) if c.number), found)
