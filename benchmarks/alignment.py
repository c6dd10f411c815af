"""Where offsets of a file's plain text lie in the text that was read: some readers leave lines out or join them.

Word by word; what a reader left out (page marks, other members of a submission) is skipped. Not for texts whose
words come in another order.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_AHEAD = 60_000  # words of the file that may be left out in one piece
_SURE = 4  # words that must agree to go on after a gap


class Alignment:
    """Maps offsets of ``original`` to offsets of ``read``; the words of ``read`` are some of ``original``."""

    def __init__(self, original: str, read: str) -> None:
        self._same = original == read
        self._from: list[int] = []
        self._to: list[int] = []
        if not self._same:
            self._align(_words(original), _words(read))

    def _align(self, original: list[tuple[str, int]], read: list[tuple[str, int]]) -> None:
        runs: dict[tuple[str, ...], list[int]] = {}
        for at in range(len(original) - _SURE + 1):
            runs.setdefault(tuple(word for word, _ in original[at : at + _SURE]), []).append(at)
        at = 0
        for place, (word, offset) in enumerate(read):
            if at >= len(original) or original[at][0] != word:
                following = tuple(w for w, _ in read[place : place + _SURE])
                later = runs.get(following, [])
                next_one = bisect_right(later, at - 1)
                if next_one == len(later) or later[next_one] - at > _AHEAD:
                    continue
                at = later[next_one]
            self._from.append(original[at][1])
            self._to.append(offset)
            at += 1

    def offset(self, original: int) -> int | None:
        """Offset in the text read; None when the word there was left out."""
        if self._same:
            return original
        at = bisect_right(self._from, original) - 1
        return self._to[at] + original - self._from[at] if at >= 0 and original - self._from[at] < 200 else None

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """``[start, end)`` in the text read; None when the words at its ends were left out."""
        begin, stop = self.offset(start), self.offset(end - 1)
        return None if begin is None or stop is None or stop < begin else (begin, stop + 1)


def _words(text: str) -> list[tuple[str, int]]:
    return [
        (match.group(), match.start()) for match in re.finditer(r"[^\s\ufeff]+", text)
    ]  # a byte order mark is no letter
