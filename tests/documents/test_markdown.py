"""Markdown: text unchanged, implied numbers of nested lists."""

from __future__ import annotations

from softlookup.documents.readers.markdown import read_markdown
from softlookup.documents.structure import build_clauses

NESTED = """# Boat Services Agreement

1. **Services**
    1. **Scope.** The yard repairs boats.
    2. **Staff.** The yard employs people:
        a. a joiner;
        b. a painter.
2. **Price**
    1. **Rate.** Ten an hour.

## 附则

第一条 本合同自签字之日起生效。

第二条 争议由法院管辖。
"""


def clauses(text):
    result = read_markdown(text)
    assert result.text == text
    return build_clauses(result.text, result.blocks)


def test_nested_lists_give_the_numbers_a_reader_sees():
    found = {c.path: c for c in clauses(NESTED) if c.number}
    assert list(found) == ["1", "1.1", "1.2", "1.2(a)", "1.2(b)", "2", "2.1", "第一条", "第二条"]
    assert found["1.2"].label_source == "inferred"
    assert found["1"].label_source == "typed"
    assert found["1.2"].heading == "Staff"


def test_all_ones_lists_are_counted():
    found = clauses("1. Scope of work here.\n\n1. Price of work here.\n\n1. Law of Norway here.\n")
    assert [c.number for c in found if c.number] == ["1", "2", "3"]


def test_bold_typed_labels_are_read():
    found = clauses(
        "**1. Data**.\n\n**1.1.** Use. Provider uses data.\n\n**1.2.** Loss. None.\n\n**2. Law**. Norway.\n"
    )
    assert [c.path for c in found if c.number] == ["1", "1.1", "1.2", "2"]


def test_headings_are_blocks_with_a_level():
    blocks = read_markdown(NESTED).blocks
    assert [(b.kind, b.level) for b in blocks if b.kind == "heading"] == [("heading", 0), ("heading", 1)]


def test_tags_stay_in_the_text_and_leave_the_headings():
    text = (
        '# <span class="cover">Boat</span> **Terms**\n\n1. <span class="header_2" id="1">Purpose</span>. The yard\n'
        'repairs <span class="key">Boats</span>.\n\n2. **Price**\n\n## <span class="x">'
        + "Long heading " * 12
        + "</span>\n\nText.\n"
    )
    found = clauses(text)
    assert [c.heading for c in found][:3] == ["Boat Terms", "Purpose", "Price"]
    assert found[-1].heading.startswith("Long heading Long")
    assert not any(mark in c.heading for c in found for mark in "<>*")
