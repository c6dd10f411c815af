"""Characters of a page become printed lines with boxes; no paragraphs here.

Works on the arrays of a frame. Boxes leave here in points on the page as displayed, whatever the rotation and
the crop box. Text printed twice for a bold look is taken once; text that nobody sees becomes lines of its own that
stay out of the reading text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from softlookup.documents.model import Flag
from softlookup.documents.readers.pdf.doubled import Characters, Codes, doubled
from softlookup.documents.readers.pdf.frames import PageFrame
from softlookup.documents.readers.pdf.geometry import TURNED, UPRIGHT, Geometry, directions
from softlookup.documents.readers.pdf.hidden import FLAGS, SEEN, visibility
from softlookup.documents.readers.pdf.hyphens import CUT
from softlookup.documents.readers.pdf.lines import Line

_WIDE_GAP = 8.0  # points
_TAB_GAP = 2.2  # line heights
_FARTHEST = 1e6  # points; beyond it a box is nonsense
_LABEL = re.compile(
    r"\s*(?:(?:section|article|clause|schedule|exhibit|annex|第\S{1,6})\s{1,3})?"
    r"(?:[(（]?(?:\d{1,4}|[a-z]{1,2}|[ivxlc]{1,7}|[一二三四五六七八九十百零〇]{1,5})(?:\.\w{1,4}){0,5}[.)）、:]{0,2}"
    r"|[•·▪●○\ue000-\uf8ff–—*-])\s*",
    re.I,
)
_GLUED_LABEL = re.compile(r"\s*(?:\d{1,3}(?:\.\d{1,3})*\.?|\([a-zA-Z0-9]{1,5}\)|[a-zA-Z][.)])(?=[A-Za-z\"“(\[])")
_BLANKS = re.compile("[ \t\xa0]{2,}|[\t\xa0]")


@dataclass(frozen=True, slots=True)
class PageLines:
    """Lines of a page in the order in which they are drawn, in coordinates in which most of them are upright.

    ``turn`` is how often that page was turned by 90 degrees against the page as displayed. ``printed`` counts
    the characters (without blanks) that the file holds, ``doubled`` those of them that were printed twice.
    """

    width: float
    height: float
    lines: tuple[Line, ...]
    turn: int = 0
    printed: int = 0
    doubled: int = 0


def page_lines(frame: PageFrame) -> PageLines:
    """Lines of the page of ``frame``."""
    geometry = Geometry.of(frame)
    codes = np.frombuffer(frame.codes, "<u4").copy()
    if not len(codes):
        return PageLines(geometry.width, geometry.height, ())
    owners = np.frombuffer(frame.owners, "<i4")
    boxes = np.frombuffer(frame.boxes, "<f4").reshape(-1, 4)
    boxes = np.clip(np.nan_to_num(boxes, nan=0.0), -_FARTHEST, _FARTHEST)
    ways = directions(frame, geometry.rotation)
    turned = np.bincount(ways[owners[owners >= 0]], minlength=6) if len(ways) else np.zeros(6, np.int64)
    turn = int(turned[:4].argmax())
    geometry, ways = geometry.turned(turn), _turned(ways, turn)
    left, bottom, right, top = geometry.displayed(boxes)
    seen = visibility(frame, owners, boxes, (left, bottom, right, top), geometry)
    everything = Characters(codes, np.stack([left, right], axis=1), bottom, top, owners, seen)
    _repair(everything)
    printed = _is_printed(everything.codes)
    twice = doubled(everything, printed)
    kept = everything.keep(~twice & (codes != 0))
    lines = tuple(_lines(kept, ways, [text.size for text in frame.texts]))
    return PageLines(
        geometry.width, geometry.height, lines, turn, int(np.count_nonzero(printed)), int(np.count_nonzero(twice))
    )


def _turned(ways: NDArray[np.int8], turn: int) -> NDArray[np.int8]:
    return np.where(ways < 4, (ways - turn) % 4, ways).astype(np.int8)


def _repair(characters: Characters) -> None:
    """Half surrogates become U+FFFD, pdfium's cut mark one code; a blank that pdfium put in takes no room."""
    codes = characters.codes
    codes[(codes >= 0xD800) & (codes < 0xE000) | (codes > 0x10FFFF)] = 0xFFFD
    codes[codes == 2] = ord(CUT)
    made = np.flatnonzero(characters.owners < 0)
    made = made[made > 0]
    characters.edges[made] = characters.edges[made - 1, 1][:, None]
    second = made[characters.owners[made - 1] < 0]  # after another one
    characters.edges[second] = characters.edges[second - 1, 1][:, None]


