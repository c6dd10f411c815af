"""PDF: running headers and page numbers, scans, forms, annotations and labels; all of it accounted for."""

from __future__ import annotations

import pytest

from softlookup.documents.readers.pdf.reader import read_pdf

from .pdf_builders import Sheet, Words, Writer, build, sheet

THINGS = ["oars", "nets", "ropes", "sails", "lamps", "masts", "keels", "flags", "rafts", "pumps"]
RUNS_ON = "The tenant shall keep the boat house clean and in good repair at all times and"
COVER = (0, 0, 612, 792)


def body(number):
    """Two lines of a page whose sentence goes on on the next one."""
    thing = THINGS[number % len(THINGS)]
    return [(72, 700, f"{RUNS_ON} mend all the {thing}"), (72, 686, f"which belong to the {thing} of the club and")]


def paged(count, header=None, footer=None):
    """``count`` pages; ``header`` and ``footer`` give the line for a page number, or None."""
    sheets = []
    for number in range(1, count + 1):
        lines = body(number)
        if header and header(number):
            lines.insert(0, (72, 770, header(number)))
        if footer and footer(number):
            lines.append((280, 30, footer(number)))
        sheets.append(sheet(lines))
    return read_pdf(build(sheets))


ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii"]


@pytest.mark.parametrize(
    "footer",
    [
        str,
        lambda n: f"- {n} -",
        lambda n: f"Page {n} of 8",
        lambda n: ROMAN[n - 1],
        lambda n: f"A-{n}",
        lambda n: f"Source: Reed Quay Boats Ltd, 10-K, 3/{n}/2020",
        lambda n: str(n + 41),
        lambda n: f"Boat lease | {n}",
    ],
)
def test_footers_leave_the_text_and_stand_aside(footer):
    result = paged(8, footer=footer)
    assert len(result.blocks) == 1, result.text  # the sentence runs on over all pages
    assert [aside.text for aside in result.aside] == [footer(n) for n in range(1, 9)]
    assert {aside.kind for aside in result.aside} == {"footer"}
    assert [aside.page for aside in result.aside] == list(range(1, 9))
    assert result.coverage.counts.footers == 8
    for aside, row in zip(result.aside, result.coverage.rows, strict=True):
        assert row.characters_aside == len(aside.text)
        assert result.text[: aside.anchor].endswith("club and")


def test_headers_of_left_and_right_pages_leave_the_text():
    result = paged(10, header=lambda n: "Reed Quay Boats Limited" if n % 2 else "Lease of the Boat House")
    assert "Limited" not in result.text
    assert "Lease of" not in result.text
    assert result.coverage.counts.headers == 10


def test_a_header_that_stands_on_a_run_of_pages_only_leaves_the_text():
    result = paged(10, header=lambda n: "Boat Lease, Annex B" if 4 <= n <= 8 else None)
    assert "Annex B" not in result.text
    assert [aside.page for aside in result.aside] == [4, 5, 6, 7, 8]


def test_a_heading_that_recurs_as_a_header_stays_once():
    result = paged(10, header=lambda n: "Annex B. Boats" if 4 <= n <= 8 else None)
    assert result.text.count("Annex B") == 1
    assert [aside.page for aside in result.aside] == [5, 6, 7, 8]


def test_numbers_that_do_not_count_and_lines_that_do_not_recur_stay():
    odd = paged(4, footer=lambda n: "the boats" if n == 2 else None)
    assert "the boats" in odd.text
    inner = [sheet([*body(n), (72, 400, str(7 * n * n)), (72, 380, "are due for them and")]) for n in range(1, 5)]
    assert "175" not in read_pdf(build(inner)).text
    assert all(str(7 * n * n) in read_pdf(build(inner)).text for n in range(1, 5))


def test_every_character_of_a_page_is_in_the_text_or_aside():
    sheets = [
        Sheet(
            [
                Words(72, 770, "Reed Quay Lease"),
                *(Words(x, y, text) for x, y, text in body(n)),
                Words(72, 600, "hidden words", colour=(1, 1, 1)),
                Words(280, 30, f"Page {n} of 4"),
            ]
        )
        for n in range(1, 5)
    ]
    result = read_pdf(build(sheets))
    for number, row in enumerate(result.coverage.rows, 1):
        written = sum(len(words.text.replace(" ", "")) for words in sheets[number - 1].words)
        pieces = [result.text[s.span.start : s.span.end] for s in result.lines if s.box.page == number]
        aside = [a.text for a in result.aside if a.page == number]
        assert sum(len("".join(t.split())) for t in [*pieces, *aside]) == written
        assert row.characters == sum(map(len, pieces))
        assert row.characters_aside == sum(map(len, aside))


# scans


