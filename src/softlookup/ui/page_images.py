"""Page images of a PDF as PNG bytes, with the size that boxes of :class:`softlookup.documents.model.Box` refer to.

pdfium draws in its limited process; the PNG is written here, so that what a browser gets was never made by it.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from softlookup.documents.readers.pdf.pictures import Picture, pictures

# what can be read on a screen; 16 grey levels keep letters smooth at half the bytes of 256
DPI = 100.0
_BITS = 4
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _DEFLATE, _NO_FILTER, _NOT_INTERLACED = 0, 0, 0, 0


@dataclass(frozen=True, slots=True)
class PageImage:
    """Page ``page`` (from 1) as PNG; ``width`` and ``height`` in points of the page as displayed."""

    page: int
    width: float
    height: float
    png: bytes = field(repr=False)

    @property
    def data_uri(self) -> str:
        """The image inside an address, for a file that stands alone."""
        return "data:image/png;base64," + base64.b64encode(self.png).decode("ascii")


def page_images(
    data: bytes, pages: Sequence[int], *, dpi: float = DPI, password: str | None = None
) -> dict[int, PageImage]:
    """Images of ``pages`` of the PDF ``data``; a page that cannot be drawn, or does not exist, is not among them."""
    wanted = sorted(set(pages))
    if not wanted:
        return {}
    return {
        picture.page: PageImage(picture.page, picture.width, picture.height, png_bytes(picture))
        for picture in pictures(data, wanted, dpi=dpi, password=password)
    }


def png_bytes(picture: Picture) -> bytes:
    """PNG of 16 grey levels; the same bytes for the same picture."""
    grey = np.frombuffer(picture.levels, np.uint8).reshape(picture.rows, picture.columns)
    levels = ((grey.astype(np.uint16) * 15 + 127) // 255).astype(np.uint8)
    if picture.columns % 2:
        levels = np.pad(levels, ((0, 0), (0, 1)))
    packed = (levels[:, 0::2] << _BITS) | levels[:, 1::2]
    lines = np.pad(packed, ((0, 0), (1, 0)), constant_values=_NO_FILTER)
    header = struct.pack(">IIBBBBB", picture.columns, picture.rows, _BITS, _GREY, _DEFLATE, _NO_FILTER, _NOT_INTERLACED)
    body = zlib.compress(lines.tobytes(), 9)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
