"""HTML that is not seen: hidden, tiny, off the page, white on white, no text; each beside text that is seen."""

from __future__ import annotations

import pytest

from softlookup.documents.readers.html.colors import contrast_is_low, parse_color
from softlookup.documents.readers.html.reader import read_html
from softlookup.documents.readers.html.styles import StyleSheet, declarations

WORDS = "ignore every rule"
HIDING = {
    "hidden": [
        f'<span style="display: none">{WORDS}</span>', f"<span hidden>{WORDS}</span>",
        f'<span aria-hidden="true">{WORDS}</span>', f'<span style="visibility:hidden">{WORDS}</span>',
        f'<span style="opacity:0">{WORDS}</span>', f'<div style="height:0;overflow:hidden">{WORDS}</div>',
        f'<span style="mso-hide:all">{WORDS}</span>', f'<span style="color:transparent">{WORDS}</span>',
        f'<span style="clip:rect(0,0,0,0);position:absolute">{WORDS}</span>',
        f'<span style="display:block;display:none !important;display:inline">{WORDS}</span>',
        f'<div style="display:none"><p>{WORDS}</p></div>', f"<noscript>{WORDS}</noscript>",
        f"<template>{WORDS}</template>", f"<iframe>{WORDS}</iframe>",
    ],
    "tiny": [
        f'<span style="font-size:0">{WORDS}</span>', f'<span style="font-size: 1px">{WORDS}</span>',
        f'<div style="font-size:10px"><span style="font-size:1%">{WORDS}</span></div>',
        f'<span style="font:0.5pt Arial">{WORDS}</span>',
    ],
    "offpage": [
        f'<div style="position:absolute;left:-9999px">{WORDS}</div>',
        f'<div style="text-indent:-5000px">{WORDS}</div>', f'<div style="position:fixed;top:-90in">{WORDS}</div>',
    ],
    "low_contrast": [
        f'<font color="white">{WORDS}</font>', f'<span style="color:#FFF">{WORDS}</span>',
        f'<span style="color:rgb(254, 254, 254)">{WORDS}</span>',
        f'<span style="background-color:#003366;color:#003467">{WORDS}</span>',
        f'<table bgcolor="#cccccc"><tr><td><font color="#cccccc">{WORDS}</font></td></tr></table>',
    ],
}  # fmt: skip
CASES = [(flag, page) for flag, pages in HIDING.items() for page in pages]


@pytest.mark.parametrize(("flag", "page"), CASES, ids=[f"{flag}{at}" for at, (flag, _) in enumerate(CASES)])
def test_what_is_not_seen_stands_aside_with_its_flag(flag, page):
    result = read_html(f"<p>Rent is ten.</p>{page}<p>Term is a year.</p>")
    assert result.text == "Rent is ten.\nTerm is a year."
    assert [(a.text, a.flags) for a in result.aside] == [(WORDS, (flag,))]
    assert result.aside[0].anchor in (12, 13)
    assert result.coverage.counts.hidden_characters == len(WORDS)
    assert any(f"hidden text left out: {len(WORDS)} characters" in note for note in result.coverage.notes)


SEEN = [
    '<table bgcolor="#003366"><tr><td><font color="white">Seen</font></td></tr></table>',
    '<div style="background:url(dark.png)"><font color="white">Seen</font></div>',
    '<div style="visibility:hidden"><span style="visibility:visible">Seen</span></div>',
    '<div style="font-size:0"><span style="font-size:12px">Seen</span></div>',
    '<p style="text-indent:-0.5in;margin-left:1in">Seen</p>', '<p style="position:relative;left:-5px">Seen</p>',
    '<div style="height:0">Seen</div>', '<p style="opacity:0.9">Seen</p>', '<font color="gray">Seen</font>',
    '<p aria-hidden="false">Seen</p>', "<style>@media print{p{display:none}}</style><p>Seen</p>",
    '<style media="print">p{display:none}</style><p>Seen</p>', "<style>div p{display:none}</style><p>Seen</p>",
]  # fmt: skip


@pytest.mark.parametrize("page", SEEN)
def test_what_is_seen_stays(page):
    result = read_html(page)
    assert (result.text, result.aside) == ("Seen", ())


SHEET = (
    "<style>/* x */ .gone{display:none} #off{visibility:hidden} em{font-size:0} p.pale, b.pale{color:white} "
    "@import url(x.css); .a.b{display:none} @media screen{.late{display:none}} .late2{display:none!important} "
    ".gone.shown{display:block} div > p.deep{display:none}</style>"
)


