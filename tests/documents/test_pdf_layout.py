"""PDF: words cut at a line end, columns, order of drawing, turned and slanted text, tables, other scripts."""

from __future__ import annotations

import pytest

from softlookup.documents.readers.pdf.columns import in_reading_order
from softlookup.documents.readers.pdf.hyphens import Hyphens
from softlookup.documents.readers.pdf.layout import paragraphs
from softlookup.documents.readers.pdf.lines import Line, Page
from softlookup.documents.readers.pdf.order import top_down
from softlookup.documents.readers.pdf.reader import read_pdf

from .pdf_builders import Sheet, Words, build, sheet

# hyphens


@pytest.mark.parametrize("mark", ["-", "\ufffe", "\u00ad"])
@pytest.mark.parametrize(
    ("elsewhere", "head", "text", "expected"),
    [
        ("This agreement ends.", "of this agree", "ment the parties", "agreement"),
        ("A well-known harbour.", "the well", "known harbour", "well-known"),
        ("A well-known wellknown of well-known men.", "the well", "known harbour", "well-known"),
        ("Nothing of the kind.", "the settle", "ment of debts", "settlement"),
        ("One third of a party of friends.", "each third", "party claim", "third-party"),
        ("Nothing.", "the non", "Buyer parties", "non-Buyer"),
        ("Nothing.", "the COVID", "19 rules", "COVID-19"),
        ("Nothing.", "a state-of", "the-art boat", "state-of-the-art"),
    ],
)
def test_the_document_tells_whether_a_hyphen_stays(mark, elsewhere, head, text, expected):
    line = head + mark
    taken, put = Hyphens([elsewhere, line, text]).join(line, text)
    assert expected in line[: len(line) - taken] + put + text


@pytest.mark.parametrize(("head", "text"), [("the rent -", "and more"), ("a list-", "- of"), ("the rent", "is due")])
def test_lines_without_a_cut_word_are_not_joined(head, text):
    assert Hyphens([head, text]).join(head, text) is None


def test_a_joined_word_keeps_its_boxes_and_the_account_its_hyphen():
    lines = [(72, 700, "1. End. On the end of this agree-"), (72, 686, "ment all boats return to the agreement house.")]
    result = read_pdf(build([sheet(lines)]))
    assert "of this agreement all" in result.text
    first, second = result.lines
    assert (first.span.end, len(first.edges)) == (second.span.start, 8 * len(first.span))
    assert result.coverage.rows[0].characters_aside == 1
    assert result.generated == ()


# columns

LEFT = [f"the left side of row {n} fills its column" for n in range(12)]
RIGHT = [f"row {n} on the right goes on to its end" for n in range(12)]
TITLE = (72.0, 760.0, "A title above the columns that runs over all of them to the very edge of the page")


def columns(order, *, wide_at=None):
    """A page with two columns drawn in ``order``: "across" (row by row), "down", or "mixed"."""
    left = [(72.0, 720.0 - 14 * n, text) for n, text in enumerate(LEFT)]
    right = [(330.0, 720.0 - 14 * n, text) for n, text in enumerate(RIGHT)]
    rows = [item for pair in zip(left, right, strict=True) for item in pair]
    drawn = {"across": rows, "down": left + right, "mixed": [*left[::2], *right[::2], *left[1::2], *right[1::2]]}
    return read_pdf(build([sheet([TITLE, *drawn[order]])]))


@pytest.mark.parametrize("order", ["across", "down", "mixed"])
def test_two_columns_are_read_one_after_the_other(order):
    result = columns(order)
    text = " ".join(result.text.split())
    assert f"{' '.join(LEFT)} {' '.join(RIGHT)}" in text
    assert text.startswith("A title above")
    assert ({mark.flag for mark in result.marks} == {"order_doubtful"}) == (order != "down")


def test_three_columns_are_read_one_after_the_other():
    texts = [[f"column {c} row {n} fills it" for n in range(10)] for c in "abc"]
    rows = [(60.0 + 180 * c, 700.0 - 14 * n, texts[c][n]) for n in range(10) for c in range(3)]
    text = " ".join(read_pdf(build([sheet([TITLE, *rows])])).text.split())
    assert " ".join(t for column in texts for t in column) in text


