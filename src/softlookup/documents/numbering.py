"""Clause labels as printed: recognises one and reads its value; does not judge whether it belongs there.

English and Chinese: "5.2", "(a)", "iv.", "ARTICLE V", "Section 4.1", "Schedule 2", "第三条", "（二）".
A label keeps its printed form; ``values`` are for order only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {
    c: i for i, c in enumerate("〇壹贰叁肆伍陆柒捌玖")
}
_HAN_DIGITS |= {"○": 0, "两": 2, "兩": 2, "貳": 2, "參": 3, "陸": 6, "叄": 3}
_HAN_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000, "万": 10000, "萬": 10000}
_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN_FORM = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})\Z")
_WORD_NUMBERS = {
    word: value
    for value, word in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ],
        start=1,
    )
}
_WORD_NUMBERS |= {
    word: value
    for value, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"],
        start=1,
    )
}
_CIRCLED = {chr(0x2460 + i): i + 1 for i in range(20)}

# full-width letters, digits and marks: one character each, so offsets stay
FOLD = {0xFF01 + i: 0x21 + i for i in range(94)} | {
    0x3000: 0x20,
    0xA0: 0x20,
    0x2002: 0x20,
    0x2003: 0x20,
    0x2009: 0x20,
}
FOLD |= {0x202F: 0x20, 0x09: 0x20, 0x200B: 0x20, 0xFEFF: 0x20}

_HAN = "〇○零一二三四五六七八九十百千万两兩壹贰叁肆伍陆柒捌玖拾佰貳參陸"
_WORDS = "|".join(sorted(_WORD_NUMBERS, key=len, reverse=True))
_NUMERAL = rf"\d{{1,3}}|[IVXLC]{{1,8}}|(?i:{_WORDS})\b"
_KEYWORD = r"(?i:section|clause|sec\.|paragraph)|§{1,2}"
_FORMS = (
    # 第三条, 第一百二十条之一, 第二章
    (
        rf"(?P<zh>第[ ]{{0,2}}(?P<zhn>[{_HAN}]{{1,9}}|\d{{1,4}})[ ]{{0,2}}(?P<zhu>分编|编|章|节|條|条)"
        rf"(?:之(?P<zhs>[{_HAN}]{{1,3}}))?)"
    ),
    # 附件一, 附录A
    rf"(?P<annex>(?:附件|附录|附錄|附表)[ ]?(?P<annexn>[{_HAN}]{{1,3}}|\d{{1,2}}|[A-Z](?![A-Za-z]))?)",
    # 二、 and （二）
    rf"(?P<dun>(?P<dunn>[{_HAN}]{{1,4}})[、.](?!\d))",
    rf"(?P<zhp>\((?P<zhpn>[{_HAN}]{{1,4}})\))",
    # Schedule 2, Exhibit A-1
    (
        r"(?P<sched>(?i:schedule|exhibit|annex|appendix|attachment|addendum)[ ]{1,3}(?P<schedn>\"?"
        r"(?:[A-Z](?:-?\d{1,2}(?:\.\d{1,2})?|-[A-Z])?|\d{1,2}(?:(?:[.-]\d{1,3}){1,3}|[.-]?[A-Z])?|[IVX]{1,5})\"?"
        r"(?:\([a-z0-9]{1,3}\)){0,3})(?![A-Za-z0-9']))"
    ),
    # ARTICLE V, Article Ten
    rf"(?P<art>(?P<artw>(?i:article|part|title))[ ]{{1,4}}(?P<artn>{_NUMERAL})(?![A-Za-z0-9])(?!\.\d))",
    # Section 4
    rf"(?P<sec>(?:{_KEYWORD})[ ]{{0,4}}(?P<secn>\d{{1,3}}|[IVX]{{1,6}}(?![A-Za-z]))(?![A-Za-z0-9])(?!\.\d))",
    # 5.2, Section 5.2, "2. 2. 1." as some scans print it; no date, amount or share
    (
        rf"(?P<dec>(?:(?P<decw>{_KEYWORD}|(?i:article))[ ]{{0,4}})?(?P<decn>\d{{1,3}}(?:\.\d{{1,3}}){{1,5}}"
        r"|\d{1,2}(?:\.[ ]{1,2}\d{1,2}){1,5}(?=\.[ ])|[IVX]{1,5}(?:\.\d{1,2}){1,3})(?![\d%,/:]|\.\d))"
    ),
    # 5.  5)  5、
    r"(?P<one>(?P<onen>\d{1,3})(?:[.、:)](?!\d)|[ ]{1,9}(?=[A-Z\"“])))",
    # (a) (iv) (B) (3)
    r"(?P<par>\([ ]?(?P<parn>[a-z]{1,2}|[ivxl]{1,6}|[A-Z]{1,2}|[IVX]{1,5}|\d{1,2})[ ]?\))",
    # a.  a)  A.  IV.
    r"(?P<half>(?P<halfn>[A-Z]|[a-z]|[ivx]{1,6}|[IVXL]{1,6})(?P<halfm>[.)])(?:(?=[ ])|(?<=\))(?=[A-Z\"“])))",
    r"(?P<circ>[①-⑳])",
)
_PATTERN = re.compile("|".join(_FORMS))
_ZH_STYLES = {
    "分编": "zh-part",
    "编": "zh-part",
    "章": "zh-chapter",
    "节": "zh-division",
    "条": "zh-article",
    "條": "zh-article",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a label: ``style`` names the sequence it counts in, ``values`` its place there."""

    style: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """A printed label at ``[start, end)`` with every reading it allows, the likeliest first.

    ``number`` is the label without trailing punctuation; ``has_keyword`` tells "Section 4.1" from "4.1".
    """

    start: int
    end: int
    number: str
    readings: tuple[Reading, ...]
    has_keyword: bool = False


