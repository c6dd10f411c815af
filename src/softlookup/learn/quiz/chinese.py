"""Chinese numerals: 六千七百万, 一百零五万, 1亿3千万, 三分之一, 百分之五."""

from __future__ import annotations

import re

_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_NUMERAL = re.compile(r"[零一二三四五六七八九两〇十百千万亿点\d.]+")


def chinese_number(text: str) -> tuple[float, str] | None:
    """The value of a Chinese numeral at the start of ``text`` and what follows it; None when there is none.

    >>> chinese_number("六千七百万次乘加")
    (67000000.0, '次乘加')
    """
    if (share := re.match(r"(百|[^分\s]{1,20})分之(.+)", text)) is not None:
        return _share(share[1], share[2])
    match = _NUMERAL.match(text)
    if match is None or not re.search(r"[零一二三四五六七八九两〇十百千万亿]", match.group()):
        return None
    value = _whole(match.group())
    return None if value is None else (value, text[match.end() :])


def _share(below: str, above: str) -> tuple[float, str] | None:
    """三分之一 is one third, 百分之五 is 0.05."""
    bottom, top = 100.0 if below == "百" else _whole(below), _NUMERAL.match(above)
    value = None if top is None else _whole(top.group())
    if bottom is None or not bottom or value is None or top is None:
        return None
    return value / bottom, above[top.end() :]


def _whole(numeral: str) -> float | None:
    """Value of the whole text, or None: sections below 万, then 万, then 亿, each at most once and falling."""
    total, section, digits = 0.0, 0.0, ""
    for character in numeral:
        if character in _SMALL or character in _LARGE:
            number = _digits(digits) if digits else (0.0 if section or character in _LARGE else 1.0)
            if number is None or (character in _LARGE and not (number or section or total)):
                return None
            digits = ""
            if character in _SMALL:
                section += (number or 1.0) * _SMALL[character]
            else:  # 万亿: the sum so far is the section
                section += number
                unit = _LARGE[character]
                total, section = ((total + section) * unit, 0.0) if 0 < total < unit else (total + section * unit, 0.0)
        else:
            digits += character
    last = _digits(digits) if digits else 0.0
    return None if last is None else total + section + last


def _digits(text: str) -> float | None:
    """三点五, 零五, 13, 6.7; None for anything else."""
    plain = "".join("." if each == "点" else str(_DIGITS.get(each, each)) for each in text)
    return float(plain) if re.fullmatch(r"\d+(\.\d+)?", plain, re.ASCII) else None
