"""Cross references of Chinese texts: articles, paragraphs, items, relative words, lists."""

import pytest

from softlookup.documents.definitions.find import find_definitions
from softlookup.documents.model import Block, Clause, Span
from softlookup.documents.read import read_document
from softlookup.documents.references.resolve import find_references
from softlookup.documents.tree.structure import build_clauses

from .outlines import CONTRACT_ZH, ZH, only, outline, paths, references


@pytest.mark.parametrize(
    ("words", "printed", "targets", "status"),
    [
        ("依照本合同第四条处理。", "第四条", ["第四条"], "resolved"),
        ("依照第4条处理。", "第4条", ["第四条"], "resolved"),
        ("依照第二条第一款第二项处理。", "第二条第一款第二项", ["（二）"], "resolved"),
        ("依照第二条第（一）项处理。", "第二条第（一）项", ["（一）"], "resolved"),
        ("依照第二条第一款处理。", "第二条第一款", ["第二条"], "resolved"),
        ("依照第二章处理。", "第二章", ["第二章"], "resolved"),
        ("见附件一。", "附件一", ["附件一"], "resolved"),
        ("依照第九十条处理。", "第九十条", [], "dangling"),
        ("依照本法第一编第二章处理。", "第一编第二章", [], "dangling"),
        ("依照《中华人民共和国民法典》第二条处理。", "第二条", [], "external"),
        ("依照公司法第二条处理。", "第二条", [], "external"),
        ("依照第二条至第四条处理。", "第二条至第四条", ["第二条", "第三条", "第四条"], "resolved"),
        ("本章另有说明。", "本章", ["第一章"], "resolved"),
        ("本条无效。", "本条", ["第一条"], "resolved"),
    ],
)
def test_explicit_and_relative_chinese(words, printed, targets, status):
    assert only(ZH.format(words, ""))[:3] == (printed, targets, status)


def test_chinese_list_inherits_the_article_and_the_statute():
    found = references(ZH.format("依照第二条第一项、第二项和第四条。", "依照《民法典》第一条、第二条。"))
    assert [r[:3] for r in found] == [
        ("第二条第一项", ["（一）"], "resolved"),
        ("第二项", ["（二）"], "resolved"),
        ("第四条", ["第四条"], "resolved"),
        ("第一条", [], "external"),
        ("第二条", [], "external"),
    ]


def test_previous_article_crosses_the_chapter():
    assert only(ZH.format("", "依照前条处理。"))[:2] == ("前条", ["第二条"])


def test_previous_paragraph():
    text = "第一条 甲。\n第二条 乙方付款。\n违反前款规定的，适用前条第一款。\n"
    assert [(p, t) for p, t, *_ in references(text)] == [("前款", ["第二条"]), ("前条第一款", ["第一条"])]


def test_decimal_contract_in_chinese():
    text = "7 费用\n  7.1 租金。\n  7.2 押金。依照7.1条、本合同第8条处理，本款优先，本条除外。\n8 其他\n"
    assert [(p, t) for p, t, *_ in references(text)] == [
        ("7.1条", ["7.1"]),
        ("第8条", ["8"]),
        ("本款", ["7.2"]),
        ("本条", ["7"]),
    ]


def test_anaphora_chinese():
    text = "第一条 “保密信息”是指资料。\n第二条 乙方应归还该保密信息。\n"
    assert only(text)[:3] == ("该保密信息", ["第一条"], "inferred")


