"""Layouts that mix styles of labels: headings 一、 and "II." above decimals, and lists inside clauses."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import pytest

from .trees import by_path, paths, tree


def _levels(text: str) -> list[tuple[str, int]]:
    return [(clause.path, clause.level) for clause in tree(text) if clause.number]


def test_chinese_headings_hold_the_decimals_with_their_number():
    text = "一、船只\n1.1 甲方出借船只。\n1.2 乙方归还船只。\n二、渔网\n2.1 甲方出借渔网。\n2.1.1 小网。\n2.2 乙方收下。\n三、责任\n3.1 乙方赔偿。\n"
    assert _levels(text) == [
        ("一", 0), ("1.1", 1), ("1.2", 1), ("二", 0), ("2.1", 1), ("2.1.1", 2), ("2.2", 1), ("三", 0), ("3.1", 1),
    ]  # fmt: skip
    assert by_path(text)["1.2"].span.end == text.index("二、")


def test_chinese_headings_hold_decimals_that_count_anew_below_each():
    text = "一、船只\n1.1 甲方出借。\n1.2 乙方归还。\n二、渔网\n1.1 甲方出借。\n三、责任\n1.1 乙方赔偿。\n"
    assert [level for _, level in _levels(text)] == [0, 1, 1, 0, 1, 0, 1]


def test_a_chinese_list_inside_a_decimal_clause_stays_inside():
    text = (
        "1.1 船只包括下列各项：\n一、小艇；\n二、大船。\n1.2 渔网包括下列各项：\n一、拖网；\n二、围网。\n1.3 其他。\n"
    )
    assert [level for _, level in _levels(text)] == [0, 1, 1, 0, 1, 1, 0]


def test_a_digit_among_chinese_headings_goes_on_with_them():
    text = "一、船只\n1.1 甲方出借。\n二、渔网\n2.1 甲方出借。\n2.2 乙方收下。\n3、责任\n3.1 乙方赔偿。\n"
    assert _levels(text)[-2:] == [("3", 0), ("3.1", 1)]


def test_roman_headings_between_decimals_stand_above_them():
    text = "1.01 Boats are lent.\n\n1.02 Nets are lent.\n\nII. Definitions\n\n2.01 A boat floats.\n\n2.02 A net does not.\n\nIII. Price\n\n3.01 Ten a day.\n"
    assert _levels(text) == [
        ("1.01", 0), ("1.02", 0), ("II", 0), ("2.01", 1), ("2.02", 1), ("III", 0), ("3.01", 1),
    ]  # fmt: skip
    assert paths("I. Boats\n\n" + text)[0] == "I"


def test_an_amount_below_its_currency_is_no_clause():
    text = "1. Price\n\n1.1 One year.\n\n1.2 The boat costs EUR\n2.000 per month and weighs up to\n3.5 tons when wet.\n\n1.3 More boats.\n\n2. Nets\n\n2.1 None.\n"
    assert _levels(text) == [("1", 0), ("1.1", 1), ("1.2", 1), ("1.3", 1), ("2", 0), ("2.1", 1)]


def test_a_lower_case_clause_below_a_line_without_full_stop_is_one():
    text = "1. Price\n\n1.1 the boat costs ten; and\n1.2 the net costs two\n1.3 the oar costs one.\n\n2. Nets\n\n2.1 none.\n"
    assert paths(text) == ["1", "1.1", "1.2", "1.3", "2", "2.1"]


def test_items_below_an_inserted_clause_are_its_own():
    text = "Clause 1. Boats\nAll boats.\n\nClause 2. Loss\n(a) by storm;\n(b) by theft.\n\nClause 2A. Late Return\n(a) by a day; or\n(b) by a week.\n\nClause 3. Law\nNorway.\n"
    assert paths(text) == [
        "Clause 1", "Clause 2", "Clause 2(a)", "Clause 2(b)", "Clause 2A", "Clause 2A(a)", "Clause 2A(b)", "Clause 3",
    ]  # fmt: skip


def test_clauses_numbered_in_ordinals_hold_their_decimals():
    text = "CLAUSE NINETEENTH: TAXES\n\n19.1 Each party pays its taxes.\n\nCLAUSE TWENTIETH: LAW\n\n20.1 Norway.\n\nCLAUSE TWENTY-FIRST: NOTICES\n\n21.1 By mail.\n\n21.2 By boat.\n"
    assert [level for _, level in _levels(text)] == [0, 1, 0, 1, 0, 1, 1]


INDEX = "Term\tSection\nBoat\t3.1\nGuest\nLake\n4.1\n3.3 4.2(a)\nOwner\t5.1(b)\nWinter Season\t6.3\n"


def test_an_index_of_defined_terms_holds_no_clauses():
    body = "".join(
        f"ARTICLE {r}\nNETS\n\n{n}.1 Lending. The owner lends.\n\n{n}.2 Price. Ten.\n\n"
        for n, r in ((3, "III"), (4, "IV"))
    )
    text = "ARTICLE II\nTERMS\n\n2.1 Boat. A skiff.\n\n2.2 More Definitions. Each of the following terms shall have the meaning described in the corresponding section below:\n"
    found = paths(text + INDEX + body)
    assert found == ["Article II", "2.1", "2.2", "Article III", "3.1", "3.2", "Article IV", "4.1", "4.2"]
    assert not [clause.path for clause in tree(text + INDEX + body) if clause.flags]


def test_clauses_right_after_an_index_are_clauses():
    text = "1. TERMS\n\n1.1 Definitions. The following terms have the meaning in the section indicated below:\n" + INDEX
    assert paths(text + "1.2 Words. Singular words include the plural.\n\n2. LOAN\n\n2.1 The owner lends.\n") == [
        "1", "1.1", "1.2", "2", "2.1",
    ]  # fmt: skip


EIGHT = "".join(
    f"({letter}) Duty {letter.upper()}. The owner does what the list of the lake says.\n\n" for letter in "abcdefg"
)
PAPERS = "The owner keeps the papers of the boats in good order at all times."
SHOWS = "The guest may see the papers of the boats on any day of the season."


@pytest.mark.parametrize("between", [" ", "\n\n"])
@pytest.mark.parametrize(
    "after", ["", "(i) Insurance. The owner insures the boats.\n\n", "(i) Insurance. Full.\n\n(j) Nets. Dry.\n\n"]
)
def test_an_i_that_a_second_one_or_an_ii_follows_opens_a_list(between, after):
    text = f"1. Duties\n\n{EIGHT}(h) Papers.{between}(i) {PAPERS}{between}(ii) {SHOWS}\n\n{after}2. Law\n\nNorway.\n"
    letters = [f"1({letter})" for letter in "abcdefgh"]
    expected = [*letters, "1(h)(i)", "1(h)(ii)", *(f"1({letter})" for letter in "ij" if f"({letter}) " in after)]
    assert paths(text) == ["1", *expected, "2"]
    assert not [clause.path for clause in tree(text) if clause.flags]


def test_the_ninth_item_stays_one():
    text = f"1. Duties\n\n{EIGHT}(h) Papers. Dry.\n\n(i) Insurance. (i) The owner pays for it in full. (ii) The guest pays nothing.\n\n(j) Nets. Dry.\n\n2. Law\n\nNorway.\n"
    assert paths(text)[8:] == ["1(h)", "1(i)", "1(i)(i)", "1(i)(ii)", "1(j)", "2"]
    assert paths(f"1. Duties\n\n{EIGHT}(h) Papers.\n\n(i) Nets.\n\n2. Law\n\nNorway.\n")[8:] == ["1(h)", "1(i)", "2"]


def test_roman_headings_that_lost_their_line_ends_hold_the_decimals_with_their_number():
    text = (
        "I. Boats   1.00 The owner lends the boats.   1.01 The guest rows them.\n\nLake Agreement   II. Nets   2.00 The owner lends the nets.\n\n"
        "III. Oars\n\n3.00 The owner lends the oars.\n\nLake Agreement   IV.Sails   4.00 The owner lends the sails.\n\nV. Law\n\n5.00 Norway.\n"
    )
    assert _levels(text) == [
        ("I", 0), ("1.00", 1), ("1.01", 1), ("II", 0), ("2.00", 1), ("III", 0), ("3.00", 1), ("IV", 0), ("4.00", 1), ("V", 0),
        ("5.00", 1),
    ]  # fmt: skip


def test_an_initial_before_a_decimal_is_no_heading():
    text = "1.00 The boats are those of Mr.   V. Berg   2.00 metres long.\n\n1.01 The nets are old.\n\n1.02 The oars are new.\n"
    assert "V" not in paths(text)
