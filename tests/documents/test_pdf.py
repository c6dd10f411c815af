"""PDF: paragraphs, running headers, cut words, scanned pages, damage; pdfium never loads in this process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from softlookup.documents.readers.pdf.columns import in_reading_order
from softlookup.documents.readers.pdf.furniture import furniture
from softlookup.documents.readers.pdf.layout import paragraphs
from softlookup.documents.readers.pdf.lines import Line, Page
from softlookup.documents.readers.pdf.reader import read_pdf
from softlookup.errors import DocumentError

from .builders import pdf

FULL = "The tenant shall keep the boat house clean and in good repair at all times and"


def page(number: int, body: list[str], *, header: str = "Reed Quay Lease", footer: bool = True):
    lines = [(72.0, 770.0, header)] if header else []
    lines += [(72.0, 720.0 - 14 * i, text) for i, text in enumerate(body)]
    return lines + ([(300.0, 30.0, f"Page {number} of 4")] if footer else [])


def test_lines_become_paragraphs_and_furniture_leaves_the_text():
    things = ["oars", "nets", "ropes", "sails"]
    data = pdf([page(n, [f"{n}. Duty {n}. {FULL}", f"shall pay for {things[n - 1]}."]) for n in range(1, 5)])
    result = read_pdf(data)
    assert result.text.split("\n") == [f"{n}. Duty {n}. {FULL} shall pay for {things[n - 1]}." for n in range(1, 5)]
    assert [block.page for block in result.blocks] == [1, 2, 3, 4]
    assert result.coverage.pages == 4
    assert sum("left out of the text on 4 pages" in note for note in result.coverage.notes) == 2


def test_paragraph_runs_on_over_the_page_break():
    data = pdf(
        [
            page(
                1,
                [
                    "1. Scope. The yard repairs all the boats that are listed in the annex to this lease and",
                    "that belong to",
                ],
                header="",
            ),
            page(2, ["the owner."], header=""),
        ]
    )
    assert read_pdf(data).text.endswith("that belong to the owner.")


def test_scanned_and_empty_pages_are_told_apart():
    coverage = read_pdf(
        pdf([page(1, ["1. Scope. All boats of the club are covered."]), [], []], image_pages=(1,))
    ).coverage
    assert [row.state for row in coverage.rows] == ["read", "scanned", "empty"]
    assert not coverage.complete


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.4\n", b"%PDF-1.7 garbage" * 40, pdf([page(1, ["x"])])[:300]],
    ids=["head", "garbage", "cut"],
)
def test_damaged_files_are_refused(data):
    with pytest.raises(DocumentError, match="sound PDF"):
        read_pdf(data)


def test_pdfium_stays_out_of_this_process():
    code = "import sys; from softlookup.documents import read; sys.exit('pypdfium2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def lines(*texts: str) -> list[Page]:
    return [Page(1, 612, 792, tuple(Line(t, 72, 700 - 14 * i, 540, 711 - 14 * i) for i, t in enumerate(texts)))]


def test_cut_words_are_joined_and_compounds_kept():
    words = lines("The con\ufffe", "tract and the well-", "known rule, a well-known", "thing, and the agree-", "ment.")
    assert (
        paragraphs(words, {}).paragraphs[0].text
        == "The contract and the well-known rule, a well-known thing, and the agreement."
    )


def test_chinese_lines_join_without_a_blank():
    assert (
        paragraphs(lines("第一条 甲方应当按照本合同的约定", "支付租金。"), {}).paragraphs[0].text
        == "第一条 甲方应当按照本合同的约定支付租金。"
    )


def test_furniture_needs_recurrence_or_a_page_number():
    pages = [
        Page(
            n,
            612,
            792,
            (
                Line("None", 72, 760, 90, 771),
                Line(f"Text {'abc'[n]}", 72, 500, 90, 511),
                Line(f"- {n} -", 300, 20, 320, 31),
            ),
        )
        for n in range(3)
    ]
    assert set(furniture(pages)) == {(0, 2), (1, 2), (2, 2)}


LEFT = [f"the left side of row {n} fills its column" for n in range(10)]
RIGHT = [f"row {n} on the right goes on to its end" for n in range(10)]


def test_columns_printed_row_by_row_are_read_column_by_column():
    title, last = (
        (72.0, 740.0, "A title above the two columns that runs over both of them to the edge"),
        (72.0, 540.0, "The end."),
    )
    rows = [(x, 700.0 - 14 * n, side[n]) for n in range(10) for x, side in ((72.0, LEFT), (330.0, RIGHT))]
    text = read_pdf(pdf([[title, *rows, last]])).text
    assert text.index(LEFT[9]) < text.index(RIGHT[0])
    assert " ".join(LEFT) in text
    assert " ".join(RIGHT) in text


def test_tables_are_read_row_by_row():
    names = ["oar", "sail", "rope", "anchor of iron", "net", "lamp", "mast and boom", "keel"]
    rows = [
        (x, 700.0 - 14 * n, t)
        for n, name in enumerate(names)
        for x, t in ((72.0, name), (330.0, f"price {n} for each"))
    ]
    text = read_pdf(pdf([rows])).text
    assert all(f"{name}\tprice {n} for each" in text for n, name in enumerate(names))


def test_pages_without_gaps_keep_their_order():
    page = Page(1, 612, 792, tuple(Line(t, 72, 700 - 14 * i, 540, 711 - 14 * i) for i, t in enumerate(LEFT)))
    assert in_reading_order(page) is page


def test_label_and_text_apart_on_the_page_are_apart_in_the_text():
    data = pdf(
        [
            [
                (72.0, 700.0, "2.1"),
                (88.5, 700.0, "Staff. The yard employs people."),
                (72.0, 680.0, "3D prints are no boats."),
            ]
        ]
    )
    assert "2.1 Staff." in read_pdf(data).text
    assert "3D prints" in read_pdf(data).text


def test_titles_of_annexes_are_no_running_headers():
    title = "REED QUAY BOAT HOUSE COMPANY"
    annexes = [
        [(200.0, 770.0, title), (200.0, 750.0, f"ANNEX {n}"), (72.0, 700.0, f"Ware {n} is listed here.")]
        for n in "ABCD"
    ]
    plain = [
        [(72.0, 740.0 - 20 * i, f"{n}.{i} The {word} of the yard is due.") for i in range(4)]
        for n, word in enumerate(["rent", "fee", "share"], 1)
    ]
    assert read_pdf(pdf([*plain, *annexes])).text.count(title) == 4


def test_running_headers_leave_even_in_part_of_the_document():
    body = [
        "the yard keeps all the boats of the club in the house and",
        "pays for the paint and the ropes which are used for them and",
    ]
    headed = [
        [(200.0, 770.0, "Rules of the Boat House"), (72.0, 700.0, f"{w} {body[0]}"), (72.0, 686.0, body[1])]
        for w in ("so", "then", "thus", "hence")
    ]
    plain = [[(72.0, 700.0, f"Clause {w} is about nothing at all.")] for w in ("one", "two", "three", "four")]
    assert "Rules of the Boat House" not in read_pdf(pdf([*plain, *headed])).text


def test_page_marks_of_an_earlier_print_leave_wherever_they_stand():
    pages = [
        [
            (72.0, 700.0, f"The {w} of the boat is due in"),
            (400.0, 400.0, f"Boat Lease Page {n} of 9"),
            (72.0, 386.0, "May."),
        ]
        for n, w in enumerate(["rent", "fee", "tax"], 3)
    ]
    text = read_pdf(pdf(pages)).text
    assert "Page" not in text
    assert "The fee of the boat is due in" in text
    shuffled = [pages[1], pages[0], pages[2]]
    assert "Page 4 of 9" in read_pdf(pdf(shuffled)).text
