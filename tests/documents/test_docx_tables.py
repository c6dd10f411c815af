"""Tables of DOCX: rows and columns, spans, merged and empty cells, nesting, numbers and notes in cells."""

from __future__ import annotations

from softlookup.documents.readers.docx.reader import read_docx
from softlookup.documents.tree.structure import build_clauses

from .builders import docx, level, numbering, paragraph, run, table

LIST = numbering(level(0, "decimal", "%1)"))


def read(body: str, **parts: str):
    return read_docx(docx(body, {f"word/{n}.xml": c for n, c in ({"numbering": LIST} | parts).items()}))


def cell(*paragraphs: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(paragraphs)}</w:tc>"


def test_every_cell_is_a_block_with_row_and_column():
    result = read(paragraph("Prices:") + table(["Item", "Price"], ["Oar", "9"]) + paragraph("End"))
    assert result.text == "Prices:\nItem\tPrice\nOar\t9\nEnd"
    cells = [b for b in result.blocks if b.kind == "table_cell"]
    assert [(result.text[b.span.start : b.span.end], b.origin) for b in cells] == [
        ("Item", "word/document.xml p2 table 1 row 1 column 1"),
        ("Price", "word/document.xml p3 table 1 row 1 column 2"),
        ("Oar", "word/document.xml p4 table 1 row 2 column 1"),
        ("9", "word/document.xml p5 table 1 row 2 column 2"),
    ]
    assert result.blocks[-1].origin == "word/document.xml p6"
    assert result.coverage.counts.tables == 1


def test_empty_and_merged_cells_keep_the_columns_in_line():
    wide = cell(paragraph("Total"), properties='<w:gridSpan w:val="2"/>')
    top = cell(paragraph("Group"), properties='<w:vMerge w:val="restart"/>')
    under = cell(paragraph(), properties="<w:vMerge/>")
    result = read(table(["", "2026", "2027"], [top, "1", ""], [under, "2", "3"], [wide, "6"]))
    assert result.text == "\t2026\t2027\nGroup\t1\n\t2\t3\nTotal\t6"
    assert [b.origin.rpartition(" ")[2] for b in result.blocks] == ["2", "3", "1", "2", "2", "3", "1", "3"]


def test_absurd_spans_are_capped():
    wide = cell(paragraph("a"), properties='<w:gridSpan w:val="999999"/>')
    result = read(table([wide, "b"], [cell(paragraph("c"), properties='<w:gridSpan w:val="-1"/>'), "d"]))
    assert result.text == "a\tb\nc\td"
    assert result.blocks[1].origin.endswith("column 64")


def test_cells_of_several_paragraphs_and_nested_tables_keep_their_lines():
    inner = cell(paragraph("before"), table(["x", "y"]), paragraph("after"))
    result = read(table([cell(paragraph("one"), paragraph("two")), "b"], [inner, "d"]) + paragraph("End"))
    assert result.text == "one\ntwo\nb\nbefore\nx\ty\nafter\nd\nEnd"
    assert result.coverage.counts.tables == 2
    origins = {result.text[b.span.start : b.span.end]: b.origin.partition(" table ")[2] for b in result.blocks}
    assert (origins["x"], origins["after"]) == ("2 row 1 column 1", "1 row 2 column 1")


def test_numbers_in_cells_count_and_are_clauses():
    rows = [[cell(paragraph("", num=(1, 0))), f"term {n}"] for n in (1, 2)]
    result = read(paragraph("One", num=(1, 0)) + table(*rows) + paragraph("Four", num=(1, 0)))
    assert result.text == "1)\tOne\n2)\tterm 1\n3)\tterm 2\n4)\tFour"
    assert [b.label for b in result.blocks] == ["1)", "2)", "", "3)", "", "4)"]
    assert [c.label for c in build_clauses(result.text, result.blocks) if c.number] == ["1)", "2)", "3)", "4)"]


def test_a_number_in_a_later_cell_stays_in_its_row():
    result = read(table(["Rent", cell(paragraph("ten", num=(1, 0)))]))
    assert result.text == "Rent\t1)\tten"
    assert [result.text[s.start : s.end] for s in result.generated] == ["1)\t"]


def test_rows_are_not_cut_into_clauses_in_the_middle():
    long = "words of a cell that are long enough to be cut, " * 4
    result = read(table(*[[long, long] for _ in range(9)]))
    starts = [c.span.start for c in build_clauses(result.text, result.blocks)]
    assert len(starts) > 1
    assert all(start == 0 or result.text[start - 1] == "\n" for start in starts)


def test_paragraphs_and_tables_astray_in_a_table_are_read():
    row = f"<w:tr><w:tc>{paragraph('a')}</w:tc>{paragraph('in row')}</w:tr>"
    astray = f"<w:tbl>{paragraph('in table')}{row}{table(['deep'])}<w:tc>{paragraph('lone')}</w:tc></w:tbl>"
    assert read(astray).text.split() == ["in", "table", "a", "in", "row", "deep", "lone"]


def test_line_breaks_in_cells_and_empty_tables():
    broken = cell(paragraph(runs=run("a") + "<w:r><w:br/></w:r>" + run("b")))
    result = read("<w:tbl/>" + table([], ["", ""]) + table([broken, "c"]) + paragraph("End"))
    assert result.text == "a\nb\tc\nEnd"
