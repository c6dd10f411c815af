"""Unnumbered text that ends all clauses before it: signature blocks, BACKGROUND, AGREED TERMS; not inner headings.

Parties "(1)", "(2)" are followed by BACKGROUND and recitals "(A)", "(B)", these by AGREED TERMS and clauses "1.": no
list holds the next one, and the word between them belongs to none of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from softlookup.documents.tree.outline import Node

_SIGNATURES = re.compile(
    r"^[ \t]*(?:IN[ ]WITNESS[ ]WHEREOF|In[ ]Witness[ ]Whereof|\[?SIGNATURE[ ]PAGE|[（(]?以下无正文|签署页|"
    r"甲[ ]?方[ ]?[（(][签盖][^）)]{0,6}[）)])|(?<=[.;:][ ])[ ]*IN[ ]WITNESS[ ]WHEREOF",
    re.M,
)
# less certain words: they count when no clause comes after them, and a paragraph ended before them
_SIGNED = re.compile(
    r"(?:(?<=[.;:)_。；]\n)|(?<=\n\n)|(?<=\n[ \t]\n))[ \t]*(?P<word>(?:SIGNED|Signed|EXECUTED|Executed)"
    r"(?:[ ]and[ ]delivered)?[ ](?:by|as|for|on|and|BY|AS|FOR|ON|AND)\b|SIGNATORIES\b|SIGNATURES\b"
    r"|Yours[ ](?:faithfully|sincerely|truly)\b|AS[ ]WITNESS\b"
    r"|This[ ](?:agreement|deed|Agreement|Deed)[ ]has[ ]been[ ](?:entered[ ]into|executed|signed)\b)"
)
_OPENINGS = re.compile(
    r"^[ \t#*_]{0,20}(?:BACKGROUND|Background|RECITALS?|Recitals?|PARTIES|WHEREAS|WITNESSETH|PREAMBLE|Preamble"
    r"|(?:THE[ ])?AGREED[ ]TERMS|(?:The[ ])?Agreed[ ]terms|OPERATIVE[ ](?:PROVISIONS|PART|TERMS)|Operative[ ]provisions"
    r"|TERMS[ ]AGREED|(?:NOW[ ])?IT[ ]IS[ ](?:HEREBY[ ])?AGREED(?:[ ]as[ ]follows|[ ]AS[ ]FOLLOWS)?"
    r"|THE[ ]PARTIES[ ](?:HEREBY[ ])?AGREE(?:[ ]as[ ]follows|[ ]AS[ ]FOLLOWS)?"
    r"|(?:The|the)[ ]parties[ ](?:hereby[ ])?agree(?:[ ]as[ ]follows)?)[*_ \t]{0,20}[:：.]?[*_ \t]{0,20}$",
    re.M,
)
_OPENING_STYLES = frozenset(
    f"{kind}{marks}"
    for kind in ("number", "upper-letter", "lower-letter", "upper-roman", "lower-roman", "decimal1")
    for marks in ("", ".", ")", "()")
)
_LATEST = 60_000  # characters; parties and recitals stand on the first pages


def boundary_starts(text: str, nodes: Sequence[Node]) -> list[tuple[int, str]]:
    """(offset, heading or "") where a boundary begins, in order; ``nodes`` are in document order."""
    labels = [node for node in nodes if node.number]
    starts = [node.start for node in labels]
    taken = {node.start for node in nodes}
    found = dict.fromkeys(_signatures(text, nodes, starts), "") | _openings(text, labels, starts)
    return sorted((start, heading) for start, heading in found.items() if start not in taken)


def _signatures(text: str, nodes: Sequence[Node], labels: Sequence[int]) -> list[int]:
    heads = {node.start for node in nodes if node.style == "schedule"}

    def is_last(start: int) -> bool:
        """Whether no clause comes after it in its part: only a schedule does."""
        following = labels[bisect_right(labels, start) :][:1]
        return not following or following[0] in heads

    found: list[int] = []
    for match in _SIGNATURES.finditer(text):
        start = match.end() - len(match[0].lstrip())
        if is_last(start) or match[0].lstrip().upper().startswith(("IN W", "SIGN")):
            found.append(start)
    certain = list(found)
    taken = set()  # one block for each stretch without labels
    for match in _SIGNED.finditer(text):
        start = match.start("word")
        stretch = bisect_right(labels, start)
        at = bisect_right(certain, start)
        is_inside = at > 0 and bisect_right(labels, certain[at - 1]) == stretch
        if stretch and stretch not in taken and not is_inside and is_last(start):
            taken.add(stretch)
            found.append(start)
    return found


def _openings(text: str, labels: Sequence[Node], starts: Sequence[int]) -> dict[int, str]:
    """Words between two lists at the beginning of a contract, where the second list begins at 1."""
    found: dict[int, str] = {}
    for match in _OPENINGS.finditer(text, 0, _LATEST):
        at = bisect_right(starts, match.start())
        if 0 < at < len(labels) and labels[at].values in ((1,), (1, 1)) and labels[at].parent is None:
            is_new = labels[at].style != labels[at - 1].style or labels[at - 1].values != (1,)
            if is_new and labels[at - 1].style in _OPENING_STYLES:
                begin = match.start() + len(match[0]) - len(match[0].lstrip(" \t"))
                found[begin] = match[0].strip(" \t#*_:：.")
    return found