def test_a_line_over_both_columns_splits_them_into_bands():
    upper = [(x, 720.0 - 14 * n, side[n]) for n in range(6) for x, side in ((72.0, LEFT), (330.0, RIGHT))]
    wide = (72.0, 622.0, "PART TWO OF THIS LEASE, WHICH RUNS OVER BOTH OF THE COLUMNS ABOVE AND BELOW")
    lower = [(x, 692.0 - 14 * n, side[n]) for n in range(6, 12) for x, side in ((72.0, LEFT), (330.0, RIGHT))]
    text = " ".join(read_pdf(build([sheet([TITLE, *upper, wide, *lower])])).text.split())
    places = [text.index(part) for part in (LEFT[5], RIGHT[0], "PART TWO", LEFT[6], RIGHT[11])]
    assert places == sorted(places)


def test_rows_of_a_table_stay_rows_with_tabs():
    names = ["oar", "sail", "rope", "anchor of iron", "net", "lamp", "mast and boom", "keel"]
    rows = [(x, 700.0 - 14 * n, t) for n, name in enumerate(names) for x, t in ((72.0, name), (330.0, f"{n} pounds"))]
    result = read_pdf(build([sheet(rows)]))
    assert result.text.splitlines() == [f"{name}\t{n} pounds" for n, name in enumerate(names)]
    assert {block.kind for block in result.blocks} == {"table_cell"}
    assert result.coverage.counts.tables == 1


def test_a_label_and_its_text_are_apart_by_a_blank_only():
    lines = [(72, 700, "2.1"), (130, 700, "Staff. The yard employs people."), (72, 680, "(a)"), (130, 680, "one")]
    assert "\t" not in read_pdf(build([sheet(lines)])).text


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ("15. The tenant keeps the boat in good", "16. The owner keeps the quay in good", True),
        ("(a) the tenant keeps the boat in good", "(b) the owner keeps the quay in good", True),
        ("15. The tenant keeps the boat, as in clauses 2 and", "16. The owner keeps the quay in good", False),
        ("15. The tenant pays for the boat that has number", "9. The owner keeps the quay in good", False),
    ],
)
def test_the_next_label_at_the_same_left_begins_a_paragraph_after_a_full_line(first, second, apart):
    lines = [(72, 700, first), (72, 686, second), (72, 672, "order at all times, day and night,")]
    assert ("\n" in read_pdf(build([sheet(lines)])).text) == apart


def test_a_page_without_columns_is_left_as_it_is():
    page = Page(1, 612, 792, tuple(Line(t, 72, 700 - 14 * i, 540, 711 - 14 * i) for i, t in enumerate(LEFT)))
    assert in_reading_order(page) is page


# order of drawing


def at(text, bottom, left=72.0, right=540.0):
    return Line(text, left, bottom, right, bottom + 11)


def order(*lines):
    return [line.text for line in top_down(Page(1, 612, 792, tuple(lines))).lines]


def test_lines_drawn_late_go_where_they_stand():
    assert order(at("c", 600), at("d", 586), at("a", 700), at("b", 686)) == ["a", "b", "c", "d"]


def test_cells_drawn_one_by_one_stay_whole():
    cells = [at("a1", 700, 72, 150), at("a2", 686, 72, 150), at("b1", 700, 300, 400), at("b2", 686, 300, 400)]
    assert order(*cells) == ["a1", "a2", "b1", "b2"]


def test_a_raised_number_stays_in_its_line():
    result = read_pdf(
        build([Sheet([Words(72, 700, "an area of 4 km"), Words(150, 704, "2", 7), Words(156, 700, "of")])])
    )
    assert result.text.startswith("an area of 4 km")
    assert "\n" not in result.text


# turned and slanted text


def test_a_slanted_word_across_the_page_stands_aside():
    lines = [Words(72, 700 - 14 * n, f"{n}. Duty {n} is to pay the rent in May.") for n in range(1, 9)]
    draft = Words(150, 300, "DRAFT", 80, matrix=(0.7, 0.7, -0.7, 0.7), colour=(0.8, 0.8, 0.8))
    result = read_pdf(build([Sheet([*lines[:4], draft, *lines[4:]])]))
    assert "DRAFT" not in result.text
    assert [(aside.text, aside.flags) for aside in result.aside] == [("DRAFT", ("rotated",))]
    assert result.text.count("\n") == 7


def test_a_line_along_the_edge_is_marked_and_not_mixed_in():
    lines = [Words(72, 700 - 14 * n, f"{n}. Duty {n} is to pay the rent in May.") for n in range(1, 9)]
    side = Words(30, 300, "Form 12 of Reed Quay", matrix=(0, 1, -1, 0))
    result = read_pdf(build([Sheet([*lines[:4], side, *lines[4:]])]))
    assert "Form 12 of Reed Quay" in result.text.splitlines()
    (mark,) = result.marks
    assert (result.text[mark.span.start : mark.span.end], mark.flag) == (side.text, "rotated")
    (box,) = [line.box for line in result.lines if line.span == mark.span]
    assert box.top - box.bottom > 5 * (box.right - box.left)


