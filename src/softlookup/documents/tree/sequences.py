"""Chooses, among candidate labels of one style, those that continue a running sequence; knows no text.

A dynamic programme over the candidates in order: a chain earns the strength of its members, pays to start
anew and pays for gaps. So "Section 4.2" wrapped to the start of a line inside clause 9 stays out, while a
list that restarts in every clause is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_RESTART = 1.7  # starting at 1, a, i or 一
_RESTART_ELSEWHERE = 3.4  # starting in the middle, as an extract or a statute book does
_ALONE = 1.9  # the same for a label that needs no neighbour to be believed
_NEEDS_NO_NEIGHBOUR = 2.0
_RETURN = 1.3  # going on with an earlier list after one inside it
_SUCCESSOR = 0.6
_GAP = 0.7
_JUMP = -1.2  # a larger gap, however large: clauses were left out, or their labels are not known


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate as the sequence sees it: its ``values``, ``strength`` and the key of its caller."""

    key: int
    values: tuple[int, ...]
    strength: float
    may_jump: bool = True  # False for letters: "ii" is no 35th item after "b"
    boundary: int = 0  # chains do not run across a change of boundary (0 everywhere: they may)


def accept(items: Sequence[Item]) -> list[list[int]]:
    """Runs of keys that form the best chain, in order; each run starts a sequence anew."""
    best: list[float] = []
    back: list[tuple[int, bool]] = []  # (index of the previous item or -1, a new run starts here)
    ending: dict[tuple[int, tuple[int, ...]], int] = {}  # (boundary, prefix) -> item with the best chain
    exact: dict[tuple[int, tuple[int, ...]], int] = {}  # the same for the value itself
    tails: dict[tuple[int, tuple[int, ...]], int] = {}  # (boundary, stem) -> item below the stem with the best chain
    total, total_at = 0.0, -1
    for index, item in enumerate(items):
        opens = item.values[-1:] == (1,) or (item.values[-1:] == (0,) and len(item.values) > 1)
        is_first = opens and all(v <= 2 for v in item.values[:1])
        before = (item.boundary, (*item.values[:-1], item.values[-1] - 1))
        cost = _RESTART if is_first else (_RETURN if before in exact and len(item.values) == 1 else _elsewhere(item))
        score = total - cost
        previous, starts = total_at, True
        for prefix, reward, exactly in _predecessors(item.values):
            at = (exact if exactly else ending).get((item.boundary, prefix))
            if at is not None and best[at] + reward > score:
                score, previous, starts = best[at] + reward, at, False
        behind = tails.get((item.boundary, stem := item.values[:-1]))
        if (
            item.may_jump
            and behind is not None
            and items[behind].values[len(stem)] < item.values[-1]
            and best[behind] + _JUMP > score
        ):
            score, previous, starts = best[behind] + _JUMP, behind, False
        score += item.strength
        best.append(score)
        back.append((previous, starts))
        for length in range(1, len(item.values) + 1):
            slot = (item.boundary, item.values[:length])
            if slot not in ending or best[ending[slot]] <= score:
                ending[slot] = index
        slot = (item.boundary, item.values)
        if slot not in exact or best[exact[slot]] <= score:
            exact[slot] = index
        for length in range(len(item.values)):
            slot = (item.boundary, item.values[:length])
            if slot not in tails or best[tails[slot]] <= score:
                tails[slot] = index
        if score > total:
            total, total_at = score, index
    return _runs(items, back, total_at)


def _elsewhere(item: Item) -> float:
    return _ALONE if item.strength >= _NEEDS_NO_NEIGHBOUR else _RESTART_ELSEWHERE


def _predecessors(values: tuple[int, ...]) -> list[tuple[tuple[int, ...], float, bool]]:
    """(value or prefix before, reward, must match exactly) for every way to continue towards ``values``."""
    *head, last = values
    stem = tuple(head)
    found = [((*stem, last - gap), _SUCCESSOR - _GAP * (gap - 1), False) for gap in (1, 2, 3, 4) if last > gap]
    for depth in range(1, len(values)):
        # first of a new parent: 5.1 after 5 or after 4.x; a label missing in between costs a little
        parent, rest = values[:depth], values[depth:]
        reward = _SUCCESSOR - _GAP * (sum(rest) - len(rest))
        if reward <= -3.0:
            continue
        found.append((parent, reward, True))
        stem = parent[:-1]
        gaps = (gap for gap in (1, 2, 3) if parent[-1] > gap)
        found.extend(((*stem, parent[-1] - gap), reward - 0.1 - 0.4 * (gap - 1), False) for gap in gaps)
    return found


def _runs(items: Sequence[Item], back: list[tuple[int, bool]], last: int) -> list[list[int]]:
    runs: list[list[int]] = []
    current: list[int] = []
    while last >= 0:
        current.append(items[last].key)
        last, starts = back[last]
        if starts:
            runs.append(current[::-1])
            current = []
    return runs[::-1]
