"""Words of DOCX that nobody sees in print: hidden text, white on white, tiny; and what only looks like it."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import pytest

from softlookup.documents.readers.docx.reader import read_docx

from .builders import W, docx, level, numbering, paragraph, run, table

LIST = numbering(level(0, "decimal", "%1."))


def read(body: str, **parts: str):
    return read_docx(docx(body, {f"word/{name}.xml": content for name, content in parts.items()}))


def styles(*definitions: str, defaults: str = "") -> str:
    found = f"<w:docDefaults><w:rPrDefault><w:rPr>{defaults}</w:rPr></w:rPrDefault></w:docDefaults>"
    return f'<w:styles xmlns:w="{W}">{found if defaults else ""}{"".join(definitions)}</w:styles>'


def style(name: str, looks: str, kind: str = "character", based_on: str = "", extra: str = "") -> str:
    based = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return f'<w:style w:type="{kind}" w:styleId="{name}"{extra}>{based}<w:rPr>{looks}</w:rPr></w:style>'


STYLES = styles(
    style("Secret", "<w:vanish/>"),
    style("SecretChild", "", based_on="Secret"),
    style("SecretParagraph", "<w:vanish/>", "paragraph"),
    style("Clear", '<w:color w:val="FFFFFF"/>'),
    style("Specks", '<w:sz w:val="2"/>', "paragraph"),
)


def used(name: str) -> str:
    return f'<w:rStyle w:val="{name}"/>'


@pytest.mark.parametrize(
    ("properties", "flag"),
    [
        ("<w:vanish/>", "hidden"), ('<w:vanish w:val="1"/>', "hidden"), ("<w:specVanish/>", "hidden"),
        (used("Secret"), "hidden"), (used("SecretChild"), "hidden"),
        ('<w:color w:val="FFFFFF"/>', "low_contrast"), ('<w:color w:val="ffffff"/>', "low_contrast"),
        ('<w:color w:val="FEFEFE"/>', "low_contrast"), ('<w:color w:themeColor="background1"/>', "low_contrast"),
        (used("Clear"), "low_contrast"), ('<w:color w:val="000000"/><w:shd w:val="clear" w:fill="000000"/>', "low_contrast"),
        ('<w:color w:val="000000"/><w:highlight w:val="black"/>', "low_contrast"),
        ('<w:sz w:val="2"/>', "tiny"), ('<w:sz w:val="4"/>', "tiny"), ('<w:sz w:val="1pt"/>', "tiny"),
    ],
)  # fmt: skip
def test_invisible_words_stand_aside_with_their_reason(properties, flag):
    result = read(paragraph(runs=run("Pay ten") + run(" and twice that", properties) + run(".")), styles=STYLES)
    assert result.text == "Pay ten."
    assert [(a.text, a.flags, a.anchor) for a in result.aside] == [("and twice that", (flag,), len("Pay ten"))]
    assert result.coverage.counts.hidden_characters == len(" and twice that")
    assert any("hidden" in note for note in result.coverage.notes)


@pytest.mark.parametrize(
    "properties",
    [
        '<w:vanish w:val="0"/>', '<w:vanish w:val="false"/>', used("Secret") + '<w:vanish w:val="off"/>', "<w:webHidden/>",
        '<w:color w:val="auto"/>', '<w:color w:val="D9D9D9"/>', '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="1F3864"/>',
        '<w:color w:val="FFFFFF"/><w:highlight w:val="darkBlue"/>', '<w:color w:themeColor="background1" w:themeShade="80"/>',
        '<w:color w:val="FFFFFF"/><w:shd w:val="pct50" w:color="000000" w:fill="FFFFFF"/>', '<w:sz w:val="5"/>', '<w:sz w:val="x"/>',
    ],
)  # fmt: skip
def test_visible_words_stay(properties):
    result = read(paragraph(runs=run("Pay ten") + run(" twice", properties)), styles=STYLES)
    assert (result.text, result.aside) == ("Pay ten twice", ())
    assert result.coverage.counts.hidden_characters == 0


def test_paragraph_styles_hide_and_shrink_whole_paragraphs():
    body = paragraph("One.", num=(1, 0)) + paragraph("Not.", style="SecretParagraph", num=(1, 0))
    body += paragraph("Specks.", style="Specks") + paragraph("Two.", num=(1, 0))
    result = read(body, styles=STYLES, numbering=LIST)
    # the mark of the hidden paragraph is hidden with it, so it counts nowhere
    assert result.text == "1.\tOne.\n2.\tTwo."
    assert [(a.text, a.flags) for a in result.aside] == [("Not.", ("hidden",)), ("Specks.", ("tiny",))]


def test_two_styles_that_hide_cancel_out_and_defaults_hide_all():
    both = paragraph(runs=run("Seen", used("Secret")), style="SecretParagraph")
    assert read(both + paragraph("End"), styles=STYLES).text == "SeenEnd"
    result = read(
        paragraph("All") + paragraph(runs=run("Not", '<w:vanish w:val="0"/>')), styles=styles(defaults="<w:vanish/>")
    )
    assert (result.text, [a.text for a in result.aside]) == ("Not", ["All"])


def test_default_paragraph_style_counts_where_none_is_named():
    default = styles(style("Normal", "<w:vanish/>", "paragraph", extra=' w:default="1"'))
    assert [
        a.text
        for a in read(paragraph("Gone") + paragraph(runs=run("x", '<w:vanish w:val="0"/>')), styles=default).aside
    ] == ["Gone"]


HIDDEN_MARK = "<w:rPr><w:vanish/><w:specVanish/></w:rPr></w:pPr>"


def test_style_separator_joins_the_next_paragraph_under_the_first_number():
    heading = paragraph("Rent.", num=(1, 0), style="Heading1").replace("</w:pPr>", HIDDEN_MARK, 1)
    result = read(heading + paragraph(" Paid monthly.") + paragraph("Term", num=(1, 0)), numbering=LIST)
    assert result.text == "1.\tRent. Paid monthly.\n2.\tTerm"
    assert [b.label for b in result.blocks] == ["1.", "2."]
    assert not result.aside


def test_hidden_empty_paragraph_takes_no_number_and_a_visible_one_does():
    hidden = paragraph("", num=(1, 0)).replace("</w:pPr>", HIDDEN_MARK, 1)
    body = paragraph("One", num=(1, 0)) + hidden + paragraph("", num=(1, 0)) + paragraph("Two", num=(1, 0))
    assert read(body, numbering=LIST).text == "1.\tOne\n2.\n3.\tTwo"


def test_hidden_rows_and_covered_cells_are_hidden():
    hidden_row = f"<w:tr><w:trPr><w:hidden/></w:trPr><w:tc>{paragraph('ghost', num=(1, 0))}</w:tc></w:tr>"
    covered = f"<w:tc><w:tcPr><w:vMerge/></w:tcPr>{paragraph('under')}</w:tc>"
    top = f'<w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>{paragraph("top")}</w:tc>'
    body = table([top, "a"], [covered, "b"]).replace("</w:tbl>", hidden_row + "</w:tbl>") + paragraph("End", num=(1, 0))
    result = read(body, numbering=LIST)
    assert result.text == "top\ta\n\tb\n1.\tEnd"
    assert [(a.text, a.flags) for a in result.aside] == [("under", ("hidden",)), ("ghost", ("hidden",))]


WHITE = '<w:color w:val="FFFFFF"/>'


@pytest.mark.parametrize(
    ("cell", "table_style", "is_seen"),
    [
        ('<w:shd w:val="clear" w:fill="002060"/>', "", True),
        ("", "", False),
        ("", "Banded", True),  # the style shades some cells, and which is not worked out
        ('<w:shd w:val="clear" w:fill="FFFFFF"/>', "Banded", False),
        ("", "Plain", False),
    ],
)
def test_white_words_in_tables_depend_on_the_cell(cell, table_style, is_seen):
    banded = '<w:style w:type="table" w:styleId="Banded"><w:tblStylePr w:type="firstRow"><w:tcPr><w:shd w:val="clear" w:fill="000000"/></w:tcPr></w:tblStylePr></w:style>'
    parts = styles(banded, '<w:style w:type="table" w:styleId="Plain"/>')
    white = f"<w:tc><w:tcPr>{cell}</w:tcPr>{paragraph(runs=run('Price', WHITE))}</w:tc>"
    properties = f'<w:tblStyle w:val="{table_style}"/>' if table_style else ""
    result = read(table([white, "x"], properties=properties), styles=parts)
    assert ("Price" in result.text) == is_seen
    assert [a.flags for a in result.aside] == ([] if is_seen else [("low_contrast",)])


def test_white_words_on_a_dark_paragraph_or_page_are_seen():
    dark = '<w:pPr><w:shd w:val="clear" w:fill="203864"/></w:pPr>'
    assert read(f"<w:p>{dark}{run('Title', WHITE)}</w:p>").text == "Title"
    banner = (
        '<w:style w:type="paragraph" w:styleId="Banner"><w:pPr><w:shd w:val="clear" w:fill="203864"/></w:pPr></w:style>'
    )
    assert read(paragraph(runs=run("Title", WHITE), style="Banner"), styles=styles(banner)).text == "Title"
    page = f'<w:document xmlns:w="{W}"><w:background w:color="000000"/><w:body>{paragraph(runs=run("Title", WHITE))}</w:body></w:document>'
    assert read_docx(docx("", document=page)).text == "Title"


def test_hidden_insertion_has_both_reasons_and_hidden_deletion_is_deleted():
    inserted = f'<w:ins w:author="A">{run("trap", "<w:vanish/>")}</w:ins>'
    deleted = '<w:del w:author="A"><w:r><w:rPr><w:vanish/></w:rPr><w:delText>old</w:delText></w:r></w:del>'
    result = read(paragraph(runs=run("Pay") + inserted + run(".") + deleted))
    assert [(a.text, a.flags) for a in result.aside] == [
        ("trap", ("inserted", "hidden")),
        ("old", ("deleted", "hidden")),
    ]
    assert result.coverage.counts.hidden_characters == len("trap")
