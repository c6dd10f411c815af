"""Cross references: what they point to, their status and their effect, English and Chinese."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.definitions import find_definitions
from softlookup.documents.label_index import LabelIndex
from softlookup.documents.model import Clause, Span
from softlookup.documents.positions import ClausePositions
from softlookup.documents.reference_labels import LabelKey, head_length, label_key, number_value
from softlookup.documents.references import find_references

_LABEL = re.compile(
    r"\s*((?:Section|ARTICLE|Schedule|Exhibit|Annex)\s[\w.]+|第[一二三四五六七八九十百]+[编章节条]|附件\S|\d+(?:\.\d+)*|"
    r"\([a-z]+\)|（[一二三四五六七八九十]+）)"
)


def outline(text):
    """One clause for each line that starts with a label; two spaces of indentation make a level."""
    rows = []
    for line in re.finditer(r"[^\n]*\n?", text):
        label = _LABEL.match(line.group())
        if label:
            rows.append((line.start(), (len(label.group()) - len(label.group().lstrip(" "))) // 2, label.group(1)))
    clauses, stack = [], []
    for index, (start, level, number) in enumerate(rows):
        end = next((s for s, other, _ in rows[index + 1 :] if other <= level), len(text))
        stack = stack[:level]
        clauses.append(Clause(index, number, "", Span(start, end), stack[-1] if stack else None, level, number))
        stack.append(index)
    return tuple(clauses)


def references(text):
    clauses = outline(text)
    found = find_references(text, clauses, find_definitions(text, clauses))
    return [
        (text[r.span.start : r.span.end], [clauses[t].number for t in r.targets], r.status, r.effect) for r in found
    ]


def only(text):
    (reference,) = references(text)
    return reference


EN = """1 Price. {0}
2 Term.
  2.1 Start.
  2.2 End.
    (a) by notice;
    (b) by breach.
3 Liability.
  3.1 Cap.
Schedule 2 Services
  1 Scope. {1}
  2 Staff.
