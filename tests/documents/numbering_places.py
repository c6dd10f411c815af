"""Contracts whose automatic numbers stand where readers lose them: cells, boxes, notes, tracked changes.

Not for list definitions (``numbering_contracts.py``).
"""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

from .numbering_draft import Draft, NumberingContract, change, level, paragraph, run, text_box


def places() -> NumberingContract:
    """Insurance policy: numbers in cells, content controls, boxes, notes, links, empty and hidden paragraphs."""
    draft = Draft("policy with numbers everywhere", witness="print")
    number = draft.list(level(0, "decimal", "%1."), level(1, "lowerLetter", "(%2)"))

    def item(words: str, case: str, index: int = 0, **extra: str) -> str:
        return draft.numbered(number, index, words, case, **extra)

    draft.body.append(item("Cover", "before"))
    cell = '<w:tc><w:tcPr><w:tcW w:w="4000" w:type="dxa"/></w:tcPr>{0}</w:tc>'
    grid = '<w:tblPr><w:tblW w:w="8000" w:type="dxa"/></w:tblPr><w:tblGrid><w:gridCol w:w="4000"/><w:gridCol w:w="4000"/></w:tblGrid>'
    rows = [
        "<w:tr>" + "".join(cell.format(item(words, "in a cell")) for words in pair) + "</w:tr>"
        for pair in (("Fire", "Flood"), ("Theft", "Storm"))
    ]
    nested = f"<w:tbl>{grid}<w:tr>{cell.format(item('Hail', 'in a nested table', 1))}{cell.format(paragraph(run('x')))}</w:tr></w:tbl>"
    rows.append(
        f"<w:tr>{cell.format(nested + paragraph(''))}{cell.format(item('Frost', 'after a nested table', 1))}</w:tr>"
    )
    draft.body.append(f"<w:tbl>{grid}{''.join(rows)}</w:tbl>")
    draft.body.append(item("Excess", "after a table"))
    draft.body.append(
        f"<w:sdt><w:sdtPr/><w:sdtContent>{item('Premium', 'in a content control')}{item('monthly', 'in a content control', 1)}</w:sdtContent></w:sdt>"
    )
    inline = f"<w:sdt><w:sdtPr/><w:sdtContent>{run(draft.mark('text in an inline control') + ' Renewal')}</w:sdtContent></w:sdt>"
    draft.body.append(paragraph(inline, number, 0))
    draft.body.append(paragraph("", number, 0))
    draft.body.append(item("Claims", "after an empty numbered paragraph"))
    draft.body.append(paragraph("<w:r><w:br/></w:r>", number, 0))
    draft.body.append(item("Notice", "after a numbered line break"))
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    draft.body.append(paragraph(run(draft.mark("before a note") + " Fraud") + note, number, 0))
    aside = draft.list(level(0, "decimal", "(%1)"))
    first = paragraph("<w:r><w:footnoteRef/></w:r>" + run(" Two statutes apply:"))
    items = [draft.numbered(aside, 0, words, "in a footnote, own list") for words in ("the old one", "the new one")]
    draft.notes.append(f'<w:footnote w:id="2">{first}{"".join(items)}</w:footnote>')
    draft.body.append(item("Subrogation", "after a note"))
    link = f'<w:hyperlink w:anchor="x">{run(draft.mark("text in a link") + " Law")}</w:hyperlink>'
    draft.body.append(paragraph(link, number, 0))
    field = f'<w:fldSimple w:instr=" COMPARE 1 = 1 ">{run(draft.mark("text in a field") + " Date")}</w:fldSimple>'
    draft.body.append(paragraph(field, number, 0))
    boxed = draft.list(level(0, "upperLetter", "%1)"))
    holder = draft.mark("paragraph that anchors a text box") + " Seat"
    inner = "".join(draft.numbered(boxed, 0, words, "in a text box, own list") for words in ("stamp", "date"))
    draft.body.append(paragraph(run(holder) + text_box(inner), number, 0))
    draft.body.append(item("Courts", "after a text box"))
    hidden = draft.list(level(0, "decimal", "%1)"))
    draft.item(hidden, 0, "Copies", "before hidden ones")
    draft.body.append(paragraph(run("Hidden words", "<w:vanish/>"), hidden, 0))
    draft.item(hidden, 0, "Annexes", "after a numbered paragraph with hidden text alone")
    draft.body.append(paragraph(run("Hidden clause", "<w:vanish/>"), hidden, 0, mark="<w:vanish/>"))
    draft.item(hidden, 0, "Language", "after a wholly hidden paragraph")
    return draft.finish()


