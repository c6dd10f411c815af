"""Words cut at a line end: decides whether the hyphen belongs to the word; knows no layout.

The document itself tells: a hyphen goes when the joined word stands elsewhere, it stays when the compound does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

CUT = "\ufffe"  # what pdfium makes of a hyphen at a line end
SOFT = "\u00ad"
MARKS = (CUT, SOFT)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+){0,5}\Z")
_FIRST = re.compile(r"[^\W\d_]+")
_TAIL = 60  # characters of a line that are looked at


class Hyphens:
    """Decides for the lines of one document."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self._counts: Counter[str] | None = None

    @property
    def _words(self) -> Counter[str]:
        if self._counts is None:
            counts: Counter[str] = Counter()
            for line in self._lines:
                body = line.rstrip("-" + CUT + SOFT) if line.endswith((*MARKS, "-")) else line
                words = _WORD.findall(body)
                if body is not line and words:
                    words.pop()  # half a word
                for word in words:
                    counts[word.casefold()] += 1
            self._counts = counts
        return self._counts

    def join(self, head: str, text: str) -> tuple[int, str] | None:
        """How the line ``text`` continues ``head``, the line before it, when that ends in a hyphen.

        (characters to take off ``head``, what stands in their place), or None when there is no word to join.
        """
        if not head.endswith((*MARKS, "-")) or len(head) < 2 or not head[-2].isalnum() or not text[:1].isalnum():
            return None
        left, right = _LAST.search(head[-_TAIL:-1]), _FIRST.match(text)
        if left is None or right is None:  # "2019-" and "2020", "COVID-" and "19"
            return 1, "-"
        first = left[0].rpartition("-")[2].casefold()
        second = right[0].casefold()
        joined = self._words[first + second]
        compound = self._words[f"{first}-{second}"]
        if joined or compound:
            return 1, "-" if compound > joined else ""
        if right[0][0].isupper() or "-" in left[0]:
            return 1, "-"
        both_are_words = self._words[first] > 0 and self._words[second] > 0
        return 1, "-" if both_are_words else ""