def test_words_that_look_like_references():
    assert references("第一条 本条款有效，本项目由前项目经理负责，条件见本条例。\n") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("依照第一条第（二）款第1项减半。", [("第一条第（二）款第1项", ["第一条/（二）/1"], "resolved")]),
        ("依照第一条（二）减半。", [("第一条（二）", ["第一条/（二）"], "resolved")]),
        ("依照第一条（二）第2项减半。", [("第一条（二）第2项", ["第一条/（二）/2"], "resolved")]),
        ("依照第一条第二款减半。", [("第一条第二款", ["第一条/（二）"], "resolved")]),
        ("依照本条第（一）款退还。", [("本条第（一）款", ["第二条/（一）"], "resolved")]),
        ("依照第（一）款退还。", [("第（一）款", ["第二条/（一）"], "resolved")]),
        ("依照本条（一）款退还。", [("本条（一）款", ["第二条/（一）"], "resolved")]),
        ("依照前条第（一）款退还。", [("前条第（一）款", ["第一条/（一）"], "resolved")]),
        (
            "依照前条第（一）款、第（二）款退还。",
            [("前条第（一）款", ["第一条/（一）"], "resolved"), ("第（二）款", ["第一条/（二）"], "resolved")],
        ),
        (
            "依照第一条第（一）、（二）款退还。",
            [("第一条第（一）", ["第一条/（一）"], "resolved"), ("（二）款", ["第一条/（二）"], "resolved")],
        ),
        (
            "依照第一条第（一）款至第（三）款退还。",
            [("第一条第（一）款至第（三）款", ["第一条/（一）", "第一条/（二）", "第一条/（三）"], "resolved")],
        ),
        (
            "依照第一条，适用该条第（三）款。",
            [("第一条", ["第一条"], "resolved"), ("该条第（三）款", ["第一条/（三）"], "resolved")],
        ),
        ("依照附件一第1条第（一）项交付。", [("附件一第1条第（一）项", ["附件一/1/（一）"], "resolved")]),
        ("依照附件一第二部分交付。", [("附件一", ["附件一"], "resolved")]),
        ("依照本款退还。", [("本款", ["第二条/（二）"], "resolved")]),
    ],
)
def test_steps_inside_a_chinese_article(words, expected):
    assert [found[:3] for found in paths(CONTRACT_ZH.format("屋顶漏水的。", words))][: len(expected)] == expected


@pytest.mark.parametrize(
    ("words", "printed", "targets", "status"),
    [
        ("依照第一条第（九）款减半。", "第一条第（九）款", ["第一条"], "inferred"),
        ("依照第一条第（二）款第7项减半。", "第一条第（二）款第7项", ["第一条/（二）"], "inferred"),
        ("依照第九十条第（二）款减半。", "第九十条第（二）款", [], "dangling"),
        ("依照附件一第9条交付。", "附件一第9条", ["附件一"], "inferred"),
        ("依照附件八第1条交付。", "附件八第1条", [], "dangling"),
        ("依照本条第（八）款退还。", "本条第（八）款", ["第二条"], "inferred"),
    ],
)
def test_a_step_that_leads_nowhere_is_never_resolved(words, printed, targets, status):
    assert paths(CONTRACT_ZH.format("屋顶漏水的。", words))[0][:3] == (printed, targets, status)


def test_paragraphs_and_items_of_a_statute():
    text = (
        "第一条 有下列情形之一的，应当登记：\n  （一）设立；\n  （二）放弃本款规定的权利。\n"
        "第二条 应当备案。\n变更的，适用前款。依照第一条第一款第二项、第二条第二款办理。\n"
        "第三条 适用第二条第五款；有前条第一款第一项、第二项情形的除外。\n"
    )
    assert [found[:3] for found in paths(text)] == [
        ("本款", ["第一条"], "resolved"),
        ("前款", ["第二条"], "resolved"),
        ("第一条第一款第二项", ["第一条/（二）"], "resolved"),
        ("第二条第二款", ["第二条"], "resolved"),
        ("第二条第五款", ["第二条"], "inferred"),
        ("前条第一款第一项", ["第二条"], "inferred"),
        ("第二项", ["第二条"], "inferred"),
    ]


def test_decimal_numbers_with_bracketed_steps_in_chinese():
    text = "5 付款\n  5.1 分期。\n    (a) 首付；\n    (b) 尾款。\n  5.2 第5.1(b)条、5.1条（a）款、第5.1（a）至（b）款"
    assert [found[:3] for found in paths(text)] == [
        ("第5.1(b)条", ["5/5.1/(b)"], "resolved"),
        ("5.1条（a）款", ["5/5.1/(a)"], "resolved"),
        ("第5.1（a）至（b）款", ["5/5.1/(a)", "5/5.1/(b)"], "resolved"),
    ]


def test_a_part_that_is_not_in_the_document_has_no_chapters_in_it():
    text = "第六章 违约\n  第五十条 依照本法第一编第六章处理。\n"
    assert paths(text)[0][:3] == ("第一编第六章", [], "dangling")


# the first paragraph of an article belongs to its label, the others are clauses without number
STATUTE = """第一条 出租人应当交付房屋。
  承租人应当支付租金。
  有下列情形之一的，租金减半：
    （一）漏水；
    （二）停电。
第二条 {0}
  {1}
  {2}
"""


