"""Measure how much of the gold text of contracts in PDF the reader gives back, in order.

For every PDF of ``data/cuad_pdf`` whose text stands in ``data/cuad/contracts``: the share of the gold's words in the
longest common subsequence with our words, once with what stands aside (page headers, footers and numbers, which the
gold has too) and once in the text alone. A page without a text layer is not in our words and is counted as lost.

Some of the gold was taken in the order in which a file draws its lines, which is not always that of the page (tables
drawn last, a heading after its section). The column "drawn" has the share for our words in that order.

Run as ``python benchmarks/pdf_gold.py [FOLDER]`` with SOFTLOOKUP_SHARED set; ``--missing`` prints what the gold has
and we have not.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from unittest import mock

from softlookup.documents.readers import ReaderResult
from softlookup.documents.readers.pdf import reader as pdf_reader
from softlookup.documents.readers.pdf.reader import read_pdf

WORD = re.compile(r"\w+")


def longest_common_subsequence(gold: Sequence[str], ours: Sequence[str]) -> list[bool]:
    """Which words of ``gold`` are in a longest common subsequence with ``ours`` (Myers' difference algorithm)."""
    start = 0
    while start < min(len(gold), len(ours)) and gold[start] == ours[start]:
        start += 1
    found = [True] * start + [False] * (len(gold) - start)
    a, b = gold[start:], ours[start:]
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for steps in range(len(a) + len(b) + 1):
        trail.append(dict(furthest))
        for k in range(-steps, steps + 1, 2):
            down = k == -steps or (k != steps and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < len(a) and 0 <= x - k < len(b) and a[x] == b[x - k]:
                x += 1
            furthest[k] = x
            if x >= len(a) and x - k >= len(b):
                return _matched(trail, len(a), len(b), found, start)
    return found


def _matched(trail: list[dict[int, int]], x: int, y: int, found: list[bool], start: int) -> list[bool]:
    """Walk back along the furthest points and mark the diagonal steps."""
    for steps in range(len(trail) - 1, -1, -1):
        furthest, k = trail[steps], x - y
        down = k == -steps or (k != steps and furthest[k - 1] < furthest[k + 1])
        before = k + 1 if down else k - 1
        begin = furthest.get(before, 0) if steps else 0
        to = begin - before if steps else 0
        while x > begin and y > to:
            x, y = x - 1, y - 1
            found[start + x] = True
        x, y = begin, to
    return found


def with_asides(result: ReaderResult) -> str:
    """The text with everything that stands aside put back where it stood."""
    pieces: list[str] = []
    at = 0
    for aside in sorted(result.aside, key=lambda a: a.anchor):
        pieces += [result.text[at : aside.anchor], f"\n{aside.text}\n"]
        at = max(at, aside.anchor)
    return "".join([*pieces, result.text[at:]])


def words(text: str) -> list[str]:
    """Words and numbers without case; punctuation, which the gold often lacks, does not count."""
    return [word.lower() for word in WORD.findall(text)]


@dataclass(frozen=True)
class Reading:
    """What one file took; the processor seconds are those of both processes."""

    result: ReaderResult
    wall: float
    cpu: float
    child_mb: int
    parent_mb: int


def read(pdf: Path) -> Reading:
    """Read ``pdf`` and measure this process and pdfium's."""
    data = pdf.read_bytes()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    began = time.perf_counter()
    result = read_pdf(data)
    wall = time.perf_counter() - began
    parent, child = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = child.ru_utime + parent.ru_utime - before
    peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
    return Reading(result, wall, cpu, child.ru_maxrss >> 10, int(peak[1]) >> 10 if peak else 0)


def as_drawn(pdf: Path) -> str:
    """The words with nothing put in the order of the page."""
    with mock.patch.object(pdf_reader, "top_down", lambda page: page):
        return with_asides(read_pdf(pdf.read_bytes()))


def compare(pdf: Path, gold: Path, *, missing: bool) -> None:
    """Print one row of the table."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:  # so that its peak memory is its own
        reading = fresh.submit(read, pdf).result()
    result, pages = reading.result, reading.result.coverage.pages or 0
    wanted = words(gold.read_text(encoding="utf-8"))
    found = longest_common_subsequence(wanted, words(with_asides(result)))
    alone = longest_common_subsequence(wanted, words(result.text))
    drawn = longest_common_subsequence(wanted, words(as_drawn(pdf)))
    lost = [row for row in result.coverage.rows if row.state in ("scanned", "failed")]
    print(
        f"{pdf.name[:44]:44} {pages:5} {len(wanted):7} {100 * sum(found) / len(wanted):8.2f} "
        f"{100 * sum(drawn) / len(wanted):8.2f} "
        f"{100 * sum(alone) / len(wanted):8.2f} {len(lost):5} {reading.wall:6.2f} {reading.cpu:6.2f} "
        f"{reading.child_mb:6} {reading.parent_mb:6}",
        flush=True,
    )
    if missing:
        print_missing(wanted, found)


def print_missing(wanted: Sequence[str], found: Sequence[bool]) -> None:
    """Runs of gold words that we lack, each with the words around it."""
    at = 0
    while at < len(wanted):
        if found[at]:
            at += 1
            continue
        end = at
        while end < len(wanted) and not found[end]:
            end += 1
        print("   ", " ".join(wanted[max(0, at - 4) : at]), "[", " ".join(wanted[at:end]), "]", *wanted[end : end + 3])
        at = end


def main() -> int:
    """Compare every PDF that has a gold text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(os.environ.get("SOFTLOOKUP_SHARED", "../shared")))
    parser.add_argument("--missing", action="store_true", help="print the gold's words that are missing")
    arguments = parser.parse_args()
    golds = {re.sub(r"\W", "", p.stem).lower(): p for p in (arguments.folder / "data/cuad/contracts").glob("*.txt")}
    print(f"{'file':44} pages   words    all, % drawn, %  text, % lost   wall    cpu  child parent (s, s, MB, MB)")
    for pdf in sorted((arguments.folder / "data/cuad_pdf").glob("*.[pP][dD][fF]")):
        gold = golds.get(re.sub(r"\W", "", pdf.stem).lower())
        if gold is None:
            print(f"{pdf.name[:44]:44} no gold text")
            continue
        compare(pdf, gold, missing=arguments.missing)
    return 0


if __name__ == "__main__":
    sys.exit(main())
