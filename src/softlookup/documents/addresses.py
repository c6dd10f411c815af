"""Finds the clauses that a person names: "8.2", "section 8.2(a)", "Schedule 2/3.1", "第三条第二款", a heading.

Not for references in the text, which have a source and a context (``references.py``).
"""

from __future__ import annotations

import difflib
import re
import unicodedata

from softlookup.documents.model import Clause, Document
from softlookup.documents.positions import ClausePositions
from softlookup.documents.references.label_index import LabelIndex
from softlookup.documents.references.label_titles import TitleIndex
from softlookup.documents.references.labels import label_key
from softlookup.errors import UsageError

_SUGGESTED = 5
_LONGEST = 300  # characters of a name; no clause has a longer one
_SHORT = {
    "sch": "schedule", "sched": "schedule", "ex": "exhibit", "exh": "exhibit", "app": "appendix", "att": "attachment",
    "cl": "clause", "cls": "clause", "s": "section", "sec": "section", "art": "article", "para": "paragraph",
    "par": "paragraph",
}  # fmt: skip
_SHORTENED = re.compile(
    rf"^\s*({'|'.join(sorted(_SHORT, key=len, reverse=True))})(?:\.\s*|\s+)(?=[\dA-Za-z(])", re.IGNORECASE
)
# Schedule 2, paragraph 3
_INSIDE = re.compile(
    r"^(?P<outer>(?:schedule|exhibit|annex(?:ure)?|appendix|attachment)\s*[\w.-]*)\s*,?\s+(?P<inner>(?:part|para(?:graph)?|clause|section|cl|s)\.?\s.*)$",
    re.IGNORECASE,
)
_RECITAL = re.compile(r"^\s*recitals?\s*[/,]?\s*\(?(?P<label>[A-Za-z]{1,4}|\d{1,2})\)?\s*$", re.IGNORECASE)
_LETTER = re.compile(r"^\s*\((?P<label>[A-Z])\)\s*$")
_CALLED = re.compile(r"^(?:section|clause|article|paragraph|sub-?paragraph|sub-?clause)s?(?=[^a-z]|[ivxlc]+(?:/|$))")


def clauses_named(document: Document, wanted: str) -> tuple[Clause, ...]:
    """Clauses that ``wanted`` names, in document order: by path, else by label, else by heading.

    Every path that the document prints names its clause, "2#2" and "1.1 ¶3" too. "paragraph 3 of Schedule 2",
    "Sch 2/3", "Recital A" and "I.C" are understood. More than one means that the number is printed more than once.
    Raises ``UsageError`` when there is none, or when what came is no document or no name.
    """
    if not isinstance(document, Document) or not isinstance(wanted, str):
        came = type(wanted if isinstance(document, Document) else document).__name__
        raise UsageError(
            f"a document and the number of a clause (str) are required, got {came}",
            "for example clauses_named(read_document(path), '8.2')",
        )
    exact = tuple(c for c in document.clauses if c.path and c.path == wanted)
    if exact and "#" in wanted:
        return exact
    folded = _folded(wanted)
    if not folded:
        raise UsageError("the number of a clause is required, got an empty one", "for example --clause 8.2")
    found = _found(document, wanted, folded) if len(wanted) <= _LONGEST else ()
    if not found and not exact:
        raise UsageError(f"no clause {_shortened(wanted)!r} in {document.source.path}", _advice(document, folded))
    return found or exact


def _found(document: Document, wanted: str, folded: str) -> tuple[Clause, ...]:
    """Clauses named ``wanted``, by the first way to read it that finds any."""
    by_path = tuple(
        c for c in document.clauses if c.path and folded in (_folded(c.path.partition("#")[0]), _folded(c.path))
    )
    if by_path:
        return by_path
    recital, letter = _RECITAL.match(wanted), _LETTER.match(wanted)
    spelled = _spelled_out(wanted)
    return (
        (_recitals(document, recital["label"]) if recital else ())
        or _labelled(document, spelled)
        or tuple(c for c in document.clauses if c.heading and _folded(c.heading) == folded)
        or _outlined(document, spelled)
        or (_recitals(document, letter["label"]) if letter else ())
    )


def _spelled_out(wanted: str) -> str:
    """``wanted`` as a path of whole words: "para 3 of Sch. 2" is "Schedule 2/paragraph 3"."""
    inside = _INSIDE.match(_word(wanted))
    steps = [inside["outer"], inside["inner"]] if inside else re.split(r"\s+of\s+(?:the\s+)?", wanted.strip())[::-1]
    return "/".join(_word(step) for whole in steps for step in whole.split("/"))


def _word(step: str) -> str:
    match = _SHORTENED.match(step)
    return step.strip() if match is None else f"{_SHORT[match[1].lower()]} {step[match.end() :].strip()}"


def _recitals(document: Document, label: str) -> tuple[Clause, ...]:
    """The recital "(A)": below a heading such as BACKGROUND, or before the first clause of the contract."""
    above = TitleIndex(document.text, document.clauses).recitals()
    same = [c for c in document.clauses if c.number.strip("().") == label.upper()]
    inside = [c for c in same if c.path.startswith("Recital") or any(a.index == above for a in _above(document, c))]
    body = next((c.index for c in document.clauses if c.number[:1].isdigit()), len(document.clauses))
    first = [c for c in same if c.number[:1] == "(" and c.index < body]
    return tuple(inside or first[:1])


def _above(document: Document, clause: Clause) -> list[Clause]:
    return list(document.ancestors(clause.index))


def _outlined(document: Document, wanted: str) -> tuple[Clause, ...]:
    """Clauses whose path has the same steps: "I.C" and "Section I(C)" are printed as I/C."""
    steps = _steps(wanted)
    return tuple(c for c in document.clauses if c.path and _steps(c.path.partition("#")[0]) == steps) if steps else ()


def _steps(path: str) -> str:
    plain = re.sub(r"[/.()\s]+", "/", unicodedata.normalize("NFKC", path).casefold()).strip("/")
    return _CALLED.sub("", plain).strip("/")


def _shortened(wanted: str) -> str:
    return wanted if len(wanted) <= _LONGEST else f"{wanted[:_LONGEST]}..."


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
    if mine is None:  # a schedule: its label opens a count of its own
        return tuple(c for c in document.clauses if c.number and label_key(c.number) == label_key(numbered.number))
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
    close = difflib.get_close_matches(folded[:_LONGEST], list(names)[:20_000], n=_SUGGESTED, cutoff=0.5)
    near = ", ".join(names[name] for name in close)
    return f"did you mean {near}?" if near else "see the numbers that `softlookup read` lists"
