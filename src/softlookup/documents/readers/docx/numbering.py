"""Automatic clause numbers of DOCX (ISO 29500-1, 17.9): which number Word prints before a paragraph.

Counters belong to the abstract definition, so lists that share one go on counting together, and to the story
(body, each text box, the notes), so a box does not disturb the body. Not for reading paragraphs (``docx.py``)
or for the look of one number (``docx_number_formats.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from lxml import etree

from softlookup.documents.readers.docx.number_formats import custom_format, print_counter
from softlookup.documents.readers.docx.package import attribute, child, children

__all__ = ["Level", "ListInstance", "Numbering", "Printed", "parse_numbering", "print_counter", "whole_number"]

_PLACE = re.compile(r"%([1-9])")
_INTEGER = re.compile(r"-?[0-9]{1,7}")
_MAX_LEVEL = 8
_MAX_TEXT = 200  # Word allows 31; a longer text would be printed once a paragraph
_BULLETS = {"\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf02d": "-", "o": "o"}
_OFF = ("0", "false", "off")


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
class ListInstance:
    """One ``w:num``: the levels of its abstract definition with its own overrides."""

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

    instances: dict[str, ListInstance] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)  # ``w:name`` of an abstract definition -> a list id of it
    _counters: dict[tuple[str, int], int] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def level_of_style(self, number_id: str, style_id: str) -> int | None:
        """Level whose ``w:pStyle`` names the style; None when no level does."""
        instance = self.instances.get(number_id)
        if instance is None:
            return None
        return next((k for k, level in instance.levels.items() if level.style == style_id), None)

    @contextmanager
    def story(self) -> Iterator[None]:
        """Count from the start inside the block, and go on as before after it: for text boxes and notes."""
        outer = self._counters, self._used
        self._counters, self._used = {}, set()
        try:
            yield
        finally:
            self._counters, self._used = outer

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

    def restart(self, number_id: str, level: int, value: int) -> None:
        """Let the next number of list ``number_id`` at ``level`` be ``value``."""
        instance = self.instances.get(number_id)
        if instance is not None:
            self._counters[(instance.abstract, level)] = value - 1

    def _count(self, number_id: str, instance: ListInstance, level: int) -> None:
        key = (instance.abstract, level)
        override = instance.start_overrides.get(level)
        if override is not None and number_id not in self._used:
            # a list restarts once, at the first of its paragraphs whose level has an override; Word then goes on
            # counting on the other levels, whatever their overrides say
            self._used.add(number_id)
            self._counters[key] = override
        elif key in self._counters:
            self._counters[key] += 1
        else:
            self._counters[key] = instance.levels[level].start
        for upper, definition in instance.levels.items():
            if upper < level:  # a level that a deeper one skipped counts as used: 1.1, then 2
                self._counters.setdefault((instance.abstract, upper), definition.start)
        for deeper, definition in instance.levels.items():
            restart = definition.restart
            if deeper > level and (restart is None or restart > level):
                self._counters.pop((instance.abstract, deeper), None)

    def _render(self, instance: ListInstance, level: int) -> str:
        definition = instance.levels[level]
        if any(int(place) - 1 > level for place in _PLACE.findall(definition.text)):
            return ""  # Word ignores a text that names a deeper level ([MS-OI29500], 2.1.283 c)

        def value(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            shown = instance.levels.get(place)
            if shown is None:
                return ""
            number = self._counters.get((instance.abstract, place), shown.start)
            # Word's own outline "Article I, Section 1.01" is legal and keeps its zero
            as_decimal = definition.legal and shown.format not in ("none", "bullet", "decimalZero")
            return print_counter(number, "decimal" if as_decimal else shown.format)

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
        levels = {k: _level(e) for e in children(abstract, "lvl") if (k := _level_index(e)) is not None}
        starts: dict[int, int] = {}
        for override in children(element, "lvlOverride"):
            index = _level_index(override)
            if index is None:
                continue
            replaced = child(override, "lvl")
            if replaced is not None:
                # Word ignores lvlRestart in here ([MS-OI29500], 2.1.282 b)
                levels[index] = replace(_level(replaced), restart=None)
            start = child(override, "startOverride")
            if start is not None:
                starts[index] = _integer(start, 1)
        identifier = attribute(element, "numId")
        numbering.instances[identifier] = ListInstance(attribute(abstract, "abstractNumId"), levels, starts)
        name = attribute(child(abstract, "name"), "val")
        if name:
            numbering.named.setdefault(name, identifier)
    return numbering


def whole_number(text: str) -> int | None:
    """The integer that an attribute holds; None when it holds none, or one that no document needs."""
    return int(text) if _INTEGER.fullmatch(text) else None


def _level_index(element: etree._Element) -> int | None:
    index = whole_number(attribute(element, "ilvl") or "0")
    return index if index is not None and 0 <= index <= _MAX_LEVEL else None


def _level(element: etree._Element) -> Level:
    parts = {name: child(element, name) for name in ("start", "lvlText", "suff", "isLgl", "lvlRestart", "pStyle")}
    legal, restart = parts["isLgl"], parts["lvlRestart"]
    return Level(
        start=_integer(parts["start"], 0),
        format=_number_format(element),
        text=attribute(parts["lvlText"], "val")[:_MAX_TEXT],
        suffix=attribute(parts["suff"], "val") or "tab",
        legal=legal is not None and attribute(legal, "val") not in _OFF,
        restart=None if restart is None else _integer(restart, 0),
        style=attribute(parts["pStyle"], "val"),
    )


def _number_format(element: etree._Element) -> str:
    """``w:numFmt`` of a level, which for custom formats stands in a choice beside its fallback."""
    found = child(element, "numFmt")
    choice = child(element, "AlternateContent")
    if found is None and choice is not None:
        custom = child(child(choice, "Choice"), "numFmt")
        name = custom_format(attribute(custom, "format")) if attribute(custom, "val") == "custom" else None
        if name is not None:
            return name
        found = child(child(choice, "Fallback"), "numFmt")
    name = attribute(found, "val")
    if name == "custom":
        return custom_format(attribute(found, "format")) or "decimal"
    return name or "decimal"


def _integer(element: etree._Element | None, default: int) -> int:
    value = whole_number(attribute(element, "val"))
    return default if value is None else value
