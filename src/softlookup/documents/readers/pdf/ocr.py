"""Reads scanned pages on request with the optional extra ``[ocr]``, in a process of its own.

What is recognised is marked ``ocr`` with its confidence. No models and no pdfium here.
"""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup.documents.readers import ReadOptions
from softlookup.documents.readers.pdf.account import PageAccount
from softlookup.documents.readers.pdf.chars import PageLines
from softlookup.documents.readers.pdf.geometry import Geometry
from softlookup.documents.readers.pdf.lines import Line
from softlookup.documents.readers.pdf.process import Child
from softlookup.errors import DocumentError

CHILD = "softlookup.documents.readers.pdf.ocr_child"
RECOGNISER = f"{CHILD}:rapid"
NEEDED = ("rapidocr", "onnxruntime")
PAGE_SECONDS = 180.0
MEMORY = 8 * 1024 * 1024 * 1024
_TAB_GAP = 2.2  # line heights
_LEAST_SCORE = 0.3  # below it there are no words


def read_scans(data: bytes, options: ReadOptions, accounts: Sequence[PageAccount]) -> None:
    """Put lines into the accounts of scanned pages when ``options.ocr`` asks for it.

    Raises ``DocumentError`` when there are scanned pages and the extra is not installed.
    """
    scans = {account.number: account for account in accounts if account.state == "scanned"}
    if not options.ocr or not scans:
        return
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        raise DocumentError(
            f"reading {len(scans)} scanned pages requires the optional OCR packages, they are not installed",
            'pip install "softlookup[ocr]"',
        )
    limit = PAGE_SECONDS * (len(scans) + 1)
    with Child(CHILD, [str(int(8 * limit)), str(MEMORY), RECOGNISER]) as child:
        request = {"password": options.password, "pages": sorted(scans)}
        child.send(json.dumps(request).encode() + b"\n", data)
        for head, _ in child.frames(PAGE_SECONDS, time.monotonic() + limit):
            account = scans.get(head.get("page", 0))
            if account is not None:
                _take(account, head)
    for account in scans.values():
        if account.state == "scanned" and "OCR" not in account.reason:
            account.reason = "a picture of text; OCR stopped before this page"


def _take(account: PageAccount, head: dict[str, Any]) -> None:
    """Put what was recognised into the account of its page."""
    if "failed" in head:
        account.reason = f"a picture of text; OCR failed: {head['failed']}"
        return
    sure = [found for found in head["lines"] if found[1] >= _LEAST_SCORE and found[0].strip()]
    if not sure or account.frame is None or account.lines is None:
        account.reason = "a picture; OCR found no text on it"
        return
    account.state = "ocr"
    account.reason = f"read by OCR with confidence {sum(found[1] for found in sure) / len(sure):.2f}"
    shown = Geometry.of(account.frame)
    turned = Geometry((0.0, 0.0, shown.width, shown.height), head["turn"])
    rows = joined_rows([_line(found, turned) for found in sure])
    account.stray = account.lines.lines
    account.lines = PageLines(
        turned.width, turned.height, tuple(rows), head["turn"], account.lines.printed, account.lines.doubled
    )


def _line(found: Sequence[Any], turned: Geometry) -> Line:
    """The line on the page turned so that it is upright."""
    text, score, left, bottom, right, top = found
    sides = turned.displayed(np.array([[left, top, right, bottom]], np.float32))
    left, bottom, right, top = (round(float(side[0]), 2) for side in sides)
    return Line(" ".join(text.split()), left, bottom, right, top, flag="ocr", detail=f"confidence {score:.2f}")


def joined_rows(lines: Sequence[Line]) -> list[Line]:
    """Lines from top to bottom; pieces that stand in one row become one line, with tabs over wide gaps."""
    rows: list[list[Line]] = []
    for line in sorted((line for line in lines if line.text), key=lambda line: -(line.top + line.bottom)):
        middle = (line.top + line.bottom) / 2
        row = rows[-1] if rows else None
        if row and abs((row[0].top + row[0].bottom) / 2 - middle) < 0.4 * min(row[0].height, line.height):
            row.append(line)
        else:
            rows.append([line])
    return [_joined(sorted(row, key=lambda line: line.left)) for row in rows]


def _joined(row: Sequence[Line]) -> Line:
    text = row[0].text
    gaps: list[tuple[int, float, float]] = []
    right = row[0].right
    for line in row[1:]:
        wide = line.left - right > _TAB_GAP * line.height
        text += "\t" if wide else " "
        if line.left - right > 0.8 * line.height:
            gaps.append((len(text), right, line.left))
        text += line.text
        right = max(right, line.right)
    detail = min(line.detail for line in row)
    return Line(
        text,
        min(line.left for line in row),
        min(line.bottom for line in row),
        right,
        max(line.top for line in row),
        tuple(gaps),
        flag="ocr",
        detail=detail,
    )