"""


@pytest.mark.parametrize(
    ("words", "printed", "targets", "status"),
    [
        ("See Section 2.2.", "Section 2.2", ["2.2"], "resolved"),
        ("See clause 2.2(b).", "clause 2.2(b)", ["(b)"], "resolved"),
        ("See Section 2.2(c)(ii).", "Section 2.2(c)(ii)", ["2.2"], "inferred"),
        ("See § 3.1 hereof.", "§ 3.1", ["3.1"], "resolved"),
        ("See Article 3.", "Article 3", ["3"], "resolved"),
        ("See Schedule 2.", "Schedule 2", ["Schedule 2"], "resolved"),
        ("See paragraph 2 of Schedule 2.", "paragraph 2", ["2"], "resolved"),
        ("See clause (b) of Section 2.2.", "clause (b)", ["(b)"], "resolved"),
        ("See Section 9.9.", "Section 9.9", [], "dangling"),
        ("See Exhibit Q.", "Exhibit Q", [], "dangling"),
        ("See Section 2.1 of the Exchange Act.", "Section 2.1", [], "external"),
        ("See Section 2.1 of the Seller Disclosure Letter.", "Section 2.1", [], "external"),
        (
            "See Sections 78.1 to 78.9, inclusive, of the Nevada Revised Statutes.",
            "Sections 78.1 to 78.9",
            [],
            "external",
        ),
        ("See 11 U.S.C. Section 2.", "Section 2", [], "external"),
        ("See DFAR section 2.1 for software.", "section 2.1", [], "external"),
        ("See Section 409A for taxes.", "Section 409A", [], "external"),
        ("See Sections 2 and 3 thereof.", "Sections 2", [], "external"),
        ("See Section 2.1 of this Agreement.", "Section 2.1", ["2.1"], "resolved"),
        ("See Section 2.1 (Start) of the Agreement.", "Section 2.1", ["2.1"], "resolved"),
    ],
)
def test_explicit_english(words, printed, targets, status):
    found = references(EN.format(words, ""))
    assert found[0][:3] == (printed, targets, status)


def test_list_and_range():
    found = references(EN.format("See Sections 2.1, 2.2(a) or 3.1 and Sections 1 through 3.", ""))
    assert [(printed, targets) for printed, targets, *_ in found] == [
        ("Sections 2.1", ["2.1"]),
        ("2.2(a)", ["(a)"]),
        ("3.1", ["3.1"]),
        ("Sections 1 through 3", ["1", "2", "3"]),
    ]


def test_a_number_after_a_singular_label_is_no_label():
    assert only(EN.format("Under Section 2 and 3 days later.", ""))[:2] == ("Section 2", ["2"])


def test_own_schedule_comes_before_the_main_body():
    text = EN.format("See Section 2.", "See paragraph 2 and Section 3.1.")
    clauses = outline(text)
    found = find_references(text, clauses, ())
    paths = [[clauses[t].index for t in r.targets] for r in found]
    main, schedule = 1, len(clauses) - 1
    assert paths == [[main], [schedule], [7]]
    assert clauses[7].number == "3.1"


def test_roman_articles_and_sections_below_them():
    text = "ARTICLE I\n  1.1 A.\nARTICLE V\n  5.1 B. See Article I and Section 1.1.\n"
    assert [targets for _, targets, *_ in references(text)] == [["ARTICLE I"], ["1.1"]]


def test_relative_english():
    text = "1 A.\n2 B. Under this Section and the preceding Section, and the following clause.\n3 C.\n"
    assert [(p, t) for p, t, *_ in references(text)] == [
        ("this Section", ["2"]),
        ("the preceding Section", ["1"]),
        ("the following clause", ["3"]),
    ]


def test_relative_words_without_a_target_are_no_dangling_reference():
    assert references("1 A. See the preceding Section.\n2 B. This Article binds.\n") == [
        ("This Article", ["2"], "resolved", "refers")
    ]
    assert references("第一条 依照前条处理，适用本编。\n") == []


def test_labels_and_table_of_contents_are_not_references():
    text = "Section 1  Price    12\nSection 2  Term    13\nSection 1 Price. Paid.\nSection 2 Term. Long.\n"
    assert references(text) == []


@pytest.mark.parametrize(
    ("words", "effect"),
    [
        ("Subject to the terms of Section 2.1, A pays.", "subject_to"),
        ("Notwithstanding anything to the contrary in Section 2.1, A pays.", "overrides"),
        ("Despite Section 2.1 A pays.", "overrides"),
        ("Except as otherwise provided in Section 2.1, A pays.", "exception_to"),
        ("Section 2.1 (Start) does not apply to gifts.", "overrides"),
        ("A pays pursuant to Section 2.1.", "refers"),
        ("Subject to payment, A delivers in accordance with Section 2.1.", "refers"),
    ],
)
def test_effects_english(words, effect):
    assert only(EN.format("It is agreed. " + words, ""))[3] == effect


def test_such_term_is_inferred():
    text = "1 A. “Losses” means harm.\n2 B. The Seller pays such Losses. It repays said losses.\n"
    assert [r[:3] for r in references(text)] == [
        ("such Losses", ["1"], "inferred"),
        ("said losses", ["1"], "inferred"),
    ]


def test_such_word_without_definition_is_no_reference():
    assert references("1 A.\n2 B. The Seller pays such costs.\n") == []


ZH = """第一章 总则
  第一条 定义。{0}
  第二条 期限。
    （一）开始；
    （二）结束。
第二章 责任
  第三条 上限。{1}
  第四条 违约。