def label_at(folded: str, position: int, text: str) -> Label | None:
    """Label that starts at ``position``; ``folded`` is ``text.translate(FOLD)``. None when there is none."""
    match = _PATTERN.match(folded, position)
    if match is None:
        return None
    readings = _readings(match)
    if not readings:
        return None
    end = match.end()
    has_keyword = bool(match["decw"] or match["sec"] or match["art"] or match["zh"] or match["sched"] or match["annex"])
    number = text[position:end].rstrip()
    if not match["par"] and not match["zhp"]:
        number = number.rstrip(".、．:：)）")
    elif folded[end : end + 1] == ".":
        end += 1
    if match["dec"] or match["sec"] or match["art"]:
        while folded[end : end + 1] in (".", "、", ":", ")") and folded[end : end + 1]:
            end += 1
    return Label(start=position, end=end, number=_squeezed(number), readings=readings, has_keyword=has_keyword)


def parse_label(label: str) -> Label | None:
    """Label read from a string that holds nothing else (such as an automatic number); None when it is none.

    >>> parse_label("第三十五条").readings[0].values
    (35,)
    """
    stripped = label.strip()
    for candidate in (stripped, stripped + " ", stripped + ". "):
        found = label_at(candidate.translate(FOLD), 0, candidate)
        if found is not None and not candidate[found.end :].strip(" ."):
            return found
    return None


def han_number(numeral: str) -> int | None:
    """Value of a Chinese numeral ("三十五", "一○一", "贰拾", "35"); None when it is none."""
    if numeral.isdigit() and numeral.isascii():
        return int(numeral)
    if not any(c in _HAN_UNITS for c in numeral):
        digits = [_HAN_DIGITS.get(c) for c in numeral]
        if not digits or None in digits:
            return None
        return int("".join(str(d) for d in digits))
    total = current = 0
    for character in numeral:
        if character in _HAN_DIGITS:
            current = _HAN_DIGITS[character]
        elif character in _HAN_UNITS:
            unit = _HAN_UNITS[character]
            if unit == 10000:
                total, current = (total + current) * unit, 0
            else:
                total, current = total + max(current, 1) * unit, 0
        else:
            return None
    return total + current


