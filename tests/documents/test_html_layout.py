"""HTML layout: lists, tables, page furniture, Word exports, forms, links, redlines; hostile pages."""

from __future__ import annotations

import pytest

from softlookup.documents.readers import ReadOptions
from softlookup.documents.readers.html.numbers import browser_number
from softlookup.documents.readers.html.reader import read_html
from softlookup.documents.tree.structure import build_clauses
from softlookup.errors import DocumentError


def labels(result):
    return [(b.label, b.level, b.list_id) for b in result.blocks if b.label]


# lists ------------------------------------------------------------------------------------------------------


def test_nested_lists_count_in_one_list():
    result = read_html("<ol><li>A<ol type=a><li>b</li><li>c</ol><li>D</ol><p>x</p><ol start=3><li>E</ol>")
    assert result.text == "1. A\na. b\nb. c\n2. D\nx\n3. E"
    assert labels(result) == [
        ("1.", 0, "ol1"), ("a.", 1, "ol1"), ("b.", 1, "ol1"), ("2.", 0, "ol1"), ("3.", 0, "ol1"),
    ]  # fmt: skip
    assert [c.label_source for c in build_clauses(result.text, result.blocks) if c.number] == ["auto"] * 5


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ol reversed><li>q<li>r</ol>", "2. q\n1. r"), ("<ol reversed start=9><li>q<li>r</ol>", "9. q\n8. r"),
        ("<ol type=I start=4><li>q<li value=9>r<li>s</ol>", "IV. q\nIX. r\nX. s"),
        ("<ol start=0><li>q</ol>", "0. q"), ("<ol start=-1><li>q</ol>", "-1. q"),
        ("<ol><li type=A>q<li>r</ol>", "A. q\n2. r"), ('<ol style="list-style-type:lower-roman"><li>q</ol>', "i. q"),
        ('<ol style="list-style:none"><li>q</ol>', "q"), ("<ul><li>q</ul>", "q"),
        ("<style>ol{list-style-type:upper-alpha}</style><ol><li>q</ol>", "A. q"),
        ('<ol style="list-style-type:cjk-ideographic"><li>q<li>r</ol>', "一、 q\n二、 r"),
        ("<ol><li></li><li>r</ol>", "2. r"), ("<ol><li><ol type=i><li>deep</ol></ol>", "1.\ni. deep"),
        ("<ol><li><p>one</p><p>two</p><li>three</ol>", "1. one\ntwo\n2. three"), ("<li>alone", "alone"),
        ("<ol start=x><li value=y>q</ol>", "1. q"), ("</ol></ul><ol><li>q</ol></ol><li>r", "1. q\nr"),
    ],
)  # fmt: skip
def test_numbers_are_those_a_browser_prints(page, text):
    assert read_html(page).text == text


@pytest.mark.parametrize(
    ("number", "marker", "printed"),
    [(27, "a", "aa"), (28, "a", "ab"), (703, "A", "AAA"), (4, "01", "04"), (0, "a", "0"), (4000, "i", "4000"),
     (10, "一", "十"), (21, "一", "二十一"), (100, "一", "100"), (7, "x", "7")],
)  # fmt: skip
def test_printed_numbers(number, marker, printed):
    assert browser_number(number, marker) == printed


# tables -----------------------------------------------------------------------------------------------------


def test_a_data_table_has_a_line_per_row():
    page = (
        "<table border=1><tr><th>Boat<br>No</th><th>Fee</th></tr><tr><td rowspan=2><p>Yawl</p></td><td>$</td>"
        "<td>1,000</td><td>)</td></tr><tr><td>5</td><td>%</td></tr></table>after"
    )
    result = read_html(page)
    assert result.text == "Boat No\tFee\nYawl\t$1,000)\n5%\nafter"
    assert [b.kind for b in result.blocks] == ["table_cell"] * 3 + ["paragraph"]
    assert result.blocks[1].origin.startswith("table 1 row 2")
    assert result.coverage.counts.tables == 1


