"""Automatic clause numbers of DOCX (ISO 29500-1, 17.9): which number Word prints before a paragraph.

Counters belong to the abstract definition, so lists that share one go on counting together.
Not for reading paragraphs (``docx.py``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree

from softlookup.documents.readers.docx_package import attribute, child, children
from softlookup.documents.readers.html import print_number

_PLACE = re.compile(r"%([1-9])")
_HAN = "零一二三四五六七八九"
_HAN_LEGAL = "零壹贰叁肆伍陆柒捌玖"
_SIGNS = {
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
    "decimalEnclosedCircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
    "decimalEnclosedCircleChinese": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
    "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
    "decimalEnclosedFullstop": "⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛",
}
_CARDINALS = (
    "Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven",
    "Twelve", "Thirteen", "Fourteen", "Fifteen", "Sixteen", "Seventeen", "Eighteen", "Nineteen",
    "Twenty",
)  # fmt: skip
_ORDINALS = (
    "Zeroth", "First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth",
    "Tenth", "Eleventh", "Twelfth", "Thirteenth", "Fourteenth", "Fifteenth", "Sixteenth", "Seventeenth",
    "Eighteenth", "Nineteenth", "Twentieth",
)  # fmt: skip
_BULLETS = {"\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf02d": "-", "o": "o"}


@dataclass(frozen=True, slots=True)
class Level:
    """One ``w:lvl``: what it prints and how it counts."""

    start: int = 0
    format: str = "decimal"
    text: str = ""
    suffix: str = "tab"
    legal: bool = False
    restart: int | None = None
    style: str = ""


@dataclass(frozen=True, slots=True)
class _Instance:
    abstract: str
    levels: Mapping[int, Level]
    start_overrides: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Printed:
    """What Word prints before the paragraph: the label, the blank after it, and whether it is a bullet.

    ``list_id`` is the abstract definition, because lists that share one count together.
    """

    label: str
    gap: str
    level: int
    is_bullet: bool
    list_id: str


@dataclass(slots=True)
class Numbering:
    """The lists of a document with their running counters; one per document."""

    instances: dict[str, _Instance] = field(default_factory=dict)
    _counters: dict[tuple[str, int], int] = field(default_factory=dict)
    _used_overrides: set[tuple[str, int]] = field(default_factory=set)

    def level_of_style(self, number_id: str, style_id: str) -> int | None:
        """Level whose ``w:pStyle`` names the style; None when no level does."""
        instance = self.instances.get(number_id)
        if instance is None:
            return None
        return next((k for k, level in instance.levels.items() if level.style == style_id), None)

    def advance(self, number_id: str, level: int) -> Printed | None:
        """Count one paragraph of list ``number_id`` at ``level`` (from 0); None when it prints nothing."""
        instance = self.instances.get(number_id)
        if instance is None or level not in instance.levels:
            return None
        definition = instance.levels[level]
        self._count(number_id, instance, level)
        gap = {"space": " ", "nothing": ""}.get(definition.suffix, "\t")
        if definition.format == "bullet":
            mark = "".join(_BULLETS.get(c, "•" if "\ue000" <= c <= "\uf8ff" else c) for c in definition.text)
            return Printed(mark, gap, level, is_bullet=True, list_id="") if mark else None
        label = self._render(instance, level).strip()
        return Printed(label, gap, level, is_bullet=False, list_id=instance.abstract) if label else None

    def _count(self, number_id: str, instance: _Instance, level: int) -> None:
        key = (instance.abstract, level)
        override = instance.start_overrides.get(level)
        if override is not None and (number_id, level) not in self._used_overrides:
            self._used_overrides.add((number_id, level))
            self._counters[key] = override
        elif key in self._counters:
            self._counters[key] += 1
        else:
            self._counters[key] = instance.levels[level].start
        for deeper, definition in instance.levels.items():
            if (
                deeper > level
                and definition.restart != 0
                and (definition.restart is None or definition.restart > level)
            ):
                self._counters.pop((instance.abstract, deeper), None)

    def _render(self, instance: _Instance, level: int) -> str:
        definition = instance.levels[level]

        def value(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            shown = instance.levels.get(place)
            if shown is None or place > level:
                return ""
            number = self._counters.get((instance.abstract, place), shown.start)
            return print_counter(number, "decimal" if definition.legal and shown.format != "none" else shown.format)

        return _PLACE.sub(value, definition.text)


def parse_numbering(root: etree._Element | None) -> Numbering:
    """Lists of ``numbering.xml``; an empty table when there is none."""
    numbering = Numbering()
    if root is None:
        return numbering
    abstracts = {attribute(e, "abstractNumId"): e for e in children(root, "abstractNum")}
    by_style = {attribute(link, "val"): e for e in abstracts.values() if (link := child(e, "styleLink")) is not None}
    for element in children(root, "num"):
        reference = child(element, "abstractNumId")
        abstract = abstracts.get(attribute(reference, "val")) if reference is not None else None
        if abstract is None:
            continue
        link = child(abstract, "numStyleLink")
        if link is not None:
            abstract = by_style.get(attribute(link, "val"), abstract)
        levels = {int(attribute(e, "ilvl") or 0): _level(e) for e in children(abstract, "lvl")}
        starts: dict[int, int] = {}
        for override in children(element, "lvlOverride"):
            index = int(attribute(override, "ilvl") or 0)
            replaced = child(override, "lvl")
            if replaced is not None:
                levels[index] = _level(replaced)
            start = child(override, "startOverride")
            if start is not None:
                starts[index] = _integer(start, 1)
        numbering.instances[attribute(element, "numId")] = _Instance(
            attribute(abstract, "abstractNumId"), levels, starts
        )
    return numbering


def _level(element: etree._Element) -> Level:
    parts = {
        name: child(element, name) for name in ("start", "numFmt", "lvlText", "suff", "isLgl", "lvlRestart", "pStyle")
    }
    legal, restart = parts["isLgl"], parts["lvlRestart"]
    return Level(
        start=_integer(parts["start"], 0),
        format=attribute(parts["numFmt"], "val") or "decimal",
        text=attribute(parts["lvlText"], "val"),
        suffix=attribute(parts["suff"], "val") or "tab",
        legal=legal is not None and attribute(legal, "val") not in ("0", "false", "off"),
        restart=None if restart is None else _integer(restart, 0),
        style=attribute(parts["pStyle"], "val"),
    )


def _integer(element: etree._Element | None, default: int) -> int:
    value = attribute(element, "val")
    return int(value) if value.lstrip("-").isdigit() and len(value) < 8 else default


def print_counter(number: int, style: str) -> str:
    """``number`` in the number format ``style`` (a ``w:numFmt`` value); decimal for formats not known.

    >>> print_counter(21, "chineseCounting"), print_counter(28, "lowerLetter"), print_counter(4, "upperRoman")
    ('二十一', 'bb', 'IV')
    """
    if style == "none":
        return ""
    simple = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}.get(style)
    if simple:
        return print_number(number, simple)
    if style == "decimalZero":
        return f"{number:02d}"
    if style == "decimalFullWidth":
        return "".join(chr(ord(c) + 0xFEE0) for c in str(number))
    if style == "ordinal":
        ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{ending}"
    if style in ("cardinalText", "ordinalText"):
        words = _CARDINALS if style == "cardinalText" else _ORDINALS
        return words[number] if 0 <= number < len(words) else str(number)
    return _asian(number, style)


def _asian(number: int, style: str) -> str:
    if style in ("chineseCounting", "taiwaneseCounting") and number >= 100:
        return _digits(number, "○一二三四五六七八九")
    if style.startswith(("chineseCounting", "taiwaneseCounting", "japaneseCounting")):
        return _counted(number, _HAN, "十百千", bare_ten=True)
    if style in ("ideographDigital", "taiwaneseDigital", "japaneseDigitalTenThousand"):
        return _digits(number, "〇一二三四五六七八九")
    if style in ("chineseLegalSimplified", "ideographLegalTraditional"):
        return _counted(number, _HAN_LEGAL, "拾佰仟", bare_ten=False)
    if style == "ideographEnclosedCircle":
        return f"（{_counted(number, _HAN, '十百千', bare_ten=True)}）"
    signs = _SIGNS.get(style, "")
    if 1 <= number <= len(signs):
        return signs[number - 1]
    return f"- {number} -" if style == "numberInDash" else str(number)


def _digits(number: int, digits: str) -> str:
    return "".join(digits[int(c)] for c in str(max(0, number)))


def _counted(number: int, digits: str, units: str, *, bare_ten: bool) -> str:
    """Chinese numeral with units, below 10,000 ("一百零五"); plain digits above."""
    if not 0 < number < 10_000:
        return str(number) if number else digits[0]
    printed = ""
    pending_zero = False
    text = str(number)
    for place, character in enumerate(text):
        digit, power = int(character), len(text) - place - 1
        if digit == 0:
            pending_zero = bool(printed)
            continue
        printed += (digits[0] if pending_zero else "") + digits[digit] + (units[power - 1] if power else "")
        pending_zero = False
    return printed[1:] if bare_ten and printed.startswith(digits[1] + units[0]) else printed
