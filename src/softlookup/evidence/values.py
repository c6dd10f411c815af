"""Numbers and dates in a text, in one canonical form each, to check that an answer invents none.

Canonical: digits without separators ("2,500,000" -> "2500000", "12.50" -> "12.5"), number words and
Chinese numerals as digits ("thirty" -> "30", "三十" -> "30"); units and percent signs are not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january|jan", "february|feb", "march|mar", "april|apr", "may", "june|jun", "july|jul", "august|aug",
            "september|sep|sept", "october|oct", "november|nov", "december|dec",
        ),
        1,
    )
    for name in names.split("|")
}  # fmt: skip
_HAN = {
    c: n
    for n, cs in enumerate(("零〇○", "一壹", "二贰两", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖"))
    for c in cs
}
_HAN_SCALES = {
    "十": 10,
    "拾": 10,
    "百": 100,
    "佰": 100,
    "千": 1_000,
    "仟": 1_000,
    "万": 10_000,
    "亿": 100_000_000,
}
# "1." or "2)" at the start of a line, and "1.1" before a capital: numbers of a list, not of a contract
_LIST_LABEL = re.compile(r"(?m)^[ \t]*(?:\(?\d{1,2}[.)](?=\s|$)|\d(?:\.\d){1,3}\.?(?=\s+[A-Z\u4e00-\u9fff]))")
_FULL_WIDTH = str.maketrans("０１２３４５６７８９．，％", "0123456789.,%")

_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
# "2.5 million", "3,600万": digits and a scale are one number
_SCALED = re.compile(
    # begins no later than its digits do, and gives none back: a line of digits is looked at once
    rf"(?<!\d)(?<!\d[.,])(\d{{1,3}}(?:,\d{{3}})++(?:\.\d++)?|\d++(?:\.\d++)?)\s?(?:({'|'.join(_SCALES)})\b|([万亿]))",
    re.IGNORECASE,
)
_NUMBER_WORDS = "|".join((*_WORDS, *_SCALES))
_WORD_NUMBER = re.compile(rf"\b(?:{_NUMBER_WORDS})(?:[-\s]+(?:and\s+)?(?:{_NUMBER_WORDS}))*\b", re.IGNORECASE)
_HAN_NUMBER = re.compile(f"[{''.join(_HAN)}{''.join(_HAN_SCALES)}]+")
_MONTH_DATE = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+)?({'|'.join(_MONTHS)})\b\.?(?:\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?",
    re.IGNORECASE,
)


def values_in(text: str) -> frozenset[str]:
    """Canonical numbers in ``text``; the month of a written date counts as its name ("march")."""
    return frozenset(_values(text, alone=False))


def as_written(text: str, values: Iterable[str]) -> tuple[str, ...]:
    """Canonical ``values`` as ``text`` writes them ("95万" for 950000), in their order; unchanged where it does not."""
    written = _values(text, alone=True)
    return tuple(written.get(value, value) for value in values)


def _values(text: str, *, alone: bool) -> dict[str, str]:
    """Canonical number -> how it is written, the first time.

    ``alone``: count "one", 一 and 十 that stand alone too, which are seldom, but sometimes, numbers.
    """
    text = text.translate(_FULL_WIDTH)
    found: dict[str, str] = {}
    for match in _SCALED.finditer(text):
        found.setdefault(_scaled(match), match.group())
    if not alone:  # of a source the bare digits count too: an answer may leave out the scale
        text = _SCALED.sub(" ", text)
    for match in _DIGITS.finditer(text):
        found.setdefault(_canonical(match.group()), match.group())
    for match in _WORD_NUMBER.finditer(text):
        if (value := _from_words(match.group(), alone)) is not None:
            found.setdefault(str(value), match.group())
    for match in _HAN_NUMBER.finditer(text):
        if (value := _from_han(match.group(), alone)) is not None:
            found.setdefault(str(value), match.group())
    for match in _MONTH_DATE.finditer(text):
        if match.group(1) or match.group(3):  # "may" alone is a verb
            found.setdefault(f"month {_MONTHS[match.group(2).lower()]}", match.group())
    return found


def values_spelled(text: str) -> frozenset[str]:
    """The same with "one", 一 and 十 that stand alone: everything that can support a number, as in a source."""
    return frozenset(_values(text, alone=True))


def unsupported_values(answer: str, passages: list[str]) -> tuple[str, ...]:
    """Canonical numbers of ``answer`` that occur in none of ``passages``, sorted; list numbers do not count."""
    known = frozenset().union(*(values_spelled(passage) for passage in passages)) if passages else frozenset()
    return tuple(sorted(values_in(_LIST_LABEL.sub(" ", answer)) - known))


def _scaled(match: re.Match[str]) -> str:
    scale = _SCALES[match.group(2).lower()] if match.group(2) else _HAN_SCALES[match.group(3)]
    return _canonical(f"{Decimal(match.group(1).replace(',', '')) * scale:f}")


def _canonical(digits: str) -> str:
    digits = digits.replace(",", "")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return digits.lstrip("0") or "0"


def _from_words(phrase: str, alone: bool) -> int | None:
    total = current = 0
    words = [word for word in re.split(r"[-\s]+", phrase.lower()) if word != "and"]
    if words == ["one"] and not alone:  # usually a pronoun
        return None
    for word in words:
        if word in _WORDS:
            current += _WORDS[word]
        elif word == "hundred":
            current = max(1, current) * 100
        else:
            total += max(1, current) * _SCALES[word]
            current = 0
    return total + current


def _from_han(numeral: str, alone: bool) -> int | None:
    if len(numeral) == 1 and numeral in "一十百千万亿两" and not alone:  # "一方", "百分之"
        return None
    if not any(character in _HAN_SCALES for character in numeral):
        return int("".join(str(_HAN[character]) for character in numeral))
    total = section = digit = 0
    for character in numeral:
        if character in _HAN:
            digit = _HAN[character]
        elif _HAN_SCALES[character] >= 10_000:
            scale, units = _HAN_SCALES[character], section + digit
            if scale > total:  # 一万亿: the larger unit multiplies all before it
                total = (total + units or 1) * scale
            else:  # 一亿二千万: the smaller one only what follows the larger
                total += units * scale
            section = digit = 0
        else:
            section += max(1, digit) * _HAN_SCALES[character]
            digit = 0
    return total + section + digit