def test_a_layout_table_gives_back_its_paragraphs():
    page = (
        "<table><tr><td></td><td>(a)</td><td><p>one</p><p>two</p></td></tr>"
        "<tr><td>By:<br>Name:</td><td>By:<br>Name:</td></tr>"
        "<tr><td>(b)</td><td><table><tr><td>in</td><td>side</td></tr><tr><td>next</td></tr></table></td></tr></table>"
    )
    result = read_html(page)
    assert result.text == "(a)\tone\ntwo\nBy:\nName:\nBy:\nName:\n(b)\tin\tside\nnext"
    assert result.coverage.counts.tables == 0
    assert {b.kind for b in result.blocks} == {"paragraph"}


# pages ------------------------------------------------------------------------------------------------------


def pages(between: str, number: str = "<p align=center>{}</p>", first: int = 1) -> str:
    parts = ["The yard repairs the boat", "and the owner pays the fee for it.", "3. Law. Norway.", "4. End."]
    return between.join(f"<p>{part}</p>{number.format(at)}" for at, part in enumerate(parts, first))


@pytest.mark.parametrize(
    "between",
    ["<hr>", '<p style="page-break-before:always">&nbsp;</p>', '<div style="break-after:page"></div>', "<PAGE>"],
)
def test_page_numbers_beside_breaks_are_furniture(between):
    result = read_html(pages(between))
    assert result.text == "The yard repairs the boat\nand the owner pays the fee for it.\n3. Law. Norway.\n4. End."
    assert result.coverage.pages == 4
    assert [b.page for b in result.blocks] == [1, 3, 4]  # the first paragraph goes on across the break
    assert [(a.text, a.kind, a.page) for a in result.aside] == [(str(n), "footer", n) for n in (1, 2, 3, 4)]
    assert result.coverage.counts.footers == 4


def test_printed_page_numbers_are_taken_when_they_agree():
    assert [b.page for b in read_html(pages("<hr>", first=12)).blocks] == [12, 14, 15]
    restarted = pages("<PAGE>").replace("<p align=center>3</p>", "<p align=center>1</p>")
    restarted = restarted.replace("<p align=center>4</p>", "<p align=center>2</p>")
    assert [b.page for b in read_html(restarted).blocks] == [1, 3, 4]


def test_running_lines_go_with_the_page_numbers():
    result = read_html(pages('<hr><p><a href="#toc">Table of Contents</a></p>'))
    assert "Table of Contents" not in result.text
    assert [a.text for a in result.aside if a.kind == "header"] == ["Table of Contents"] * 3


def test_rules_and_numbers_that_are_no_pages_stay():
    page = "<p>Fees</p><p>5</p><hr><p>one</p><p>7</p><hr><p>two</p>"
    result = read_html(page)
    assert result.text == "Fees\n5\none\n7\ntwo"
    assert (result.coverage.pages, result.aside) == (None, ())


def test_preformatted_text_keeps_its_lines_and_pages():
    result = read_html("<pre>\n1. Term.  One\n   year\n\n  1\n<PAGE>\n2. Fee\n</pre><p>x</p>")
    assert result.text == "1. Term.  One\n   year\n\n2. Fee\nx"
    assert [b.page for b in result.blocks] == [1, 1, 2, 2]
    assert [a.text for a in result.aside] == ["1"]


# Word exports, links, footnotes -----------------------------------------------------------------------------

WORD = """<p class=MsoListParagraph style='mso-list:l0 level1 lfo1'><![if !supportLists]><span
lang=EN-US><span style='mso-list:Ignore'>1.<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp; </span></span></span><![endif]>Term.
One year, see <a href="#_Ref1">Clause 2</a><a style='mso-footnote-id:ftn1' href="#_ftn1" name="_ftnref1">[1]</a>.</p>
<p class=MsoListParagraph style='mso-list:l0 level2 lfo1'><!--[if
!supportLists]--><span style='mso-list:Ignore'>(a)<span style='font:7.0pt "Times New Roman"'>&nbsp; </span></span><!--[endif]-->boats</p>
<p class=MsoListParagraph style='mso-list:l1 level1 lfo2'><span style='font-family:Wingdings'><span
style='mso-list:Ignore'>&sect;<span style='font:7.0pt "Times New Roman"'>&nbsp; </span></span></span>oars</p>
<!--[if gte mso 9]><xml><o:p>secret</o:p></xml><![endif]--><p class=MsoToc1>1. Term......3</p>
<p><a name="_Ref1"></a>2. Price.</p>
<div style='mso-element:footnote-list'><div style='mso-element:footnote' id=ftn1><p><a name="_ftn1">[1]</a> A note.</p></div></div>
<div style='mso-element:comment-list'><div style='mso-element:comment'><p>why?</p></div></div>"""  # noqa: E501


