"""Whether what a cell printed or drew is what the page shows, on this machine or on another."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

_Close = Callable[[str, str], bool]
# a number with its sign, thousands, decimals and exponent
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
_SPACE = re.compile(r"[ \t─-]+")
# float32 sums depend on the processor's vector width: the last printed digit may turn
_UNITS = 1.0
# seconds and bytes of another machine
_MEASURED_FACTOR = 5.0
# SVG units that a point may move by a turned digit: nobody sees it
_DRAWN = 3.0


def same_output(page: str, printed: str, *, measured: bool = False) -> bool:
    """Whether the words agree, and each number up to the last digits (``measured``: up to a factor of 5)."""
    return page == printed or _alike(page, printed, _close_measured if measured else _close_printed)


def same_figure(page: str, drawn: str) -> bool:
    """Whether two SVG texts differ in nothing but coordinates and values by an amount that nobody sees."""
    return page == drawn or _alike(page, drawn, _close_drawn)


def _alike(page: str, other: str, close: _Close) -> bool:
    numbers, others = _NUMBER.findall(page), _NUMBER.findall(other)
    # columns move when a number gets longer: spaces and rules between words are one space
    words, other_words = (_SPACE.sub(" ", _NUMBER.sub("#", text)) for text in (page, other))
    return words == other_words and len(numbers) == len(others) and all(map(close, numbers, others))


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _last_digit(text: str) -> float:
    """What one unit of the last printed digit is worth."""
    mantissa, _, exponent = text.lower().replace(",", "").partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(10.0 ** (int(exponent or 0) - decimals))


def _close_printed(page: str, printed: str) -> bool:
    if re.fullmatch(r"[-+]?[\d,]+", page):  # a count is a count
        return page == printed
    return abs(_value(page) - _value(printed)) <= _UNITS * _last_digit(page) * (1 + 1e-9)


def _close_measured(page: str, printed: str) -> bool:
    expected, value = _value(page), _value(printed)
    if expected == 0 or value == 0 or (expected < 0) != (value < 0):
        return abs(expected - value) <= 1
    return 1 / _MEASURED_FACTOR <= value / expected <= _MEASURED_FACTOR


def _close_drawn(page: str, drawn: str) -> bool:
    expected, value = _value(page), _value(drawn)
    return abs(expected - value) <= max(_DRAWN if abs(expected) > 1 else 0.02, 0.02 * abs(expected))


class _Blanked(ast.NodeTransformer):
    """Strings as empty ones; of an f-string only what it formats, in any order."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = (self.visit(part.value) for part in node.values if isinstance(part, ast.FormattedValue))
        return ast.Tuple(sorted(values, key=ast.dump), ast.Load())


def same_code(one: str, other: str) -> bool:
    """Whether two cells differ in strings and comments only: the languages of a lesson run the same code."""
    first, second = (ast.dump(_Blanked().visit(ast.parse(code))) for code in (one, other))
    return first == second
