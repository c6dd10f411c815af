"""What can be the name of a defined term; finding definitions is ``definitions_en.py`` and ``definitions_zh.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from softlookup.documents.model import TermKind

_MAX_WORDS = 9  # a longer quotation is a sentence, not a name
_WORD_LEAST = 6  # letters of a word in capitals that is no abbreviation
_SMALL_WORDS = frozenset(("OF", "AND", "THE", "TO", "FOR", "IN", "ON", "OR", "BY", "A", "AN", "WITH"))
_NO_TERMS = frozenset(("as is", "as-is", "as available", "n/a", "tbd", "including", "includes", "or", "and", "s", "x"))


class Found(NamedTuple):
    """A name that the text defines; ``start`` is the offset of its first character."""

    name: str
    start: int
    kind: TermKind
    aliases: tuple[str, ...] = ()


def one_line(name: str) -> str:
    """``name`` with every run of white space as one space."""
    return " ".join(name.split())


def is_name(name: str) -> bool:
    """Whether a quotation can be the name of a defined term."""
    words = name.split()
    lowered = name.strip(" .,").lower()
    return (
        0 < len(words) <= _MAX_WORDS
        and lowered not in _NO_TERMS
        and not lowered.startswith(("or ", "and "))  # the gap between two quotations
        and any(letter.isalnum() or letter in "€$£¥" for letter in name)
        and not name.strip().replace(".", "").isdigit()
        and "%" not in name  # an amount that the words around it change
    )


def names_in(pattern: re.Pattern[str], text: str, start: int, end: int, group: int = 1) -> Iterator[tuple[str, int]]:
    """(name, offset) of every quotation in ``text[start:end]``, with outer punctuation stripped."""
    for match in pattern.finditer(text, start, end):
        raw = match.group(group)
        name = raw.strip().rstrip(".,;: ")
        if name and is_name(name):
            yield name, match.start(group) + len(raw) - len(raw.lstrip())


def term_variants(term: str) -> tuple[str, ...]:
    """Spellings that count as ``term``: itself, and plural and singular for English names.

    A file without bold type prints names in capitals where it defines them: "SUPERIOR PROPOSAL" is used as
    Superior Proposal. Short words are no such names ("LLC").

    >>> term_variants("Losses")
    ('Losses', 'Loss')
    """
    if not term.isascii() and not re.search(r"[A-Za-z]$", term):
        return (term,)
    if not _in_capitals(term):
        return tuple(_numbers(term))
    return tuple(dict.fromkeys((*(v.upper() for v in _numbers(term.lower())), *_numbers(_titled(term)))))


def _in_capitals(term: str) -> bool:
    """Whether ``term`` is words in capitals that are no abbreviation."""
    return term.isupper() and any(len(word) >= _WORD_LEAST for word in term.split())


def _titled(term: str) -> str:
    """``term`` with small letters: "ARTICLES OF MERGER" as "Articles of Merger"."""
    return " ".join(
        word.lower() if at and word in _SMALL_WORDS else re.sub(r"[A-Z][A-Z’']*", lambda m: m[0].capitalize(), word)
        for at, word in enumerate(term.split(" "))
    )


def _numbers(term: str) -> list[str]:
    """``term`` and its plural or singular."""
    variants = [term]
    if term.endswith(("(s)", "(S)")):  # "Product(s)" is used as Product and as Products
        variants += [term[:-3], f"{term[:-3]}{term[-2]}"]
    elif term.endswith("ies"):
        variants.append(term[:-3] + "y")
    elif term.endswith(("sses", "xes", "shes", "ches")):
        variants.append(term[:-2])
    elif term.endswith("s") and not term.endswith("ss"):
        variants.append(term[:-1])
    elif term[-1:].isalpha():
        consonant_y = term.endswith("y") and term[-2:-1] not in "aeiou"
        plural = term[:-1] + "ies" if consonant_y else term + ("es" if term[-1] in "sxz" else "s")
        variants.append(plural)
    return variants
