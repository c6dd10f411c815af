"""PDF: hostile and damaged files end in a document or a typed error, in bounded time; passwords; attachments."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest

from softlookup.documents.readers import ReadOptions
from softlookup.documents.readers.pdf import process as pdf_process
from softlookup.documents.readers.pdf import reader as pdf_reader
from softlookup.documents.readers.pdf.frames import FileFrame, PageFrame
from softlookup.documents.readers.pdf.process import Limits, frames
from softlookup.documents.readers.pdf.reader import read_pdf
from softlookup.errors import DocumentError

from .pdf_builders import Sheet, Words, Writer, build, encrypted, sheet

LONGEST = 60.0  # seconds; far more than any of these takes
LINE = "1. Rent. The tenant shall pay 400 pounds in May."


def pages(count):
    return [sheet([(72, 700, f"{n}. Duty {n} of the tenant stands here.")]) for n in range(1, count + 1)]


def outcome(data, **options):
    """The result or the typed error; anything else fails the test."""
    began = time.monotonic()
    try:
        return read_pdf(data, ReadOptions(**options))
    except DocumentError as error:
        return error
    finally:
        assert time.monotonic() - began < LONGEST


# a stand-in for the pdfium process that dies or hangs on page 2 whenever it is asked to read it
FAKE = """
import os, sys, time
from softlookup.documents.readers.pdf import child as pdf_child
from softlookup.documents.readers.pdf import extract as pdf_extract
page = pdf_extract.Extractor.page
def faulty(self, number):
    if number == 1:
        {fault}
    return page(self, number)
