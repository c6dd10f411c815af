"""Automatic numbers of DOCX: every label of the contracts equals what the word processor prints."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from softlookup.documents.readers.docx import numbering as docx_numbering
from softlookup.documents.readers.docx.number_formats import custom_format, print_counter
from softlookup.documents.readers.docx.numbering import Numbering, parse_numbering
from softlookup.documents.readers.docx.reader import read_docx

from .numbering_contracts import build_contracts, build_twins
from .numbering_draft import Draft, NumberingContract, level, paragraph, run
from .numbering_golden import expected_labels, label_before, printed_labels, word_labels

CONTRACTS = build_contracts()
NAMES = [contract.name for contract in CONTRACTS]


def labels_of(contract: NumberingContract) -> dict[str, str]:
    """Marker -> the automatic number that the reader put directly before it."""
    result = read_docx(contract.data)
    before = {}
    for span in result.generated:
        following = result.text[span.end :].lstrip()[:4]
        before[following] = result.text[span.start : span.end].strip()
    return {row.marker: before.get(row.marker, "") for row in contract.rows}


def wrong_rows(contract: NumberingContract) -> list[str]:
    labels, expected = labels_of(contract), expected_labels(contract)
    return [
        f"{row.marker} {row.case}: {labels[row.marker]!r}, must be {expected[row.marker]!r}"
        for row in contract.rows
        if labels[row.marker] != expected[row.marker]
    ]


@pytest.mark.parametrize("contract", CONTRACTS, ids=NAMES)
def test_every_label_is_the_one_that_is_printed(contract):
    assert wrong_rows(contract) == []


@pytest.mark.parametrize("contract", CONTRACTS, ids=NAMES)
def test_text_of_every_paragraph_is_kept_and_deleted_text_is_not(contract):
    text = read_docx(contract.data).text
    assert [row.marker for row in contract.rows if text.count(row.marker) != 1] == []
    assert [marker for marker in contract.gone if marker in text] == []


def test_the_contracts_are_large_and_the_golden_file_fits_them():
    assert sum(len(contract.rows) for contract in CONTRACTS) >= 600
    for contract in CONTRACTS:
        assert list(printed_labels(contract.name)) == [row.marker for row in contract.rows]
    for twin in build_twins():
        original = next(contract for contract in CONTRACTS if contract.name == twin.name)
        assert [row.marker for row in twin.rows] == [row.marker for row in original.rows]


def test_labels_against_the_oracle_are_few_and_argued():
    rows = word_labels()
    assert len(rows) <= 30
    by_name = {contract.name: contract for contract in CONTRACTS}
    for row in rows:
        cases = Counter(r.case for r in by_name[row.contract].rows)
        assert cases[row.case] == 1, row
        marker = next(r.marker for r in by_name[row.contract].rows if r.case == row.case)
        # the oracle must still say what the row says it says, or the row has lost its reason
        assert printed_labels(row.contract)[marker] == row.libreoffice != row.label, row
        assert len(row.reason) > 30, row
        assert row.source, row


def count_each_num_alone(self, number_id, instance, level):
    key = (number_id, level)
    self._counters[key] = self._counters.get(key, instance.levels[level].start - 1) + 1
    self._counters[(instance.abstract, level)] = self._counters[key]


def never_restart(self, _number_id, instance, level):
    key = (instance.abstract, level)
    self._counters[key] = self._counters.get(key, instance.levels[level].start - 1) + 1


def one_too_many(self, number_id, instance, level):
    ORIGINAL(self, number_id, instance, level)
    self._counters[(instance.abstract, level)] += level > 1


def restart_each_level_once(self, number_id, instance, level):
    used = (number_id, level) in self._used
    ORIGINAL(self, number_id, instance, level)
    if not used and level in instance.start_overrides:
        self._used.add((number_id, level))
        self._counters[(instance.abstract, level)] = instance.start_overrides[level]


def skipped_levels_are_not_used(self, number_id, instance, level):
    before = set(self._counters)
    ORIGINAL(self, number_id, instance, level)
    for upper in range(level):
        if (instance.abstract, upper) not in before:
            self._counters.pop((instance.abstract, upper), None)


ORIGINAL = Numbering._count


@pytest.mark.parametrize(
    "fault",
    [count_each_num_alone, never_restart, one_too_many, restart_each_level_once, skipped_levels_are_not_used],
)
def test_wrong_counters_are_caught(monkeypatch, fault):
    monkeypatch.setattr(Numbering, "_count", fault)
    assert any(wrong_rows(contract) for contract in CONTRACTS)


@pytest.mark.parametrize(
    ("format_name", "printed"), [("lowerLetter", "x"), ("chineseCountingThousand", "〇"), ("ordinalText", "1")]
)
def test_wrong_formats_are_caught(monkeypatch, format_name, printed):
    def fault(number: int, style: str) -> str:
        return printed if style == format_name else print_counter(number, style)

    monkeypatch.setattr(docx_numbering, "print_counter", fault)
    assert any(wrong_rows(contract) for contract in CONTRACTS)


@pytest.mark.parametrize(
    ("style", "labels"),
    [
        ("lowerLetter", {1: "a", 26: "z", 27: "aa", 54: "bbb"}),
        ("cardinalText", {0: "Zero", 19: "Nineteen", 80: "Eighty", 1999: "One thousand nine hundred ninety-nine"}),
        ("ordinalText", {12: "Twelfth", 20: "Twentieth", 99: "Ninety-ninth", 1000: "One thousandth"}),
        ("chineseCountingThousand", {0: "零", 19: "十九", 119: "一百一十九", 1010: "一千零一十", 10005: "一万五"}),
        ("taiwaneseCountingThousand", {10: "十", 2000: "二千"}),
        ("chineseLegalSimplified", {15: "壹拾伍", 105: "壹佰零伍"}),
        ("japaneseCounting", {101: "百一", 1000: "千", 2100: "二千百"}),
        ("koreanCounting", {100: "백", 21: "이십일"}),
        ("ideographZodiacTraditional", {1: "甲子", 60: "癸亥", 61: "甲子"}),
        ("decimalEnclosedCircleChinese", {20: "⑳", 21: "21"}),
        ("numberInDash", {3: "- 3 -"}),
        ("none", {4: ""}),
        ("bullet", {4: ""}),
        ("noSuchFormat", {4: "4"}),
        ("padded:3", {7: "007", 1234: "1234"}),
    ],
)
def test_number_formats_beyond_the_contracts(style, labels):
    assert {number: print_counter(number, style) for number in labels} == labels


def test_formats_are_bounded_and_never_fail():
    styles = (
        "lowerLetter",
        "chicago",
        "ganada",
        "lowerRoman",
        "cardinalText",
        "chineseCountingThousand",
        "hex",
        "ordinal",
    )
    for style, number in itertools.product(styles, (-5, 0, 3999, 4000, 99_999, 100_000, 9_999_999)):
        assert 0 < len(print_counter(number, style)) <= 200, (style, number)


def test_custom_formats():
    assert custom_format("0001, 0002, 0003, ...") == "padded:4"
    assert custom_format("1, 2, 3, ...") == "decimal"
    assert custom_format("?!") is None
    assert custom_format("") is None


def test_a_story_counts_for_itself_and_leaves_the_body_alone():
    draft = Draft("stories")
    number = draft.list(level(0, "decimal", "%1."))
    from lxml import etree

    root = etree.fromstring(
        '<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"{''.join(draft.lists)}{''.join(draft.nums)}</w:numbering>"
    )
    numbering = parse_numbering(root)

    def advance() -> str:
        printed = numbering.advance(str(number), 0)
        assert printed is not None
        return printed.label

    assert [advance(), advance()] == ["1.", "2."]
    with numbering.story():
        assert advance() == "1."
    assert advance() == "3."


def test_hostile_definitions_are_read_without_failing():
    draft = Draft("hostile")
    odd = draft.list(
        level(0, "decimal", "%1" + "x" * 5000, start=None),
        '<w:lvl w:ilvl="²"><w:lvlText w:val="%1"/></w:lvl>',
        '<w:lvl w:ilvl="99999999999"><w:lvlText w:val="%1"/></w:lvl>',
        '<w:lvl w:ilvl="1"><w:start w:val="1e9"/><w:numFmt w:val=""/><w:lvlText w:val="%2"/></w:lvl>',
    )
    draft.body.append(paragraph(run("first"), odd, 0))
    draft.body.append(paragraph(run("second"), odd, 1))
    draft.body.append(
        f'<w:p><w:pPr><w:numPr><w:ilvl w:val="²"/><w:numId w:val="{odd}"/></w:numPr></w:pPr>{run("third")}</w:p>'
    )
    lines = read_docx(draft.finish().data).text.split("\n")
    assert len(lines[0]) <= 220
    assert lines[1].endswith("second")
    assert lines[2].endswith("third")


def test_label_before_reads_one_cell_of_a_line():
    assert label_before("Q003", "2.   Q002 Fire              3.   Q003 Flood") == "3."
    assert label_before("Q001", "Q001 Fire") == ""
    assert label_before("Q009", "Q001 Fire") is None