附件一 服务
"""


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


@pytest.mark.parametrize(
    ("words", "effect"),
    [
        ("除本合同第四条另有规定外，甲方付款。", "exception_to"),
        ("尽管有第四条的规定，甲方付款。", "overrides"),
        ("甲方付款不受第四条的限制。", "overrides"),
        ("甲方付款受第四条约束。", "subject_to"),
        ("甲方依照第四条付款。", "refers"),
    ],
)
def test_effects_chinese(words, effect):
    assert only(ZH.format(words, ""))[3] == effect


def test_same_as_preceding_chinese():
    assert only("第一条 甲。\n第二条 乙，参照适用前条规定。\n")[3] == "same_as_preceding"


def test_anaphora_chinese():
    text = "第一条 “保密信息”是指资料。\n第二条 乙方应归还该保密信息。\n"
    assert only(text)[:3] == ("该保密信息", ["第一条"], "inferred")


def test_words_that_look_like_references():
    assert references("第一条 本条款有效，本项目由前项目经理负责，条件见本条例。\n") == []


@pytest.mark.parametrize(
    ("printed", "key"),
    [
        ("Section 8.2(a)(ii)", LabelKey("clause", ("8", "2", "a", "ii"))),
        ("ARTICLE IV", LabelKey("article", ("4",))),
        ("Exhibit C", LabelKey("exhibit", ("c",))),
        ("第一百二十条之二", LabelKey("clause", ("120-2",))),
        ("８．２", LabelKey("clause", ("8", "2"))),
        ("八、", LabelKey("clause", ("8",))),
        ("（三）", LabelKey("item", ("3",))),
        ("附件2", LabelKey("附件", ("2",))),
        ("no label here", None),
        ("", None),
    ],
)
def test_label_keys(printed, key):
    assert label_key(printed) == key


def test_number_values():
    assert [number_value(n) for n in ("十五", "一百零五", "XIV", "v", "007")] == ["15", "105", "14", "v", "7"]


def test_positions_agree_with_the_tree():
    text = EN.format("", "")
    clauses = outline(text)
    positions = ClausePositions(clauses)
    for offset in range(len(text)):
        holding = [c.index for c in clauses if c.span.start <= offset < c.span.end]
        assert positions.innermost(offset) == (holding[-1] if holding else None)
    assert positions.innermost(len(text)) is None
    assert sum(len(span) for _, span in positions.own_text()) == len(text)


@given(st.text(alphabet="Section12.(a)b 、第条款项前本三至 thisof\nAct,and", max_size=120))
def test_any_text_gives_ordered_disjoint_references(text):
    clauses = (Clause(0, "1", "", Span(0, len(text)), None, 0, "1"),) if text else ()
    found = find_references(text, clauses, find_definitions(text, clauses))
    assert all(0 <= r.span.start < r.span.end <= len(text) for r in found)
    assert all(a.span.end <= b.span.start for a, b in pairwise(found))
    assert all((r.status in ("resolved", "inferred")) == bool(r.targets) for r in found)


# brackets are 款 and bare numbers are 项: the usual outline of Chinese contracts
CONTRACT_ZH = """第一条 租金
  （一）租金为每月九百元。
  （二）有下列情形之一的，租金减半：
    1 屋顶漏水；
    2 电梯停运。
  （三）{0}
第二条 押金
  （一）押金为一个月租金。
  （二）{1}
第三条 其他
  （一）本条以书面为准。
附件一 房屋清单
  1 房间。
    （一）朝南；
  2 车位。