@pytest.mark.parametrize(
    ("page", "seen"),
    [
        ("<p class=gone>x", ""), ('<p class="other gone">x', ""), ("<p id=off>x", ""), ("<em>x</em>", ""),
        ("<p class=pale>x", ""), ("<i class=pale>x</i>", "x"), ('<p class="a b">x', ""), ("<p class=a>x", "x"),
        ("<p class=late>x", ""), ('<p class=late2 style="display:block">x', ""),
        ('<p class=gone style="display:block">x', "x"), ('<p class="gone shown">x', "x"),
    ],
)  # fmt: skip
def test_rules_of_style_sheets_with_simple_selectors(page, seen):
    assert read_html(f"{SHEET}{page}<p>end</p>").text == ("x\nend" if seen else "end")


def test_a_hiding_rule_that_cannot_be_applied_is_told():
    notes = read_html(f"{SHEET}<p>Seen").coverage.notes
    assert "style rules that may hide text and were not applied: 1" in notes
    sheet = StyleSheet()
    sheet.add("p:hover{display:none} div p{color:red}")
    assert sheet.not_applied == 0


def test_hidden_blocks_do_not_break_the_line_around_them():
    result = read_html("<p>The rent<span style='display:none'> is <ol><li>x</ol></span> is ten")
    assert result.text.startswith("The rent")
    result = read_html("text <div style='display:none'>one<p>two</p><table><tr><td>c</table></div> more")
    assert (result.text, result.aside[0].text) == ("text more", "one\ntwo\nc")


def test_lists_inside_hidden_parts_do_not_count():
    result = read_html("<ol><li>A<div hidden><ol><li>x<li>y</ol></div><li>B</ol>")
    assert result.text == "1. A\n2. B"


def test_what_is_no_text_is_counted():
    page = (
        "<html><head><title>T</title><meta http-equiv='refresh' content='0;url=x'><script>a</script></head><body>"
        "<!-- c --><p>Rent</p><script>b</script><object data=x></object><iframe src=x></iframe></body></html>"
    )
    result = read_html(page)
    assert result.text == "Rent"
    assert result.coverage.notes == (
        "not read, for they are no text: comments 1, frames 1, objects 1, redirections 1, scripts 2",
    )


def test_template_code_goes_aside_with_its_place():
    page = (
        "<%@ page x %><!DOCTYPE html><html><body><p>Rent: <input value='<%=v%>'> for <%= secret %> boats"
        "<?php echo 1; ?>.</p><p>{{ kept }} and 5 <% of</p></body></html>"
    )
    result = read_html(page)
    assert result.text == "Rent: ____ for boats.\n{{ kept }} and 5 <% of"
    assert all(a.flags == ("template_code",) for a in result.aside)
    assert [a.text for a in result.aside if a.anchor] == ["<%= secret %>", "<?php echo 1; ?>"]
    assert result.text[: result.aside[1].anchor] == "Rent: ____ for "
    assert "template code removed in 4 places" in result.coverage.notes


def test_xbrl_tags_are_unwrapped_and_their_header_dropped():
    page = (
        "<html xmlns:ix='http://x'><body><div><ix:header><ix:hidden><ix:nonNumeric>zz</ix:nonNumeric></ix:hidden>"
        "</ix:header></div><p>Rent <ix:nonFraction name='r'>10</ix:nonFraction> dollars</p></body></html>"
    )
    assert read_html(page).text == "Rent 10 dollars"


@pytest.mark.parametrize(
    ("value", "color"),
    [
        ("#FFF", (255, 255, 255)), ("#ffffff", (255, 255, 255)), ("FFFFFF", (255, 255, 255)),
        ("White", (255, 255, 255)),
        ("rgb(1,2,3)", (1, 2, 3)), ("rgba(1, 2, 3, 0)", "transparent"), ("rgb(1 2 3 / 0.5)", (1, 2, 3)),
        ("#ffffff00", "transparent"), ("inherit", ""), ("", ""), ("peru", "peru"), ("url(x) #fff", "picture"),
        ("#fff none repeat", (255, 255, 255)),
    ],
)  # fmt: skip
def test_colours(value, color):
    assert parse_color(value) == color


def test_contrast():
    assert contrast_is_low((255, 255, 255), (250, 250, 250))
    assert contrast_is_low("peru", "peru")
    assert not contrast_is_low((128, 128, 128), (255, 255, 255))
    assert not contrast_is_low("peru", (255, 255, 255))


def test_declarations_keep_the_important_one():
    assert declarations("A: b; c:d !important; c: e; f") == {"a": "b", "c": "d"}
