"""Steps inside a clause: (b) and (ii) below 5.1, 第二款 and （三） below 第五条; not for finding the clause itself.

A step may be a clause of its own, an unnumbered paragraph, or a label that stands inside the text of the clause.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from softlookup.documents.model import Clause
from softlookup.documents.positions import ClausePositions
from softlookup.documents.references.labels import label_key, number_value
from softlookup.documents.tree.numbering import letter_number

# what a drafter calls 第（一）款 is printed as （一）; in statutes （一） is a 项 and a 款 is a paragraph
_BRACKETS_ARE_PARAGRAPHS = re.compile(r"第\s*[（(][^（）()\s]{1,4}[）)]\s*款")
# not the (b) of 4.1(b), clause (b) or 第（一）项
_PRINTED_ITEM = re.compile(
    r"(?<![A-Za-z0-9)第])(?<!lause )(?<!lauses )(?<!graph )(?<!graphs )(?<!ction )(?<!ctions )(?<!tem )(?<!tems )"
    r"(?<!vision )(?<!visions )"
    r"\(\s?([^()\s]{1,6})\s?\)|(?:^|[:;。\n][ \t]{0,8})(\d{1,2})[.、](?!\d)"
)
# (a) and (b) in "clauses (a) and (b)" are mentions; so is (2) of "Clause 2(1) or (2)" and of "2(1)-(2)"
_NUMBERED = r"\d{1,3}(?:\.\d{1,3}){0,4}"
_LISTED = re.compile(
    rf"(?i:(?:clause|section|paragraph|division|item)s)\s(?:{_NUMBERED})?(?:\([^()\s]{{1,6}}\))+"
    r"(?:(?:,|,?\s(?:and/or|and|or|through|to)\b)\s?(?:\([^()\s]{1,6}\))+){1,20}"
    rf"|(?<![\w.]){_NUMBERED}(?:\([^()\s]{{1,6}}\))+(?:\s?[-–—]\s?|\s(?:and/or|or|and)\s)\([a-z0-9]{{1,4}}\)"
    r"|(?i:(?:clause|section|paragraph|division)s?)\s\([a-z0-9]{1,4}\)(?:\s?[-–—]\s?|\s(?:and/or|or|and)\s)\([a-z0-9]{1,4}\)"
)
_PRINTED_NUMBER = re.compile(r"(?:^|\n[ \t]{0,8}|[.;:]\s)(\d+(?:\.\d+)+)(?!\d)")
# "Execution Version 3.3.1 The parties ...": a page's head before the number of a clause
_INLINE_NUMBER = re.compile(r"(?<!\S)(\S{1,40})\s(\d{1,3}(?:\.\d{1,3}){2,4})\s(?=[\[\"“A-Z])")
_NAMES_NUMBER = re.compile(
    r"\W*(?:(?:sub-?)?(?:sections?|clauses?|paragraphs?)|articles?|parts?|items?|schedules?|exhibits?|annex|appendix|§+|"
    r"and|or|to|of|in|under|with|by|through|see|[\d.]+,?)\W*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[。；：，:;,]|\.\s")


class Place(NamedTuple):
    """Index of a clause; ``exact`` tells whether the whole label led there, not only its first steps.

    ``rivals`` are other clauses with the same label that are as likely.
    """

    clause: int
    exact: bool
    rivals: tuple[int, ...] = ()


class LabelSteps:
    """Follows the steps of a label below a clause."""

    def __init__(self, text: str, positions: ClausePositions, children: Mapping[int, list[int]]) -> None:
        self._text = text
        self._positions = positions
        self._children = children
        self.brackets_are_paragraphs = _BRACKETS_ARE_PARAGRAPHS.search(text) is not None
        self._steps: dict[int, dict[str, int]] = {}
        self._printed: dict[int, frozenset[str]] = {}
        self._lines: dict[int, int] = {}

    def clause(self, index: int) -> Clause:
        """Clause ``index``."""
        return self._positions.clauses[index]

    def children(self, index: int) -> list[int]:
        """Direct children of clause ``index`` in document order."""
        return self._children.get(index, [])

    def paragraphs(self, index: int) -> list[int]:
        """The 款 of an article that are clauses, in order: the article itself for the one that its label opens."""
        children = self.children(index)
        bare = self.heading_only(index)
        plain = [child for child in children if not self.clause(child).number]
        counted = self._counted(index)
        if counted:  # the tree has counted them: its 第二款 is the one that a reference means
            return [*([] if 1 in counted else [index]), *counted.values()]
        if plain:
            return plain if bare else [index, *plain]
        bracketed = any(self.clause(child).number[:1] in ("(", "（") for child in children)
        if children and (bare or self.brackets_are_paragraphs or not bracketed):
            return children
        return [index]

    def _counted(self, index: int) -> dict[int, int]:
        """Number -> clause of the 款 that the tree counts itself: unnumbered paragraphs with an inferred label."""
        children = map(self.clause, self.children(index))
        return {c.values[-1]: c.index for c in children if c.label_source == "inferred" and c.values and not c.number}

    def walk(self, index: int, steps: Sequence[str]) -> Place:
        """Follow ``steps`` ("a", "2", "款2") below clause ``index`` as far as they lead."""
        for at, step in enumerate(steps):
            following = self._paragraph(index, step) if step[0] == "款" else self._labelled(index).get(step)
            if following is None:  # (i), (ii), ... may run inside the text
                exact = step[0] != "款" and all(self.prints(index, rest) for rest in steps[at:])
                inside = self._inside_earlier(index, step) if not exact and at + 1 == len(steps) else None
                return Place(index, exact) if inside is None else Place(inside, exact=True)
            index = following
        return Place(index, exact=True)

    def _inside_earlier(self, index: int, step: str) -> int | None:
        """The item before (b) whose text prints (b) too: only (a) is then a clause of its own."""
        rank = letter_number(step) if step.isascii() and step.isalpha() and len(step) == 1 else None
        before = chr(ord(step) - 1) if rank is not None and rank > 1 else ""
        earlier = self._labelled(index).get(before)
        while earlier is not None and not self.prints(earlier, step):
            earlier = next(reversed(self._labelled(earlier).values()), None)
        return earlier

    def _paragraph(self, index: int, step: str) -> int | None:
        """The clause of 第二款: a numbered child, an unnumbered one, or ``index`` itself if it has two paragraphs."""
        number = int(step[1:]) if step[1:].isdigit() else 0
        told = self._counted(index)
        if told:
            return told.get(number, index if 0 < number < min(told) else None)
        counted = self.paragraphs(index)
        bracketed = any(self.clause(c).number for c in counted if c != index)
        if bracketed:  # numbers may be missing or begin late: the label decides
            return next((c for c in counted if self._last_part(c) == step[1:]), None)
        if 0 < number <= len(counted):
            return counted[number - 1]
        return index if 0 < number <= self._paragraphs(index) else None

    def _last_part(self, index: int) -> str:
        label = label_key(self.clause(index).number) if self.clause(index).number else None
        return label.parts[-1] if label is not None else ""

    def heading_only(self, index: int) -> bool:
        """Whether the clause says nothing before its first child: （一） is then its first 款."""
        children = self.children(index)
        if not children:
            return False
        span = self.clause(index).span
        own = self._text[span.start : min(span.start + 100, self.clause(children[0]).span.start)]
        return len(own) < 100 and not _SENTENCE.search(own.strip()[len(self.clause(index).number) :].strip(".、．"))

    def _paragraphs(self, index: int) -> int:
        """Paragraphs of the clause, its heading included: a generous count, since lines may be wrapped."""
        if index not in self._lines:
            self._lines[index] = sum(bool(line.strip()) for line in self._own_text(index).split("\n"))
        return max(1, self._lines[index])

    def prints(self, index: int, step: str) -> bool:
        """Whether the label of ``step`` stands inside the own text of the clause."""
        return step.startswith("款") or step in self.printed_in(index)

    def printed_in(self, index: int) -> frozenset[str]:
        """Labels that stand inside the own text of the clause: "(c)" as "c", "2." as "2", "9.1" as "9.1"."""
        if index not in self._printed:
            own = self._own_text(index)
            items = {m.group(1) or m.group(2) for m in _PRINTED_ITEM.finditer(_LISTED.sub("", own))}
            numbers = {match.group(1) for match in _PRINTED_NUMBER.finditer(own)}
            numbers |= {m[2] for m in _INLINE_NUMBER.finditer(own) if not _NAMES_NUMBER.fullmatch(m[1])}
            lowered = {i.lower() if i.isascii() and i.isalpha() else number_value(i) for i in items}
            self._printed[index] = frozenset(lowered | numbers)
        return self._printed[index]

    def _own_text(self, index: int) -> str:
        """Text of the clause without its label and without its labelled descendants, NFKC."""
        clause = self.clause(index)
        pieces, at = [], clause.span.start
        for child in self._labelled_children(index):
            pieces.append(self._text[at : self.clause(child).span.start])
            at = self.clause(child).span.end
        pieces.append(self._text[at : clause.span.end])
        own = unicodedata.normalize("NFKC", "\n".join(pieces)).lstrip()
        return own.removeprefix(unicodedata.normalize("NFKC", clause.number))

    def _labelled(self, index: int) -> dict[str, int]:
        """Last label part -> labelled child, through unnumbered paragraphs that hold the list."""
        if index not in self._steps:
            steps: dict[str, int] = {}
            for child in self._labelled_children(index):
                label = label_key(self.clause(child).number)
                if label and not label.opens_namespace:
                    steps.setdefault(label.parts[-1], child)
            self._steps[index] = steps
        return self._steps[index]

    def _labelled_children(self, index: int) -> Iterator[int]:
        waiting = list(reversed(self.children(index)))
        while waiting:
            child = waiting.pop()
            if self.clause(child).number:
                yield child
            else:
                waiting += reversed(self.children(child))