# other scripts


def test_chinese_lines_join_without_a_blank_and_have_edges():
    lines = [
        Words(72, 700, "第一条 承租人应当于每月一日支付租金", font="F2"),
        Words(72, 686, "人民币四百元。", font="F2"),
    ]
    result = read_pdf(build([Sheet(lines)]))
    assert result.text == "第一条 承租人应当于每月一日支付租金人民币四百元。"
    edges = memoryview(result.lines[1].edges).cast("f")
    assert [round(edge) for edge in edges[:4]] == [72, 83, 83, 94]


def test_chinese_runs_on_over_a_page_and_beside_latin():
    pages = [
        Page(n, 595, 842, (at(text, 700),))
        for n, text in enumerate(("承租人应当按照", "约定支付 2.5 元", "Heron 公司"), 1)
    ]
    layout = paragraphs(pages, {})
    assert [paragraph.text for paragraph in layout.paragraphs] == ["承租人应当按照约定支付 2.5 元 Heron 公司"]


def test_lines_from_right_to_left_are_in_logical_order():
    logical = ["השוכר ישלם את דמי השכירות", "ביום הראשון של כל חודש"]
    lines = [Words(300, 700 - 14 * n, text[::-1], font="F4") for n, text in enumerate(logical)]  # as drawn
    result = read_pdf(build([Sheet(lines)]))
    assert " ".join(result.text.split()) == " ".join(logical)
    edges = memoryview(result.lines[0].edges).cast("f")
    assert edges[0] > edges[2] > edges[4]  # the first character stands furthest to the right


# footnotes


def footnoted(note_size):
    """Two pages whose paragraph and whose second footnote run on over the break."""
    first = [
        Words(72, 700, "1. Rent. The tenant shall pay a rent1 of 400 pounds and a fee2 for the repair of the roof and"),
        Words(72, 120, "1 The rent was 300 pounds before the new lease was signed.", note_size),
        Words(
            72, 108, "2 The fee is set by the club each year, and it is made known to all of the tenants in", note_size
        ),
    ]
    second = [
        Words(72, 700, "of the walls. It is due in May."),
        Words(72, 680, "2. End. Either party may end this lease."),
        Words(72, 120, "the month of March.", note_size),
        Words(72, 108, "3 By letter.", note_size),
    ]
    return read_pdf(build([Sheet(first), Sheet(second)]))


def test_footnotes_follow_the_paragraph_that_they_interrupt():
    result = footnoted(8)
    lines = result.text.splitlines()
    assert lines[0].endswith("for the repair of the roof and of the walls. It is due in May.")
    assert [line[:8] for line in lines] == ["1. Rent.", "1 The re", "2 The fe", "2. End. ", "3 By let"]
    assert lines[2].endswith("all of the tenants in the month of March.")
    kinds = [block.kind for block in result.blocks]
    assert kinds == ["paragraph", "footnote", "footnote", "paragraph", "footnote"]
    assert result.coverage.counts.footnotes == 3


def test_lines_of_the_usual_size_are_no_footnotes():
    result = footnoted(11)
    assert {block.kind for block in result.blocks} == {"paragraph"}
    assert result.coverage.counts.footnotes == 0


def test_a_cell_of_two_lines_stays_whole():
    rows = [("“Boat”", "means a vessel that lies in the", "house of the club."), ("“Club”", "means the", "yacht club.")]
    lines = []
    for n, (term, first, second) in enumerate(rows):
        lines += [(72, 700 - 28 * n, term), (200, 700 - 28 * n, first), (200, 686 - 28 * n, second)]
    assert read_pdf(build([sheet(lines)])).text.splitlines() == [f"{t}\t{a} {b}" for t, a, b in rows]


def test_a_short_last_line_comes_before_the_centred_heading_below_it():
    lines = (
        Line("2.1 The Owner moors the boat at", 72, 600, 400, 610),
        Line("3. REPAIRS", 260, 660, 330, 670),
        Line("1.1 The Tenant pays the rent for the", 72, 700, 400, 710),
        Line("mooring.", 72, 680, 120, 690),
    )
    ordered = top_down(Page(1, 595, 842, lines))
    assert [line.top for line in ordered.lines] == [710, 690, 670, 610]
