"""Labels in mid-line: lost line ends are mended, lists in sentences are found whole, stray brackets stay text."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import pytest

from .trees import by_path, paths

COLLAPSED = (
    'LOAN OF BOATS This loan is made by Alder and Birch. 1. Definitions. Unless otherwise stated: (a) "Boat" means the skiff and all that belongs to it. '
    '(b) "Net" means the seine with its ropes. (c) "Rent" means ten a year. 2. Use. Birch may sail the Boat as agreed in Section 3 and in (a) of the Rules. '
    "3. Rent. (a) Birch pays the Rent in May. (b) Alder gives a receipt. 4. Law. The law of Norway governs this loan.\n"
)


def test_collapsed_text_has_its_clauses():
    assert paths(COLLAPSED) == ["1", "1(a)", "1(b)", "1(c)", "2", "3", "3(a)", "3(b)", "4"]
    assert by_path(COLLAPSED)["2"].heading == "Use"


def test_labels_after_wide_gaps_are_those_of_lost_lines():
    text = "ARTICLE I   DEFINITIONS     Section 1.01 Terms. As usual.     Section 1.02 Style. As usual.     ARTICLE II   LOAN     Section 2.01 Loan. The boat is lent for: (i) sailing in the bay on fair days of the summer, with a crew of two or more men; (ii) rowing on the river on any day of the year, alone or with others, but never in the dark and never in a storm; and (iii) fishing with the nets of the owner where the law allows it, by day, with the leave of the harbour master of the town.     Section 2.02 Rent. Ten.\n"
    assert paths(text) == [
        "Article I",
        "1.01",
        "1.02",
        "Article II",
        "2.01",
        "2.01(i)",
        "2.01(ii)",
        "2.01(iii)",
        "2.02",
    ]


def test_heading_in_capitals_before_a_label_on_its_line():
    text = "ARTICLE 1 TERMS 1.1 The boat is the skiff. 1.2 The net is the seine. ARTICLE 2 LOAN AND USE 2.1 Birch may sail. 2.2 Birch may row.\n"
    assert paths(text) == ["Article 1", "1.1", "1.2", "Article 2", "2.1", "2.2"]


@pytest.mark.parametrize(
    "words",
    [
        "as defined under (a) the Act and (b) the Rules",
        "in accordance with paragraph (b) of the Rules",
        "within thirty (30) days and not more than (5) times",
        "Alder (the lender) and Birch (b. 1970)",
        "items (i) through (iii) of the list",
        "the events in clauses (c) and (d) above",
        "on page 4 of the 2. Supplement",
        "to J. Smith, 64 Sidney Street, Cambridge, at 5. p.m.",
        "12.50 dollars, 3.5 per cent and 1.2 million",
        "as set out in      EXHIBIT E and in      Section 4.2 of the Rules",
    ],
)
def test_brackets_and_numbers_in_a_sentence_open_no_clause(words):
    text = f"1. Use. The boat is lent {words}, as both of them know.\n\n2. Law. Norway.\n"
    assert paths(text) == ["1", "2"]


def test_long_items_after_semicolons_are_one_list():
    item = "keep the boat and all that belongs to it in good order " * 30
    text = f"1. Duties. The tenant shall: (i) {item}; (ii) {item}; (iii) {item}; and (iv) {item}.\n\n2. Law. Norway.\n"
    assert paths(text) == ["1", "1(i)", "1(ii)", "1(iii)", "1(iv)", "2"]


def test_letter_i_is_not_the_beginning_of_a_roman_list():
    items = "".join(
        f"({letter}) by either party, if the boat of letter {letter} has sunk in the harbour;\n\n"
        for letter in "abcdefghi"
    )
    text = f"1. End. The loan ends:\n\n{items}(j) by the owner, if (i) the rent is late and the owner has said so in a letter, and (ii) the tenant has not paid in ten days from the letter;\n\n(k) by itself.\n\n2. Law. Norway.\n"
    assert [p for p in paths(text) if not p.startswith("1(j)(")] == ["1", *(f"1({x})" for x in "abcdefghijk"), "2"]
    assert "1(i)(ii)" not in paths(text)


def test_list_inside_an_item_is_not_a_second_list_beside_it():
    text = (
        "1. Promises. Each party promises:\n\n(i) It is well founded.\n\n(ii) It may sign.\n\n(iii) Its signing will not:\n\n(i) breach its articles;\n\n(ii) breach a law; or\n\n(iii) breach a contract;\n\n"
        "(iv) No consent is needed.\n\n(v) No suit is pending.\n\n2. Law. Norway.\n"
    )
    assert paths(text) == [
        "1",
        "1(i)",
        "1(ii)",
        "1(iii)",
        "1(iii)(i)",
        "1(iii)(ii)",
        "1(iii)(iii)",
        "1(iv)",
        "1(v)",
        "2",
    ]


def test_an_index_of_terms_opens_no_clause():
    index = "   ".join(
        f"{term} {number}"
        for term, number in [
            ("Boat", "2.04(c)"),
            ("Dory", "1.02(b)"),
            ("Gear", "2.04"),
            ("Keel", "1.01(a)"),
            ("Net", "2.01"),
            ("Rent", "1.02"),
            ("Skiff", "2.04(c)"),
            ("Term", "1.01"),
        ]
    )
    text = f"Section 1.01. Terms. As usual in the trade of the harbour.\n\nSection 1.02. Where defined. {index}\n\nSection 2.01. Loan. The boat is lent.\n\nSection 2.02. Rent. Ten.\n"
    assert paths(text) == ["1.01", "1.02", "2.01", "2.02"]


def test_numbered_list_inside_a_lettered_item_ends_where_the_clauses_go_on():
    text = (
        "1. PURPOSE. The boat is lent. 2. END. (a) Kinds. The loan may be ended: 1. By either party on a notice of seven days. "
        "2. By the owner when the boat leaks. (b) Effect. The boat is given back at once. 3. DUTIES. (a) Tenant. The tenant does these things: "
        "1. Paints the boat in spring. 2. Mends the net in autumn. (b) Owner. The owner gives the paint. 4. LAW. Norway.\n"
    )
    assert paths(text) == [
        "1", "2", "2(a)", "2(a)/1", "2(a)/2", "2(b)", "3", "3(a)", "3(a)/1", "3(a)/2", "3(b)", "4",
    ]  # fmt: skip


def test_items_and_chapters_number_clauses():
    text = "Item One Boats\n\n1. The skiff. Old.\n\n2. The dory. New.\n\nItem Two Nets\n\n1. The seine. Long.\n\n2. The trawl. Wide.\n\nItem Three Rent\n\nTen.\n"
    assert paths(text) == ["Item One", "Item One/1", "Item One/2", "Item Two", "Item Two/1", "Item Two/2", "Item Three"]
    chapters = text.replace("Item", "CHAPTER")
    assert [p for p in paths(chapters) if "/" not in p and p[0] == "C"] == [
        "Chapter One",
        "Chapter Two",
        "Chapter Three",
    ]


def test_clauses_with_headings_in_capitals_go_on_after_inner_lists():
    item = "the thing that the other party asks for in the letter it sends"
    clauses = "".join(
        f"{n}. {name}. The tenant shall: 1. Do {item}. 2. Give {item}. 3. Keep {item}.\n\n"
        for n, name in enumerate(["SCOPE", "RENT", "CARE", "LAW", "NOTICE", "END"], 1)
    )
    assert paths(clauses) == [p for n in range(1, 7) for p in (f"{n}", f"{n}/1", f"{n}/2", f"{n}/3")]
