"""Strings made from the structure of a regular expression that make a backtracking matcher slow, if anything does.

For every repetition of a pattern: what leads to it, its unit many times, and an end that does not match. Not a proof:
lookarounds count as empty. Used by ``test_regex_growth.py``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from re import _constants as op
from re import _parser as parser

_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_LONG = 25  # a repetition up to this many times is no danger
_ALPHABET = " \t\n\u3000aAbzZ09xiIvVsS.,;:()[]<>\"“”'-_*#|/第一条款项、（）《》是指é"
_CATEGORIES = {
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    op.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    op.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}
ENDS = ("", "\0", "x", "\n!")


def attacks(pattern: re.Pattern[str], source: random.Random) -> Iterator[tuple[str, str]]:
    """(prefix, unit) pairs: ``prefix + unit * n + end`` for one of ``ENDS`` is an attack of length n."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    yield from dict.fromkeys(_attacks(list(tree), "", source))


def _attacks(items: list, prefix: str, source: random.Random) -> Iterator[tuple[str, str]]:
    for code, argument in items:
        if code in _REPEATS:
            _, most, inner = argument
            if most >= _LONG:
                for _ in range(3):
                    yield prefix, _sample(list(inner), source) or " "
                for blank in " \t":
                    if all(_matches(item, blank) for item in inner):
                        yield prefix, blank
            yield from _attacks(list(inner), prefix, source)
        elif code is op.SUBPATTERN:
            yield from _attacks(list(argument[3]), prefix, source)
        elif code is op.ATOMIC_GROUP:
            yield from _attacks(list(argument), prefix, source)
        elif code is op.BRANCH:
            for branch in argument[1]:
                yield from _attacks(list(branch), prefix, source)
        prefix += _sample([(code, argument)], source)


def _sample(items: list, source: random.Random) -> str:
    return "".join(_one(code, argument, source) for code, argument in items)


def _one(code: object, argument, source: random.Random) -> str:
    if code is op.LITERAL:
        return chr(argument)
    if code in _REPEATS:
        least, most, inner = argument
        count = min(most, least + source.choice((0, 0, 1)))
        return "".join(_sample(list(inner), source) for _ in range(min(count, 40)))
    if code is op.SUBPATTERN:
        return _sample(list(argument[3]), source)
    if code is op.ATOMIC_GROUP:
        return _sample(list(argument), source)
    if code is op.BRANCH:
        return _sample(list(source.choice(argument[1])), source)
    if code in (op.IN, op.ANY, op.NOT_LITERAL):
        fitting = [c for c in _ALPHABET if _matches((code, argument), c)]
        if not fitting and code is op.IN:  # a class of rare characters
            first = next((a for c, a in argument if c in (op.LITERAL, op.RANGE)), 120)
            return chr(first if isinstance(first, int) else first[0])
        return source.choice(fitting)
    return ""


def _matches(item: tuple, character: str) -> bool:
    code, argument = item
    point = ord(character)
    if code is op.ANY:
        return character != "\n"
    if code is op.NOT_LITERAL:
        return point != argument
    if code is op.LITERAL:
        return point == argument
    if code is not op.IN:
        return False
    negated = bool(argument) and argument[0][0] is op.NEGATE
    found = any(
        (c is op.LITERAL and a == point)
        or (c is op.RANGE and a[0] <= point <= a[1])
        or (c is op.CATEGORY and _CATEGORIES[a](character))
        for c, a in argument
    )
    return found != negated
