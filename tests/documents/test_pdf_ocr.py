"""PDF: scanned pages are read on request; the plumbing with a planted recogniser, the models where installed."""

from __future__ import annotations

import importlib.util

import pytest

from softlookup.documents.readers import ReadOptions
from softlookup.documents.readers.pdf import ocr as pdf_ocr
from softlookup.documents.readers.pdf.lines import Line
from softlookup.documents.readers.pdf.ocr import joined_rows
from softlookup.documents.readers.pdf.reader import read_pdf
from softlookup.errors import DocumentError

from .pdf_builders import Sheet, Words, Writer, build, encrypted, sheet

COVER = (0, 0, 612, 792)
SCALE = 2000 / 792  # pixels per point of a letter page
OCR = ReadOptions(ocr=True)
LINE = "1. Rent. The tenant shall pay 400 pounds in May."

# finds two lines in the picture of a page; the picture is all ink, so it is not trimmed
FAKE = """
from softlookup.documents.readers.pdf.ocr_child import Word
def recogniser():
    def recognise(picture):
        {body}
        high, wide = picture.shape[:2]
        return [
            Word("1. Rent. It is due", 0.97, (200.0, 100.0, 700.0, 130.0)),
            Word("in May.", 0.85, (720.0, 102.0, 850.0, 129.0)),
            Word("2. End. It is near.", 0.91, (200.0, 300.0, 700.0, 330.0)),
            Word("smudge", 0.1, (200.0, 500.0, 700.0, 530.0)),
        ]
    return recognise
"""


@pytest.fixture
def plant(tmp_path, monkeypatch):
    def planted(body="pass"):
        (tmp_path / "fake_recogniser.py").write_text(FAKE.format(body=body))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(pdf_ocr, "NEEDED", ())
        monkeypatch.setattr(pdf_ocr, "RECOGNISER", "fake_recogniser:recogniser")

    return planted


def scans(count=1):
    return build([sheet([(72, 700, LINE)]), *[Sheet([Words(40, 20, "12 x 9")], image=COVER)] * count])


def test_scanned_pages_are_read_and_marked_with_their_confidence(plant):
    plant()
    result = read_pdf(scans(), OCR)
    assert result.text.splitlines() == [LINE, "1. Rent. It is due in May.", "2. End. It is near."]
    words = {result.text[m.span.start : m.span.end]: (m.flag, m.detail) for m in result.marks}
    assert words == {
        "1. Rent. It is due in May.": ("ocr", "confidence 0.85"),
        "2. End. It is near.": ("ocr", "confidence 0.91"),
    }
    first, second = result.coverage.rows
    assert (first.state, second.state) == ("read", "ocr")
    assert "confidence 0.91" in second.reason
    assert (result.coverage.counts.ocr_pages, result.coverage.counts.scanned_pages) == (1, 0)
    assert result.coverage.complete
    assert [aside.text for aside in result.aside] == ["12 x 9"]


def test_recognised_lines_have_boxes_on_the_page(plant):
    plant()
    line = read_pdf(scans(), OCR).lines[2]
    assert (line.box.page, line.edges) == (2, b"")
    assert line.box.left == pytest.approx(200 / SCALE, abs=0.1)
    assert line.box.right == pytest.approx(700 / SCALE, abs=0.1)
    assert line.box.top == pytest.approx(792 - 300 / SCALE, abs=0.5)


def test_without_the_wish_nothing_is_recognised(plant):
    plant("raise SystemExit")
    result = read_pdf(scans())
    assert [row.state for row in result.coverage.rows] == ["read", "scanned"]
    assert not result.coverage.complete


def test_without_scanned_pages_nothing_is_needed(monkeypatch):
    monkeypatch.setattr(pdf_ocr, "NEEDED", ("no_such_package",))
    assert read_pdf(build([sheet([(72, 700, LINE)])]), OCR).text == LINE


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setattr(pdf_ocr, "NEEDED", ("no_such_package",))
    with pytest.raises(DocumentError, match=r'pip install "softlookup\[ocr\]"'):
        read_pdf(scans(), OCR)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('no')", "OCR failed: no"),
        ("return []", "OCR found no text"),
        ("import os; os.abort()", "OCR stopped before this page"),
        ("import time; time.sleep(60)", "OCR stopped before this page"),
    ],
)
def test_a_page_that_is_not_recognised_stays_a_scan(plant, monkeypatch, body, reason):
    plant(body)
    monkeypatch.setattr(pdf_ocr, "PAGE_SECONDS", 3.0)
    result = read_pdf(scans(), OCR)
    assert result.text == LINE
    assert result.coverage.rows[1].state == "scanned"
    assert reason in result.coverage.rows[1].reason


def test_a_crash_on_a_later_page_keeps_the_pages_before(plant):
    plant("import os; globals().setdefault('seen', []).append(1); len(seen) > 1 and os.abort()")
    states = [row.state for row in read_pdf(scans(3), OCR).coverage.rows]
    assert states == ["read", "ocr", "scanned", "scanned"]


def test_a_locked_scan_is_recognised_with_its_password(plant):
    plant()
    data = encrypted([Sheet(image=COVER)], user=b"quay")
    assert "2. End." in read_pdf(data, ReadOptions(ocr=True, password="quay")).text


def test_a_page_scanned_sideways_is_turned(plant):
    plant("if picture.shape[0] > picture.shape[1]: return [Word('x', 0.4, (10.0, 10.0, 20.0, 200.0))]")
    result = read_pdf(scans(), OCR)
    assert result.text.splitlines()[1] == "1. Rent. It is due in May."
    box = result.lines[1].box
    assert box.top - box.bottom > 5 * (box.right - box.left)  # upright on the turned page, not on this one
    assert 0 <= box.left < box.right <= 612


def test_pieces_of_a_row_become_one_line():
    pieces = [Line("Sum", 300, 700, 330, 712), Line("Rent", 72, 701, 100, 713), Line("End", 72, 680, 90, 692)]
    assert [line.text for line in joined_rows(pieces)] == ["Rent\tSum", "End"]


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("rapidocr", "onnxruntime")),
    reason="the optional extra [ocr] is not installed",
)
@pytest.mark.parametrize("quarters", [0, 1])
def test_the_models_read_english_and_chinese(quarters):
    import numpy as np
    import pypdfium2

    chinese = "第一条 承租人应当于每月一日支付租金。"
    page = Sheet([Words(72, 700, LINE, 14), Words(72, 660, chinese, 14, font="F2")])
    picture = pypdfium2.PdfDocument(build([page]))[0].render(scale=2.5, grayscale=True).to_numpy().squeeze()
    picture = np.ascontiguousarray(np.rot90(picture, quarters))
    high, wide = picture.shape
    pdf = Writer()
    image = pdf.stream(
        picture.tobytes(),
        b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8 "
        % (wide, high),
    )
    scan = Sheet(
        before=b"q %g 0 0 %g 0 0 cm /Scan Do Q\n" % (wide / 2.5, high / 2.5),
        box=(0, 0, wide / 2.5, high / 2.5),
        extra=b"/Resources << /XObject << /Scan %d 0 R >> >> " % image,
    )
    result = read_pdf(build([scan], writer=pdf), OCR)
    assert LINE in result.text
    assert "承租人应当于每月一日支付租金" in result.text
    assert result.coverage.rows[0].state == "ocr"