def outlines(count):
    return b"".join(b"%d 700 m %d 710 l %d 705 l h f\n" % (n, n + 3, n + 6) for n in range(count))


@pytest.mark.parametrize(
    ("page", "state"),
    [
        (Sheet(), "empty"),
        (Sheet(image=COVER), "scanned"),
        (Sheet([Words(40, 20, "12 x 9")], image=COVER), "scanned"),
        (Sheet([Words(40, 770, "From: Reed Quay Boats 12 May 2019 page 3/12")], image=COVER), "scanned"),
        (Sheet(image=(72, 700, 100, 50)), "empty"),
        (Sheet(before=outlines(200)), "scanned"),
        (Sheet(before=b"72 700 m 500 700 l S\n"), "empty"),
        (Sheet(image=(0, 0, 792, 612), box=(0, 0, 792, 612), rotate=90), "scanned"),
        (Sheet([Words(72, 700 - 14 * n, f"{RUNS_ON} {n}") for n in range(9)], image=COVER), "read"),
    ],
)
def test_scanned_and_empty_pages_are_told_apart(page, state):
    result = read_pdf(build([sheet(body(1)), page]))
    assert result.coverage.rows[1].state == state
    counts = result.coverage.counts
    assert (counts.scanned_pages, counts.empty_pages) == (state == "scanned", state == "empty")
    assert result.coverage.complete == (state != "scanned")


def test_stray_characters_on_a_scan_stand_aside():
    result = read_pdf(build([Sheet([Words(40, 20, "12 x 9")], image=COVER)]))
    assert result.text == ""
    assert [(aside.text, aside.page) for aside in result.aside] == [("12 x 9", 1)]
    assert result.coverage.rows[0].characters_aside == len("12 x 9")


# forms, annotations, labels


def form():
    """A page with a text field that holds "Ada Quill" beside "Tenant:"."""
    pdf = Writer()
    look = pdf.stream(
        b"/Tx BMC BT /F1 11 Tf 2 4 Td (Ada Quill) Tj ET EMC",
        b"/Type /XObject /Subtype /Form /BBox [0 0 200 16] /Resources << /Font << /F1 3 0 R >> >> ",
    )
    field = pdf.add(
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (tenant) /V (Ada Quill) /F 4 /Rect [130 696 330 712] "
        b"/DA (/F1 11 Tf 0 g) /AP << /N %d 0 R >> >>" % look
    )
    lines = [(72, 700, "Tenant:"), (72, 680, "Landlord: Heron Boats"), (72, 660, "1. Rent. All rent is due.")]
    page = sheet(lines, extra=b"/Annots [%d 0 R] " % field)
    acro = b"/AcroForm << /Fields [%d 0 R] /DR << /Font << /F1 3 0 R >> >> /DA (/F1 11 Tf 0 g) >>" % field
    return build([page], writer=pdf, catalogue=acro)


def test_what_is_filled_into_a_form_stands_beside_its_words():
    result = read_pdf(form())
    assert " ".join(result.text.split()).startswith("Tenant: Ada Quill Landlord: Heron Boats")
    assert result.coverage.counts.form_fields == 1


def test_words_of_annotations_stand_aside():
    pdf = Writer()
    printed = pdf.add(b"<< /Type /Annot /Subtype /FreeText /Contents (Subject to board) /Rect [72 640 200 660] >>")
    note = pdf.add(b"<< /Type /Annot /Subtype /Text /Contents (Is this right?) /Rect [300 690 320 710] >>")
    link = pdf.add(b"<< /Type /Annot /Subtype /Link /Rect [300 690 320 710] /Contents (no) >>")
    page = sheet(
        [(72, 700, "1. Rent. It is due."), (72, 640, "2. End. It is near.")],
        extra=b"/Annots [%d 0 R %d 0 R %d 0 R] " % (printed, note, link),
    )
    result = read_pdf(build([page], writer=pdf))
    assert [(a.text, a.kind) for a in result.aside] == [("Is this right?", "comment"), ("Subject to board", "textbox")]
    assert result.aside[1].anchor == result.text.index("2. End")
    assert (result.coverage.counts.comments, result.coverage.counts.textboxes) == (1, 1)


def test_page_labels_are_noted_when_they_are_no_plain_numbers():
    sheets = [sheet(body(n)) for n in range(1, 5)]
    labels = b"/PageLabels << /Nums [0 << /S /r >> 2 << /S /D >>] >>"
    assert "the file labels its pages i, ii, 1, 2" in read_pdf(build(sheets, catalogue=labels)).coverage.notes
    plain = b"/PageLabels << /Nums [0 << /S /D >>] >>"
    assert not any("labels" in note for note in read_pdf(build(sheets, catalogue=plain)).coverage.notes)
