"""Grades an answer that somebody typed, and says what a near miss probably was. The text of answers is hostile."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from typing import Literal

from softlookup.learn.quiz.numbers import Amount, parse_amount, parse_amounts
from softlookup.learn.quiz.question import LETTERS, Asked, Counts, Sheet, Text

Verdict = Literal["right", "wrong", "unreadable", "unanswered"]

_PICK = Text("answer with one of the letters {letters}", "请用字母 {letters} 中的一个作答")
_BETWEEN = Text(", ", "、")
_NUMBER = Text(
    "not read as a number: write 1.05M, 1048576, 2^20, 6.7e7 or 3/8",
    "没有读成一个数：可写 1.05M、1048576、2^20、6.7e7、3/8 或六千七百万",
)
_NUMBERS = Text("not read as {count} numbers: write [0.67, 0.33]", "没有读成 {count} 个数：可写 [0.67, 0.33]")
_UNIT = Text("the question asks for {wanted}, the answer is in {given}", "题目问的是 {wanted}，答案的单位是 {given}")
_NAMES = {
    "multiply-adds": Text("multiply-adds", "乘加"),
    "FLOPs": Text("FLOPs", "FLOPs"),
    "bytes": Text("bytes", "字节"),
    "ms": Text("milliseconds", "毫秒"),
    "share": Text("a share", "比例"),
    "": Text("a plain number", "不带单位的数"),
}
_IN_FLOPS = Text("right, in FLOPs: that is half as many multiply-adds", "对，单位是 FLOPs：乘加次数是它的一半")
_IN_MACS = Text("right, in multiply-adds: that is twice as many FLOPs", "对，单位是乘加：FLOPs 是它的两倍")
_FLOPS_NOT_MACS = Text(
    "exactly twice: those are FLOPs; one multiply-add is 2 of them", "恰好是两倍：这是 FLOPs，一次乘加等于 2 FLOPs"
)
_MACS_NOT_FLOPS = Text(
    "exactly half: those are multiply-adds, each of them 2 FLOPs (or one of the two products was left out)",
    "恰好是一半：这是乘加次数，每次乘加是 2 FLOPs（或者漏算了两个乘积中的一个）",
)
_TWICE = Text("exactly twice the right value", "恰好是正确值的两倍")
_HALF = Text("exactly half the right value", "恰好是正确值的一半")
_TENS = Text("off by a factor of 10^{power}: the digits are right", "差了 10^{power} 倍：数字本身对了")
_BINARY = Text("off by {ratio}: GiB taken for GB, or the other way round", "差了 {ratio} 倍：GiB 与 GB 弄混了")
_SIGN = Text("only the sign is wrong", "只有正负号错了")


@dataclass(frozen=True, slots=True)
class Grade:
    """``verdict`` and, where something can be said without giving the answer away, a ``note``."""

    verdict: Verdict
    note: str = ""


def grade(asked: Asked, given: str) -> Grade:
    """Grade what was typed."""
    if not given.strip():
        return Grade("unanswered")
    return _pick(asked, given) if asked.options else grade_number(asked.sheet, given, asked)


def _pick(asked: Asked, given: str) -> Grade:
    letters = LETTERS[: len(asked.options)]
    picked = unicodedata.normalize("NFKC", given).strip().strip("().:。、选 ").upper()
    if picked.isdecimal() and picked.isascii() and 1 <= int(picked[:3]) <= len(letters) and len(picked) < 3:
        picked = letters[int(picked) - 1]
    if len(picked) != 1 or picked not in letters:
        return Grade("unreadable", _PICK.say(asked.language).format(letters=_BETWEEN.say(asked.language).join(letters)))
    return Grade("right" if picked == asked.letter else "wrong")


def grade_number(sheet: Sheet, given: str, asked: Asked) -> Grade:
    """Grade a number, or several, against the sheet's right ones."""
    language = asked.language
    if isinstance(sheet.right, tuple):
        values = parse_amounts(given, len(sheet.right))
        if values is None:
            return Grade("unreadable", _NUMBERS.say(language).format(count=len(sheet.right)))
        good = all(_close(value, right, sheet.tolerance) for value, right in zip(values, sheet.right, strict=True))
        return Grade("right" if good else "wrong")
    amount = parse_amount(given)
    if amount is None or sheet.right is None:
        return Grade("unreadable", _NUMBER.say(language))
    return _compare(sheet, amount, float(sheet.right), asked)


def _compare(sheet: Sheet, amount: Amount, right: float, asked: Asked) -> Grade:
    language, value = asked.language, amount.value
    other_name: dict[Counts, tuple[str, float, Text]] = {
        "multiply-adds": ("FLOPs", 2.0, _IN_FLOPS),
        "FLOPs": ("multiply-adds", 0.5, _IN_MACS),
    }
    if amount.unit and amount.unit != sheet.counts:
        name, ratio, note = other_name.get(sheet.counts, ("", 1.0, _IN_MACS))
        if amount.unit != name:
            wanted, came = (_NAMES[each].say(language) for each in (sheet.counts, amount.unit))
            return Grade("wrong", _UNIT.say(language).format(wanted=wanted, given=came))
        if _close(value, ratio * right, sheet.tolerance):
            return Grade("right", note.say(language))
        return Grade("wrong")
    if _close(value, right, sheet.tolerance):
        return Grade("right")
    return Grade("wrong", near_miss(value, right, sheet).say(language))


def near_miss(value: float, right: float, sheet: Sheet) -> Text:
    """What a wrong number probably was; empty when nothing can be said."""
    narrow = min(sheet.tolerance or 1e-9, 0.01)
    if not right or not value:
        return Text("", "")
    ratio = value / right
    if ratio < 0:
        return _SIGN if _close(-value, right, narrow) else Text("", "")
    for factor, said in ((2.0, _twice(sheet)), (0.5, _half(sheet))):
        if _close(ratio, factor, narrow):
            return said
    power = round(math.log10(ratio))
    if power and _close(ratio, 10.0**power, narrow):
        return Text(_TENS.en.format(power=power), _TENS.zh.format(power=power))
    for step in (1.024, 1.024**2, 1.024**3, 1.024**4):
        if sheet.counts == "bytes" and (_close(ratio, step, 0.002) or _close(ratio, 1 / step, 0.002)):
            return Text(_BINARY.en.format(ratio=f"{step:.3f}"), _BINARY.zh.format(ratio=f"{step:.3f}"))
    return Text("", "")


def _twice(sheet: Sheet) -> Text:
    return _FLOPS_NOT_MACS if sheet.counts == "multiply-adds" else _TWICE


def _half(sheet: Sheet) -> Text:
    return _MACS_NOT_FLOPS if sheet.counts == "FLOPs" else _HALF


def _close(value: float, right: float, tolerance: float) -> bool:
    """Within the relative tolerance, or equal but for the rounding of a typed number."""
    return math.isfinite(value) and abs(value - right) <= max(tolerance, 1e-9) * abs(right) + 1e-12
