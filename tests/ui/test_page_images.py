"""Page images: the right pixels in a valid PNG, the size that boxes refer to, and no trouble with bad files."""

from __future__ import annotations

import importlib.util
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from softlookup.documents.model import Span
from softlookup.documents.read import read_document
from softlookup.documents.readers.pdf import pictures
from softlookup.documents.readers.pdf.pictures import Picture
from softlookup.documents.readers.pdf.process import Limits
from softlookup.ui.page_images import page_images, png_bytes

_PLACE = Path(__file__).parents[1] / "documents" / "pdf_builders.py"
_SPEC = importlib.util.spec_from_file_location("ui_pdf_builders", _PLACE)
pdf = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = pdf
_SPEC.loader.exec_module(pdf)

LINE = "1. Rent. The tenant shall pay 400 pounds in May."


def pixels(png):
    """Grey levels 0..15 [rows, columns], decoded by hand from the format's definition."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, header = 8, b"", None
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + data),)
        header = data if kind == b"IHDR" else header
        body += data if kind == b"IDAT" else b""
        at += 12 + length
    columns, rows, bits, colour, *rest = struct.unpack(">IIBBBBB", header)
    assert (bits, colour, rest) == (4, 0, [0, 0, 0])
    wide = (columns + 1) // 2
    lines = np.frombuffer(zlib.decompress(body), np.uint8).reshape(rows, wide + 1)
    assert (lines[:, 0] == 0).all()
    packed = lines[:, 1:]
    both = np.stack([packed >> 4, packed & 15], axis=2).reshape(rows, 2 * wide)
    return both[:, :columns]


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_the_png_holds_the_levels(columns):
    grey = np.linspace(0, 255, 3 * columns).astype(np.uint8).reshape(3, columns)
    found = pixels(png_bytes(Picture(1, 1.0, 1.0, columns, 3, grey.tobytes())))
    assert np.abs(found.astype(int) * 17 - grey).max() <= 9
    assert found.min() == 0
    assert found.max() == 15


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (50, 100, 600, 750)])
def test_ink_lies_where_the_box_says(tmp_path, rotate, crop):
    matrix = {0: (1, 0, 0, 1), 90: (0, 1, -1, 0), 180: (-1, 0, 0, -1), 270: (0, -1, 1, 0)}[rotate]
    at = {0: (100, 600), 90: (200, 120), 180: (500, 300), 270: (200, 700)}[rotate]
    data = pdf.build([pdf.Sheet([pdf.Words(*at, LINE, matrix=matrix)], rotate=rotate, crop=crop)])
    path = tmp_path / "lease.pdf"
    path.write_bytes(data)
    document = read_document(path)
    start = document.text.index("tenant shall")
    (box,) = document.boxes(Span(start, start + len("tenant shall")))
    image = page_images(data, [1])[1]
    grey = pixels(image.png)
    rows, columns = grey.shape
    assert rows / columns == pytest.approx(image.height / image.width, rel=0.01)
    scale = columns / image.width
    across = slice(round(box.left * scale), round(box.right * scale))
    down = slice(round((image.height - box.top) * scale), round((image.height - box.bottom) * scale))
    inside = (grey[down, across] < 8).sum()
    dark = (grey < 8).sum()
    share = (box.right - box.left) / pdf.width(LINE)
    assert inside > 20
    assert inside / dark == pytest.approx(share, abs=0.1)  # elsewhere it would be none, or all


def test_pages_that_do_not_exist_are_left_out_and_order_does_not_matter():
    data = pdf.build([pdf.sheet([(72, 700, LINE)]), pdf.sheet([(72, 500, "2. Term.")])])
    found = page_images(data, [99, 2, 1, 2, 0, -4])
    assert sorted(found) == [1, 2]
    assert found[1].png != found[2].png
    assert page_images(data, []) == {}
    assert found == page_images(data, [1, 2])


def test_the_same_page_is_the_same_bytes_and_a_data_uri():
    data = pdf.build([pdf.sheet([(72, 700, LINE)])])
    one, two = page_images(data, [1])[1], page_images(data, [1])[1]
    assert one == two
    assert one.data_uri.startswith("data:image/png;base64,iVBOR")


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 nothing", b"<script>"])
def test_a_file_that_is_no_pdf_gives_no_images(data):
    assert page_images(data, [1]) == {}


def test_a_password_is_used():
    data = pdf.encrypted([pdf.sheet([(72, 700, LINE)])], user=b"sesame")
    assert page_images(data, [1]) == {}
    assert sorted(page_images(data, [1], password="sesame")) == [1]


def test_a_huge_page_is_drawn_coarsely():
    data = pdf.build([pdf.sheet([(72, 700, LINE)], box=(0.0, 0.0, 14000.0, 14000.0))])
    rows, columns = pixels(page_images(data, [1])[1].png).shape
    assert rows * columns < 7_000_000


def test_a_page_that_hangs_costs_that_page_only(monkeypatch, tmp_path):
    module = tmp_path / "planted_drawer.py"
    module.write_text(
        "import json, sys, time\n"
        "from softlookup.documents.readers.pdf import frames\n"
        "request = json.loads(sys.stdin.buffer.readline())\n"
        "for page in request['pages']:\n"
        "    if page == 2: time.sleep(60)\n"
        "    if page == 4: raise SystemExit(9)\n"
        "    size = 3 if page == 5 else 4\n"
        "    frames.write(sys.stdout.buffer, {'page': page, 'width': 2, 'height': 2, 'columns': 2, 'rows': 2}, "
        "bytes(size))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(pictures, "CHILD", "planted_drawer")
    found = list(pictures.pictures(b"", [1, 2, 3, 4, 5, 6], limits=Limits(page_seconds=5.0)))
    assert [picture.page for picture in found] == [1, 3, 6]  # 5 is shorter than it says
