"""One claim of the course page, and how its verdict follows from what is computed; holds no claims itself.

A verdict is never written down: :func:`settle` computes a row and compares. Only the words of the page's number are
given, and their digits say how exactly they are meant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cache


class Verdict(StrEnum):
    """What the comparison says; FACTOR and CONVENTION come with the factor page / ours where it is not 1."""

    RIGHT = "right"
    ONE_LAYER = "right for one layer"
    MHA_ONLY = "right for MHA only"
    FACTOR = "wrong by a factor"
    CONVENTION = "convention"
    MISLEADING = "right but misleading"
    NOT_TRUE = "not true as stated"


@dataclass(frozen=True, slots=True)
class Fact:
    """A claim in words: whether it ``holds``, and what was seen, in both languages."""

    holds: bool
    en: str
    zh: str


Value = float | tuple[float, ...] | str | Fact


@dataclass(frozen=True, slots=True)
class Reading:
    """The same claim read another way.

    ONE_LAYER, MHA_ONLY, MISLEADING: the way in which it no longer holds. CONVENTION: either that, or the way in which
    a claim that does not hold would.
    """

    verdict: Verdict
    compute: Callable[[], Value]
    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One number or checkable claim. ``where``: section of the page ("0" to "11", "head", "quiz").

    ``page``: the claimed value as decimal digits in ``unit`` ("5.5e11"), several for a vector, words for a shape;
    None for a claim that is said to hold (``compute`` gives a :class:`Fact`). ``on_page``: the numerals of that
    section that this row covers, each as often as it covers it. ``why``: one line; {ours}, {other} and {factor} are
    filled in, and {0}, {1}, ... by ``facts``. ``tolerance``: allowed difference, half a unit of the last digit
    unless given. ``command``: where another command shows the same. ``needs_model``: runs the embedded model.
    """

    id: str
    where: str
    claim_en: str
    claim_zh: str
    page: str | tuple[str, ...] | None
    unit: str
    compute: Callable[[], Value]
    why_en: str
    why_zh: str
    reading: Reading | None = None
    facts: tuple[Callable[[], float], ...] = ()
    tolerance: float | None = None
    on_page: str = ""
    command: str = ""
    needs_model: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """``value`` is what softlookup computes, ``other`` that of the row's reading; ``factor`` = page / value."""

    value: Value
    other: Value | None
    verdict: Verdict
    factor: float | None
    facts: tuple[float, ...] = ()


@cache
def settle(row: AuditRow) -> Outcome:
    """Compute ``row`` and compare it with the page: the only place where a verdict is made."""
    value = row.compute()
    other = None if row.reading is None else row.reading.compute()
    facts = tuple(fact() for fact in row.facts)
    verdict = _verdict(row, matches(row, value), None if other is None else matches(row, other))
    factor = None if matches(row, value) else _factor(row, value)
    if verdict is Verdict.FACTOR and factor is None:
        verdict = Verdict.NOT_TRUE
    return Outcome(value, other, verdict, factor, facts)


def _verdict(row: AuditRow, holds: bool, holds_otherwise: bool | None) -> Verdict:
    reading = row.reading
    if holds:
        qualified = reading is not None and not holds_otherwise
        return reading.verdict if reading is not None and qualified else Verdict.RIGHT
    if reading is not None and reading.verdict is Verdict.CONVENTION and holds_otherwise:
        return Verdict.CONVENTION
    return Verdict.NOT_TRUE if row.page is None else Verdict.FACTOR


def matches(row: AuditRow, value: Value) -> bool:
    """Whether ``value`` is what the page says, to the digits that it prints."""
    if isinstance(value, Fact):
        return value.holds
    if row.page is None:
        raise TypeError(f"the row {row.id} claims no value: its computation must give a Fact")
    if isinstance(value, str):
        return value == row.page
    claimed, found = _numerals(row.page), value if isinstance(value, tuple) else (value,)
    if len(claimed) != len(found):
        return False
    return all(_close(row, text, number) for text, number in zip(claimed, found, strict=True))


def _numerals(page: str | tuple[str, ...]) -> tuple[str, ...]:
    return (page,) if isinstance(page, str) else page


def _close(row: AuditRow, text: str, number: float) -> bool:
    allowed = half_unit(text) if row.tolerance is None else row.tolerance
    # what lies just at the edge was rounded the one way or the other
    return math.isfinite(number) and abs(number - float(text)) <= allowed * (1 + 1e-9)


def half_unit(text: str) -> float:
    """Half a unit of the last printed digit.

    >>> half_unit("8.0e15"), half_unit("17"), half_unit("0.881")
    (50000000000000.0, 0.5, 0.0005)
    """
    exponent = Decimal(text).as_tuple().exponent
    if not isinstance(exponent, int):
        raise TypeError(f"{text} is no finite number")
    return 0.5 * 10.0**exponent


def _factor(row: AuditRow, value: Value) -> float | None:
    """Page / ours; None where that says nothing."""
    if not isinstance(row.page, str) or isinstance(value, Fact | str | tuple):
        return None
    page = float(row.page)
    return page / value if value and page and math.isfinite(value) else None
