"""What every reader returns; one module per file format, no clause structure here.

A reader turns bytes into text, blocks and an account of what it read. It never guesses clauses.
"""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.documents.model import Block, Coverage, Span


@dataclass(frozen=True, slots=True)
class ReaderResult:
    """Text with its blocks (in order, inside the text), the coverage account and inserted characters.

    ``generated`` lists the spans of ``text`` that are not characters of the file (automatic numbers).
    """

    text: str
    blocks: tuple[Block, ...]
    coverage: Coverage
    generated: tuple[Span, ...] = ()