def _is_printed(codes: Codes) -> NDArray[np.bool_]:
    """Characters that leave ink; neither blanks nor line ends nor NUL."""
    found: NDArray[np.bool_] = (codes > 0x20) & (codes != 0xA0) & (codes != 0x3000)
    return found


def _lines(characters: Characters, ways: NDArray[np.int8], sizes: Sequence[float]) -> Iterator[Line]:
    """Lines in drawing order; each is cut where its visibility changes."""
    codes = characters.codes
    characters.text = codes.tobytes().decode("utf-32-le", "replace")
    printed = _is_printed(codes)
    if not printed.any():
        return
    ends = (codes == 10) | (codes == 13)
    starts_after = np.zeros(len(codes), np.bool_)
    starts_after[0] = True
    starts_after[1:] = ends[:-1] | (codes[:-1] == ord(CUT))
    hidden = _spread(characters.seen, printed)
    starts_after[1:] |= hidden[1:] != hidden[:-1]
    starts_after[_leaps(characters, printed, ways)] = True
    starts = np.flatnonzero(starts_after)
    boxes = _boxes(characters, printed, starts)
    gaps = _gaps(characters, printed, starts)
    whole = characters.edges.astype(np.float32).tobytes()
    stops = [*starts[1:].tolist(), len(codes)]
    first_printed = np.flatnonzero(printed)
    place = np.searchsorted(first_printed, starts)
    for index, stop in enumerate(stops):
        if place[index] >= len(first_printed) or first_printed[place[index]] >= stop:
            continue  # blanks only
        begin = int(first_printed[place[index]])
        line = _line(characters, begin, stop, whole, boxes[index], gaps.get(index, []))
        owner, middle = int(characters.owners[begin]), int(characters.owners[(begin + stop) // 2])
        way = int(ways[owner]) if owner >= 0 else UPRIGHT
        yield _described(line, way, int(hidden[begin]), sizes[middle if middle >= 0 else owner] if sizes else 0.0)


def _leaps(characters: Characters, printed: NDArray[np.bool_], ways: NDArray[np.int8]) -> NDArray[np.intp]:
    """Upright characters that stand clearly above or below the one before: pdfium may put a blank in between."""
    places = np.flatnonzero(printed & (characters.owners >= 0))
    places = places[ways[characters.owners[places]] == UPRIGHT]
    before, after = places[:-1], places[1:]
    bottoms, tops = characters.bottoms, characters.tops
    away = np.maximum(bottoms[after] - tops[before], bottoms[before] - tops[after])
    least = 0.2 * np.minimum(tops[before] - bottoms[before], tops[after] - bottoms[after])
    found: NDArray[np.intp] = after[away > np.maximum(least, 0.5)]
    return found


def _described(line: Line, way: int, seen: int, size: float) -> Line:
    """The line with what its direction and visibility mean for it."""
    flag, aside, edges = line.flag, line.aside, line.edges
    if way != UPRIGHT:
        flag, edges = "rotated", b""
        if way > TURNED:  # a word across the page, such as DRAFT
            aside = ("rotated",)
    if FLAGS[seen] == "ocr_layer":
        flag = "ocr_layer"
    elif seen != SEEN:
        known: Flag = FLAGS[seen] or "hidden"
        aside = (known,)
    return replace(line, edges=edges, flag=flag, aside=aside, size=size)


def _spread(seen: NDArray[np.int8], printed: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Visibility where each blank takes that of the printed character before it."""
    if not seen.any():
        return seen
    last = np.maximum.accumulate(np.where(printed, np.arange(len(seen)), -1))
    return np.where(last >= 0, seen[np.maximum(last, 0)], seen).astype(np.int8)


def _boxes(characters: Characters, printed: NDArray[np.bool_], starts: NDArray[np.intp]) -> list[list[float]]:
    """[left, bottom, right, top] around the printed characters from each start to the next."""
    far = np.float32(_FARTHEST)
    least = [
        np.minimum.reduceat(np.where(printed, side, far), starts)
        for side in (characters.edges[:, 0], characters.bottoms)
    ]
    most = [
        np.maximum.reduceat(np.where(printed, side, -far), starts) for side in (characters.edges[:, 1], characters.tops)
    ]
    boxes: list[list[float]] = np.stack([*least, *most], axis=1).astype(np.float64).round(2).tolist()
    return boxes


def _gaps(
    characters: Characters, printed: NDArray[np.bool_], starts: NDArray[np.intp]
) -> dict[int, list[tuple[int, float, float]]]:
    """Wide blanks by line: (index of the character after it, right end before, left end after)."""
    places = np.flatnonzero(printed)
    before, after = places[:-1], places[1:]
    line = np.searchsorted(starts, after, side="right") - 1
    end, start = characters.edges[before, 1], characters.edges[after, 0]
    height = characters.tops[after] - characters.bottoms[after]
    wide = (after > before + 1) & (before >= starts[line]) & (start - end > np.maximum(_WIDE_GAP, 0.8 * height))
    found: dict[int, list[tuple[int, float, float]]] = {}
    for at in np.flatnonzero(wide).tolist():
        gap = (int(after[at]), round(float(end[at]), 1), round(float(start[at]), 1))
        found.setdefault(int(line[at]), []).append(gap)
    return found


def _line(
    characters: Characters, start: int, stop: int, whole: bytes, box: list[float], gaps: list[tuple[int, float, float]]
) -> Line:
    """The line of characters ``start`` to ``stop`` with single blanks, and tabs where it jumps."""
    text = characters.text[start:stop].rstrip(" \t\xa0\r\n")
    stop = start + len(text)
    height = box[3] - box[1]
    edges = whole[8 * start : 8 * stop]
    places = [(at - start, end, begin) for at, end, begin in gaps]
    glued = _GLUED_LABEL.match(text)
    if glued and 0 < glued.end() < len(text):
        at = glued.end()
        room = characters.edges[start + at, 0] - characters.edges[start + at - 1, 1]
        if room > max(0.3, 0.05 * height):  # the page shows a blank but has no character for it
            end = characters.edges[start + at - 1, 1:2].astype(np.float32)
            text = f"{text[:at]} {text[at:]}"
            edges = edges[: 8 * at] + np.repeat(end, 2).tobytes() + edges[8 * at :]
            places = [(place + 1, end_, begin) for place, end_, begin in places]
    tabs = {at for at, end, begin in places if begin - end > _TAB_GAP * height and not _LABEL.fullmatch(text, 0, at)}
    if _BLANKS.search(text) or tabs:
        text, edges, places = _single_blanks(text, edges, places, tabs)
    return Line(text, box[0], box[1], box[2], box[3], tuple(places), edges)


def _single_blanks(
    text: str, edges: bytes, places: list[tuple[int, float, float]], tabs: set[int]
) -> tuple[str, bytes, list[tuple[int, float, float]]]:
    """Runs of blanks become one blank, or a tab before the places ``tabs``; edges and places follow."""
    pieces: list[str] = []
    kept: list[bytes] = []
    moved: dict[int, int] = {}
    at = length = 0
    for run in re.finditer("[ \t\xa0]+", text):
        pieces += [text[at : run.start()], "\t" if run.end() in tabs else " "]
        kept += [edges[8 * at : 8 * run.start()], edges[8 * run.start() : 8 * run.start() + 8]]
        length += run.start() - at + 1
        moved[run.end()] = length
        at = run.end()
    pieces.append(text[at:])
    kept.append(edges[8 * at :])
    return "".join(pieces), b"".join(kept), [(moved.get(place, 0), end, start) for place, end, start in places]
