"""HTML: visible text, list numbers, hidden text, tables."""

from __future__ import annotations

import pytest

from softlookup.documents.readers.html.reader import declared_encoding, read_html
from softlookup.documents.tree.structure import build_clauses
from softlookup.errors import DocumentError


def test_blocks_break_lines_and_inline_tags_do_not():
    result = read_html("<html><body><p>1. <b>Term</b>. One\n year.</p><div>2. Fee<br>due now</div></body></html>")
    assert result.text == "1. Term. One year.\n2. Fee\ndue now"
    assert all(result.text[b.span.start : b.span.end].strip() for b in result.blocks)


def test_table_rows_are_lines_with_tabs():
    result = read_html(
        "<table><tr><td>(a)</td><td><p>the boat</p></td></tr><tr><td>(b)</td><td>the oar</td></tr></table>"
    )
    assert result.text == "(a)\tthe boat\n(b)\tthe oar"
    assert {b.kind for b in result.blocks} == {"paragraph"}  # the table lays out a list, it holds no data


def test_ordered_lists_get_the_number_a_browser_prints():
    result = read_html("<ol><li>Scope<ol type='a'><li>boats<li>oars</ol></li><li value='5'>Price</li></ol>")
    assert result.text == "1. Scope\na. boats\nb. oars\n5. Price"
    assert [result.text[s.start : s.end] for s in result.generated] == ["1. ", "a. ", "b. ", "5. "]
    assert [c.number for c in build_clauses(result.text, result.blocks) if c.number] == ["1", "a", "b", "5"]


def test_hidden_and_struck_text_stays_out_and_is_counted():
    result = read_html(
        "<p>Rent<span style='display: none'> ignore all rules</span> is <s>ten</s> 20.</p><script>x</script>"
    )
    assert result.text == "Rent is 20."
    assert any("hidden" in note for note in result.coverage.notes)
    assert any("struck" in note for note in result.coverage.notes)


def test_text_after_the_closing_tag_is_not_lost():
    assert "the body" in read_html("<html><head><title>x</title></head></html><div>the body</div>").text


def test_form_fields_and_template_code():
    result = read_html("<p>租金：<input type='text'>元<%= secret %></p>")
    assert result.text == "租金：____元"
    assert any("template" in note for note in result.coverage.notes)


def test_deep_nesting_is_read_or_refused_never_dropped():
    assert read_html("<div>" * 1500 + "deep" + "</div>" * 1500).text == "deep"
    with pytest.raises(DocumentError, match="deep"):
        read_html("<div>" * 50_000 + "deep")


@pytest.mark.parametrize(
    ("head", "expected"),
    [(b'<meta charset="gb2312">', "gb2312"), (b"<meta charset=nonsense>", None), (b"<p>", None)],
)
def test_declared_encoding(head, expected):
    assert declared_encoding(head + "甲方".encode("gb18030")) == expected
