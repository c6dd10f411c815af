"""Tracked changes of DOCX in three views: words, paragraph marks, rows, cells, numbering, notes, fields."""

from __future__ import annotations

import pytest

from softlookup.documents.readers import ReadOptions
from softlookup.documents.readers.docx.reader import read_docx

from .builders import change, docx, field, level, marked, numbering, paragraph, run, story, table

LISTS = numbering(
    level(0, "decimal", "%1.") + level(1, "lowerLetter", "(%2)"),
    level(0, "upperRoman", "%1."),
)
VIEWS = ("final", "original", "markup")


def read(body: str, view: str = "final", **parts: str):
    data = docx(body, {f"word/{name}.xml": content for name, content in parts.items()})
    return read_docx(data, ReadOptions(view=view))


def texts(body: str, **parts: str) -> list[str]:
    return [read(body, view, **parts).text for view in VIEWS]


MIXED = paragraph(
    runs=run("Pay ") + change("del", "ten") + change("ins", "nine") + run(" pounds") + change("moveFrom", " a year")
    + run(" to Ann") + change("moveTo", " a year") + run(".")
)  # fmt: skip


def test_words_in_three_views():
    assert texts(MIXED) == [
        "Pay nine pounds to Ann a year.",
        "Pay ten pounds a year to Ann.",
        "Pay tennine pounds a year to Ann a year.",
    ]


def test_what_a_view_leaves_out_stands_aside_with_flag_and_anchor():
    final, original = read(MIXED), read(MIXED, "original")
    assert [(a.text, a.flags, final.text[a.anchor :]) for a in final.aside] == [
        ("ten", ("deleted",), "nine pounds to Ann a year."),
        ("a year", ("deleted", "moved"), " to Ann a year."),
    ]
    assert [(a.text, a.flags, a.kind) for a in original.aside] == [
        ("nine", ("inserted",), "paragraph"),
        ("a year", ("inserted", "moved"), "paragraph"),
    ]
    assert all(a.where == "word/document.xml p1" for a in final.aside)


def test_markup_marks_every_changed_word_with_author_and_date():
    result = read(MIXED, "markup")
    assert [(result.text[m.span.start : m.span.end], m.flag) for m in result.marks] == [
        ("ten", "deleted"), ("nine", "inserted"), (" a year", "deleted"), (" a year", "moved"), (" a year", "inserted"),
        (" a year", "moved"),
    ]  # fmt: skip
    assert {m.detail for m in result.marks} == {"Ann, 2026-01-02T03:04:05Z"}
    assert not result.aside


def test_markup_without_its_deletions_is_the_final_view_and_without_its_insertions_the_original():
    result = read(MIXED, "markup")
    for flag, view in (("deleted", "final"), ("inserted", "original")):
        gone = {i for m in result.marks if m.flag == flag for i in range(m.span.start, m.span.end)}
        assert "".join(c for i, c in enumerate(result.text) if i not in gone) == read(MIXED, view).text


@pytest.mark.parametrize("view", VIEWS)
def test_changes_are_counted_whatever_the_view(view):
    coverage = read(MIXED, view).coverage
    assert (coverage.counts.insertions, coverage.counts.deletions, coverage.counts.moves) == (1, 1, 1)
    note = next(note for note in coverage.notes if note.startswith("tracked changes"))
    assert f"the {view} view" in note
    assert "--view" in note
    assert not read(paragraph("Plain")).coverage.notes


def test_inserted_and_deleted_again_is_in_markup_alone():
    both = '<w:ins w:author="Ann"><w:del w:author="Bo"><w:r><w:delText>maybe</w:delText></w:r></w:del></w:ins>'
    assert texts(paragraph(runs=run("So") + both)) == ["So", "So", "Somaybe"]


def test_a_deleted_mark_joins_in_the_final_view_and_an_inserted_one_in_the_original():
    deleted = marked("del", "One ", num=(1, 0)) + paragraph("two.", num=(1, 0)) + paragraph("Three.", num=(1, 0))
    assert texts(deleted, numbering=LISTS) == [
        "1.\tOne two.\n2.\tThree.",
        "1.\tOne\n2.\ttwo.\n3.\tThree.",
        # the number of the deleted paragraph is printed and does not count
        "1.\tOne\n1.\ttwo.\n2.\tThree.",
    ]
    inserted = marked("ins", "One ", num=(1, 0)) + paragraph("two.", num=(1, 0)) + paragraph("Three.", num=(1, 0))
    assert texts(inserted, numbering=LISTS) == [
        "1.\tOne\n2.\ttwo.\n3.\tThree.",
        "1.\tOne two.\n2.\tThree.",
        "1.\tOne\n2.\ttwo.\n3.\tThree.",
    ]
    assert [b.flags for b in read(deleted, "markup", numbering=LISTS).blocks] == [("deleted",), (), ()]
    assert [b.flags for b in read(inserted, "markup", numbering=LISTS).blocks] == [("inserted",), (), ()]


@pytest.mark.parametrize("kind", ["del", "moveFrom"])
def test_a_paragraph_deleted_with_its_mark_leaves_no_number(kind):
    gone = marked(kind, "", runs=change(kind, "Gone."), num=(1, 0))
    body = paragraph("One.", num=(1, 0)) + gone + paragraph("Two.", num=(1, 0))
    assert texts(body, numbering=LISTS)[:2] == ["1.\tOne.\n2.\tTwo.", "1.\tOne.\n2.\tGone.\n3.\tTwo."]