pdf_extract.Extractor.page = faulty
sys.exit(pdf_child.main())
"""


def plant(tmp_path, monkeypatch, fault):
    (tmp_path / "faulty_child.py").write_text(FAKE.format(fault=fault))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(pdf_process, "CHILD", "faulty_child")


@pytest.mark.parametrize("fault", ["os.abort()", "os._exit(0)", "time.sleep(60)", "raise MemoryError"])
def test_a_page_that_kills_the_process_costs_only_itself(tmp_path, monkeypatch, fault):
    plant(tmp_path, monkeypatch, fault)
    monkeypatch.setattr(pdf_reader, "LIMITS", Limits(page_seconds=2.0))
    result = outcome(build(pages(4)))
    if fault == "raise MemoryError":
        assert isinstance(result, DocumentError)
        assert "memory" in str(result)
        return
    assert [row.state for row in result.coverage.rows] == ["read", "failed", "read", "read"]
    assert "stopped on this page" in result.coverage.rows[1].reason
    assert not result.coverage.complete
    assert "Duty 4" in result.text


def test_a_process_that_dies_on_every_page_is_given_up(tmp_path, monkeypatch):
    plant(tmp_path, monkeypatch, "pass\n    if number >= 1:\n        os.abort()")
    monkeypatch.setattr(pdf_reader, "LIMITS", Limits(restarts=2))
    result = outcome(build(pages(9)))
    assert [row.state for row in result.coverage.rows] == ["read", *["failed"] * 8]
    assert "Duty 1" in result.text


def test_a_process_that_is_too_slow_as_a_whole_is_ended(monkeypatch):
    monkeypatch.setattr(pdf_reader, "LIMITS", Limits(wall_seconds=0.0))
    assert isinstance(outcome(build(pages(1))), DocumentError)


def test_a_process_without_memory_says_so(monkeypatch):
    padded = build(pages(1)) + b"%" * (64 << 20)
    monkeypatch.setattr(pdf_reader, "LIMITS", Limits(memory=32 << 20))
    assert "memory" in str(outcome(padded))
    monkeypatch.undo()
    assert "Duty 1" in outcome(padded).text


def test_frames_tell_the_file_first():
    found = list(frames(build(pages(2)), None))
    assert [type(frame) for frame in found] == [FileFrame, PageFrame, PageFrame]


def test_a_password_opens_and_errors_tell_which():
    data = encrypted(pages(1), user=b"quay")
    assert "Duty 1" in outcome(data, password="quay").text
    assert "none was given" in str(outcome(data))
    assert "another one was given" in str(outcome(data, password="reed"))
    assert "--password-env" in str(outcome(data))


def test_a_file_locked_for_changes_only_is_read_and_noted():
    result = outcome(encrypted(pages(1)))
    assert "Duty 1" in result.text
    assert any("restricts" in note for note in result.coverage.notes)
    assert not any("restricts" in note for note in outcome(build(pages(1))).coverage.notes)


def test_attachments_have_rows():
    pdf = Writer()
    stream = pdf.stream(b"secret annex", b"/Type /EmbeddedFile ")
    spec = pdf.add(b"<< /Type /Filespec /F (annex.txt) /UF (annex.txt) /EF << /F %d 0 R >> >>" % stream)
    names = b"/Names << /EmbeddedFiles << /Names [(annex.txt) %d 0 R] >> >>" % spec
    result = outcome(build(pages(1), writer=pdf, catalogue=names))
    assert [row.unit for row in result.coverage.rows] == ["page 1", "attachment annex.txt"]
    assert result.coverage.rows[1].state == "skipped"
    assert "secret" not in result.text


@pytest.mark.parametrize("count", [0, 3, 2_000_000_000, -5])
def test_an_absurd_page_count_is_ignored_or_refused(count):
    result = outcome(build(pages(1), count=count))
    assert isinstance(result, DocumentError) or len(result.coverage.rows) <= 100_001


def test_a_page_tree_that_holds_itself_is_refused():
    pdf = Writer()
    build(pages(1), writer=pdf)
    pdf.objects[1] = b"<< /Type /Pages /Count 3 /Kids [2 0 R 2 0 R 2 0 R] >>"
    result = outcome(pdf.finish())
    assert isinstance(result, DocumentError) or not result.text


def test_a_giant_page_is_failed_and_the_next_one_read():
    giant = Sheet([Words(72, 700, LINE)], box=(0, 0, 200_000, 200_000))
    result = outcome(build([giant, *pages(1)]))
    assert [row.state for row in result.coverage.rows] == ["failed", "read"]
    assert "200000 x 200000 points" in result.coverage.rows[0].reason


@pytest.mark.parametrize("box", [(0, 0, 0, 0), (0, 0, -612, -792), (1e30, 1e30, 2e30, 2e30)])
def test_a_page_without_area_does_no_harm(box):
    result = outcome(build([Sheet([Words(72, 700, LINE)], box=box), *pages(1)]))
    assert result.coverage.rows[1].state == "read"


def test_a_picture_of_a_million_million_pixels_is_a_scan():
    pdf = Writer()
    bomb = pdf.add(
        b"<< /Type /XObject /Subtype /Image /Width 1000000 /Height 1000000 /ColorSpace /DeviceGray "
        b"/BitsPerComponent 8 /Length 1 >>\nstream\n\x80\nendstream"
    )
    extra = b"/Resources << /XObject << /Bomb %d 0 R >> >> " % bomb
    page = Sheet(before=b"q 612 0 0 792 0 0 cm /Bomb Do Q\n", extra=extra)
    result = outcome(build([page], writer=pdf))
    assert [row.state for row in result.coverage.rows] == ["scanned"]


def test_a_page_of_a_million_characters_is_cut_and_says_so():
    words = [Words(2 + n % 20 * 30, 780 - n // 20 * 2, "abcdefghijklmnop" * 60, size=0.2) for n in range(500)]
    result = outcome(build([Sheet(words), *pages(1)]))
    assert [row.state for row in result.coverage.rows] == ["failed", "read"]
    assert "too many characters" in result.coverage.rows[0].reason
    assert 0 < result.coverage.rows[0].characters_aside <= 400_000
    assert "Duty 1" in result.text


def test_ten_thousand_pages_are_read():
    began = time.monotonic()
    result = outcome(build([Sheet([Words(72, 700, f"Page {n} of the lease.")]) for n in range(10_001)]))
    assert result.coverage.pages == 10_001
    assert len(result.coverage.rows) == 10_001
    assert time.monotonic() - began < LONGEST


def test_cut_and_mutated_files_end_in_a_document_or_a_typed_error():
    whole = build(pages(3))
    randomness = random.Random(7)
    for step in range(24):
        data = bytearray(whole)
        if step % 3 == 0:
            data = data[: randomness.randrange(len(data))]
        for _ in range(randomness.randrange(1, 12)):
            if data:
                data[randomness.randrange(len(data))] = randomness.randrange(256)
        result = outcome(bytes(data))
        if not isinstance(result, DocumentError):
            assert len(result.coverage.rows) == result.coverage.pages


def test_reading_works_without_standard_output(tmp_path):
    path = tmp_path / "lease.pdf"
    path.write_bytes(build(pages(1)))
    code = (
        "import os, sys; os.close(0); os.close(1)\n"
        "from softlookup.documents.read import read_document\n"
        f"sys.exit(0 if 'Duty 1' in read_document({str(path)!r}).text else 3)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, timeout=LONGEST, check=False)
    assert done.returncode == 0