def in_paragraphs(text):
    """Printed words and the beginnings of the targets' texts."""
    clauses = outline(text, paragraphs=True)
    found = find_references(text, clauses, find_definitions(text, clauses))
    return [
        (text[r.span.start : r.span.end], [text[clauses[t].span.start :].strip()[:4] for t in r.targets], r.status)
        for r in found
    ]


@pytest.mark.parametrize(
    ("first", "second", "third", "expected"),
    [
        ("依照第一条第一款。", "乙。", "丙。", ("第一条第一款", ["第一条 "])),
        ("依照第一条第二款。", "乙。", "丙。", ("第一条第二款", ["承租人应"])),
        ("依照第一条第三款第二项。", "乙。", "丙。", ("第一条第三款第二项", ["（二）停"])),
        ("甲。", "依照前款。", "丙。", ("前款", ["第二条 "])),
        ("甲。", "乙。", "依照前款。", ("前款", ["乙。"])),
        ("甲。", "乙。", "依照前两款。", ("前两款", ["第二条 ", "乙。"])),
        ("甲。", "依照下款。", "丙。", ("下款", ["丙。"])),
        ("甲。", "本款优先。", "丙。", ("本款", ["本款优先"])),
        ("甲。", "乙。", "依照本条前两款。", ("本条前两款", ["第二条 ", "乙。"])),
        ("甲。", "乙。", "依照第一条前两款。", ("第一条前两款", ["第一条 ", "承租人应"])),
        ("甲。", "乙。", "依照本条第二款。", ("本条第二款", ["乙。"])),
        ("甲。", "依照前条第二款。", "丙。", ("前条第二款", ["承租人应"])),
        ("依照第一条，该条优先。", "乙。", "丙。", ("该条", ["第一条 "])),
    ],
)
def test_paragraphs_that_are_clauses(first, second, third, expected):
    found = in_paragraphs(STATUTE.format(first, second, third))
    assert [words for words, *_ in found][-1] == expected[0]
    assert [[target.rstrip() for target in targets] for _, targets, _ in found][-1] == [w.rstrip() for w in expected[1]]


def test_paragraphs_below_a_heading_are_counted_from_the_first():
    text = "第一条 交付\n  出租人应当交付房屋。\n  承租人应当验收。\n  依照第一款、前款。\n"
    assert [found[:2] for found in in_paragraphs(text)] == [("第一款", ["出租人应"]), ("前款", ["承租人应"])]


def test_this_article_of_a_decimal_contract_is_what_the_contract_calls_so():
    text = "7 费用\n  7.1 租金。为本条之目的，见{0}。\n8 其他\n"
    assert paths(text.format("第8条"))[0][:2] == ("本条", ["7"])
    assert paths(text.format("第7.1条"))[0][:2] == ("本条", ["7/7.1"])


def test_a_book_is_named_by_the_title_of_the_text():
    text = "合同编\n第一章 通则\n第二章 订立\n  第一条 本编适用；本编通则优先。\n"
    heads = [Clause(0, "", "合同编", Span(0, 4), None, 0, "")]
    chapters = ((1, "第一章", "通则"), (2, "第二章", "订立"), (3, "第一条", ""))
    for index, number, heading in chapters:
        start = text.index(f"{number} ")
        heads.append(Clause(index, number, heading, Span(start, len(text)), 2 if index == 3 else None, 0, number))
    found = find_references(text, tuple(heads), ())
    assert [(text[r.span.start : r.span.end], r.targets) for r in found] == [("本编", (0,)), ("本编通则", (1,))]


@pytest.mark.parametrize(
    "words",
    ["披露函第四条", "《租赁合同》第四条", "原合同第四条", "保密协议的第四条", "《中华人民共和国合同法》第四条"],
)
def test_labels_of_other_papers_are_external(words):
    assert only(ZH.format(f"见{words}。", ""))[1:3] == ([], "external")


def test_the_title_of_the_document_is_no_other_paper():
    text = "租赁合同\n" + ZH.format("见租赁合同第四条和本补充协议第四条。", "")
    assert [found[1:3] for found in references(text)] == [(["第四条"], "resolved")] * 2


def test_treaties_and_agreed_articles():
    text = "第一条 甲。\n第二条 违反本条约定的，适用前条约定；本条约除外。\n"
    assert [found[:2] for found in references(text)] == [("本条", ["第二条"]), ("前条", ["第一条"])]