def test_a_deleted_mark_does_not_join_across_a_table_or_out_of_a_cell():
    cell = f"<w:tc>{marked('del', 'Held')}</w:tc>"
    body = marked("del", "Before", num=(1, 0)) + table([cell, "Cell"]) + marked("del", "After")
    assert read(body, numbering=LISTS).text == "1.\tBefore\nHeld\tCell\nAfter"


def test_rows_and_cells_follow_the_view():
    rows = (
        f"<w:tr>{''.join(f'<w:tc>{paragraph(t)}</w:tc>' for t in 'ab')}</w:tr>"
        f'<w:tr><w:trPr><w:del w:author="Ann"/></w:trPr><w:tc>{paragraph("old", num=(1, 0))}</w:tc></w:tr>'
        f'<w:tr><w:trPr><w:ins w:author="Ann"/></w:trPr><w:tc>{paragraph("new", num=(1, 0))}</w:tc></w:tr>'
        f"<w:tr><w:tc>{paragraph('c')}</w:tc><w:tc><w:tcPr><w:cellDel/></w:tcPr>{paragraph('d')}</w:tc>"
        f"<w:tc><w:tcPr><w:cellIns/></w:tcPr>{paragraph('e')}</w:tc></w:tr>"
    )
    body = f"<w:tbl>{rows}</w:tbl>" + paragraph("End", num=(1, 0))
    assert texts(body, numbering=LISTS)[:2] == [
        "a\tb\n1.\tnew\nc\te\n2.\tEnd",
        "a\tb\n1.\told\nc\td\n2.\tEnd",
    ]
    final = read(body, numbering=LISTS)
    assert [(a.text, a.flags, a.kind) for a in final.aside] == [
        ("old", ("deleted",), "table_cell"), ("d", ("deleted",), "table_cell"),
    ]  # fmt: skip
    assert final.text[final.aside[0].anchor :].startswith("1.\tnew")
    assert (final.coverage.counts.insertions, final.coverage.counts.deletions) == (2, 2)


def test_a_deleted_table_is_in_no_final_view():
    row = (
        f'<w:tr><w:trPr><w:del w:author="A"/></w:trPr><w:tc>{marked("del", "", runs=change("del", "x"))}</w:tc></w:tr>'
    )
    body = paragraph("One") + f"<w:tbl>{row}</w:tbl>" + paragraph("Two")
    assert texts(body) == ["One\nTwo", "One\nx\nTwo", "One\nx\nTwo"]


def test_the_original_view_has_the_old_properties_of_a_paragraph():
    new = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr>'
    old = '<w:pPrChange><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr></w:pPrChange>'
    changed = f"<w:p><w:pPr>{new}{old}</w:pPr>{run('Rent')}</w:p>"
    added = f"<w:p><w:pPr>{new.replace('</w:numPr>', '<w:ins/></w:numPr>')}</w:pPr>{run('Term')}</w:p>"
    first = paragraph("Start", num=(1, 0))
    assert texts(first + changed + added, numbering=LISTS) == [
        "1.\tStart\nI.\tRent\nII.\tTerm",
        "1.\tStart\n(a)\tRent\nTerm",
        "1.\tStart\nI.\tRent\nII.\tTerm",
    ]


def test_the_original_view_has_the_old_look_of_a_run():
    hidden = "<w:vanish/><w:rPrChange><w:rPr/></w:rPrChange>"
    assert texts(paragraph(runs=run("Seen") + run(" once", hidden)))[:2] == ["Seen", "Seen once"]


def test_a_note_whose_mark_was_deleted_is_not_in_the_final_view():
    mark = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    deleted = f'<w:del w:author="Ann">{mark.format(1)}</w:del>'
    notes = story(
        "footnotes", f'<w:footnote w:id="1">{paragraph("old")}</w:footnote><w:footnote w:id="2">{MIXED}</w:footnote>'
    )
    body = paragraph(runs=run("Boat") + deleted + mark.format(2))
    assert texts(body, footnotes=notes)[:2] == [
        "Boat[1]\n[1] Pay nine pounds to Ann a year.",
        "Boat[1][2]\n[1] old\n[2] Pay ten pounds a year to Ann.",
    ]
    aside = next(a for a in read(body, footnotes=notes).aside if a.kind == "footnote" and a.text == "old")
    assert (aside.flags, aside.where) == (("deleted",), "word/footnotes.xml")


def test_fields_inside_changes_and_changes_inside_fields():
    old = field("REF a", "1.1").replace("<w:t ", "<w:delText ").replace("</w:t>", "</w:delText>")
    inside = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF a</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>' + change("del", "7") + change("ins", "8")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )  # fmt: skip
    body = paragraph(runs=run("See ") + f'<w:del w:author="A">{old}</w:del>' + inside)
    assert texts(body) == ["See 8", "See 1.17", "See 1.178"]


def test_changes_of_formulas_are_counted_once():
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    letter = "<m:r><m:t>{}</m:t></m:r>"
    changed = (
        f"<m:oMath {math}><m:f><m:fPr><m:ctrlPr><w:del/></m:ctrlPr></m:fPr><m:num><w:del>{letter.format('a')}</w:del>"
        f"<w:ins>{letter.format('b')}</w:ins></m:num><m:den>{letter.format('c')}</m:den></m:f></m:oMath>"
    )
    result = read(paragraph(runs=changed))
    assert (result.text, [a.text for a in result.aside]) == ("(b)/c", ["a"])
    assert (result.coverage.counts.deletions, result.coverage.counts.insertions) == (1, 1)
