"""Kinds of references, links that the file states, and the uses of terms."""

from __future__ import annotations

from softlookup.documents.definitions.find import find_definitions
from softlookup.documents.model import Block, Clause, CrossReference, Link, Span
from softlookup.documents.references.resolve import find_references
from softlookup.documents.tree.structure import build_clauses

LEASE = (
    'Lease\n\n1. Terms. "Rent" means the sum in clause 2.\n\n'
    "2. Rent. The Tenant pays the Rent under clauses 1 and 3. Such Rent is due monthly.\n\n"
    "3. Repairs. This clause follows clauses 1 to 2 and Section 27 of the Housing Act 1985.\n\n"
    "4. End. Notice under clause 9 ends the lease; clause 3 survives."
)


def read(text: str, links: tuple[Link, ...] = ()) -> tuple[tuple[Clause, ...], dict[str, CrossReference]]:
    clauses = build_clauses(text, (Block(Span(0, len(text))),))
    found = find_references(text, clauses, find_definitions(text, clauses), links)
    return clauses, {text[r.span.start : r.span.end]: r for r in found}


def test_each_reference_tells_its_kind() -> None:
    _, found = read(LEASE)
    kinds = {words: reference.kind for words, reference in found.items()}
    assert kinds == {
        "clause 2": "explicit",
        "clauses 1": "list",
        "3": "list",
        "Such Rent": "anaphora",
        "This clause": "relative",
        "clauses 1 to 2": "range",
        "Section 27": "external",
        "clause 9": "explicit",
        "clause 3": "explicit",
    }


def test_every_member_of_a_chinese_list_is_listed() -> None:
    text = (
        "第一条 租金按月支付。\n第二条 押金为两个月租金。\n第三条 违反第一条、第二条的，按第五条处理；本条继续有效。\n"
    )
    _, found = read(text)
    assert {w: r.kind for w, r in found.items()} == {
        "第一条": "list", "第二条": "list", "第五条": "explicit", "本条": "relative",
    }  # fmt: skip


def test_a_field_leads_to_its_paragraph_and_not_to_the_printed_number() -> None:
    start = LEASE.index("clause 3 survives")
    clauses, found = read(LEASE, (Link(Span(start, start + 8), LEASE.index("2. Rent"), computed="2"),))
    assert found["clause 3"].kind == "field"
    assert [clauses[t].number for t in found["clause 3"].targets] == ["2"]
    assert found["clause 9"].status == "dangling"  # no field there: the printed number decides


def test_words_that_name_no_label_become_a_reference_by_their_link() -> None:
    start = LEASE.index("the lease;")
    clauses, found = read(LEASE, (Link(Span(start, start + 9), LEASE.index('"Rent"')),))
    assert [clauses[t].number for t in found["the lease"].targets] == ["1"]


def test_a_link_inside_its_own_clause_is_no_reference() -> None:
    start = LEASE.index("the lease;")
    _, found = read(LEASE, (Link(Span(start, start + 9), LEASE.index("Notice under")),))
    assert "the lease" not in found


def test_terms_know_the_places_that_use_them() -> None:
    clauses = build_clauses(LEASE, ())
    (term,) = find_definitions(LEASE, clauses)
    assert [LEASE[u.start : u.end] for u in term.uses] == ["Rent", "Rent", "Rent"]
    assert next(u.start for u in term.uses) == LEASE.index("Rent. The")


def test_a_list_of_siblings_and_words_in_capitals() -> None:
    text = (
        "1. Effect. It means any of:\n\n(A) changes in law;\n\n(B) war;\n\n(C) a pandemic;\n\n"
        "(D) acts of the Buyer; matters under clauses (A) and (C) count.\n\n"
        "2. LAW. SECTION 5 OF THE GENERAL OBLIGATIONS LAW APPLIES, SUBJECT TO SECTION 1 OF THE AGREEMENT.\n"
    )
    clauses, found = read(text)
    assert [clauses[t].path for t in found["(C)"].targets] == ["1(C)"]
    assert found["SECTION 5"].status == "external"
    assert [clauses[t].path for t in found["SECTION 1"].targets] == ["1"]
