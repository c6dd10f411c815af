"""How far lines are apart on their pages, against what is usual in the document; decides nothing."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

from softlookup.documents.readers.pdf.footnotes import usual_size
from softlookup.documents.readers.pdf.lines import Line, Page

_LEAST, _MOST = 4.0, 60.0  # points; what else two lines are apart is not the spacing of a text
_USUAL = 0.9  # of the lines are no further from the next
_CLEAR = 1.15  # times that is clearly further,
_ROOM = 2.0  # and so many points: letters below the line
_ROW = 2.0  # points; baselines of one row

Place = tuple[int, int]


class Gaps:
    """Distances between neighbouring lines; ``size`` is the font size of the body."""

    def __init__(self, pages: Sequence[Page], without: Collection[Place] = ()) -> None:
        """``without``: lines that are perhaps none of the body, whose distances do not count as usual."""
        self.size = usual_size(pages)
        self._rows = {page.number: _from_the_top(page) for page in pages}
        self._lines = {page.number: page.lines for page in pages}
        found: list[float] = []
        for number, order in self._rows.items():
            for above, below in itertools.pairwise(order):
                gap = self._lines[number][above].bottom - self._lines[number][below].bottom
                if _LEAST < gap < _MOST and (number, above) not in without and (number, below) not in without:
                    found.append(gap)
        found.sort()
        usual = found[int(_USUAL * (len(found) - 1))] if found else 0.0
        self._clear = _CLEAR * usual + _ROOM

    def is_apart(self, place: Place, beside: Collection[Place], *, is_header: bool) -> bool:
        """True when, past the lines ``beside`` it, the next line towards the middle of the page is far away."""
        number, index = place
        lines, order = self._lines[number], self._rows[number]
        if index not in order:
            return True  # it has no place
        inward = order if is_header else order[::-1]
        last: Line = lines[index]
        for i in inward[inward.index(index) + 1 :]:
            if (number, i) in beside:
                last = lines[i]
                continue
            return abs(last.bottom - lines[i].bottom) > self._clear
        return True


def _from_the_top(page: Page) -> list[int]:
    seen = [i for i, line in enumerate(page.lines) if line.aside is None and line.top > line.bottom]
    return sorted(seen, key=lambda i: (-page.lines[i].bottom, page.lines[i].left))
