"""What a strategy loses of the document at hand: unread clauses and cut references. Reads no document itself.

Whoever has the document describes it by numbers (``DocumentOutline``) and tells what a retrieved context leaves out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from softlookup.cost.plan.plan_texts import PlanLanguage, say


@dataclass(frozen=True, slots=True)
class Unread:
    """Of a retrieved context: clauses that it leaves out, references in its text, and those that point outside it."""

    clauses: int
    references: int
    cut: int


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """A document in numbers. ``references``: token positions of each resolved cross reference and of its target.

    ``unread``: what a retrieved context of so many tokens leaves out, measured on usual questions.
    """

    clauses: int
    references: tuple[tuple[int, int], ...]
    unread: Callable[[int], Unread]


@dataclass(frozen=True, slots=True)
class Loss:
    """Of ``clauses`` the answer is written without ``unread_clauses``; of ``references`` ``cut_references`` are cut."""

    clauses: int
    unread_clauses: int
    references: int
    cut_references: int

    def to_dict(self) -> dict[str, Any]:
        """The loss for JSON."""
        return asdict(self)


def cut_by_windows(outline: DocumentOutline, count: int, room: int, step: int) -> int:
    """References whose two ends lie together in none of ``count`` windows of ``room`` tokens, ``step`` apart.

    >>> cut_by_windows(DocumentOutline(2, ((0, 9), (8, 9)), lambda _: Unread(0, 0, 0)), 2, 8, 7)
    1
    """
    cut = 0
    for ends in outline.references:
        first, last = min(ends), max(ends)
        start = min(first // step, count - 1) * step  # the last window that holds the first end reaches furthest
        cut += last >= start + room
    return cut


def retrieval_loss(outline: DocumentOutline, fed: int, language: PlanLanguage) -> tuple[Loss, str]:
    """The loss of a retrieved context of ``fed`` tokens, and its words."""
    found = outline.unread(fed)
    loss = Loss(outline.clauses, found.clauses, found.references, found.cut)
    words = [say(language, "lose_clauses", unread=found.clauses, clauses=outline.clauses)]
    key = "lose_references" if found.cut else "lose_no_reference"
    words.append(say(language, key, cut=found.cut, references=found.references))
    return loss, say(language, "join").join(words)


def hybrid_loss(
    outline: DocumentOutline, fed: int, windows: tuple[int, int, int], language: PlanLanguage
) -> tuple[Loss, str]:
    """The loss of windows (count, tokens, step) with a final context of ``fed`` tokens, and its words."""
    found, cut, count = outline.unread(fed), cut_by_windows(outline, *windows), windows[0]
    loss = Loss(outline.clauses, found.clauses, len(outline.references), cut)
    words = [say(language, "hybrid_clauses", unread=found.clauses, clauses=outline.clauses)]
    if count > 1:
        key = "hybrid_references" if cut else "hybrid_no_reference"
        words.append(say(language, key, cut=cut, references=len(outline.references), windows=count))
    return loss, say(language, "join").join(words)
