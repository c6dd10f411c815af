"""A contract of lists that wander: levels, instances and overrides drawn by chance, the same every time.

It finds what nobody thought of: skipped levels under overrides, instances that take turns on one counter. Not for
features that LibreOffice 7.4 lacks.
"""

from __future__ import annotations

import random

from .numbering_draft import Draft, NumberingContract, level, level_override, start_override

_FORMATS = ("decimal", "lowerLetter", "lowerRoman", "upperRoman", "upperLetter", "decimalZero")


def wandering_lists(seed: int = 20260105, lists: int = 16, length: int = 12) -> NumberingContract:
    """Catalogue of parcels with ``lists`` lists of ``length`` numbered paragraphs each."""
    source = random.Random(seed)
    draft = Draft("catalogue of wandering lists")
    for _ in range(lists):
        depth = source.randint(2, 5)
        abstract = draft.abstract(*(_level(source, index) for index in range(depth)))
        numbers = [draft.num(abstract)]
        for _ in range(source.randint(0, 3)):
            overrides = [
                start_override(index, source.choice((1, 1, 2, 5, 12)))
                for index in range(depth)
                if source.random() < 0.5
            ]
            if source.random() < 0.2:
                overrides = [level_override(0, _level(source, 0))]
            numbers.append(draft.num(abstract, *overrides))
        for _ in range(length):
            index = min(source.choice((0, 0, 0, 1, 1, 1, 2, 2, 3, 4)), depth - 1)
            draft.item(source.choice(numbers), index, "parcel", f"level {index} of {depth}")
    return draft.finish()


def _level(source: random.Random, index: int) -> str:
    parents = ".".join(f"%{place + 1}" for place in range(index + 1))
    text = source.choice((parents, parents + ".", f"({index}-%{index + 1})", f"Item %{index + 1}"))
    return level(index, source.choice(_FORMATS), text, start=source.choice((1, 1, 1, 1, 3, 7)))
