"""Characters in a text that a reader should be told of: control characters, invisible ones, blanks; no removal.

They stay in the text, for offsets and quotes must hold; each run is marked and the kinds are counted in notes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from softlookup.documents.model import Flag, Mark, Span

_MAX_MARKS = 20_000
_ODD = re.compile(
    "(?P<ansi>\x1b\\[[0-9;?]{0,20}[A-Za-z])"
    "|(?P<control>[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]{1,200})"
    "|(?P<bidi>[\u202a-\u202e\u2066-\u2069]{1,200})"
    "|(?P<lost>\ufffd{1,200})"
    "|(?P<invisible>[\u200b\u200c\u200d\u200e\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]{1,200})"
)
# one class of characters is searched many times faster than the alternatives above
_ODD_START = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffd\U000e0000-\U000e007f]"
)
_BLANK_START = re.compile(r"[\[［【{█■*_＿]")
_DRAWN = re.compile(r"[ \t*_-]+")
_NAMES = {
    "ansi": "terminal escape sequence", "control": "control character", "bidi": "bidirectional override",
    "invisible": "invisible character", "lost": "unreadable character",
}  # fmt: skip
_BLANK = re.compile(
    r"(?P<omitted>[\[［【{](?:[ ]{0,3}[*…]){1,20}[ ]{0,3}[\]］】}]"
    r"|[\[［【][ ]?(?:[●•]{1,4}|(?i:redacted|omitted))[ ]?[\]］】]|[█■]{2,200}|(?<![\w*])\*{3,20}(?![\w*]))"
    r"|(?P<blank>_{3,400}|＿{2,400})"
)


def _from_starts(start: re.Pattern[str], whole: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Matches of ``whole``, looked for only where ``start`` matches."""
    position = 0
    while found := start.search(text, position):
        match = whole.match(text, found.start())
        if match is not None:
            yield match
        position = match.end() if match is not None else found.end()


def _is_drawn(text: str, start: int, end: int) -> bool:
    """True for stars or underscores that draw a line across the page, between empty lines.

    A line to sign on has a name below it.
    """
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = stop if stop >= 0 else len(text)
    if not _DRAWN.fullmatch(text, begin, stop):
        return False
    above = text[text.rfind("\n", 0, max(0, begin - 1)) + 1 : max(0, begin - 1)]
    below_end = text.find("\n", stop + 1)
    below = text[stop + 1 : below_end if below_end >= 0 else len(text)]
    return not above.strip() and not below.strip()


def find_marks(text: str) -> tuple[tuple[Mark, ...], tuple[str, ...]]:
    """Marks of control and invisible characters, redactions and blanks in ``text``, in order, with notes."""
    marks: list[Mark] = []
    counts: Counter[str] = Counter()
    for match in _from_starts(_ODD_START, _ODD, text):
        kind = match.lastgroup or "control"
        counts[kind] += 1 if kind == "ansi" else len(match[0])
        flag: Flag = "garbled" if kind == "lost" else "control_chars"
        marks.append(Mark(Span(*match.span()), flag, _NAMES[kind]))
    for match in _from_starts(_BLANK_START, _BLANK, text):
        if not _is_drawn(text, *match.span()):
            marks.append(Mark(Span(*match.span()), "redacted", match.lastgroup or ""))
    marks.sort(key=lambda mark: mark.span)
    notes = tuple(f"{_NAMES[kind]}s kept in the text and marked: {counts[kind]}" for kind in _NAMES if counts[kind])
    if len(marks) > _MAX_MARKS:
        notes += (f"only the first {_MAX_MARKS} of {len(marks)} marked places are listed",)
    return tuple(marks[:_MAX_MARKS]), notes
