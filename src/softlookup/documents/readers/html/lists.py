"""The numbers that a browser prints for ``<ol>`` and that Word writes for its lists; no clause logic.

A nested list counts in the list around it, one level deeper; a list that starts where an earlier one of its depth
stopped goes on counting in that one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

from softlookup.documents.readers.html.counters import Counters
from softlookup.documents.readers.html.numbers import MARKERS, browser_number
from softlookup.documents.readers.html.source import attribute

_STYLES = {
    "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A", "lower-roman": "i",
    "upper-roman": "I", "decimal": "1", "decimal-leading-zero": "01", "cjk-decimal": "1",
    "simp-chinese-informal": "一", "trad-chinese-informal": "一", "cjk-ideographic": "一",
}  # fmt: skip
_WORD_LIST = re.compile(r"\b(l\d{1,4})\s{1,5}level(\d)\s{1,5}(lfo\d{1,4})")
_BULLET_FONTS = re.compile(r"symbol|wingdings|courier|webdings", re.I)


@dataclass(slots=True)
class _Open:
    """A list that is open: ``marker`` is "" when its items carry no number."""

    marker: str
    next: int
    step: int
    list_id: str
    level: int


@dataclass(slots=True)
class Lists:
    """The lists that are open, and how far each list of the page has counted."""

    counters: Counters = field(default_factory=Counters)
    open: list[_Open] = field(default_factory=list)
    _count: int = 0
    _stopped: dict[tuple[int, str, int], str] = field(default_factory=dict)

    def enter(self, element: etree._Element, tag: str, style: dict[str, str]) -> None:
        """Begin ``<ol>`` or ``<ul>``."""
        shape = f"{style.get('list-style-type', '')} {style.get('list-style', '')}"
        level = len(self.open)
        self.counters.reset(style)
        if tag != "ol" or "none" in shape.split():
            self.open.append(_Open("", 1, 1, "", level))
            return
        marker = next((kind for name, kind in _STYLES.items() if name in shape.split()), "")
        marker = marker or _marker(attribute(element, "type"))
        is_reversed = element.get("reversed") is not None
        start = _integer(attribute(element, "start"))
        if start is None:
            start = sum(1 for child in element if child.tag == "li") if is_reversed else 1
        outer = next((o for o in reversed(self.open) if o.list_id), None)
        list_id = outer.list_id if outer else self._stopped.get((level, marker, start), "") if start > 1 else ""
        if not list_id:
            self._count += 1
            list_id = f"ol{self._count}"
        self.open.append(_Open(marker, start, -1 if is_reversed else 1, list_id, level))

    def leave(self) -> None:
        """End the innermost list."""
        if self.open:
            ended = self.open.pop()
            if ended.list_id:
                self._stopped[(ended.level, ended.marker, ended.next)] = ended.list_id

    def item(self, element: etree._Element, style: dict[str, str]) -> tuple[str, int, str]:
        """Printed label, level and list of a ``<li>``; the label is "" where a browser prints no number."""
        if not self.open:
            return "", 0, ""
        parent = element.getparent()
        classes = attribute(parent, "class").split() if parent is not None else []
        counted = self.counters.label(classes)
        if counted is not None:
            name, _, level = classes[0].rpartition("-")
            return (
                counted,
                int(level) if level in set("012345678") else len(self.open) - 1,
                f"counters {name}" if counted else "",
            )
        current = self.open[-1]
        depth = sum(1 for o in self.open[:-1] if o.list_id)
        shape = f"{style.get('list-style-type', '')} {style.get('list-style', '')}".split()
        if not current.marker or "none" in shape or style.get("display", "list-item") not in ("list-item", ""):
            return "", len(self.open) - 1, ""
        marker = _marker(attribute(element, "type")) if attribute(element, "type") else current.marker
        value = _integer(attribute(element, "value"))
        number = current.next if value is None else value
        current.next = number + current.step
        point = "、" if marker == "一" else "."
        return f"{browser_number(number, marker)}{point}", depth, current.list_id


def word_list(style: str) -> tuple[int, str] | None:
    """Level (from 0) and list id that ``mso-list`` states for a paragraph of a Word export; None for none."""
    found = _WORD_LIST.search(style)
    return None if found is None else (int(found[2]) - 1, f"{found[1]} {found[3]}")


def word_label(element: etree._Element) -> tuple[str, bool]:
    """Text of an ``mso-list:Ignore`` span without its blanks, and whether it is a bullet."""
    label = " ".join("".join(map(str, element.itertext())).split())
    styles = [attribute(e, "style") for e in (element, element.getparent(), *element) if e is not None]
    in_symbol_font = any(_BULLET_FONTS.search(style.replace("Times New Roman", "")) for style in styles)
    is_number = any(c.isalnum() for c in label) and not (len(label) == 1 and in_symbol_font)
    return (label, False) if is_number else ("•", True)


def _marker(kind: str) -> str:
    return kind if kind in MARKERS else "1"


def _integer(value: str) -> int | None:
    found = re.fullmatch(r"\s*(-?\d{1,6})\s*", value)
    return None if found is None else int(found[1])