@lru_cache(maxsize=512)
def roman_number(numeral: str) -> int | None:
    """Value of a Roman numeral in either case; None when it is none."""
    lower = numeral.lower()
    if not lower or not _ROMAN_FORM.match(lower):
        return None
    total = 0
    for here, after in zip(lower, lower[1:] + " ", strict=True):
        value = _ROMAN_DIGITS[here]
        total += -value if _ROMAN_DIGITS.get(after, 0) > value else value
    return total


def letter_number(letters: str) -> int | None:
    """Value of "a", ..., "z", "aa", "bb" (letters repeat, as in word processors); None when it is none."""
    lower = letters.lower()
    if not lower or len(set(lower)) != 1 or not "a" <= lower[0] <= "z":
        return None
    return ord(lower[0]) - 96 + 26 * (len(lower) - 1)


def _squeezed(number: str) -> str:
    return re.sub(r"\s+", " ", number)


def _numeral(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    return _WORD_NUMBERS.get(text.lower()) or roman_number(text)


def _readings(match: re.Match[str]) -> tuple[Reading, ...]:
    if match["zh"]:
        return _zh_readings(match)
    if match["annex"] or match["sched"]:
        return _schedule_readings(match)
    if match["par"]:
        return _letter_readings(match["parn"], "()")
    if match["half"]:
        return _letter_readings(match["halfn"], match["halfm"])
    if match["dec"]:
        first, *rest = match["decn"].replace(" ", "").split(".")
        head = _numeral(first)
        return (Reading(f"decimal{1 + len(rest)}", (head, *map(int, rest))),) if head is not None else ()
    return _one(*_simple_reading(match))


def _simple_reading(match: re.Match[str]) -> tuple[str, int | None]:
    """Style and value of the forms that count with a single number."""
    if match["dun"]:
        return "zh-list", han_number(match["dunn"])
    if match["zhp"]:
        return "zh-paren", han_number(match["zhpn"])
    if match["art"]:
        return ("article" if match["artw"].lower() == "article" else "part"), _numeral(match["artn"])
    if match["sec"]:
        return "section", _numeral(match["secn"])
    if match["circ"]:
        return "circled", _CIRCLED[match["circ"]]
    value = int(match["onen"])
    style = {")": "number)", "、": "decimal1、"}.get(match["one"].rstrip()[-1:], "decimal1")
    return style, value if 0 < value < 200 else None


def _zh_readings(match: re.Match[str]) -> tuple[Reading, ...]:
    value = han_number(match["zhn"])
    if value is None:
        return ()
    inserted = han_number(match["zhs"]) if match["zhs"] else None
    values = (value,) if inserted is None else (value, inserted)
    style = "zh-subpart" if match["zhu"] == "分编" else _ZH_STYLES[match["zhu"]]
    return (Reading(style, values),)


def _schedule_readings(match: re.Match[str]) -> tuple[Reading, ...]:
    numeral = (match["schedn"] or match["annexn"] or "1").strip('"')
    value = han_number(numeral) or roman_number(numeral) or letter_number(numeral[:1])
    return (Reading("schedule", (value or 1,)),)  # schedules need not come in order


def _letter_readings(token: str, marks: str) -> tuple[Reading, ...]:
    if token.isdigit():
        return _one(f"number{marks}", int(token))
    case = "upper" if token.isupper() else "lower"
    found: list[Reading] = []
    letter, roman = letter_number(token), roman_number(token)
    if letter is not None and (len(token) == 1 or letter <= 52):
        found.append(Reading(f"{case}-letter{marks}", (letter,)))
    if roman is not None and roman <= 60:
        found.append(Reading(f"{case}-roman{marks}", (roman,)))
    return tuple(found)


def _one(style: str, value: int | None) -> tuple[Reading, ...]:
    return () if value is None else (Reading(style, (value,)),)
