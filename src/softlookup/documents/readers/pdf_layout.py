"""Undoes page layout: wrapped lines and cut words become paragraphs; works on lines with boxes.

Knows nothing of PDF or pdfium. Offsets inside a paragraph are in characters.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from softlookup.documents.numbering import FOLD, label_at

_FINAL = tuple('.;:!?。；：！？”"')
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\w{0,5}\s*\Z|…{2,}\s*\d*\s*\Z")
_HAN = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_CUT_MARKS = ("\ufffe", "\u00ad", "\x02")


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line with its box in points, origin at the lower left.

    ``gaps`` are its wide blanks: (place in the text, right end before, left end after).
    """

    text: str
    left: float = 0.0
    bottom: float = 0.0
    right: float = 0.0
    top: float = 0.0
    gaps: tuple[tuple[int, float, float], ...] = ()

    @property
    def height(self) -> float:
        """Height of the characters in points."""
        return self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of a page in reading order; ``number`` counts from 1."""

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]


@dataclass(slots=True)
class Paragraph:
    """Joined lines; ``joins`` are the offsets of blanks that replace a line end."""

    text: str
    page: int
    joins: list[int] = field(default_factory=list)


def paragraphs(pages: Sequence[Page], removed: Mapping[tuple[int, int], str]) -> list[Paragraph]:
    """Paragraphs of all pages in order; one may run on over a page break."""
    words = _known_words(pages)
    found: list[Paragraph] = []
    before: Line | None = None
    for page in pages:
        kept = [line for i, line in enumerate(page.lines) if (page.number, i) not in removed]
        pitch, right = _pitch(kept), _right_margin(kept)
        first = True
        for line in kept:
            text = _clean(line.text)
            if not text.strip(" \u00ad\ufffe"):
                continue
            if before is None or not found:
                starts = True
            elif first:
                starts = starts_after_break(found[-1].text, text)
            else:
                starts = _starts(before, line, found[-1].text, text, pitch, right)
            if starts:
                found.append(Paragraph(text, page.number))
            else:
                _join(found[-1], text, words)
            before, first = line, False
    for paragraph in found:
        paragraph.text = _without_marks(paragraph.text)
    return found


def _clean(text: str) -> str:
    return re.sub(r"[ \t\xa0]+", " ", text.replace("\x00", "")).strip(" ")


def _without_marks(text: str) -> str:
    for mark in _CUT_MARKS:
        text = text.replace(mark, "-")
    return text.rstrip()


def _pitch(lines: Sequence[Line]) -> float:
    """Usual distance between baselines of neighbouring lines; 0 when unknown."""
    gaps = [round(a.bottom - b.bottom, 1) for a, b in itertools.pairwise(lines) if 4 < a.bottom - b.bottom < 40]
    return sorted(gaps)[len(gaps) // 3] if gaps else 0.0


def _right_margin(lines: Sequence[Line]) -> float:
    rights = sorted(line.right for line in lines)
    return rights[int(len(rights) * 0.9)] if rights else 0.0


def opens_label(text: str) -> bool:
    """True when the line starts with a clause label that is no plain number before a lower-case word."""
    folded = text.translate(FOLD)
    label = label_at(folded, 0, text)
    if label is None:
        return False
    rest = folded[label.end :].lstrip(" .")
    bare = label.readings[0].style == "decimal1" and folded[label.end - 1 : label.end] not in (".", "、", ")")
    if bare or (label.has_keyword and not folded.startswith(("第", "附"))):
        return bool(rest[:1].isupper()) or not rest or rest[:1] in "-–—:"
    return True


def starts_after_break(previous: str, text: str) -> bool:
    """True when ``text``, the first line of a page, does not go on with ``previous``, the last one before."""
    if opens_label(text) or _LEADERS.search(previous):
        return True
    return previous.endswith(_FINAL) or not (text[0].islower() or (_HAN.match(text[0]) and _HAN.match(previous[-1])))


def _starts(before: Line, line: Line, previous: str, text: str, pitch: float, right: float) -> bool:
    """True when ``line`` begins a paragraph on the same page as ``before``."""
    if _LEADERS.search(previous) or _LEADERS.search(text):
        return True
    if line.top == 0.0 == line.bottom:  # no geometry for this page
        return opens_label(text) or previous.endswith(_FINAL)
    gap = before.bottom - line.bottom
    if gap < -2.0 or (pitch and gap > 1.45 * pitch and gap > 1.2 * line.height):
        return not (gap < -2.0 and text[0].islower())
    if abs(gap) < 1.0 and line.left >= before.right:
        return False  # the same printed line in two runs
    final = previous.endswith(_FINAL)
    short = right > 0 and before.right < right - 0.12 * right
    if opens_label(text) and (final or short or line.left != before.left):
        return True
    if short and (final or not text[0].islower()):
        return not previous.endswith((",", "，", "、")) or final
    return final and line.left > before.left + 12.0


def _known_words(pages: Sequence[Page]) -> Counter[str]:
    return Counter(
        word for page in pages for line in page.lines for word in re.findall(r"[A-Za-z]+(?:-[A-Za-z]+)*", line.text)
    )


def _join(paragraph: Paragraph, text: str, words: Counter[str]) -> None:
    """Append a wrapped line: a word cut at the line end is joined, Chinese runs on, else a blank."""
    head = paragraph.text
    if head.endswith((*_CUT_MARKS, "-")) and text[:1].isalpha() and len(head) > 1 and head[-2].isalpha():
        left = re.search(r"[A-Za-z]+$", head[:-1])
        right = re.match(r"[A-Za-z]+", text)
        if left and right:
            hyphenated, joined = f"{left[0]}-{right[0]}", left[0] + right[0]
            keep = words[hyphenated] > words[joined] or text[0].isupper()
            paragraph.text = head[:-1] + ("-" if keep else "") + text
            return
    if _HAN.match(head[-1]) and _HAN.match(text[0]):
        paragraph.text = head + text
        return
    paragraph.joins.append(len(head))
    paragraph.text = f"{head} {text}"
