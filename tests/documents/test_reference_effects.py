"""How a clause stands to the one it refers to: subject to it, overriding it, an exception, the same."""

import pytest

from .outlines import CONTRACT_ZH, EN, ZH, only, paths, references


@pytest.mark.parametrize(
    ("words", "effect"),
    [
        ("Subject to the terms of Section 2.1, A pays.", "subject_to"),
        ("Notwithstanding anything to the contrary in Section 2.1, A pays.", "overrides"),
        ("Despite Section 2.1 A pays.", "overrides"),
        ("Except as otherwise provided in Section 2.1, A pays.", "exception_to"),
        ("Section 2.1 (Start) does not apply to gifts.", "exception_to"),
        ("A pays pursuant to Section 2.1.", "refers"),
        ("Subject to payment, A delivers in accordance with Section 2.1.", "refers"),
    ],
)
def test_effects_english(words, effect):
    assert only(EN.format("It is agreed. " + words, ""))[3] == effect


@pytest.mark.parametrize(
    ("words", "effect"),
    [
        ("除本合同第四条另有规定外，甲方付款。", "exception_to"),
        ("尽管有第四条的规定，甲方付款。", "overrides"),
        ("尽管有前述第四条的规定，甲方付款。", "overrides"),
        ("本情形不适用第四条的限额。", "exception_to"),
        ("下列情形不属于第四条规定的范围。", "exception_to"),
        ("免除责任，但第四条约定的义务不在此限。", "exception_to"),
        ("验收程序与第四条的规定相同。", "same_as_preceding"),
        ("计算标准同第四条。", "same_as_preceding"),
        ("转让的，适用第四条规定。", "refers"),
        ("甲方与乙方和第四条所列的人签字。", "refers"),
        ("甲方付款不受第四条的限制。", "overrides"),
        ("甲方付款受第四条约束。", "subject_to"),
        ("甲方依照第四条付款。", "refers"),
    ],
)
def test_effects_chinese(words, effect):
    assert only(ZH.format(words, ""))[3] == effect


def test_same_as_preceding_chinese():
    assert only("第一条 甲。\n第二条 乙，参照适用前条规定。\n")[3] == "same_as_preceding"


@pytest.mark.parametrize(
    ("words", "effects"),
    [
        ("Subject to clauses 2.1 and 3.1, A pays.", ["subject_to"] * 2),
        ("Notwithstanding clause 2.1 or clause 3.1, A pays.", ["overrides"] * 2),
        ("Notwithstanding Section 2.1 (Start), 2.2 or 3.1, A pays.", ["overrides"] * 3),
        ("Subject to clause 2.1, clause 3.1 applies.", ["subject_to", "refers"]),
        ("Subject to clause 2.1, clause 2.2 and clause 3.1, A pays.", ["subject_to"] * 3),
        ("Clauses 2.1 and 3.1 do not apply to gifts.", ["exception_to"] * 2),
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
        ("前款规定的限额不适用于装修。", ["exception_to"]),
        ("本合同其他条款有相反规定的，以本条为准。", ["refers"]),
        ("除适用第二条外，还适用第三条。", ["refers"] * 2),
        ("受第二条规定的押金保护的承租人应当付款。", ["refers"]),
    ],
)
def test_members_of_a_chinese_list_share_the_effect(words, effects):
    found = [found for found in paths(CONTRACT_ZH.format(words, "无。")) if found[0] != "本条" or "本条" in words]
    assert [effect for *_, effect in found][: len(effects)] == effects
