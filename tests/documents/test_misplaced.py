"""Numbers printed in the wrong order are clauses; numbers at the start of a line that are none stay out."""

from __future__ import annotations

import pytest

from softlookup.documents.model import Block, Span
from softlookup.documents.tree.structure import build_clauses


def numbers(text: str) -> list[tuple[str, tuple[str, ...]]]:
    paragraphs = []
    start = 0
    for piece in text.split("\n\n"):
        paragraphs.append(Block(Span(start, start + len(piece)), "paragraph"))
        start += len(piece) + 2
    return [(clause.number, clause.flags) for clause in build_clauses(text, tuple(paragraphs)) if clause.number]


def contract(order: str, form: str) -> str:
    return "\n\n".join(form.format(n) + f" Duty {n}. The tenant keeps the boat {n} in order." for n in order.split())


@pytest.mark.parametrize("form", ["{}.", "Section {}.", "7.{}", "Article {}."])
def test_two_numbers_that_changed_places_are_kept_in_the_order_of_the_text(form):
    found = numbers(contract("1 2 3 5 4 6 7", form))
    assert [number[-1] for number, _ in found] == list("1235467")
    flagged = [number[-1] for number, flags in found if "out_of_order" in flags]
    assert flagged in (["4"], ["5"]), found


def test_chinese_articles_too():
    names = "一 二 三 五 四 六"
    found = numbers("\n\n".join(f"第{n}条 租金。承租人应当按时支付租金。" for n in names.split()))
    assert [number for number, _ in found] == [f"第{n}条" for n in names.split()]


def test_a_number_that_the_list_has_is_no_second_clause():
    text = contract("1 2 3 4 5", "{}.") + "\n\n3. of the last year, as the owner says\n\n" + contract("6 7", "{}.")
    assert [number for number, _ in numbers(text)].count("3") == 1


def test_a_number_far_from_its_place_stays_out():
    text = contract("1 2 9 10 11", "{}.") + "\n\n5. lines of the annex follow\n\n" + contract("12 13", "{}.")
    assert "5" not in [number for number, _ in numbers(text)]
