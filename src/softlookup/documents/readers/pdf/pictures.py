"""Pages of a PDF as grey pictures, drawn in a limited process of its own; for looking at, not for reading."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from softlookup.documents.readers.pdf.process import LIMITS, Child, Limits

CHILD = "softlookup.documents.readers.pdf.picture_child"


@dataclass(frozen=True, slots=True)
class Picture:
    """A page: ``width`` x ``height`` points as displayed, ``levels`` one grey byte per pixel, row by row."""

    page: int
    width: float
    height: float
    columns: int
    rows: int
    levels: bytes = field(repr=False)


def pictures(
    data: bytes, numbers: Sequence[int], *, dpi: float = 100.0, password: str | None = None, limits: Limits = LIMITS
) -> Iterator[Picture]:
    """Pictures of the pages ``numbers`` (from 1) in that order; a page that cannot be drawn is left out.

    One page on which the process dies or hangs costs that page only.
    """
    left = list(numbers)
    deadline = time.monotonic() + limits.wall_seconds
    for _ in range(limits.restarts + 1):
        with Child(CHILD, [str(limits.cpu_seconds), str(limits.memory)]) as child:
            request = {"password": password, "pages": left, "dpi": dpi}
            child.send(json.dumps(request).encode() + b"\n", data)
            for head, body in child.frames(limits.page_seconds, deadline):
                if "page" not in head or not left or head["page"] != left[0]:
                    return
                del left[0]
                picture = _picture(head, body)
                if picture is not None:
                    yield picture
        if not left or time.monotonic() > deadline:
            return
        del left[0]  # it died on this one
        if not left:
            return


def _picture(head: dict[str, Any], body: list[bytes]) -> Picture | None:
    """The picture of a frame; None where the page failed or the frame is not what it says."""
    if "failed" in head:
        return None
    try:
        columns, rows = int(head["columns"]), int(head["rows"])
        width, height = float(head["width"]), float(head["height"])
    except (KeyError, TypeError, ValueError):
        return None
    sound = columns > 0 and rows > 0 and width > 0 and height > 0 and len(body[0]) == columns * rows
    return Picture(head["page"], width, height, columns, rows, body[0]) if sound else None