def test_word_exports_have_numbers_notes_comments_and_links():
    result = read_html(WORD)
    assert result.text.split("\n") == [
        "1. Term. One year, see Clause 2[1].", "(a) boats", "• oars", "1. Term......3", "2. Price.", "[1] A note.",
    ]  # fmt: skip
    assert labels(result) == [("1.", 0, "l0 lfo1"), ("(a)", 1, "l0 lfo1")]
    assert [b.kind for b in result.blocks][3:] == ["toc", "paragraph", "footnote"]
    assert [(a.text, a.kind) for a in result.aside] == [("why?", "comment")]
    assert {result.text[k.span.start : k.span.end]: result.text[k.target :][:8] for k in result.links} == {
        "Clause 2": "2. Price", "[1]": "[1] A no",
    }  # fmt: skip
    assert (result.coverage.counts.footnotes, result.coverage.counts.comments) == (1, 1)
    assert [c.path for c in build_clauses(result.text, result.blocks) if c.number][:2] == ["1", "1(a)"]


def test_a_link_without_its_anchor_is_left_out():
    result = read_html('<p><a href="#x">here</a> <a href="#y">there</a></p><p id=y>Y</p>')
    assert [result.text[k.target :] for k in result.links] == ["Y"]


# forms, entities, redlines ----------------------------------------------------------------------------------


def test_form_fields_show_their_value_or_a_blank():
    page = (
        "<form>A <input type=hidden value=z><input value=v> <select><option>a<option selected>b</select>"
        " <select><option>q</select> <textarea> t </textarea> <textarea></textarea> <input type=checkbox checked>yes"
        " <input type=radio>no <img alt='checkbox unchecked'>maybe<input type=submit value=Send></form>"
    )
    result = read_html(page)
    assert result.text == "A v b ____ t ____ ☒ yes ☐ no ☐ maybe"
    assert [a.text for a in result.aside] == ["a", "q"]
    assert result.coverage.counts.form_fields == 8
    assert [result.text[m.span.start : m.span.end] for m in result.marks] == ["____", "____"]
    generated = [result.text[s.start : s.end] for s in result.generated]
    assert generated == ["____", "____", "☒ ", "☐ ", "☐ "]


def test_underlined_blanks_are_a_line_to_write_on():
    result = read_html("<p>Name: <u>&nbsp;&nbsp;&nbsp;&nbsp;</u> of <u>Oslo</u></p>")
    assert result.text == "Name: ____ of Oslo"


def test_character_references_of_windows_are_what_they_mean():
    assert read_html("<p>It&#146;s &#147;x&#148; &amp; &sect;&nbsp;5 &#x4E00; &bogus; &#0;.</p>").text == (
        "It’s “x” & § 5 一 &bogus; ."
    )


REDLINE = "<p>The fee is <del>ten</del> <ins>twenty</ins> dollars.</p><p><s>2. Old clause.</s></p><p>3. <u>New</u></p>"


@pytest.mark.parametrize(
    ("view", "text", "aside", "marks"),
    [
        ("final", "The fee is twenty dollars.\n3. New", ["ten", "2. Old clause."], []),
        ("original", "The fee is ten dollars.\n2. Old clause.\n3. New", ["twenty"], []),
        (
            "markup", "The fee is ten twenty dollars.\n2. Old clause.\n3. New", [],
            [("ten", "deleted"), ("twenty", "inserted"), ("2. Old clause.", "deleted")],
        ),
    ],
)  # fmt: skip
def test_a_redline_has_three_views(view, text, aside, marks):
    result = read_html(REDLINE, (), ReadOptions(view=view))
    assert result.text == text
    assert [a.text for a in result.aside] == aside
    assert [(text[m.span.start : m.span.end], m.flag) for m in result.marks] == marks
    assert (result.coverage.counts.insertions, result.coverage.counts.deletions) == (1, 2)


