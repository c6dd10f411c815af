"""Whether the words of a run can be seen: hidden text, colours, sizes; from direct formatting and styles.

Not for numbering or headings (``docx_styles.py``). Tables may colour their cells by a style of conditions that is
not worked out here: a background that is not known never makes words invisible.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from lxml import etree

from softlookup.documents.readers.docx.package import attribute, child, children, local

OFF = ("0", "false", "off")
# Nobody reads print of 2 points; footnote marks and fine print are 5 and more.
TINY_HALF_POINTS = 4
# Ratio of luminances as in WCAG 2; white on the palest grey of Word (F2F2F2) has 1.12 and is unreadable in print.
INVISIBLE_CONTRAST = 1.15
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_MAX_CHAIN = 20
_HIGHLIGHTS = {
    "black": "000000", "blue": "0000FF", "cyan": "00FFFF", "green": "00FF00", "magenta": "FF00FF", "red": "FF0000",
    "yellow": "FFFF00", "white": "FFFFFF", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000",
    "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "C0C0C0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """Run formatting as far as it decides what can be seen; None where nothing is said.

    ``colour`` and ``fill`` are six hex digits, "" for automatic or not known; ``size`` is in half points.
    """

    hidden: bool | None = None
    colour: str | None = None
    size: float | None = None
    fill: str | None = None

    def over(self, under: Look) -> Look:
        """A look: this one where it says something, ``under`` elsewhere."""
        if under is NOTHING:
            return self
        return Look(
            under.hidden if self.hidden is None else self.hidden,
            under.colour if self.colour is None else self.colour,
            under.size if self.size is None else self.size,
            under.fill if self.fill is None else self.fill,
        )


NOTHING = Look()


def parse_look(properties: etree._Element | None) -> Look:
    """Look that ``w:rPr`` states itself."""
    if properties is None or not len(properties):
        return NOTHING
    hidden: bool | None = None
    colour = fill = None
    size: float | None = None
    for element in properties:
        name = local(element)
        if name in ("vanish", "specVanish"):
            hidden = hidden or attribute(element, "val") not in OFF
        elif name == "color":
            colour = _colour(element)
        elif name == "sz":
            size = _half_points(attribute(element, "val"))
        elif name == "shd":
            fill = fill_of(element)
        elif name == "highlight":
            fill = _HIGHLIGHTS.get(attribute(element, "val"), fill)
    if hidden is None and colour is None and size is None and fill is None:
        return NOTHING
    return Look(hidden, colour, size, fill)


def fill_of(shading: etree._Element | None) -> str | None:
    """Background that ``w:shd`` gives: six hex digits, "" when not known, None when it gives none."""
    if shading is None:
        return None
    pattern = attribute(shading, "val")
    fill = attribute(shading, "color") if pattern == "solid" else attribute(shading, "fill")
    if _HEX.fullmatch(fill):
        return fill.upper() if pattern in ("clear", "solid", "nil", "") else ""
    return "" if pattern == "solid" or (pattern not in ("clear", "nil", "")) else None


def _colour(element: etree._Element) -> str:
    value, theme = attribute(element, "val"), attribute(element, "themeColor")
    if _HEX.fullmatch(value):
        return value.upper()
    is_changed = attribute(element, "themeShade") or attribute(element, "themeTint")
    return "FFFFFF" if theme in ("background1", "light1") and not is_changed else ""


def _half_points(value: str) -> float | None:
    """``w:sz`` in half points; strict files may write "12pt"."""
    match = re.fullmatch(r"(\d{1,4}(?:\.\d{1,4})?)(pt)?", value)
    return None if match is None else float(match[1]) * (2 if match[2] else 1)


def contrast(colour: str, background: str) -> float:
    """Contrast of two colours of six hex digits, from 1 (the same) to 21."""
    one, other = _luminance(colour), _luminance(background)
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@dataclass(slots=True)
class Looks:
    """Looks of styles; ``w:vanish`` is a toggle property (ISO 29500-1, 17.7.3), so two styles cancel out."""

    by_style: dict[str, tuple[str, Look]] = field(default_factory=dict)  # style -> (based on, own look)
    defaults: Look = NOTHING
    default_paragraph_style: str = ""
    fills: dict[str, str] = field(default_factory=dict)  # paragraph style -> its shading
    shaded_tables: set[str] = field(default_factory=set)  # table styles that shade something
    default_table_style: str = ""
    _chains: dict[str, Look] = field(default_factory=dict)

    def of_style(self, style: str) -> Look:
        """Look of a paragraph or character style with what it is based on."""
        if style not in self._chains:
            found = NOTHING
            for name in self._based_on(style):
                found = found.over(self.by_style[name][1])
            self._chains[style] = found
        return self._chains[style]

    def paragraph_fill(self, style: str) -> str | None:
        """Background that the paragraph style gives; None when it gives none."""
        return next((self.fills[name] for name in self._based_on(style) if name in self.fills), None)

    def may_be_shaded(self, table_style: str) -> bool:
        """True when cells of this table style may have a background that is not worked out here."""
        return any(name in self.shaded_tables for name in self._based_on(table_style or self.default_table_style))

    def _based_on(self, style: str) -> list[str]:
        chain: list[str] = []
        while style in self.by_style and len(chain) < _MAX_CHAIN:
            chain.append(style)
            style = self.by_style[style][0]
        return chain

    def of_run(self, properties: etree._Element | None, paragraph_style: str) -> Look:
        """Look of a run with ``w:rPr`` ``properties`` in a paragraph of ``paragraph_style``."""
        direct = parse_look(properties)
        character_style = attribute(child(properties, "rStyle"), "val")
        character = self.of_style(character_style) if character_style else NOTHING
        paragraph = self.of_style(paragraph_style or self.default_paragraph_style)
        if direct is character is paragraph is self.defaults is NOTHING:
            return NOTHING
        hidden = direct.hidden
        if hidden is None:
            hidden = bool(self.defaults.hidden) or bool(character.hidden) != bool(paragraph.hidden)
        return replace(direct.over(character.over(paragraph.over(self.defaults))), hidden=hidden)


def parse_looks(styles: etree._Element | None) -> Looks:
    """Looks of ``styles.xml``."""
    looks = Looks()
    if styles is None:
        return looks
    looks.defaults = parse_look(child(child(child(styles, "docDefaults"), "rPrDefault"), "rPr"))
    for element in children(styles, "style"):
        style = attribute(element, "styleId")
        looks.by_style[style] = (attribute(child(element, "basedOn"), "val"), parse_look(child(element, "rPr")))
        is_default, kind = attribute(element, "default") not in ("", *OFF), attribute(element, "type")
        if kind == "table":
            looks.default_table_style = style if is_default else looks.default_table_style
            if any(fill_of(e) is not None for e in element.iter() if local(e) == "shd"):
                looks.shaded_tables.add(style)
        elif kind == "paragraph":
            looks.default_paragraph_style = style if is_default else looks.default_paragraph_style
            fill = fill_of(child(child(element, "pPr"), "shd"))
            if fill is not None:
                looks.fills[style] = fill
    return looks