def test_that_term_counts_only_where_the_term_is_quoted():
    text = "第一条 “货物”是指机床。\n第二条 该货物由乙方交付；该买方付款。\n买方是指付款的人。\n"
    assert [found[:2] for found in references(text)] == [("该货物", ["第一条"])]


def test_annexes_of_a_few_words_are_found():
    text = (
        "买卖合同\n\n第一条 标的\n设备见附件一，参数见附件二第2项。\n\n第二条 附件\n附件一至附件三是合同的一部分。\n\n"
        "甲方（盖章）：\n\n附件一 设备清单\n一、机床一台，单价九万元。\n\n附件二 技术参数\n1. 转速不低于九千转。\n"
        "2. 温升不超过九度。\n\n附件三 联系人\n甲方联系人：采购部。\n"
    )
    clauses = build_clauses(text, (Block(Span(0, len(text))),))
    found = find_references(text, clauses, ())
    targets = {text[r.span.start : r.span.end]: [clauses[t].number for t in r.targets] for r in found}
    assert targets == {
        "附件一": ["附件一"],
        "附件二第2项": ["2"],
        "附件一至附件三": ["附件一", "附件二", "附件三"],
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("依照第7.1款付款。", [("第7.1款", ["7/7.1"], "resolved")]),
        ("依照第7.1款至第7.2款付款。", [("第7.1款至第7.2款", ["7/7.1", "7/7.2"], "resolved")]),
        ("依照第7.2款（b）项付款。", [("第7.2款（b）项", ["7/7.2/(b)"], "resolved")]),
        ("依照7.9款付款。", [("7.9款", [], "dangling")]),
        ("第7.1条和/或第7.2条继续有效。", [("第7.1条", ["7/7.1"], "resolved"), ("第7.2条", ["7/7.2"], "resolved")]),
        ("以下条文有效。", []),
    ],
)
def test_a_decimal_number_is_a_clause_whatever_it_is_called(words, expected):
    text = "7 费用\n  7.1 租金。\n  7.2 押金：\n    (a) 现金；\n    (b) 转账。\n8 其他。" + words + "\n"
    assert [found[:3] for found in paths(text)] == expected


COUNTED = """第一条 总则
本合同由双方签订。

第二条 付款
2.1 甲方应付款。
2.2 乙方应开票。
甲方逾期的，应付利息。
利息按日计算。

第三条 责任
{0}

第四条 其他
本合同自签字之日起生效。
"""


def counted_targets(tmp_path, words):
    path = tmp_path / "contract.txt"
    path.write_text(COUNTED.format(words), encoding="utf-8")
    document = read_document(path)
    return [([document.clauses[t].path for t in r.targets], r.status) for r in document.references]


@pytest.mark.parametrize("printed", ["第二条第二款", "第二条第三款"])
def test_a_paragraph_that_the_tree_counts_is_the_one_that_a_reference_means(tmp_path, printed):
    assert counted_targets(tmp_path, f"乙方违反{printed}的，赔偿损失。") == [([printed], "resolved")]


def test_the_first_paragraph_of_a_counted_article_is_the_article_and_a_fifth_is_missing(tmp_path):
    found = counted_targets(tmp_path, "乙方违反第二条第一款、第五款的，赔偿损失。")
    assert found == [(["第二条"], "resolved"), (["第二条"], "inferred")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("依第3-1条办理。", [("第3-1条", [], "dangling")]),
        ("依第2-4条办理。", [("第2-4条", ["第二条", "第三条", "第四条"], "resolved")]),
        ("依第4-1条、第二条办理。", [("第4-1条", [], "dangling"), ("第二条", ["第二条"], "resolved")]),
    ],
)
def test_an_article_that_was_put_in_later_is_no_range(words, expected):
    assert [r[:3] for r in references(ZH.format(words, ""))] == expected


def test_an_article_with_a_hyphen_is_found():
    text = "第一条 总则。\n第一条之一 增补。\n第二条 其他。依第1-1条办理。\n"
    starts = [text.index(label) for label in ("第一条 ", "第一条之", "第二条")]
    clauses = tuple(
        Clause(i, number, "", Span(start, end), None, 0, number)
        for i, (number, start, end) in enumerate(
            zip(("第1条", "第1-1条", "第2条"), starts, [*starts[1:], len(text)], strict=True)
        )
    )
    (reference,) = find_references(text, clauses, ())
    assert ([clauses[t].number for t in reference.targets], reference.status) == (["第1-1条"], "resolved")
