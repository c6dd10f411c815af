"""Which lesson teaches what; the one place to change when lessons move."""

from __future__ import annotations

LOOKUP = 1
SCALE = 2
MASKS = 3
HEADS = 4
TILES = 5
COST = 6
CACHE = 7
POSITIONS = 8
FAULTS = 9
EVIDENCE = 10
ACCOUNT = 11

LESSONS = tuple(range(1, 12))
