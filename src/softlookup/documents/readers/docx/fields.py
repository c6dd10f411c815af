"""Fields of DOCX: instruction and result, nested and across paragraphs; not for what a reference points to.

A field has three parts, begin, separate, end; between the first two stands its instruction, which is no text.
Producers lose one of the three at times (mwilliamson/python-mammoth#168): parts without partners are ignored, so
that a lost "end" never hides the rest of the document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

from softlookup.documents.readers.docx.output import Point
from softlookup.documents.readers.docx.package import attribute, child, children, local

_STORIES = frozenset(("txbxContent", "Fallback", "footnote", "endnote", "comment"))
_WORDS = re.compile(r'"([^"]{0,2000})"|(\S{1,2000})')
CONTENTS = frozenset(("TOC", "TOA", "INDEX"))
NUMBERS = frozenset(("LISTNUM", "AUTONUM", "AUTONUMLGL", "AUTONUMOUT"))


@dataclass(slots=True)
class Field:
    """A field that is open. ``start`` is where its result begins, ``printed`` what the story had printed by then."""

    in_instruction: bool = True
    words: list[str] = field(default_factory=list)
    start: Point | None = None
    printed: int = 0
    form: etree._Element | None = None
    is_contents: bool = False
    is_in_contents: bool = False

    @property
    def instruction(self) -> str:
        """The instruction as one line."""
        return " ".join("".join(self.words).split())

    @property
    def name(self) -> str:
        """First word of the instruction in capitals, such as REF."""
        first = re.match(r"\s*(\S{1,40})", "".join(self.words[:8]))
        return first[1].upper() if first else ""


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction taken apart: name, arguments, switches (a switch may have a value)."""

    name: str
    arguments: tuple[str, ...]
    switches: tuple[tuple[str, str], ...]

    def has(self, switch: str) -> bool:
        """True when the switch (one letter) is there."""
        return any(name == switch for name, _ in self.switches)

    def value(self, switch: str) -> str:
        """Value of the switch, "" when it has none."""
        return next((value for name, value in self.switches if name == switch), "")


_WITH_VALUE = frozenset("lsdbo*@#")


def parse_instruction(text: str) -> Instruction:
    r"""Instruction of a field.

    >>> parse_instruction('REF _Ref1 \\r \\h').arguments, parse_instruction('HYPERLINK \\l "a b"').value("l")
    (('_Ref1',), 'a b')
    """
    words = [(m[1] if m[1] is not None else m[2], m[1] is not None) for m in _WORDS.finditer(text[:20_000])]
    arguments: list[str] = []
    switches: list[tuple[str, str]] = []
    at = 1
    while at < len(words):
        word, is_quoted = words[at]
        if word.startswith("\\") and len(word) > 1 and not is_quoted:
            letter = word[1].lower()
            following = words[at + 1] if at + 1 < len(words) else ("\\", False)
            takes = letter in _WITH_VALUE and (following[1] or not following[0].startswith("\\"))
            switches.append((letter, following[0] if takes else ""))
            at += takes
        else:
            arguments.append(word)
        at += 1
    return Instruction(words[0][0].upper() if words else "", tuple(arguments), tuple(switches))


def ignore_broken_fields(root: etree._Element) -> int:
    """Turn the parts of fields that have no partners into nothing; their number.

    A field without "separate" has no result. When it runs over several paragraphs, its "end" is not its own.
    """
    broken: list[etree._Element] = []
    open_fields: dict[object, list[list[etree._Element]]] = {}
    for element in root.iter():
        if local(element) != "fldChar":
            continue
        stack = open_fields.setdefault(_story(element), [])
        kind = attribute(element, "fldCharType")
        if kind == "begin":
            stack.append([element])
        elif not stack or (kind == "separate" and len(stack[-1]) > 1):
            broken.append(element)
        elif kind == "separate":
            stack[-1].append(element)
        else:
            parts = stack.pop()
            if len(parts) == 1 and _paragraph(parts[0]) is not _paragraph(element):
                broken += [*parts, element]
    for left in open_fields.values():
        broken += [part for parts in left for part in parts]
    for element in broken:
        element.tag = "ignored"
    return len(broken)


def _story(element: etree._Element) -> etree._Element | None:
    return next((a for a in element.iterancestors() if local(a) in _STORIES), None)


def _paragraph(element: etree._Element) -> etree._Element | None:
    return next((a for a in element.iterancestors() if local(a) == "p"), None)


def form_result(form: etree._Element | None) -> str:
    """What a form field prints that has no result of its own: a check mark or the chosen entry."""
    box = child(form, "checkBox")
    if box is not None:
        state = child(box, "checked")
        state = child(box, "default") if state is None else state
        is_on = state is not None and attribute(state, "val") not in ("0", "false", "off")
        return "☒" if is_on else "☐"
    choice = child(form, "ddList")
    if choice is not None:
        entries = [attribute(e, "val") for e in children(choice, "listEntry")]
        chosen = child(choice, "result")
        chosen = child(choice, "default") if chosen is None else chosen
        index = attribute(chosen, "val")
        place = int(index) if index.isdecimal() and len(index) < 6 else 0
        return entries[place] if place < len(entries) else ""
    return ""
