"""What the pdfium process and the reader say to each other: frames of a JSON head and a binary body.

Characters and their boxes are bulk data, so they travel as arrays; no pdfium and no layout here.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

_LENGTHS = struct.Struct("<II")
_MOST = 1 << 30  # bytes of one frame; a longer one is no frame of ours

Rectangle = tuple[float, float, float, float]  # left, bottom, right, top


@dataclass(frozen=True, slots=True)
class DrawnText:
    """One drawn string: how it is painted, its font size in points; ``is_small``: its first box is tiny."""

    mode: int
    colour: tuple[int, int, int, int] | None
    direction: tuple[float, float]
    size: float = 0.0
    is_small: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """The words of an annotation; ``where`` is its box on the page."""

    kind: Literal["text", "note"]  # printed on the page (FreeText), or shown when asked for
    text: str
    where: Rectangle


@dataclass(frozen=True, slots=True)
class PageFrame:
    """A page as pdfium gives it: characters in drawing order with boxes in the coordinates of the file.

    ``codes`` are 32-bit code points, ``boxes`` four 32-bit floats (left, top, right, bottom) per character,
    ``owners`` the 32-bit index into ``texts`` per character, -1 for characters that pdfium put in.
    ``images`` and ``grounds`` (what is painted and not white) are known only where they are needed.
    """

    number: int
    failed: str = ""
    bounds: Rectangle = (0.0, 0.0, 0.0, 0.0)
    rotation: int = 0
    label: str = ""
    codes: bytes = b""
    boxes: bytes = b""
    owners: bytes = b""
    texts: tuple[DrawnText, ...] = ()
    unmapped: float = 0.0
    images: tuple[Rectangle, ...] = ()
    grounds: tuple[Rectangle, ...] = ()
    paths: int = 0
    pictures: int = 0
    fields: int = 0
    notes: tuple[Note, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class FileFrame:
    """What is known of the file before its pages; ``error`` is "" for a file that opens."""

    error: str = ""
    pages: int = 0
    protected: bool = False
    attachments: tuple[str, ...] = ()


Frame = PageFrame | FileFrame


def write(stream: BinaryIO, head: dict[str, Any], *body: bytes) -> None:
    """One frame; the head's "parts" become the lengths of the pieces of the body."""
    head = {**head, "parts": [len(piece) for piece in body]}
    raw = json.dumps(head, separators=(",", ":")).encode()
    stream.write(_LENGTHS.pack(len(raw), sum(map(len, body))) + raw)
    for piece in body:
        stream.write(piece)
    stream.flush()


def read(stream: BinaryIO) -> tuple[dict[str, Any], list[bytes]] | None:
    """The next frame; None at the end of the stream, also when it ends inside a frame."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_length, body_length = _LENGTHS.unpack(lengths)
    if max(head_length, body_length) > _MOST:
        return None
    raw, body = stream.read(head_length), stream.read(body_length)
    if len(raw) < head_length or len(body) < body_length:
        return None
    head = json.loads(raw)
    pieces, at = [], 0
    for length in head.pop("parts"):
        pieces.append(body[at : at + length])
        at += length
    return head, pieces


def page_frame(head: dict[str, Any], body: list[bytes]) -> PageFrame:
    """The frame of a page from its head and body."""
    if "failed" in head:
        return PageFrame(head["page"], failed=head["failed"] or "it could not be read")
    texts = tuple(
        DrawnText(mode, None if colour is None else tuple(colour), (across, up), size, is_small)
        for mode, colour, across, up, size, is_small in head["texts"]
    )
    return PageFrame(
        head["page"],
        bounds=tuple(head["bounds"]),
        rotation=head["rotation"],
        label=head["label"],
        codes=body[0],
        boxes=body[1],
        owners=body[2],
        texts=texts,
        unmapped=head["unmapped"],
        images=tuple(tuple(box) for box in head["images"]),
        grounds=tuple(tuple(box) for box in head["grounds"]),
        paths=head["paths"],
        pictures=head["pictures"],
        fields=head["fields"],
        notes=tuple(Note(kind, text, tuple(where)) for kind, text, where in head["notes"]),
        cut=head["cut"],
    )


def file_frame(head: dict[str, Any]) -> FileFrame:
    """The frame of the file from its head."""
    return FileFrame(
        head.get("error", ""),
        head.get("pages", 0),
        head.get("protected", False),
        tuple(head.get("attachments", ())),
    )
