"""Numbers as people type them: 1.05M, 2^20, 6.7e7, 1.34×10^8, 六千七百万, 3/8, 51.5 GB, [0.67, 0.33].

Reads hostile text: nothing is evaluated, lengths and exponents are bounded, what is not a number gives None.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass

from softlookup.learn.quiz.chinese import chinese_number

_MOST_CHARACTERS = 200
_PREFIXES = {
    "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30, "ti": 2.0**40,
    "thousand": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12,
    "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
}  # fmt: skip
# unit as typed: what it counts, times what
_UNITS = {
    "flop": ("FLOPs", 1.0), "flops": ("FLOPs", 1.0), "浮点运算": ("FLOPs", 1.0), "次浮点运算": ("FLOPs", 1.0),
    "mac": ("multiply-adds", 1.0), "macs": ("multiply-adds", 1.0), "multiply-add": ("multiply-adds", 1.0),
    "multiply-adds": ("multiply-adds", 1.0), "乘加": ("multiply-adds", 1.0), "次乘加": ("multiply-adds", 1.0),
    "b": ("bytes", 1.0), "byte": ("bytes", 1.0), "bytes": ("bytes", 1.0), "字节": ("bytes", 1.0),
    "bit": ("bytes", 0.125), "bits": ("bytes", 0.125),
    "ms": ("ms", 1.0),
    "毫秒": ("ms", 1.0), "s": ("ms", 1e3), "秒": ("ms", 1e3), "us": ("ms", 1e-3), "%": ("share", 0.01),
    "elements": ("", 1.0), "numbers": ("", 1.0), "tokens": ("", 1.0), "token": ("", 1.0), "keys": ("", 1.0),
    "pairs": ("", 1.0), "times": ("", 1.0), "nats": ("", 1.0), "weights": ("", 1.0), "x": ("", 1.0),
    "个": ("", 1.0), "个元素": ("", 1.0), "元素": ("", 1.0), "次": ("", 1.0), "倍": ("", 1.0),
    "个数": ("", 1.0), "对": ("", 1.0),
}  # fmt: skip
_FACTOR = re.compile(
    r"(?:(?P<root>sqrt|√)\s*\(?\s*(?P<under>\d+(?:\.\d+)?)\s*\)?"
    r"|(?P<number>[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d[\d_]*(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,4})?)"
    r"(?:\s*(?:\^|\*\*)\s*\(?(?P<power>[+-]?\d{1,4}(?:\.\d{1,4})?)\)?)?)"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """``value`` in what was typed; ``unit``: what it says to count ("" when it says nothing)."""

    value: float
    unit: str = ""


def parse_amount(text: str) -> Amount | None:
    """One number with an optional unit, or None.

    >>> parse_amount("1.34×10^8 FLOPs")
    Amount(value=134000000.0, unit='FLOPs')
    """
    if len(text) > _MOST_CHARACTERS:
        return None
    plain = re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "", _plain(text))  # 1 048 576
    if (chinese := chinese_number(plain)) is not None:
        return _amount(*chinese)
    try:
        value, end = _product(plain)
    except (OverflowError, ZeroDivisionError):
        return None
    return None if value is None else _amount(value, plain[end:])


def parse_amounts(text: str, count: int) -> tuple[float, ...] | None:
    """``count`` numbers: a vector, or a matrix row by row, with any brackets; None when it is not that."""
    if len(text) > 10 * _MOST_CHARACTERS:
        return None
    parts = [part for part in re.split(r"[\s,;、]+", re.sub(r"[\[\](){}|]", " ", _plain(text))) if part]
    if len(parts) != count:
        return None
    amounts = [parse_amount(part) for part in parts]
    return None if any(each is None for each in amounts) else tuple(each.value for each in amounts if each is not None)


def _plain(text: str) -> str:
    """Compatibility forms made plain, superscripts written out, signs of multiplication and minus unified."""
    raised = re.sub(r"[⁺⁻]?[⁰¹²³⁴-⁹]+", lambda match: "^" + unicodedata.normalize("NFKC", match.group()), text)
    plain = unicodedata.normalize("NFKC", raised).strip().lower().removesuffix("。")
    for sign, meant in (
        ("×", "*"),
        ("·", "*"),
        ("−", "-"),
        ("–", "-"),
        ("÷", "/"),
        ("≈", ""),
        ("~", ""),
        ("大约", ""),
        ("约", ""),
    ):
        plain = plain.replace(sign, meant)
    return re.sub(r"(?<=[\d.])\s*x\s*(?=[\d.])", "*", plain).removeprefix("=").strip()


def _product(text: str) -> tuple[float | None, int]:
    """Factors joined by * and /, and where they end."""
    match = _FACTOR.match(text)
    if match is None:
        return None, 0
    value, end = _factor(match), match.end()
    while (sign := re.compile(r"\s*([*/])\s*").match(text, end)) is not None:
        match = _FACTOR.match(text, sign.end())
        if match is None:
            return None, 0
        factor = _factor(match)
        value, end = (value * factor if sign.group(1) == "*" else value / factor), match.end()
    return (value if math.isfinite(value) else None), end


def _factor(match: re.Match[str]) -> float:
    if match["root"]:
        return math.sqrt(float(match["under"]))
    base = float(match["number"].replace(",", "").replace("_", ""))
    if match["power"] is None:
        return base
    value = base ** float(match["power"])
    if isinstance(value, complex):
        raise OverflowError("a root of a negative number")
    return float(value)


def _amount(value: float, tail: str) -> Amount | None:
    """The value with the prefix and the unit in ``tail``; None for words that are neither."""
    tail = tail.strip().rstrip("./")
    if tail in _UNITS:
        unit, factor = _UNITS[tail]
        return Amount(value * factor, unit)
    for size in range(len(tail), -1, -1):  # the longest prefix that leaves a unit
        prefix, rest = tail[:size].strip(), tail[size:].strip()
        if (prefix in _PREFIXES or not prefix) and (rest in _UNITS or not rest):
            unit, factor = _UNITS.get(rest, ("", 1.0))
            return Amount(value * factor * _PREFIXES.get(prefix, 1.0), unit)
    return None