def test_underlines_are_insertions_only_beside_struck_words():
    original = ReadOptions(view="original")
    struck = read_html("<p>Fee: <s>ten</s> <u>twenty</u>.</p>", (), original)
    assert struck.text == "Fee: ten ."
    assert any("underlined words are taken for insertions" in note for note in struck.coverage.notes)
    assert read_html("<p><u>Fee</u>: ten.</p>", (), original).text == "Fee: ten."
    styled = "<p>Fee: <span style='text-decoration:line-through'>ten</span> <u>nine</u></p>"
    assert read_html(styled).text == "Fee: nine"


def test_marks_links_and_asides_stay_inside_the_text():
    for view in ("final", "original", "markup"):
        result = read_html(WORD + REDLINE + pages("<hr>"), (), ReadOptions(view=view))
        size = len(result.text)
        assert all(b.span.end <= size and result.text[b.span.start : b.span.end].strip() for b in result.blocks)
        assert all(a.span.end <= c.span.start for a, c in zip(result.blocks, result.blocks[1:], strict=False))
        assert all(len(m.span) > 0 and m.span.end <= size for m in result.marks)
        assert all(k.span.end <= size and k.target < size for k in result.links)
        assert all(0 <= a.anchor <= size for a in result.aside)
        assert read_html(WORD + REDLINE + pages("<hr>"), (), ReadOptions(view=view)) == result


# hostile pages ----------------------------------------------------------------------------------------------

HOSTILE = {
    "one long line": "<p>" + "word " * 400_000 + "</p>", "open tags": "<" * 200_000 + "<p>x</p>",
    "open templates": "<%" * 200_000 + "<p>x</p>", "open comment": "<p>x</p><!-- " + "<p>a</p>" * 50_000,
    "many comments": "<!--a-->" * 100_000 + "<p>x</p>", "ampersands": "&" * 300_000,
    "many rules": "<style>" + ".a{display:none}" * 50_000 + "</style><p>x",
    "open media": "<style>" + "@media screen{" * 50_000 + "</style><p>x",
    "no rules": f"<style>{'abc ' * 300_000}</style>x", "deep lists": "<ol><li>" * 700 + "x",
    "deep tables": "<table><tr><td>" * 500 + "x", "conditions": "<![if " * 100_000 + "x",
    "unclosed fonts": "<p><font size=2>x" * 5_000, "many rules of pages": "<p>1</p><hr>" * 5_000,
}  # fmt: skip


@pytest.mark.parametrize("page", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_are_read_in_bounded_time(page):
    try:
        result = read_html(page)
    except DocumentError:
        return
    assert result.coverage.rows[0].characters == len(result.text) > 0


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("<div>" * 10_000 + "x", "deeper"), ('<span class="x">' * 10_000 + "x", "deeper"),
        ("<p " + " ".join(f'a{at}="x"' for at in range(20_000)) + ">x", "attributes"),
    ],
    ids=["divs", "spans", "attributes"],
)  # fmt: skip
def test_what_cannot_be_read_safely_is_refused(page, message):
    with pytest.raises(DocumentError, match=message) as raised:
        read_html(page)
    assert raised.value.remedy


# old filings in HTML ----------------------------------------------------------------------------------------


def test_column_marks_of_filings_strike_nothing_out():
    table = "<PRE>\n<TABLE>\n<CAPTION>\n Boat     Fee\n<S>      <C>\n Yawl      10\n</TABLE>\n</PRE>"
    result = read_html(f"{table}<p>Law. <s>Old</s> Norway.")
    assert "Yawl      10" in result.text
    assert [a.text for a in result.aside] == ["Old"]


