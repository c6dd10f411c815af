"""Clauses that an amendment quotes are no clauses of it; defined terms and quoted words change nothing."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import pytest

from softlookup.documents.model import Block, Span
from softlookup.documents.tree.structure import build_clauses

from .trees import by_path, check_invariants, paths, tree


@pytest.mark.parametrize(("opening", "closing"), [("“", "”"), ('"', '"')])
@pytest.mark.parametrize("end", [".", ".\n\nThe lender keeps it.", ""])
def test_quoted_clauses_neither_open_nor_continue_a_list(opening, closing, end):
    quoted = f"{opening}6. Oars\n\n6.1 The {opening}long oar{closing} is lent.\n\n6.2 The short one is not.\n\n7. Sails\n\nNone{end}{closing}"
    text = f"1. Term\n\nOne year.\n\n2. New clauses\n\nAfter clause 5 the following is inserted:\n\n{quoted}\n\n3. Costs\n\nEach bears its own.\n\n4. Law\n\nNorway.\n"
    assert paths(text) == ["1", "2", "3", "4"]
    assert by_path(text)["2"].span.end == text.index("3. Costs")


def test_items_go_on_after_the_quoted_clause():
    text = (
        '1. Changes.\n\n(a) Section 2.1 is replaced with the following:\n\n"2.1 Term. One year, as Section 9 says."\n\n'
        '(b) The following is added:\n\n"4.7 Late fees. Ten a day.\n\n4.8 Interest. None."\n\n(c) Section 5 is deleted.\n\n2. Costs. Shared.\n\n3. Law. Norway.\n'
    )
    assert paths(text) == ["1", "1(a)", "1(b)", "1(c)", "2", "3"]


def test_chinese_quoted_clauses():
    text = "一、原合同第三条修改为：“第三条 租金\n2. 租金每月三十元。”\n\n二、增加下列内容：\n“4. 逾期的，乙方有权停船。”\n\n三、第八条替换为：\n“第八条 责任\n8.1 甲方赔偿。\n8.2 乙方赔偿。”\n\n四、其他不变。\n"
    assert paths(text) == ["一", "二", "三", "四"]


def test_a_quoted_article_is_no_article():
    text = "第一条 主合同第三条修改为：\n“第三条 付款\n甲方付款。\n第四条 交付\n乙方交付。”\n\n第二条 其他不变。\n\n第三条 生效\n签字生效。\n"
    assert paths(text) == ["第一条", "第二条", "第三条"]


def test_every_paragraph_of_a_quotation_may_open_with_a_mark():
    text = (
        "1. Change\n\nClause 4 is replaced by:\n\n“4. Oars\n\n“4.1 One oar.\n\n“4.2 Two oars.”\n\n2. Law\n\nNorway.\n"
    )
    assert paths(text) == ["1", "2"]


@pytest.mark.parametrize("mark", ["“", '"'])
def test_a_quotation_without_end_hides_nothing(mark):
    text = f"1. Change\n\nClause 4 is replaced by:\n\n{mark}4. Oars are lent.\n\n2. Law\n\nNorway.\n\n3. Costs\n\nShared.\n"
    assert paths(text) == ["1", "2", "3"]


def test_a_forgotten_end_hides_no_item():
    text = 'A. Section 1 is amended to read:   "The oars are lent.\n\nB. Section 2 is added as follows:   "2. The sails are lent."\n\nC. Section 3 is deleted.\n'
    assert paths(text) == ["A", "B", "C"]


def test_defined_terms_hide_no_label():
    text = '1. Terms\n\n"Boat" means (a) a skiff that floats on the water of the lake and (b) a dory that floats on it too;\n\n“Net” means a trawl.\n\n1.1 The "Owner" lends.\n\n1.2 The "Guest" pays 5" of rope.\n\n2. Law\n\nNorway.\n'
    assert [path for path in paths(text) if path[0].isdigit() and "(" not in path] == ["1", "1.1", "1.2", "2"]


def test_a_number_that_the_format_states_counts_inside_marks():
    rows = [("1.", "The following is added:"), ("", "“The oars."), ("2.", "Sails.”"), ("3.", "Law.")]
    text, blocks = "", []
    for label, words in rows:
        start = len(text)
        text += f"{label}\t{words}" if label else words
        blocks.append(Block(Span(start, len(text)), "paragraph", label, 0, list_id="1" if label else ""))
        text += "\n"
    clauses = build_clauses(text, tuple(blocks))
    check_invariants(text, clauses)
    assert [clause.number for clause in clauses] == ["1", "2", "3"]


def test_many_quotations_without_end_take_bounded_time():
    text = "is replaced by:\n“1. Oars\n" * 20_000
    assert tree(text)
