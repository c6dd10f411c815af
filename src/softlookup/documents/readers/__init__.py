"""What every reader returns; one module per file format, no clause structure here.

A reader turns bytes into text, blocks and an account of what it read. It never guesses clauses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from softlookup.documents.model import Aside, Block, Coverage, Link, Mark, Span, TextLine, View


@dataclass(frozen=True, slots=True)
class ReaderResult:
    """Text with its blocks (in order, inside the text), the coverage account and inserted characters.

    ``generated`` lists the spans of ``text`` that are not characters of the file (automatic numbers). The other
    fields are those of :class:`softlookup.documents.model.Document`.
    """

    text: str
    blocks: tuple[Block, ...]
    coverage: Coverage
    generated: tuple[Span, ...] = ()
    aside: tuple[Aside, ...] = ()
    marks: tuple[Mark, ...] = ()
    links: tuple[Link, ...] = ()
    lines: tuple[TextLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a caller may ask of a reader; a reader ignores what its format does not have.

    ``password`` opens an encrypted PDF; ``member`` chooses an exhibit of an EDGAR submission by its type or file
    name ("EX-10.1"); ``ocr`` reads scanned pages with the optional ``[ocr]`` extra.
    """

    encoding: str | None = None
    view: View = "final"
    password: str | None = None
    member: str | None = None
    ocr: bool = False


DEFAULTS = ReadOptions()


class ReadKeywords(TypedDict, total=False):
    """Keyword arguments of ``read_document``, for functions that pass them on; see :class:`ReadOptions`."""

    encoding: str | None
    view: View
    password: str | None
    member: str | None
    ocr: bool
