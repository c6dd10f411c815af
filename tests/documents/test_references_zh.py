"""Cross references of Chinese texts: articles, paragraphs, items, relative words, lists."""

import pytest

from .outlines import CONTRACT_ZH, ZH, only, paths, references


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
