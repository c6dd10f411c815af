"""Flags on clause numbers: kept as printed, never renumbered, addressed with #2."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import pytest

from .trees import by_path, paths, tree


def flags(text: str) -> dict[str, tuple[str, ...]]:
    return {path: clause.flags for path, clause in by_path(text).items() if clause.flags}


def listing(*labels: str) -> str:
    return "".join(f"{label} The matter is settled here.\n\n" for label in labels)


HEALTHY = [
    listing("1.", "2.", "2.1", "2.2", "(a)", "(b)", "3."),
    listing("第一章 总则", "第一条", "第二条", "第二章 价款", "第三条", "第四条"),
    listing("第一章 总则", "1、", "2、", "第二章 价款", "3、", "4、"),
    listing("5.", "5A.", "5B.", "6.", "6.1", "6.1A", "6.2"),
    listing("第四百六十三条", "第四百六十四条", "第四百六十四条之一", "第四百六十五条"),
    listing("１．", "２．", "３．"),  # full width throughout is a style
]


@pytest.mark.parametrize("text", HEALTHY)
def test_a_healthy_list_has_no_flags(text):
    assert flags(text) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (listing("1.", "2.", "4."), {"4": ("gap_before",)}),
        (listing("1.", "2.", "12."), {"12": ("gap_before",)}),
        (listing("1.", "1.1", "1.3", "2."), {"1.3": ("gap_before",)}),
        (listing("1.", "(a)", "(b)", "(d)", "2."), {"1(d)": ("gap_before",)}),
        (listing("第一条", "第二条", "第四条"), {"第四条": ("gap_before",)}),
        (listing("1.", "2.", "2.", "3."), {"2": ("duplicate_number",), "2#2": ("duplicate_number",)}),
        (
            listing("9.1 Rent.", "9.2 Use.", "9.1 Keys.", "10.1 End."),
            {"9.1": ("duplicate_number",), "9.1#2": ("duplicate_number",)},
        ),
        (listing("1.", "2.", "4.", "3.", "5."), {"4": ("gap_before",), "3": ("out_of_order",)}),
        (
            "1. Boats\n\n(a) The oar.\n\n(b) The sail.\n\n2. Nets\n\n(а) The net.\n\n(b) The rope.\n\n3. End\n\nNone.\n",
            {"2(а)": ("confusable",)},
        ),  # the second (a) is a Cyrillic letter
        (listing("1.", "2.", "３.", "4."), {"３": ("confusable",)}),  # one full-width digit among plain ones
    ],
)
def test_what_is_odd_is_flagged(text, expected):
    assert flags(text) == expected


def test_no_number_is_changed():
    text = listing("1.", "2.", "4.", "4.", "3.")
    assert [path.split("#")[0] for path in paths(text)] == ["1", "2", "4", "4", "3"]


def test_the_same_number_in_a_schedule_is_no_duplicate():
    text = listing("1.", "2.", "3.") + "SCHEDULE 1\nTools\n\n" + listing("1.", "2.")
    assert flags(text) == {}
    assert paths(text)[-2:] == ["Schedule 1/1", "Schedule 1/2"]


def test_items_of_different_clauses_are_no_duplicates():
    assert flags(listing("1.", "(a)", "(b)", "2.", "(a)", "(b)")) == {}


def test_a_number_printed_after_the_next_one_is_a_clause_out_of_order():
    text = "1. Rent. Ten.\n\n2. Term. A year.\n\n3. Notice. In writing.\n\n5. Law. Norway.\n\n4. Costs. Shared.\n\n6. End. Now.\n"
    flags = {clause.path: clause.flags for clause in tree(text)}
    assert list(flags) == ["1", "2", "3", "5", "4", "6"]
    assert flags["4"] == ("out_of_order",)
    deeper = "1. Rent\n\n1.1 Ten.\n\n1.3 Five.\n\n1.2 Six.\n\n1.4 Two.\n\n2. Law\n\nNorway.\n"
    assert [clause.path for clause in tree(deeper)] == ["1", "1.1", "1.3", "1.2", "1.4", "2"]


def test_a_number_that_is_there_already_or_far_back_is_not_taken_for_one_out_of_order():
    listed = "1. Rent. Ten.\n\n3. Notice. In writing.\n\n4. Law. Norway.\n\n5. Boats. Two.\n\n"
    assert paths(listed + "2. Oars. None.\n\n6. Costs. Shared.\n\n7. End. Now.\n") == ["1", "3", "4", "5", "6", "7"]
    wrapped = "1. Rent. Ten.\n\n2. Term. As in clause\n4. Law does not matter.\n\n3. Law. Norway.\n\n5. End. Now.\n"
    assert paths(wrapped) == ["1", "2", "3", "5"]
