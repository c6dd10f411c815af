"""Fields of DOCX: results, references and what they point to, stale ones, broken ones, numbers without a result."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import pytest

from softlookup.documents.readers.docx.fields import parse_instruction
from softlookup.documents.readers.docx.reader import read_docx

from .builders import bookmark, change, docx, field, level, numbering, paragraph, run, story

LISTS = numbering(
    level(0, "decimal", "%1.")
    + level(1, "decimal", "%1.%2")
    + level(2, "lowerLetter", "(%3)")
    + level(3, "lowerRoman", "(%4)"),
    level(0, "decimal", "Section %1."),
)
BEGIN, SEPARATE, END = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))


def code(text: str) -> str:
    return f"<w:r><w:instrText>{text}</w:instrText></w:r>"


def read(body: str, **parts: str):
    return read_docx(docx(body, {f"word/{n}.xml": c for n, c in ({"numbering": LISTS} | parts).items()}))


def clauses(reference: str) -> str:
    """Two clauses with items, the item (b)(ii) of 2.1 bookmarked, and a paragraph with ``reference``."""
    item = paragraph(num=(1, 3), runs=bookmark("_Ref7", run("seen;")))
    return (
        paragraph("Boat", num=(1, 0)) + paragraph("Rent", num=(1, 0)) + paragraph("Due", num=(1, 1)) + paragraph("first;", num=(1, 2))
        + paragraph("second:", num=(1, 2)) + paragraph("found;", num=(1, 3)) + item + paragraph(runs=run("Under ") + reference + run(" pay."))
    )  # fmt: skip


@pytest.mark.parametrize(
    ("switch", "cached", "computed"),
    [
        ("\\r", "2.1(b)(ii)", ""), ("\\w", "2.1(b)(ii)", ""), ("\\n", "(ii)", ""), ("\\r", "(b)(ii)", ""), ("\\r", "(ii)", ""),
        ("\\r \\p", "2.1(b)(ii) above", ""), ("\\r", "2.1(b)(i)", "2.1(b)(ii)"), ("\\w", "2.1(a)(ii)", "2.1(b)(ii)"), ("\\n", "(i)", "(ii)"),
        ("\\r", "Error! Reference source not found.", "2.1(b)(ii)"), ("", "seen;", ""), ("", "lost;", "seen;"), ("\\h", "Error! Bookmark not defined.", "seen;"),
    ],
)  # fmt: skip
def test_reference_is_linked_and_compared_with_its_target(switch, cached, computed):
    result = read(clauses(field(f"REF _Ref7 {switch} \\h \\* MERGEFORMAT", cached)))
    (link,) = result.links
    assert result.text[link.span.start : link.span.end] == cached
    assert result.text[link.target :].startswith("(ii)\tseen;")
    assert link.computed == computed
    assert result.coverage.counts.stale_references == bool(computed)
    marks = {m.flag: m for m in result.marks}
    assert marks["field"].span == link.span
    assert marks["field"].detail.startswith("REF _Ref7")
    assert ("stale_ref" in marks) == bool(computed)
    assert not computed or computed in marks["stale_ref"].detail


def test_trailing_periods_are_dropped_and_words_around_numbers_may_be():
    target = paragraph(num=(2, 0), runs=bookmark("a", run("Rent")))
    result = read(
        target
        + paragraph(
            runs=field("REF a \\r", "Section 1")
            + run(", ")
            + field("REF a \\r \\t", "1")
            + run(", ")
            + field("REF a \\r \\t", "2")
        )
    )
    assert [link.computed for link in result.links] == ["", "", "Section 1"]


def test_reference_to_a_bookmark_that_is_gone_is_stale():
    result = read(clauses(field("REF _Ref99 \\r", "9.9")))
    assert "Under 9.9 pay." in result.text
    assert not result.links
    assert [(m.flag, m.detail) for m in result.marks if m.flag == "stale_ref"] == [("stale_ref", "no bookmark _Ref99")]
    assert result.coverage.counts.stale_references == 1


def test_simple_fields_bare_bookmarks_and_hyperlinks_are_links_too():
    simple = '<w:fldSimple w:instr=" REF a \\r "><w:r><w:t>1</w:t></w:r></w:fldSimple>'
    link = f'<w:hyperlink w:anchor="A">{run("the boat")}</w:hyperlink>'
    runs = (
        simple
        + run(" ")
        + field("a", "Boat")
        + run(" ")
        + link
        + run(" ")
        + field('HYPERLINK \\l "a"', "here")
        + run(" ")
        + field('HYPERLINK "http://x.example"', "out")
    )
    result = read(paragraph(num=(1, 0), runs=bookmark("a", run("Boat"))) + paragraph(runs=runs))
    assert result.text == "1.\tBoat\n1 Boat the boat here out"
    assert [(result.text[k.span.start : k.span.end], k.target, k.computed) for k in result.links] == [
        ("1", 0, ""), ("Boat", 0, ""), ("the boat", 0, ""), ("here", 0, ""),
    ]  # fmt: skip


def test_bookmarks_between_paragraphs_and_in_cells_mark_what_follows():
    between = '<w:bookmarkStart w:id="1" w:name="b"/>' + paragraph("Two", num=(1, 0)) + '<w:bookmarkEnd w:id="1"/>'
    cell = f"<w:tbl><w:tr><w:tc>{paragraph(runs=bookmark('c', run('cell'), number=2))}</w:tc></w:tr></w:tbl>"
    result = read(
        paragraph("One", num=(1, 0))
        + between
        + cell
        + paragraph(runs=field("REF b \\r", "2") + run(", ") + field("REF c", "cell"))
    )
    assert [result.text[k.target :].split("\n")[0] for k in result.links] == ["2.\tTwo", "cell"]
    assert result.coverage.counts.stale_references == 0


def test_other_fields_keep_their_result():
    names = ["PAGEREF a \\h", "NOTEREF a", "SEQ Table", "STYLEREF 1", "DATE", "DOCPROPERTY x", "= 1 + 1", "PAGE"]
    result = read(
        paragraph(runs=bookmark("a", run("start ")) + run(" ").join(field(n, f"r{i}") for i, n in enumerate(names)))
    )
    assert result.text == "start r0 r1 r2 r3 r4 r5 r6 r7"
    assert [m.detail for m in result.marks] == names
    assert not result.links  # a page number refers to no clause


def test_contents_over_several_paragraphs_are_toc_blocks():
    def entry(runs: str) -> str:
        return f'<w:hyperlink w:anchor="t">{runs}{field("PAGEREF t", "3")}</w:hyperlink>'

    toc = (
        paragraph("Contents") + paragraph(runs=BEGIN + code(" T") + code("OC \\o ") + SEPARATE + entry(run("1. Boat ")))
        + paragraph(runs=entry(run("2. Rent "))) + paragraph(runs=END + run("Preamble")) + paragraph(runs=bookmark("t", run("Boat")), num=(1, 0))
    )  # fmt: skip
    result = read(toc)
    assert [b.kind for b in result.blocks] == ["paragraph", "toc", "toc", "paragraph", "list_item"]
    assert result.text.split("\n")[3:] == ["Preamble", "1.\tBoat"]
    assert not result.links  # an entry of the contents is no reference
    assert not [m for m in result.marks if m.flag == "stale_ref"]


@pytest.mark.parametrize("name", ["REF x \\r", "TC", "PAGE", "SOMETHING new"])
def test_field_without_result_hides_nothing_after_it(name):
    result = read(paragraph(runs=run("Before") + field(name, None) + run(" after")) + paragraph("Next"))
    assert result.text == "Before after\nNext"
    assert any("store no result" in n for n in result.coverage.notes) == (name not in ("TC", "PAGE"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (BEGIN + code("REF a"), ""),  # separate and end lost
        (BEGIN + code("REF a") + SEPARATE, ""),  # end lost
        (BEGIN + code("REF a"), END),  # separate lost, end elsewhere
        (SEPARATE, ""), (END, ""), (code("REF a") + SEPARATE, END), (BEGIN, BEGIN), (BEGIN + SEPARATE + SEPARATE, END),
        ('<w:r><w:fldChar/></w:r>', ""),
    ],
)  # fmt: skip
def test_broken_fields_never_hide_the_rest(first, second):
    sound = field("REF z", "7")
    result = read(
        paragraph(runs=run("One ") + first + run("two"))
        + paragraph(runs=run("Three ") + second + run("four ") + sound)
        + paragraph("Five")
    )
    assert result.text == "One two\nThree four 7\nFive"
    assert not result.aside


def test_broken_field_in_a_text_box_does_not_pair_with_the_body():
    inner = f"<w:r><w:pict><w:txbxContent>{paragraph(runs=BEGIN + code('REF a') + run('boxed'))}</w:txbxContent></w:pict></w:r>"
    assert read(paragraph(runs=run("Body") + inner + END + run(" on"))).text == "Body on\nboxed"


def test_fields_nest_in_instructions_and_in_results():
    nested = (
        BEGIN
        + code(" IF ")
        + field("REF a", "x")
        + code(' = "x" "y" ')
        + SEPARATE
        + run("yes ")
        + field("REF b", "deep")
        + run("!")
        + END
    )
    result = read(paragraph(runs=run("It says ") + nested))
    assert result.text == "It says yes deep!"
    assert [(a.text, a.flags) for a in result.aside] == [("x", ("field",))]


def test_words_in_an_instruction_are_kept_aside():
    result = read(paragraph(runs=run("A ") + BEGIN + run("odd words") + SEPARATE + run("result") + END))
    assert (result.text, [(a.text, a.flags) for a in result.aside]) == ("A result", [("odd words", ("field",))])


def test_form_fields_print_what_word_prints():
    def form(data: str, instruction: str, result: str | None) -> str:
        return field(instruction, result).replace(
            'w:fldCharType="begin"/>', f'w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar>', 1
        )

    box = "<w:checkBox>{}</w:checkBox>"
    choice = '<w:ddList><w:result w:val="1"/><w:listEntry w:val="monthly"/><w:listEntry w:val="yearly"/></w:ddList>'
    runs = run(" ").join([
        form("<w:textInput/>", "FORMTEXT", "Ada"), form(box.format('<w:checked w:val="1"/>'), "FORMCHECKBOX", None), form(box.format('<w:default w:val="0"/>'), "FORMCHECKBOX", ""),
        form(choice, "FORMDROPDOWN", None), form('<w:ddList><w:result w:val="9"/></w:ddList>', "FORMDROPDOWN", None), field("MACROBUTTON NoMacro [Your name]", None), field("SYMBOL 183 \\f Symbol", None),
    ])  # fmt: skip
    result = read(paragraph(runs=runs))
    assert result.text == "Ada ☒ ☐ yearly  [Your name] •"
    assert result.coverage.counts.form_fields == 5


def test_numbers_of_fields_that_store_none_are_computed_and_marked():
    legal = (
        field("LISTNUM LegalDefault \\l 1", None)
        + run(" a ")
        + field("LISTNUM LegalDefault \\l 2", None)
        + run(" b ")
        + field("LISTNUM LegalDefault \\l 2 \\s 5", None)
    )
    body = (
        paragraph(num=(1, 0), runs=run("Pay ") + field("LISTNUM", None) + run(" one and ") + field("LISTNUM", None) + run(" two"))
        + paragraph(runs=field("AUTONUM", None) + run(" x")) + paragraph(runs=field("AUTONUM", None) + run(" y")) + paragraph(runs=legal)
        + paragraph(runs=field("AUTONUMOUT", None) + run(" z")) + paragraph(runs=field("LISTNUM", "7.") + run(" stored"))
    )  # fmt: skip
    result = read(body)
    assert result.text == "1.\tPay 1.1 one and 1.2 two\n1. x\n2. y\n1. a 1.1. b 1.5.\n3. z\n7. stored"
    computed = [m for m in result.marks if "(computed" in m.detail]
    assert [result.text[m.span.start : m.span.end] for m in computed] == [
        "1.1", "1.2", "1.", "2.", "1.", "1.1.", "1.5.", "3.",
    ]  # fmt: skip
    assert ["Word may print another" in m.detail for m in computed][:3] == [True, False, False]
    assert {m.span for m in computed} <= set(result.generated)
    assert any("computed: 8" in note for note in result.coverage.notes)


def test_number_fields_count_after_their_paragraph_and_not_at_all_where_they_are_deleted():
    listnum = field("LISTNUM", None)
    first = paragraph(
        num=(1, 0), runs=run("Pay ") + f'<w:del w:author="A">{listnum}</w:del>' + run("now ") + listnum + run(" one")
    )
    assert (
        read(first + paragraph("Due", num=(1, 1)) + paragraph("Next", num=(1, 0))).text
        == "1.\tPay now 1.1 one\n1.2\tDue\n2.\tNext"
    )


def test_fields_in_notes_link_into_the_body():
    words = paragraph(runs=run("See ") + field("REF a \\r", "1"))
    notes = story("footnotes", f'<w:footnote w:id="1">{words}</w:footnote>')
    body = paragraph(num=(1, 0), runs=bookmark("a", run("Boat")) + '<w:r><w:footnoteReference w:id="1"/></w:r>')
    result = read(body, footnotes=notes)
    assert [(result.text[k.span.start : k.span.end], k.target) for k in result.links] == [("1", 0)]


def test_reference_to_deleted_words_points_where_they_stood():
    gone = paragraph(runs=bookmark("a", change("del", "Rent"))).replace(
        "</w:pPr>", "<w:rPr><w:del/></w:rPr></w:pPr>", 1
    )
    result = read(paragraph("One") + gone + paragraph("Two") + paragraph(runs=field("REF a", "Rent")))
    assert [(result.text[k.target :].split("\n")[0], k.computed) for k in result.links] == [("Two", "")]


@pytest.mark.parametrize(
    "instruction",
    [
        "",
        "   ",
        "REF",
        'REF "open quote',
        "\\h",
        "REF a \\",
        "HYPERLINK \\l",
        "LISTNUM \\l 0",
        "LISTNUM \\l 99 \\s -1",
        "SYMBOL x",
        '"',
    ],
)
def test_odd_instructions_are_harmless(instruction):
    parse_instruction(instruction)
    assert (
        read(paragraph(runs=run("a ") + field(instruction.replace('"', "&quot;"), "kept") + run(" b"))).text
        == "a kept b"
    )
    assert read(paragraph(runs=run("a ") + field(instruction.replace('"', "&quot;"), None) + run(" b"))).text.endswith(
        "b"
    )
