"""PDF: every character knows where it stands on the page as displayed; nothing is timed here but a hang."""

from __future__ import annotations

import pytest

from softlookup.documents.read import read_document
from softlookup.documents.readers.pdf.reader import read_pdf

from .pdf_builders import Sheet, Words, build, long_contract, sheet, width

LINE = "1. Rent. The tenant shall pay 400 pounds in May."


def document(tmp_path, data):
    path = tmp_path / "lease.pdf"
    path.write_bytes(data)
    return read_document(path)


def box_of(document, words):
    from softlookup.documents.model import Span

    start = document.text.index(words)
    return document.boxes(Span(start, start + len(words)))


def test_a_word_in_the_middle_of_a_line_has_its_exact_box(tmp_path):
    read = document(tmp_path, build([sheet([(72, 700, LINE)])]))
    (box,) = box_of(read, "tenant")
    left = 72 + width("1. Rent. The ")
    assert box.left == pytest.approx(left, abs=0.05)
    assert box.right == pytest.approx(left + width("tenant"), abs=0.05)
    assert box.page == 1
    assert (box.bottom, box.top) == (pytest.approx(697.5, abs=0.5), pytest.approx(710.4, abs=0.5))


def test_a_span_over_two_lines_has_two_boxes(tmp_path):
    second = "and for the repair of the roof in June."
    read = document(tmp_path, build([sheet([(72, 700, LINE[:-1] + ","), (72, 686, second)])]))
    first_box, second_box = box_of(read, "in May, and for the repair")
    assert first_box.left == pytest.approx(72 + width(LINE[: LINE.index("in May")]), abs=0.05)
    assert second_box.left == pytest.approx(72, abs=0.05)
    assert second_box.right == pytest.approx(72 + width("and for the repair"), abs=0.05)
    assert first_box.bottom > second_box.bottom


def test_every_edge_of_every_line_is_where_it_was_written():
    result = read_pdf(build([sheet([(72, 700, LINE)])]))
    (line,) = result.lines
    edges = memoryview(line.edges).cast("f")
    assert len(edges) == 2 * len(LINE)
    for at in range(len(LINE)):
        assert edges[2 * at] == pytest.approx(72 + width(LINE[:at]), abs=0.05)


def test_a_blank_that_the_reader_puts_in_takes_no_room():
    result = read_pdf(build([sheet([(72, 700, "2.1"), (88.5, 700, "Staff. The yard employs people.")])]))
    (line,) = result.lines
    at = result.text.index(" Staff")
    edges = memoryview(line.edges).cast("f")
    assert edges[2 * at] == edges[2 * at + 1] == pytest.approx(72 + width("2.1"), abs=0.05)


@pytest.mark.parametrize(
    ("rotate", "matrix", "at", "expected"),
    [
        (90, (0, 1, -1, 0), (200, 100), (100, 612 - 200)),
        (180, (-1, 0, 0, -1), (500, 100), (612 - 500, 792 - 100)),
        (270, (0, -1, 1, 0), (200, 700), (792 - 700, 200)),
    ],
)
def test_boxes_of_a_turned_page_are_those_of_the_page_as_displayed(tmp_path, rotate, matrix, at, expected):
    page = Sheet([Words(*at, LINE, matrix=matrix)], rotate=rotate)
    read = document(tmp_path, build([page]))
    assert read.text == LINE
    (box,) = box_of(read, "tenant")
    assert box.left == pytest.approx(expected[0] + width("1. Rent. The "), abs=0.1)
    assert box.bottom == pytest.approx(expected[1] - 2.5, abs=0.5)
    assert box.right - box.left == pytest.approx(width("tenant"), abs=0.1)


def test_boxes_start_at_the_corner_of_the_crop_box(tmp_path):
    page = Sheet([Words(172, 700, LINE)], box=(0, 0, 800, 900), crop=(100, 50, 700, 800))
    (box,) = box_of(document(tmp_path, build([page])), "1. Rent.")
    assert box.left == pytest.approx(72, abs=0.05)
    assert box.bottom == pytest.approx(650 - 2.5, abs=0.5)


def test_a_page_whose_text_runs_upwards_is_read_and_marked(tmp_path):
    lines = [Words(100 + 14 * n, 72, text, matrix=(0, 1, -1, 0)) for n, text in enumerate((LINE, "It is due"))]
    read = document(tmp_path, build([Sheet(lines)]))
    assert read.text == f"{LINE} It is due"
    (box,) = box_of(read, "tenant")
    assert box.left == pytest.approx(100 - 10.4, abs=0.5)  # a box as tall as the line is long
    assert box.top - box.bottom == pytest.approx(width(LINE), abs=0.5)


def test_all_characters_of_a_long_contract_have_edges():
    result = read_pdf(long_contract(pages=12, characters=3000))
    assert len(result.text) > 30_000
    assert all(len(line.edges) == 8 * len(line.span) for line in result.lines)
    covered = sum(len(line.span) for line in result.lines) + len(result.generated) + len(result.blocks) - 1
    assert covered == len(result.text)
