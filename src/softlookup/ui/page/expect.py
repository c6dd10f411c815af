"""A clause that a person has clicked on, in the words by which ``diagnose`` finds it."""

from __future__ import annotations

from contextlib import suppress

from softlookup.documents.addresses import clauses_named
from softlookup.documents.model import Document
from softlookup.errors import UsageError
from softlookup.ui.server.problems import NotFoundError

_LEAST, _STEP = 60, 120  # characters of a quote, and by how much it grows while it is not unique


def expectation(document: Document, index: int) -> str:
    """The path of clause ``index`` where it names this clause alone, else words that occur only there.

    Raises ``NotFoundError`` for no clause, ``UsageError`` for one whose text occurs elsewhere too.
    """
    if not 0 <= index < len(document.clauses):
        raise NotFoundError("there is no such clause", "load the page again")
    clause = document.clauses[index]
    if clause.path:
        with suppress(UsageError):
            if [found.index for found in clauses_named(document, clause.path)] == [index]:
                return clause.path
    own = next((span for number, span in document.own_spans() if number == index), clause.span)
    words = document.text[own.start : own.end].strip()
    for length in range(_LEAST, len(words) + _STEP, _STEP):
        quote = words[:length].strip()
        if document.text.count(quote) == 1:
            return quote
    raise UsageError("the text of this clause occurs more than once", "click on a clause inside it, or around it")
