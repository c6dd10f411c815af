"""PDF: what is a running header, footer or page number, and what only looks like one."""

from __future__ import annotations

import pytest

from softlookup.documents.readers.pdf.reader import read_pdf

from .pdf_builders import Sheet, Words, build, sheet

DUTIES = ["oars", "nets", "ropes", "sails", "lamps", "masts", "keels", "flags", "rafts", "pumps"]


def printed(*pages):
    """The PDF whose pages hold these (y, text), read."""
    return read_pdf(build([sheet([(72.0, float(y), text) for y, text in page]) for page in pages]))


def flowing(number, count, top=740, step=14):
    """Lines of a sentence that never ends, from ``top`` downwards."""
    thing = DUTIES[number % len(DUTIES)]
    return [
        (top - step * i, f"and the tenant shall keep part {number}.{i} of the {thing} in good repair")
        for i in range(count)
    ]


def kept(result, text):
    """How often ``text`` stands in the reading text, with its lines joined."""
    return " ".join(result.text.split()).count(text)


# body lines that recur


def form(number, *, spacing):
    """The first page of a schedule: the same words in the same places, then its own."""
    thing = DUTIES[number]
    head = [f"SCHEDULE {number}", "FORM OF WORK ORDER", "1. The yard shall carry out the following work:"]
    rest = [f"Repair of the {thing} on pier {n}, as clause 1.1 says." for n in range(1, 8)]
    return [(770 - spacing * i, text) for i, text in enumerate([*head, *rest, f"2. The fee is {number}00 pounds."])]


@pytest.mark.parametrize("spacing", [14, 28])
@pytest.mark.parametrize("first", [True, False])
def test_the_first_lines_of_forms_stay(spacing, first):
    opening = [(770 - spacing * i, text) for i, text in enumerate(["BOAT YARD TERMS", "1. Orders", "1.1 See below."])]
    forms = [form(number, spacing=spacing) for number in range(1, 5)]
    result = printed(*([opening] if first else []), *forms)
    assert kept(result, "FORM OF WORK ORDER") == 4
    assert kept(result, "1. The yard shall carry out the following work:") == 4
    assert result.coverage.counts.headers == 0


def test_the_same_forms_lose_a_header_that_stands_apart():
    result = printed(*([(775, "Boat yard, draft of May"), *form(number, spacing=14)[3:]] for number in range(1, 5)))
    assert kept(result, "draft of May") == 0
    assert result.coverage.counts.headers == 4
    assert kept(result, "as clause 1.1 says.") == 28


def test_wrapped_lines_that_recur_at_the_edges_of_pages_stay():
    sentence = ["the parties act reasonably in all of their dealings with the other and", "without any delay whatever"]
    pages = []
    for number in range(1, 13):
        shift = number % 4
        body = flowing(number, 50, top=770)
        for at in (shift, shift + 1, 47 - shift):  # near both edges, sooner or later on the page
            body[at] = (body[at][0], sentence[at % 2])
        pages.append(body)
    result = printed(*pages)
    assert sum(kept(result, part) for part in sentence) == 36
    assert not result.aside


def test_a_date_that_is_the_first_line_of_some_pages_stays():
    pages = [flowing(number, 45, top=770) for number in range(14)]
    for number in (2, 5, 9):
        pages[number][0] = (770.0, "31 December 2025;")
    result = printed(*pages)
    assert kept(result, "31 December 2025;") == 3
    assert not result.aside


def test_a_bare_number_that_ends_a_table_is_no_page_number():
    rows = [["oars", "40"], ["nets", "71"], ["masts", "12"]]
    pages = [
        [*flowing(n, 46, top=770), (126, f"The price of the {what} is"), (112, price)]
        for n, (what, price) in enumerate(rows)
    ]
    result = printed(*pages)
    assert [kept(result, f"The price of the {what} is {price}") for what, price in rows] == [1, 1, 1]


# running lines


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_headers_of_several_lines_leave(lines):
    head = ["Boat Yard Limited", "Terms of the yard, issue of May", "Not to be copied"][:lines]
    pages = [[*((775 - 12 * i, text) for i, text in enumerate(head)), *flowing(n, 40, top=700)] for n in range(1, 7)]
    result = printed(*pages)
    assert not any(text in result.text for text in head)
    assert [a.text for a in result.aside] == ["\n".join(head)] * 6
    assert len(result.blocks) == 1


def test_a_header_without_room_below_it_leaves_when_text_runs_on_over_it():
    pages = [[(774, "Boat Yard Limited, terms"), *flowing(n, 45, top=760)] for n in range(1, 7)]
    result = printed(*pages)
    assert "Limited" not in result.text
    assert len(result.blocks) == 1


