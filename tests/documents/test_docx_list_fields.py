"""Fields that print numbers and store none: computed from what they say, or marked as a guess."""

from __future__ import annotations

import pytest
from lxml import etree

from softlookup.documents.readers.docx.list_fields import FieldNumber, FieldPlace, ListFields
from softlookup.documents.readers.docx.numbering import Numbering, parse_numbering

from .numbering_draft import NAMESPACES, Draft, level


def numbers(instructions: list[str], place: FieldPlace | None = None) -> list[str]:
    fields = ListFields(Numbering())
    found = [fields.number(instruction, place or FieldPlace()) for instruction in instructions]
    return [number.text for number in found if number is not None]


def test_listnum_counts_on_and_starts_where_it_is_told():
    assert numbers([r" LISTNUM NumberDefault \l 3 \s 1 ", " LISTNUM ", "LISTNUM"]) == ["i)", "ii)", "iii)"]
    assert numbers([r'LISTNUM "NumberDefault" \l 4 \s 3', r"listnum NumberDefault \l 4"]) == ["(3)", "(4)"]


def test_every_level_of_the_lists_that_word_knows():
    all_levels = [[rf"LISTNUM {name} \l {i}" for i in range(1, 10)] for name in ("NumberDefault", "OutlineDefault")]
    assert numbers(all_levels[0]) == ["1)", "a)", "i)", "(1)", "(a)", "(i)", "1.", "a.", "i."]
    assert numbers(all_levels[1]) == ["I.", "A.", "1.", "a)", "(1)", "(a)", "(i)", "(a)", "(i)"]
    legal = [
        r"LISTNUM LegalDefault \l 1",
        r"LISTNUM LegalDefault \l 2",
        r"LISTNUM LegalDefault \l 2",
        r"LISTNUM LegalDefault \l 1",
    ]
    assert numbers(legal) == ["1.", "1.1.", "1.2.", "2."]


def test_a_level_that_is_not_told_is_a_guess():
    fields = ListFields(Numbering())
    assert fields.number("LISTNUM NumberDefault", FieldPlace()) == FieldNumber("1)", certain=False)
    assert fields.number("LISTNUM NumberDefault", FieldPlace()) == FieldNumber("2)", certain=True)
    assert fields.number(r"LISTNUM NumberDefault \l 2", FieldPlace()) == FieldNumber("a)", certain=True)
    other = ListFields(Numbering())
    assert other.number("LISTNUM", FieldPlace(after_text=True)) == FieldNumber("i)", certain=False)


def contract_lists() -> tuple[Numbering, str]:
    draft = Draft("lists")
    number = draft.num(
        draft.abstract(level(0, "decimal", "%1."), level(1, "lowerLetter", "(%2)"), head='<w:name w:val="Points"/>')
    )
    root = etree.fromstring(f"<w:numbering {NAMESPACES}>{''.join(draft.lists)}{''.join(draft.nums)}</w:numbering>")
    return parse_numbering(root), str(number)


def test_a_field_in_a_numbered_paragraph_counts_below_it():
    numbering, number = contract_lists()
    fields = ListFields(numbering)
    place = FieldPlace(number_id=number, level=0, after_text=True)
    assert numbering.advance(number, 0).label == "1."
    assert [fields.number("LISTNUM", place).text for _ in range(2)] == ["(a)", "(b)"]
    assert numbering.advance(number, 1).label == "(c)"
    assert numbering.advance(number, 0).label == "2."
    assert fields.number("LISTNUM", place).text == "(a)"


def test_a_field_finds_a_list_of_the_contract_by_its_name():
    numbering, number = contract_lists()
    fields = ListFields(numbering)
    assert numbering.advance(number, 0).label == "1."
    assert fields.number(r"LISTNUM Points \l 1", FieldPlace()) == FieldNumber("2.", certain=True)
    assert fields.number(r"LISTNUM Other \l 1", FieldPlace()).certain is False


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("AUTONUM", ["1.", "1.", "2.", "2.", "1."]),
        ("AUTONUMLGL", ["1.", "1.1.", "1.2.", "2.", "2.1."]),
        ("AUTONUMOUT", ["I.", "A.", "B.", "II.", "A."]),
    ],
)
def test_automatic_numbers_of_headings(kind, expected):
    fields = ListFields(Numbering())
    found = [fields.number(f" {kind} ", FieldPlace(heading=heading)) for heading in (0, 1, 1, 0, 1)]
    assert found == [FieldNumber(text, certain=True) for text in expected]


def test_automatic_numbers_of_body_text_and_their_switches():
    instructions = [
        "AUTONUM",
        r"AUTONUM \* Arabic \s :",
        r"AUTONUM \* alphabetic",
        r"AUTONUM \* ROMAN",
        r"AUTONUMLGL \e",
    ]
    assert numbers(instructions) == ["1.", "2:", "c.", "IV.", "5"]
    fields = ListFields(Numbering())
    fields.number("AUTONUMLGL", FieldPlace(heading=0))
    assert fields.number("AUTONUMLGL", FieldPlace()) == FieldNumber("1.1.", certain=False)


@pytest.mark.parametrize("instruction", ["", "REF x", "PAGE", '"', "\\", "LIST NUM", "AUTONUMBER"])
def test_other_fields_are_left_alone(instruction):
    assert ListFields(Numbering()).number(instruction, FieldPlace()) is None


@pytest.mark.parametrize(
    "instruction", [r"LISTNUM \l", r"LISTNUM \l 99 \s ²", r'LISTNUM "', "LISTNUM " + '"' * 9999, r"AUTONUM \s"]
)
def test_malformed_fields_still_give_a_number(instruction):
    number = ListFields(Numbering()).number(instruction, FieldPlace())
    assert number is not None
    assert number.text
