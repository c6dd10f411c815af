"""Numbers that fields print: LISTNUM, AUTONUM, AUTONUMLGL, AUTONUMOUT (ISO 29500-1, 17.16.5).

These fields store no result in the file, so a reader that keeps stored results alone loses clause numbers. What
the field says outright is computed as certain; where Word decides by context, the number is a guess and says so.
Not for fields with a stored result or for finding fields in a paragraph (``docx.py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from softlookup.documents.readers.docx.number_formats import print_counter
from softlookup.documents.readers.docx.numbering import Level, ListInstance, Numbering, whole_number

_TOKEN = re.compile(r'"[^"]{0,200}"|[^\s"]{1,200}')
_MAX_LEVEL = 9
_BODY = 9  # counters of body text lie below the nine heading levels
_NUMBERS = ("%1)", "%2)", "%3)", "(%4)", "(%5)", "(%6)", "%7.", "%8.", "%9.")
_OUTLINE = ("%1.", "%2.", "%3.", "%4)", "(%5)", "(%6)", "(%7)", "(%8)", "(%9)")
_NUMBER_FORMATS = ("decimal", "lowerLetter", "lowerRoman") * 3
_OUTLINE_FORMATS = (
    "upperRoman", "upperLetter", "decimal", "lowerLetter", "decimal", "lowerLetter", "lowerRoman", "lowerLetter",
    "lowerRoman",
)  # fmt: skip
_LEGAL = tuple("".join(f"%{i}." for i in range(1, depth + 1)) for depth in range(1, _MAX_LEVEL + 1))
# general formatting switch (\*) -> number format
_SWITCHES = {
    "Arabic": "decimal", "alphabetic": "lowerLetter", "ALPHABETIC": "upperLetter", "roman": "lowerRoman",
    "ROMAN": "upperRoman", "Ordinal": "ordinal", "CardText": "cardinalText", "OrdText": "ordinalText",
    "Hex": "hex", "CHINESENUM3": "chineseCountingThousand", "CHINESENUM2": "chineseLegalSimplified",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FieldNumber:
    """The number that a field prints; not ``certain`` where Word decides by rules that are not published."""

    text: str
    certain: bool


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """Where a field stands: the list and level of its paragraph, its heading level (from 0), text before it."""

    number_id: str = ""
    level: int = 0
    heading: int | None = None
    after_text: bool = False


@dataclass(slots=True)
class ListFields:
    """Counters of the number fields of one document; lists are counted in its ``numbering``."""

    numbering: Numbering
    _levels: dict[str, int] = field(default_factory=dict)  # list -> level of its last LISTNUM
    _last: str = ""
    _counts: dict[int, int] = field(default_factory=dict)  # AUTONUM*: heading level or body -> number

    def __post_init__(self) -> None:
        """Add the three lists that Word knows without a definition."""
        for name, texts, formats in (
            ("NumberDefault", _NUMBERS, _NUMBER_FORMATS),
            ("OutlineDefault", _OUTLINE, _OUTLINE_FORMATS),
            ("LegalDefault", _LEGAL, ("decimal",) * _MAX_LEVEL),
        ):
            levels = {i: Level(1, formats[i], texts[i], suffix="nothing") for i in range(_MAX_LEVEL)}
            self.numbering.instances[f"field {name}"] = ListInstance(f"field {name}", levels, {})

    def number(self, instruction: str, place: FieldPlace) -> FieldNumber | None:
        r"""What the field prints at ``place``, counted; None when it is no field of this kind.

        >>> fields = ListFields(Numbering())
        >>> fields.number(" LISTNUM NumberDefault \\l 4 \\s 3 ", FieldPlace()).text
        '(3)'
        """
        tokens = [token.strip('"') for token in _TOKEN.findall(instruction)]
        kind = tokens[0].upper() if tokens else ""
        switches = _switches(tokens[1:])
        if kind == "LISTNUM":
            name = tokens[1] if len(tokens) > 1 and not tokens[1].startswith("\\") else ""
            return self._list_number(name, switches, place)
        if kind in ("AUTONUM", "AUTONUMLGL", "AUTONUMOUT"):
            return self._paragraph_number(kind, switches, place)
        return None

    def _list_number(self, name: str, switches: dict[str, str], place: FieldPlace) -> FieldNumber | None:
        number_id, own_level, certain = self._list_of(name, place)
        asked = whole_number(switches.get("\\l", ""))
        if asked is not None and 1 <= asked <= _MAX_LEVEL:
            level = asked - 1
        else:
            level = self._levels.get(number_id, own_level)
            certain = certain and number_id in self._levels
        start = whole_number(switches.get("\\s", ""))
        if start is not None:
            self.numbering.restart(number_id, level, start)
        printed = self.numbering.advance(number_id, level)
        self._levels[number_id], self._last = level, number_id
        return None if printed is None else FieldNumber(printed.label, certain)

    def _list_of(self, name: str, place: FieldPlace) -> tuple[str, int, bool]:
        """(list, level of a new series, whether the list is certain) for a field that names ``name``."""
        new_series = 2 if place.after_text else 0
        if f"field {name}" in self.numbering.instances:
            return f"field {name}", new_series, True
        if name in self.numbering.named:
            return self.numbering.named[name], new_series, True
        if place.number_id in self.numbering.instances:
            return place.number_id, min(place.level + 1, _MAX_LEVEL - 1), not name
        return self._last or "field NumberDefault", new_series, False

    def _paragraph_number(self, kind: str, switches: dict[str, str], place: FieldPlace) -> FieldNumber:
        level = _BODY if place.heading is None else min(place.heading, _MAX_LEVEL - 1)
        in_outline = any(counted < _BODY for counted in self._counts)
        for deeper in [counted for counted in self._counts if counted > level]:
            del self._counts[deeper]
        self._counts[level] = self._counts.get(level, 0) + 1
        style = _SWITCHES.get(switches.get("\\*", ""), "decimal")
        separator = switches.get("\\s", ".")[:1]
        if kind == "AUTONUMOUT" and level < _BODY:
            text = _OUTLINE[level].replace(f"%{level + 1}", print_counter(self._counts[level], _OUTLINE_FORMATS[level]))
            return FieldNumber(text, certain=True)
        # the number of the preceding heading stands before that of legal numbering
        shown = sorted(self._counts) if kind == "AUTONUMLGL" else [level]
        text = separator.join(print_counter(self._counts[k], style) for k in shown)
        ended = text if "\\e" in switches else text + separator
        return FieldNumber(ended.rstrip(), certain=level < _BODY or not in_outline)


def _switches(tokens: list[str]) -> dict[str, str]:
    """Switches of a field with their arguments ("" for none)."""
    found: dict[str, str] = {}
    for index, token in enumerate(tokens):
        if token.startswith("\\"):
            argument = tokens[index + 1] if index + 1 < len(tokens) else ""
            found.setdefault(token, "" if argument.startswith("\\") else argument)
    return found
