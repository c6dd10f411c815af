"""Human addresses of clauses, made of the labels above them; not for finding or nesting labels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from softlookup.documents.model import Clause
from softlookup.documents.tree.numerals import han_numeral, roman_number
from softlookup.documents.tree.outline import DEFINITION, Node

_PLAIN_DIGITS = {0xFF10 + digit: 0x30 + digit for digit in range(10)} | {0xFF0E: 0x2E}
_NEAR = 300  # nodes around a chapter that are looked at
_CHAPTERS = frozenset(("zh-part", "zh-subpart", "zh-chapter", "zh-division", "part"))


def printed_path(node: Node, clauses: Sequence[Clause], nodes: Sequence[Node], paragraph: int) -> str:
    """Human address: "8.2(a)", "Schedule 2/3.1", "第三条（一）", "1.1 ¶3"; "" for unnumbered text at the top.

    ``clauses`` are those before the node; ``paragraph`` counts the unnumbered pieces of its parent.
    """
    parent, number = node.parent, node.number
    base = clauses[parent].path if parent is not None else ""
    if node.style == "zh-paragraph":
        return f"{base}第{han_numeral(node.values[0])}款"
    if not number:
        return f"{base} ¶{paragraph}" if base and node.style in ("paragraph", DEFINITION) else base and f"{base} ¶"
    if node.style == "schedule":
        return _schedule_title(number)
    space = _namespace(node, nodes, clauses)
    prefix = f"{space}/" if space else ""
    if (node.style.startswith("decimal") and len(node.values) > 1) or node.style == "zh-article":
        bare = re.sub(r"^(?i:section|clause|article|sec\.|paragraph|§+)\s*", "", number)
        return prefix + bare.replace(" ", "").translate(_PLAIN_DIGITS)
    if node.style in ("part", "zh-part", "zh-subpart", "zh-chapter", "article", "item"):
        return prefix + _title(number)
    return _listed_path(node, clauses, nodes, prefix)


def _listed_path(node: Node, clauses: Sequence[Clause], nodes: Sequence[Node], prefix: str) -> str:
    """Path of an item of a list, by the clause that holds it."""
    parent, number = node.parent, node.number
    if parent is not None and nodes[parent].style in (DEFINITION, "zh-paragraph"):
        return _below(clauses[parent].path, "", number)
    anchor = _numbered_anchor(parent, nodes)
    if anchor is None:
        return prefix + number
    above = nodes[anchor].style
    if above in _CHAPTERS and node.style.startswith("decimal1") and not _counts_anew(nodes, anchor):
        return prefix + number  # clause numbers run on through the chapters
    return _below(clauses[anchor].path.split(" ¶")[0], above, number)


def _counts_anew(nodes: Sequence[Node], chapter: int) -> bool:
    """True when clause numbers begin again in ``chapter`` and in another one beside it."""
    if not _begins_anew(nodes, chapter):
        return False
    near = range(max(0, chapter - _NEAR), min(len(nodes), chapter + _NEAR))
    return any(
        at != chapter
        and nodes[at].style == nodes[chapter].style
        and nodes[at].parent == nodes[chapter].parent
        and _begins_anew(nodes, at)
        for at in near
    )


def _begins_anew(nodes: Sequence[Node], chapter: int) -> bool:
    first = nodes[chapter + 1] if chapter + 1 < len(nodes) else None
    return first is not None and first.parent == chapter and first.values == (1,) and first.style.startswith("decimal1")


def _below(base: str, above: str, number: str) -> str:
    """``number`` joined to the path of the clause above it: 5(a) for "(a)" and "a.", I/A in an outline."""
    if number[0] in "(（":
        return base + number.replace(" ", "")
    outlined = above in ("upper-roman.", "upper-letter.", "article") and number.isupper()
    if number[0].isalpha() and number.isascii() and len(number) <= 5 and not outlined:
        return f"{base}({number})"
    return f"{base}/{number}"


def _schedule_title(number: str) -> str:
    """Print "Schedule 2" and "First Schedule" for "SCHEDULE 2" and "THE FIRST SCHEDULE"."""
    words = re.sub(r"^(?i:the)\s+", "", number) if number.isascii() else number
    return re.sub(r"\b[A-Z]{3,}(?:-[A-Z]{3,})*\b", lambda m: m[0] if roman_number(m[0]) else m[0].capitalize(), words)


def _title(number: str) -> str:
    word, _, rest = number.partition(" ")
    return f"{word.capitalize()} {rest}" if rest and word.isascii() else number


def _namespace(node: Node, nodes: Sequence[Node], clauses: Sequence[Clause]) -> str:
    parent = node.parent
    while parent is not None:
        if nodes[parent].style == "schedule" or (nodes[parent].style == "part" and _counts_anew(nodes, parent)):
            return clauses[parent].path
        parent = nodes[parent].parent
    return "Recitals" if node.recital else ""


def _numbered_anchor(parent: int | None, nodes: Sequence[Node]) -> int | None:
    while parent is not None and not nodes[parent].number:
        parent = nodes[parent].parent
    return parent
