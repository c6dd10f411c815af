"""PDF: wrapped cells side by side, which a file draws line by line."""

from __future__ import annotations

import pytest

from softlookup.documents.readers.pdf.reader import read_pdf

from .pdf_builders import build, sheet

LEFT = ["The tenant pays the rent on the", "first day of each month and a", "fee for the use of the crane."]
RIGHT = ["The owner keeps the boat house in", "good repair and pays the tax that", "is due for the land of the yard."]


def side_by_side(left, right, step=13):
    """The lines of two cells, drawn row by row between two lines of text."""
    rows = zip(left, right, strict=True)
    cells = [(x, 700.0 - step * n, text) for n, row in enumerate(rows) for x, text in ((72.0, row[0]), (260.0, row[1]))]
    after = (72.0, 620.0, "Both duties begin on the day on which this lease is signed by all.")
    return read_pdf(
        build([sheet([(72.0, 730.0, "The duties of the parties are these, side by side."), *cells, after])])
    )


def test_wrapped_cells_are_read_one_after_the_other():
    result = side_by_side(LEFT, RIGHT)
    lines = [" ".join(line.split()) for line in result.text.splitlines()]
    assert lines[1:3] == [" ".join(LEFT), " ".join(RIGHT)]
    for line in result.lines:  # the boxes go with their words
        text = result.text[line.span.start : line.span.end]
        assert text not in RIGHT or line.box.left >= 259


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["oars of oak and ash and of yew", "nets of hemp with floats of cork"], ["a price of 40", "a price of 71"]),
        ([LEFT[0], "Second day of each month and a"], RIGHT[:2]),  # a row of its own
        ([LEFT[0] + ".", LEFT[1]], RIGHT[:2]),
        (["“Boat”", "vessel"], ["means a boat of the yard that lies", "in the house of the club"]),
    ],
)
def test_rows_stay_rows(left, right):
    text = side_by_side(left, right).text
    assert f"{left[0]}\t{right[0]}" in text


def test_lines_far_below_each_other_stay_rows():
    assert f"{LEFT[0]}\t{RIGHT[0]}" in side_by_side(LEFT[:2], RIGHT[:2], step=26).text


def test_points_that_fill_their_lines_are_paragraphs():
    points = [f"{n}. The yard mends all the boats of pier {n} of the harbour" for n in range(14, 20)]
    lines = [(72.0, 700.0 - 14 * n, text) for n, text in enumerate(points)]
    assert read_pdf(build([sheet(lines)])).text.splitlines() == points
    wrapped = [
        (72.0, 700.0, "14. The yard mends all the boats that are named in clause"),
        (72.0, 686.0, "3. of the list"),
    ]
    assert "\n" not in read_pdf(build([sheet(wrapped)])).text
