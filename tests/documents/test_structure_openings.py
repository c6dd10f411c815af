"""Parties, recitals, clauses and signatures stand beside one another; parts of a schedule count anew."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import pytest

from softlookup.documents.model import Block, Span
from softlookup.documents.tree.structure import build_clauses

from .trees import by_path, check_invariants, paths, tree

PARTIES = '(1) OLA BERG of Bergen ("Owner"); and\n\n(2) GURI DAL of Voss ("Guest").\n\n'
CLAUSES = "1 BOATS\n\n1.1 The Owner lends the boats.\n\n2 LAW\n\n2.1 Norway.\n\n"


@pytest.mark.parametrize("background", ["BACKGROUND", "Recitals", "WHEREAS:", "**BACKGROUND**"])
@pytest.mark.parametrize("agreed", ["AGREED TERMS", "Agreed terms", "IT IS AGREED AS FOLLOWS:", "OPERATIVE PROVISIONS"])
def test_words_between_parties_recitals_and_clauses_belong_to_none(background, agreed):
    text = PARTIES + f"{background}\n\n(A) The Owner has boats.\n\n(B) The Guest wants one.\n\n{agreed}\n\n" + CLAUSES
    assert paths(text) == ["(1)", "(2)", "(A)", "(B)", "1", "1.1", "2", "2.1"]
    assert by_path(text)["(2)"].span.end == text.index(background)
    assert by_path(text)["(B)"].span.end == text.index(agreed)
    assert [c.heading for c in tree(text) if not c.number][:2] == [background.strip("*:"), agreed.strip(":")]


def test_such_words_inside_a_clause_end_nothing():
    text = "1. Boats\n\nThe terms are these.\n\nBackground\n\nThe Owner has boats.\n\n2. Law\n\n(a) Norway;\n\n(b) Denmark.\n"
    assert [c.path for c in tree(text)] == ["1", "2", "2(a)", "2(b)"]


@pytest.mark.parametrize(
    "words",
    [
        "SIGNED by the parties:",
        "Signed for and on behalf of the Owner",
        "EXECUTED as a deed by the Guest",
        "Yours faithfully",
    ],
)
def test_signatures_after_the_last_clause_stand_beside_it(words):
    text = (
        CLAUSES
        + f"{words}\n\n____________\nOla Berg\n\nSigned by Guri Dal\n\nSCHEDULE 1\n\n1. Skiff is old.\n\n2. Dory is new.\n"
    )
    assert by_path(text)["2"].span.end == text.index(words)
    assert [c.path for c in tree(text)] == ["1", "1.1", "2", "2.1", "", "Schedule 1", "Schedule 1/1", "Schedule 1/2"]


def test_such_words_before_further_clauses_are_no_signatures():
    text = "1 NOTICES\n\n1.1 A notice is\n\nSigned by the Owner.\n\n2 LAW\n\n2.1 Norway.\n"
    assert [c.path for c in tree(text)] == ["1", "1.1", "2", "2.1"]


def test_lettered_parts_of_a_schedule_count_anew():
    text = (
        CLAUSES
        + "SCHEDULE 1\n\nPart A - Boats\n\n1 The Guest shall:\n1.1 row the boat;\n1.2 dry it.\n\n2 Hours are nine to five.\n\nPart B - Nets\n\n1 Nets are wet.\n\n2 The Guest shall:\n2.1 dry them.\n"
    )
    assert paths(text)[4:] == [
        "Schedule 1", "Schedule 1/Part A", "Schedule 1/Part A/1", "Schedule 1/Part A/1.1", "Schedule 1/Part A/1.2",
        "Schedule 1/Part A/2", "Schedule 1/Part B", "Schedule 1/Part B/1", "Schedule 1/Part B/2", "Schedule 1/Part B/2.1",
    ]  # fmt: skip
    assert not [c.path for c in tree(text) if c.flags]


def test_clauses_that_run_on_through_parts_keep_their_short_address():
    text = "PART I\nBoats\n\n1. The boats are lent.\n\n2. The oars are lent.\n\nPART II\nNets\n\n3. The nets are lent.\n\n4. Norway.\n"
    assert paths(text) == ["Part I", "1", "2", "Part II", "3", "4"]


@pytest.mark.parametrize("sentence", ["Part A of the list is old.", "in Part B and the rest"])
def test_a_part_in_a_sentence_is_none(sentence):
    text = CLAUSES.replace("lends the boats.", f"lends the boats\n{sentence}")
    assert paths(text) == ["1", "1.1", "2", "2.1"]


def test_an_automatic_list_after_the_last_schedule_is_inside_it():
    rows = [
        ("1.", "Boats are lent.", "1"), ("2.", "Nets are lent.", "1"), ("Schedule 1", "Boats", "2"), ("1.", "Skiff.", "3"), ("2.", "Dory.", "3"),
        ("3.", "Punt.", "3"), ("Schedule 2", "Nets", "2"), ("1.", "Seine.", "3"), ("2.", "Trawl.", "3"),
    ]  # fmt: skip
    text, blocks = "", []
    for label, words, list_id in rows:
        start = len(text)
        text += f"{label}\t{words}"
        blocks.append(Block(Span(start, len(text)), "list_item", label, 0, list_id=list_id))
        text += "\n"
    clauses = build_clauses(text, tuple(blocks))
    check_invariants(text, clauses)
    assert [c.path for c in clauses] == [
        "1", "2", "Schedule 1", "Schedule 1/1", "Schedule 1/2", "Schedule 1/3", "Schedule 2", "Schedule 2/1", "Schedule 2/2",
    ]  # fmt: skip
