"""Cross references of English texts: what they point to and their status; any text, hostile text."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.definitions import find_definitions
from softlookup.documents.model import Clause, Span
from softlookup.documents.references import find_references

from .outlines import EN, only, outline, paths, references


@pytest.mark.parametrize(
    ("words", "printed", "targets", "status"),
    [
        ("See Section 2.2.", "Section 2.2", ["2.2"], "resolved"),
        ("See clause 2.2(b).", "clause 2.2(b)", ["(b)"], "resolved"),
        ("See Section 2.2(c)(ii).", "Section 2.2(c)(ii)", ["2.2"], "inferred"),
        ("See § 3.1 hereof.", "§ 3.1", ["3.1"], "resolved"),
        ("See Article 3.", "Article 3", ["3"], "resolved"),
        ("See Schedule 2.", "Schedule 2", ["Schedule 2"], "resolved"),
        ("See paragraph 2 of Schedule 2.", "paragraph 2 of Schedule 2", ["2"], "resolved"),
        ("See clause (b) of Section 2.2.", "clause (b) of Section 2.2", ["(b)"], "resolved"),
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
        ("See 11 U.S.C. Section 2.", "11 U.S.C. Section 2", [], "external"),
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


def test_such_term_is_inferred():
    text = "1 A. “Losses” means harm.\n2 B. The Seller pays such Losses. It repays said losses.\n"
    assert [r[:3] for r in references(text)] == [
        ("such Losses", ["1"], "inferred"),
        ("said losses", ["1"], "inferred"),
    ]


def test_such_word_without_definition_is_no_reference():
    assert references("1 A.\n2 B. The Seller pays such costs.\n") == []


@given(st.text(alphabet="Section12.(a)b 、第条款项前本三至 thisof\nAct,and", max_size=120))
def test_any_text_gives_ordered_disjoint_references(text):
    clauses = (Clause(0, "1", "", Span(0, len(text)), None, 0, "1"),) if text else ()
    found = find_references(text, clauses, find_definitions(text, clauses))
    assert all(0 <= r.span.start < r.span.end <= len(text) for r in found)
    assert all(a.span.end <= b.span.start for a, b in pairwise(found))
    assert all((r.status in ("resolved", "inferred")) == bool(r.targets) for r in found)


def test_a_missing_part_may_stand_inside_the_text():
    text = "1 Duty. The duty covers (a) paint and (b) glass.\n2 Care. See clause 1(b), clause 1(c) and Section 1.7.\n"
    assert [found[:3] for found in paths(text)] == [
        ("clause 1(b)", ["1"], "resolved"),
        ("clause 1(c)", ["1"], "inferred"),
        ("Section 1.7", [], "dangling"),
    ]


def test_a_number_with_decimal_children_is_absolute():
    text = "(A) The parties agree:\n  16 Law.\n    16.1 English law. See clause 16 and clause 16.1.\n"
    assert [found[:3] for found in paths(text)] == [
        ("clause 16", ["16"], "resolved"),
        ("clause 16.1", ["16/16.1"], "resolved"),
    ]


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
