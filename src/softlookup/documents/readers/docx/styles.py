"""Paragraph styles of DOCX as far as they decide text: numbering, headings, contents; looks in ``docx_looks.py``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

from softlookup.documents.readers.docx.numbering import Numbering, whole_number
from softlookup.documents.readers.docx.package import attribute, child, children

_OFF = ("0", "false", "off")
_HEADING = re.compile(r"(?:heading|标题|標題)\s*(\d)", re.I)
_CONTENTS = re.compile(r"(?:toc|目录|目錄)\s*\d", re.I)
_MAX_CHAIN = 20  # basedOn chains are short; a longer one is a loop


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    based_on: str
    number_id: str
    level: int | None
    outline: int | None


@dataclass(slots=True)
class Styles:
    """Styles by id; lookups follow ``basedOn``."""

    by_id: dict[str, _Style] = field(default_factory=dict)
    default: str = ""  # id of the style of paragraphs that name none

    def _chain(self, style_id: str) -> list[tuple[str, _Style]]:
        chain: list[tuple[str, _Style]] = []
        while style_id in self.by_id and len(chain) < _MAX_CHAIN:
            chain.append((style_id, self.by_id[style_id]))
            style_id = self.by_id[style_id].based_on
        return chain

    def numbering_of(self, properties: etree._Element | None, style_id: str, numbering: Numbering) -> tuple[str, int]:
        """(list id, level) of a paragraph, direct formatting first; ("", 0) when it has no number."""
        direct = child(properties, "numPr")
        chain = self._chain(style_id or self.default)
        number_id = attribute(child(direct, "numId"), "val")
        number_id = number_id or next((style.number_id for _, style in chain if style.number_id), "")
        if not number_id:
            return "", 0
        # list and level are inherited separately (ISO 29500-1, 17.3.1.19)
        level = whole_number(attribute(child(direct, "ilvl"), "val"))
        if level is not None:
            return number_id, level
        for identifier, _ in chain:
            named = numbering.level_of_style(number_id, identifier)
            if named is not None:
                return number_id, named
        return number_id, next((style.level for _, style in chain if style.level is not None), 0)

    def heading_level(self, properties: etree._Element | None, style_id: str) -> int | None:
        """Outline level from 0; None for body text."""
        direct = attribute(child(properties, "outlineLvl"), "val")
        if direct.isdecimal():
            return int(direct) if int(direct) < 9 else None
        for identifier, style in self._chain(style_id):
            match = _HEADING.match(style.name) or _HEADING.match(identifier)
            if match:
                return int(match[1]) - 1
            if style.outline is not None:
                return style.outline if style.outline < 9 else None
        return None

    def is_contents(self, style_id: str) -> bool:
        """True for the styles of entries in a table of contents."""
        return any(_CONTENTS.match(style.name) for _, style in self._chain(style_id))


def parse_styles(root: etree._Element | None) -> Styles:
    """Styles of ``styles.xml``; empty when there is none."""
    styles = Styles()
    if root is None:
        return styles
    for element in children(root, "style"):
        if attribute(element, "type") == "paragraph" and attribute(element, "default") in ("1", "true", "on"):
            styles.default = attribute(element, "styleId")
        paragraph = child(element, "pPr")
        numbers = child(paragraph, "numPr")
        level, outline = (
            attribute(child(numbers, "ilvl"), "val"),
            attribute(child(paragraph, "outlineLvl"), "val"),
        )
        styles.by_id[attribute(element, "styleId")] = _Style(
            name=attribute(child(element, "name"), "val"),
            based_on=attribute(child(element, "basedOn"), "val"),
            number_id=attribute(child(numbers, "numId"), "val"),
            level=whole_number(level),
            outline=int(outline) if outline.isdecimal() else None,
        )
    return styles