def tracked() -> NumberingContract:
    """Loan with tracked changes: inserted and deleted paragraphs, marks, rows and numbering."""
    draft = Draft("loan with tracked changes", witness="print")
    number = draft.list(level(0, "decimal", "%1."), level(1, "lowerLetter", "(%2)"))

    def item(words: str, case: str, index: int = 0, **extra: str) -> str:
        return draft.numbered(number, index, words, case, **extra)

    def removed(words: str) -> str:
        return (
            f'<w:del {change(1)}><w:r><w:delText xml:space="preserve">{draft.lost()} {words}</w:delText></w:r></w:del>'
        )

    gone_mark = f"<w:del {change(2)}/>"
    new_mark = f"<w:ins {change(3)}/>"
    draft.body.append(item("Sum", "before changes"))
    draft.body.append(paragraph(removed("Fee"), number, 0, mark=gone_mark))
    draft.body.append(item("Interest", "after a deleted paragraph"))
    inserted = f"<w:ins {change(4)}>{run(draft.mark('inserted paragraph') + ' Margin')}</w:ins>"
    draft.body.append(paragraph(inserted, number, 0, mark=new_mark))
    draft.body.append(item("Repayment", "after an inserted paragraph"))
    draft.body.append(item("Security", "deleted mark: joins the next paragraph", mark=gone_mark))
    draft.body.append(paragraph(run(" and guarantee."), number, 0))
    draft.body.append(item("Default", "after a joined paragraph"))
    draft.body.append(
        item("Costs", "level changed by pPrChange", 0).replace(
            "</w:pPr>",
            f'<w:pPrChange {change(5)}><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="{number}"/></w:numPr></w:pPr></w:pPrChange></w:pPr>',
        )
    )
    draft.body.append(paragraph(removed("Tax"), number, 0))
    draft.body.append(item("Notices", "after a paragraph whose text alone is deleted"))
    cell = '<w:tc><w:tcPr><w:tcW w:w="4000" w:type="dxa"/></w:tcPr>{0}</w:tc>'
    grid = '<w:tblPr><w:tblW w:w="4000" w:type="dxa"/></w:tblPr><w:tblGrid><w:gridCol w:w="4000"/></w:tblGrid>'
    dropped = paragraph(removed("Row"), number, 0, mark=gone_mark)
    rows = (
        f"<w:tr>{cell.format(item('Agent', 'row before a deleted row'))}</w:tr>"
        f"<w:tr><w:trPr><w:del {change(6)}/></w:trPr>{cell.format(dropped)}</w:tr>"
        f"<w:tr>{cell.format(item('Lender', 'row after a deleted row'))}</w:tr>"
    )
    draft.body.append(f"<w:tbl>{grid}{rows}</w:tbl>")
    moved = f'<w:moveFrom {change(7)}><w:r><w:t xml:space="preserve">{draft.lost()} Assignment</w:t></w:r></w:moveFrom>'
    draft.body.append(paragraph(moved, number, 0, mark=f"<w:moveFrom {change(8)}/>"))
    draft.body.append(item("Law", "after a paragraph moved away"))
    arrived = f"<w:moveTo {change(9)}>{run(draft.mark('moved here') + ' Assignment')}</w:moveTo>"
    draft.body.append(paragraph(arrived, number, 0, mark=f"<w:moveTo {change(10)}/>"))
    draft.body.append(item("Courts", "after a paragraph moved here"))
    other = draft.list(level(0, "decimal", "%1)"), level(1, "lowerLetter", "%2)"))
    draft.item(other, 0, "Cross", "deleted mark before a deeper item", mark=gone_mark)
    draft.body.append(paragraph(run(" default."), other, 1))
    draft.item(other, 1, "Waiver", "after a deleted mark before a deeper item")
    return draft.finish()