def test_a_footer_in_small_letters_without_room_above_it_leaves():
    sheets = [
        Sheet(
            [
                *(Words(72, 740 - 14 * i, f"{n}.{i} The {thing} of pier {i} are mended.") for i in range(48)),
                Words(72, 68, "Boat yard terms, free to use", 7),
            ]
        )
        for n, thing in enumerate(DUTIES[:4], 1)
    ]
    result = read_pdf(build(sheets))
    assert "free to use" not in result.text
    assert result.coverage.counts.footers == 4


def test_a_header_of_some_pages_is_not_asked_of_others_far_away():
    plain = [flowing(n, 48, top=775) for n in range(12)]
    headed = [[(775, "Rules of the Boat House"), *flowing(n, 40, top=740)] for n in range(30)]
    result = printed(*plain, *headed, *plain)
    assert "Rules of the Boat House" not in result.text


def test_a_number_before_a_name_leaves_only_when_it_counts():
    pages = [[*flowing(n, 40), (40, f"{n} Boat Yard Terms")] for n in range(1, 7)]
    assert "Boat Yard Terms" not in printed(*pages).text
    odd = [[*flowing(n, 40), (40, f"{n * n} Boat Yard Terms")] for n in range(1, 7)]
    assert kept(printed(*odd), "Boat Yard Terms") == 6


# what is left of an earlier print


def reprinted(footer, *, numbers=True):
    """Pages that end where their text ends: ``footer``, then the page number, below 20 to 40 lines of text."""
    pages = []
    for n in range(1, 26):
        body = flowing(n, 20 + 3 * (n % 7))
        low = body[-1][0] - 32
        pages.append([*body, (low, footer)] + ([(low - 18, str(n))] if numbers else []))
    return pages


@pytest.mark.parametrize("numbers", [True, False])
def test_a_footer_above_a_page_number_leaves_wherever_the_page_ends(numbers):
    result = printed(*reprinted("*** Confidential treatment is asked for", numbers=numbers))
    assert "Confidential" not in result.text
    assert len(result.blocks) == 1
    assert sum(len(a.text.split("\n")) for a in result.aside) == 25 * (1 + numbers)


def test_last_lines_that_are_not_apart_stay():
    pages = [
        [*body[:-2], (body[-3][0] - 14, "and so shall the owner of the boat"), body[-1]] for body in reprinted("x")
    ]
    assert kept(printed(*pages), "and so shall the owner of the boat") == 25


def test_a_page_end_inside_a_page_leaves_with_its_footer():
    footer = "*** Confidential treatment is asked for"
    pages = reprinted(footer)
    low = pages[11][-1][0] - 32
    second = [(y - 740 + low, text) for y, text in flowing(30, 8)]
    end = second[-1][0] - 32
    pages[11] += [*second, (end, footer), (end - 18, "13")]
    pages[12:] = [[*page[:-1], (page[-1][0], str(n))] for n, page in enumerate(pages[12:], 14)]
    result = printed(*pages)
    assert "Confidential" not in result.text
    assert len(result.blocks) == 1
    assert sorted("\n".join(a.text for a in result.aside if a.page == 12).split("\n")) == [footer, footer, "12", "13"]


def test_a_number_inside_a_page_that_does_not_count_stays():
    pages = reprinted("*** Confidential treatment is asked for")
    pages[10] = [*flowing(11, 8), (580, "77"), *flowing(12, 8, top=540), *pages[10][-2:]]
    assert kept(printed(*pages), "77") == 1


# one page


@pytest.mark.parametrize("mark", ["Page 1 of 1", "- 3 -", "page 2", "1 / 1"])
@pytest.mark.parametrize("y", [775, 30])
def test_the_page_number_of_a_single_page_leaves(mark, y):
    result = printed([*flowing(1, 40), (y, mark)])
    assert mark not in result.text
    assert [a.text for a in result.aside] == [mark]
    assert any(note.startswith("1 line was set aside as running headers") for note in result.coverage.notes)


@pytest.mark.parametrize("mark", ["12", "- 3", "A-1", "Boat Yard Limited"])
def test_other_lines_at_the_edge_of_a_single_page_stay(mark):
    result = printed([*flowing(1, 40), (30, mark)])
    assert mark in result.text
    assert not result.aside


def test_what_reads_like_a_page_number_inside_a_single_page_stays():
    assert kept(printed([*flowing(1, 10), (420, "Page 1 of 1"), *flowing(2, 10, top=380)]), "Page 1 of 1") == 1
    assert kept(printed([*flowing(1, 49, top=775), (89, "page 3")]), "page 3") == 1


# the account


def test_the_account_says_how_many_lines_were_set_aside():
    pages = [[(775, "Boat Yard Limited"), *flowing(n, 40), (30, f"Page {n} of 6")] for n in range(1, 7)]
    notes = printed(*pages).coverage.notes
    assert "12 lines were set aside as running headers, footers or page numbers and left out of the text" in notes
    assert "page header or footer left out of the text on 6 pages: 'Boat Yard Limited'" in notes
    assert not any("set aside as running" in note for note in printed(flowing(1, 40), flowing(2, 40)).coverage.notes)
