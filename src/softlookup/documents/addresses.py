"""Finds the clauses that a person names: "8.2", "section 8.2(a)", "Schedule 2/3.1", "第三条第二款", a heading.

Not for references in the text, which have a source and a context (``references.py``).
"""

from __future__ import annotations

import difflib
import unicodedata

from softlookup.documents.label_index import LabelIndex
from softlookup.documents.model import Clause, Document
from softlookup.documents.positions import ClausePositions
from softlookup.documents.reference_labels import label_key
from softlookup.errors import UsageError

_SUGGESTED = 5


def clauses_named(document: Document, wanted: str) -> tuple[Clause, ...]:
    """Clauses that ``wanted`` names, in document order: by path, else by label, else by heading.

    More than one means that the number is printed more than once. Raises ``UsageError`` when there is none.
    """
    folded = _folded(wanted)
    if not folded:
        raise UsageError("the number of a clause is required, got an empty one", "for example --clause 8.2")
    by_path = tuple(c for c in document.clauses if c.path and _folded(c.path.partition("#")[0]) == folded)
    if by_path:
        return by_path
    by_label = _labelled(document, wanted)
    if by_label:
        return by_label
    by_heading = tuple(c for c in document.clauses if c.heading and _folded(c.heading) == folded)
    if by_heading:
        return by_heading
    raise UsageError(f"no clause {wanted!r} in {document.source.path}", _advice(document, folded))


def _labelled(document: Document, wanted: str) -> tuple[Clause, ...]:
    """Clauses with the label ``wanted`` in any spelling: "Section 4" is printed "ARTICLE IV" or "4."."""
    positions = ClausePositions(document.clauses)
    index = LabelIndex(document.text, positions)
    *outer, last = wanted.split("/")
    key, within = label_key(last), [label_key(part) for part in outer]
    if key is None or not document.clauses or any(part is None for part in within):
        return ()
    found = index.find(key, 0, [part for part in within if part is not None])
    if found is None or not found.exact:
        return ()
    mine = index.key_of(found.clause)
    numbered = document.clauses[found.clause]
    same = [c for c in document.clauses if c.number and index.key_of(c.index) == mine and c.parent == numbered.parent]
    return tuple(same) if numbered in same else (numbered,)


def _folded(words: str) -> str:
    """Spelling that case, width, blanks and a leading "Section" do not change."""
    folded = "".join(unicodedata.normalize("NFKC", words).casefold().split()).rstrip(".:、")
    for word in ("section", "clause", "§"):
        folded = folded.removeprefix(word)
    return folded


def _advice(document: Document, folded: str) -> str:
    names = {_folded(c.path): c.path for c in document.clauses if c.path and "¶" not in c.path}
    close = difflib.get_close_matches(folded, list(names)[:20_000], n=_SUGGESTED, cutoff=0.5)
    near = ", ".join(names[name] for name in close)
    return f"did you mean {near}?" if near else "see the numbers that `softlookup read` lists"