"""


def paths(text):
    """Printed words, targets as joined labels, status and effect of every reference."""
    clauses = outline(text)

    def address(clause):
        above = address(clauses[clause.parent]) + "/" if clause.parent is not None else ""
        return above + clause.number

    found = find_references(text, clauses, find_definitions(text, clauses))
    return [
        (text[r.span.start : r.span.end], [address(clauses[t]) for t in r.targets], r.status, r.effect) for r in found
    ]


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


def test_a_missing_part_may_stand_inside_the_text():
    text = "1 Duty. The duty covers (a) paint and (b) glass.\n2 Care. See clause 1(b), clause 1(c) and Section 1.7.\n"
    assert [found[:3] for found in paths(text)] == [
        ("clause 1(b)", ["1"], "resolved"),
        ("clause 1(c)", ["1"], "inferred"),
        ("Section 1.7", [], "dangling"),
    ]


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


def test_a_number_with_decimal_children_is_absolute():
    text = "(A) The parties agree:\n  16 Law.\n    16.1 English law. See clause 16 and clause 16.1.\n"
    assert [found[:3] for found in paths(text)] == [
        ("clause 16", ["16"], "resolved"),
        ("clause 16.1", ["16/16.1"], "resolved"),
    ]


@pytest.mark.parametrize(
    ("words", "effects"),
    [
        ("Subject to clauses 2.1 and 3.1, A pays.", ["subject_to"] * 2),
        ("Notwithstanding clause 2.1 or clause 3.1, A pays.", ["overrides"] * 2),
        ("Notwithstanding Section 2.1 (Start), 2.2 or 3.1, A pays.", ["overrides"] * 3),
        ("Subject to clause 2.1, clause 3.1 applies.", ["subject_to", "refers"]),
        ("Subject to clause 2.1, clause 2.2 and clause 3.1, A pays.", ["subject_to"] * 3),
        ("Clauses 2.1 and 3.1 do not apply to gifts.", ["overrides"] * 2),
        ("A pays under clauses 2.1 and 3.1.", ["refers"] * 2),
    ],
)
def test_members_of_an_english_list_share_the_effect(words, effects):
    assert [found[3] for found in references(EN.format("It is agreed. " + words, ""))] == effects


@pytest.mark.parametrize(
    ("words", "effects"),
    [
        ("除第二条第（一）款和第三条第（一）款另有规定外，甲方付款。", ["exception_to"] * 2),
        ("除第二条、第三条和本合同附件一另有约定外，甲方付款。", ["exception_to"] * 3),
        ("除本条第（一）款和第（二）款另有规定外，适用第二条。", ["exception_to"] * 2 + ["refers"]),
        ("尽管有第二条“押金”及第三条的规定，甲方付款。", ["overrides"] * 2),
        ("甲方付款不受第二条或者第三条的限制。", ["overrides"] * 2),
        ("第二条、第三条另有规定的除外。", ["exception_to"] * 2),
        ("前款规定的限额不适用于装修。", ["overrides"]),
        ("本合同其他条款有相反规定的，以本条为准。", ["refers"]),
        ("除适用第二条外，还适用第三条。", ["refers"] * 2),
        ("受第二条规定的押金保护的承租人应当付款。", ["refers"]),
    ],
)
def test_members_of_a_chinese_list_share_the_effect(words, effects):
    found = [found for found in paths(CONTRACT_ZH.format(words, "无。")) if found[0] != "本条" or "本条" in words]
    assert [effect for *_, effect in found][: len(effects)] == effects


LEVELS = "1 Law.\n7 Warranty.\n  7.1 Scope.\n  7.5 No one is liable under this {0}.\n8 Uses. {1}\n"


@pytest.mark.parametrize(
    ("word", "uses", "targets", "status"),
    [
        ("clause", "See clause 1 and clause 7.", ["7"], "resolved"),
        ("clause", "See clause 7.1 and clause 7.5.", ["7.5"], "resolved"),
        ("clause", "See clause 1 and clause 7.1.", ["7"], "inferred"),
        ("Clause", "See Clause 7 and Section 7.1.", ["7"], "resolved"),
        ("Section", "See Section 1 and Section 7.1.", ["7.5"], "inferred"),
        ("Section", "See Section 7.1 and Article 7.", ["7.5"], "resolved"),
        ("clause", "Nothing.", ["7.5"], "inferred"),
    ],
)
def test_this_clause_is_of_the_level_that_the_document_calls_so(word, uses, targets, status):
    found = [found for found in references(LEVELS.format(word, uses)) if found[0].lower().startswith("this")]
    assert [(t, s) for _, t, s, _ in found] == [(targets, status)]


@pytest.mark.parametrize(
    ("printed", "length"),
    [("Section 5.1(a)", 2), ("第五条第二款", 1), ("第5.2(a)条", 2), ("(b)", 0), ("第（三）款", 0), ("附件一", 1)],
)
def test_head_of_a_label(printed, length):
    assert head_length(printed) == length


def test_a_label_that_repeats_is_taken_from_the_same_schedule():
    text = "Schedule 1\n  1 A.\n  2 B.\n" + "".join(f"Schedule {n}\n  1 C.\n  2 D.\n" for n in range(2, 40))
    clauses = outline(text)
    labels = LabelIndex(text, ClausePositions(clauses))
    source = next(c.index for c in clauses if text[c.span.start :].startswith("Schedule 20"))
    place = labels.find(LabelKey("clause", ("2",)), source + 1)
    assert place is not None
    assert clauses[place.clause].parent == source
    assert place.exact


HOSTILE = [
    "Section 1, ", "Sections 1, 2 and ", "第一条第二款第三项、", "第1、", "notwithstanding i i i i section ",
    "第一章 ……3 ", "(a)", " ", "\n", ".", "第", "such X ", "Section 1 A .... 3 ", "1.",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_searched_in_time(piece):
    text = piece * (60_000 // len(piece))
    clauses = (Clause(0, "1", "", Span(0, len(text)), None, 0, "1"),)
    start = time.process_time()
    find_references(text, clauses, ())
    assert time.process_time() - start < 2


def test_many_clauses_with_one_label_are_searched_in_time():
    line = "(a) see clause (zz), clause (b) and the preceding clause.\n"
    text = "1 Head\n" + line * 3000
    head = Clause(0, "1", "", Span(0, len(text)), None, 0, "1")
    starts = range(7, len(text), len(line))
    items = (Clause(i, "(a)", "", Span(s, s + len(line)), 0, 1, "1(a)") for i, s in enumerate(starts, 1))
    start = time.process_time()
    find_references(text, (head, *items), ())
    assert time.process_time() - start < 2