def test_a_preformatted_paragraph_goes_on_across_pages():
    full = "The yard repairs the hull of every boat that the owner brings to the slip"
    lines = "\n".join([full] * 22)
    result = read_html(
        f"<PRE>\n1. Repairs. {lines}\n\n   1\n<PAGE>\n\nof the yard. {full}.\n\n2. Fees. {lines}.\n</PRE>"
    )
    assert f"{full}\nof the yard." in result.text
    assert f"{full}.\n\n2. Fees" in result.text
    assert [b.page for b in result.blocks] == [1, 2]
    assert [a.text for a in result.aside] == ["1"]


def test_room_that_styles_make_reads_as_a_blank():
    page = '<div><font>1.</font><font style="padding-left:24px">Term</font><span style="margin-left:1px">s</span></div>'
    result = read_html(page)
    assert result.text == "1. Terms"
    assert [result.text[s.start : s.end] for s in result.generated] == [" "]


def test_links_to_the_contents_beside_page_breaks_are_furniture():
    link = '<h5><a href="#toc">Table of Contents</a></h5>'
    between = f"<p>1</p><p style='page-break-before:always'></p><hr>{link}"
    result = read_html(f"{link}<p>1. Term. A year.</p>{between}<p>(a) of the boat.</p>")
    assert result.text == "1. Term. A year.\n(a) of the boat."
    assert [(a.text, a.page) for a in result.aside] == [("Table of Contents", 1), ("1", 1), ("Table of Contents", 2)]
    entries = '<p><a href="#a">1. Term</a></p><p style="page-break-before:always"></p><p><a href="#b">2. Fee</a></p>'
    assert read_html(entries).text == "1. Term\n2. Fee"


def test_heads_of_schedules_are_no_running_lines():
    page = "<p style='page-break-before:always'></p>".join(
        f"<p>{head} {at}</p><p>Fees of boat {'I' * at}.</p><p>Draft of May {at}</p>"
        for head in ("SCHEDULE", "附件")
        for at in (1, 2, 3, 4)
    )
    result = read_html(page)
    assert [f"SCHEDULE {at}" in result.text and f"附件 {at}" in result.text for at in (1, 2, 3, 4)] == [True] * 4
    assert result.text.count("Draft of May") == 1  # after the last one there is no break


def test_numbers_that_style_sheets_count_as_google_docs_does():
    sheet = (
        "<style>ol.lst-kix_a-0{list-style-type:none} ol.lst-kix_a-1{list-style-type:none}"
        ".lst-kix_a-0>li{counter-increment:lst-ctn-kix_a-0} .lst-kix_a-1>li{counter-increment:lst-ctn-kix_a-1}"
        "ol.lst-kix_a-0.start{counter-reset:lst-ctn-kix_a-0 0} ol.lst-kix_a-1.start{counter-reset:lst-ctn-kix_a-1 0}"
        '.lst-kix_a-0>li:before{content:"" counter(lst-ctn-kix_a-0,decimal) ". "}'
        '.lst-kix_a-1>li:before{content:"(" counter(lst-ctn-kix_a-1,lower-latin) ") "}'
        '.lst-kix_b-0>li:before{content:"\\0025cf  "}</style>'
    )
    page = (
        '<ol class="lst-kix_a-0 start"><li>Scope</ol><ol class="lst-kix_a-1 start"><li>boats<li>oars</ol>'
        '<p>x</p><ol class="lst-kix_a-0" start=2><li>Price</ol><ol class="lst-kix_a-1 start"><li>fee</ol>'
        '<ul class="lst-kix_b-0 start"><li>bullet</ul>'
    )
    result = read_html(sheet + page)
    assert result.text == "1. Scope\n(a) boats\n(b) oars\nx\n2. Price\n(a) fee\nbullet"
    assert len({b.list_id for b in result.blocks if b.label}) == 1
    assert [b.level for b in result.blocks if b.label] == [0, 1, 1, 0, 1]
    found = [c.path for c in build_clauses(result.text, result.blocks) if c.number]
    assert found == ["1", "1(a)", "1(b)", "2", "2(a)"]
