"""Which lesson teaches what; the one place to change when lessons move."""

from __future__ import annotations

LOOKUP = 1
SCALE = 2
MASKS = 3
SHAPES = 4
TILES = 5
COST = 6
CACHE = 7
RANK = 8
SCORING = 9
READING = 10
WRONG = 11

LESSONS = tuple(range(1, 12))
