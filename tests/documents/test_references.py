"""Cross references of English texts: what they point to and their status; any text, hostile text."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.definitions.find import find_definitions
from softlookup.documents.model import Clause, Span
from softlookup.documents.references.resolve import find_references

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


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("See Exhibit Q Clause 4.", [("Exhibit Q Clause 4", [], "dangling")]),
        ("See Schedule 2, paragraph 2.", [("Schedule 2, paragraph 2", ["2"], "resolved")]),
        ("See Schedule 2 Section 2.", [("Schedule 2 Section 2", ["2"], "resolved")]),
        ("See Clause 2.2 b) or later.", [("Clause 2.2 b)", ["(b)"], "resolved")]),
        ("(see Clause 2.2 a)", [("Clause 2.2", ["2.2"], "resolved")]),
        ("As in Clause 2.2of this deed.", [("Clause 2.2", ["2.2"], "resolved")]),
        ("Pursuant to 2.2(b), A pays.", [("2.2(b)", ["(b)"], "resolved")]),
        ("A pays 9.9(b) more, pursuant to 8.8(c).", []),
        ("See Clause 1 and Clauses 2, 3.1.", [("Clause 1", ["1"]), ("Clauses 2", ["2"]), ("3.1", ["3.1"])]),
        (
            'See Clauses 2.1 ("Start"), , 2.2 ("End") and 3.1 ("Cap").',
            [("Clauses 2.1", ["2.1"]), ("2.2", ["2.2"]), ("3.1", ["3.1"])],
        ),
        ("CLAUSES 2.1 AND 3.1 SURVIVE.", [("CLAUSES 2.1", ["2.1"]), ("3.1", ["3.1"])]),
        ("See SCHEDULE 2 hereto.", [("SCHEDULE 2", ["Schedule 2"], "resolved")]),
        ("See Sections 2.2(a)-(b).", [("Sections 2.2(a)-(b)", ["(a)", "(b)"], "resolved")]),
        (
            "See paragraphs (a) and (b) of Section 2.2.",
            [("paragraphs (a)", ["(a)"]), ("(b)", ["(b)"]), ("Section 2.2", ["2.2"])],
        ),
        (
            "See clause (b) of the first sentence of Section 2.2.",
            [("clause (b) of the first sentence of Section 2.2", ["(b)"])],
        ),
        (
            "By (x) the Seller under Section 2.2(a), or (y) the Buyer.",
            [("Section 2.2(a)", ["(a)"], "resolved")],
        ),
        ("By Section 2.2(b) or (a) the Buyer.", [("Section 2.2(b)", ["(b)"], "resolved")]),
        ("The immediately preceding sentence binds.", []),
        ("Sections 2.1; 2.2; and 3.1 survive.", [("Sections 2.1", ["2.1"]), ("2.2", ["2.2"]), ("3.1", ["3.1"])]),
        ("Sections 2.1 [Start], 2.2 (first part only) and 3.1", [("Sections 2.1",), ("2.2",), ("3.1",)]),
        ("Clause 2 or 3 hereof, clause 2 or 3 days", [("Clause 2", ["2"]), ("3", ["3"]), ("clause 2", ["2"])]),
        ("Sections 1 through and including 3", [("Sections 1 through and including 3", ["1", "2", "3"])]),
        ("See §§ 2.1, 2.2.", [("§§ 2.1", ["2.1"]), ("2.2", ["2.2"])]),
        ("See Section II.A.", [("Section II.A", ["2"], "inferred")]),
        ("See Annex A to Schedule 2.", [("Annex A to Schedule 2", ["Schedule 2"], "inferred")]),
        ("See paragraph 2 of Part B of Schedule 2.", [("paragraph 2 of Part B of Schedule 2", ["2"], "inferred")]),
        ("See Section 2.1 to Section 2.2.", [("Section 2.1 to Section 2.2", ["2.1", "2.2"], "resolved")]),
    ],
)
def test_labels_in_their_surroundings(words, expected):
    found = [found[: len(want)] for found, want in zip(references(EN.format(words, "")), expected, strict=True)]
    assert found == expected


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("under Rule 13d-5(b)(1) of the Exchange Act", "Rule 13d-5(b)(1)"),
        ("sold under Rule 144 only", "Rule 144"),
        ("see 17 C.F.R. § 240.10b-5 for fraud", "17 C.F.R. § 240.10b-5"),
        ("either 31 C.F.R. 800.402 or none", "31 C.F.R. 800.402"),
        ("subject to Title IV of ERISA", "Title IV"),
        ("Part 6 of Subtitle B of Title I of ERISA", "Part 6 of Subtitle B of Title I"),
        ("a case under Chapter 11 of the Bankruptcy Code", "Chapter 11"),
        ("Item 404 of Regulation S-K applies", "Item 404"),
        ("Article 9 of the UCC", "Article 9"),
        ("Regulation (EU) 2016/679, Article 9(1) applies", "Article 9(1)"),
        ("South Dakota law (Section 47-33-17) applies", "Section 47-33-17"),
        ("Section 2.1 to the Seller Disclosure Schedule", "Section 2.1"),
        ("Schedule 1.1(a) of the Disclosure Schedules", "Schedule 1.1(a)"),
        ("Section 2.1 of the Services Agreement", "Section 2.1"),
    ],
)
def test_statutes_and_other_papers_are_external(words, printed):
    assert only(EN.format(f"It is agreed: {words}.", ""))[:3] == (printed, [], "external")


@pytest.mark.parametrize("words", ["Rule 5 binds.", "a Title II ring", "Part 3 is new.", "Item 4 of the list"])
def test_words_that_cite_no_statute(words):
    assert references(EN.format(words, "")) == []


def test_a_clause_of_a_definition_is_looked_for_in_the_definition():
    text = (
        "1 Terms.\n  1.1 “Liens” means\n    (a) a charge;\n    (b) a pledge.\n"
        "2 Rent.\n  2.1 See clause (b) of the definition of “Liens”.\n    (a) A.\n    (b) B.\n"
    )
    found = find_references(text, outline(text), find_definitions(text, outline(text)))
    assert [outline(text)[r.targets[0]].index for r in found if r.kind == "explicit"] == [3]


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("under clause “(ii),” or", "clause “(ii)"),
        ("Section 2.2(b) and (c) apply", "Section 2.2(b)|(c)"),
        ("Section 2.2(a) or (ii) as agreed", "Section 2.2(a)"),
        ("Section 2.2(i) or (iii) apply", "Section 2.2(i)|(iii)"),
        ("Section 2.2(h) and (i) apply", "Section 2.2(h)|(i)"),
        ("clauses (i)(y), (ii) and (iii) of this Section", "clauses (i)(y)|(ii)|(iii)"),
        ("filed with the SEC. 13", ""),
        ("Exhibit A - Form of Lease Exhibit B      Form of Deed", ""),
        ("Sections 1 and 2-3 survive", "Sections 1|2-3"),
        ("a Schedule 13D is filed", "Schedule 13D"),
    ],
)
def test_which_labels_a_phrase_mentions(words, printed):
    found = [found[0] for found in references(EN.format(f"It is agreed {words}.", ""))]
    assert "|".join(word for word in found if word.lower() != "this section") == printed


def test_the_recitals_are_a_clause():
    text = "1 Recitals\n2 Price. As set forth in the Recitals and Recital A.\n"
    assert [found[:3] for found in references(text)] == [
        ("Recitals", ["1"], "resolved"),
        ("Recital", ["1"], "resolved"),
    ]
    assert references("1 Price. As set forth in the Recitals.\n") == []


def test_a_number_that_is_printed_twice_is_ambiguous():
    text = "4 A.\n5 B.\n5 C.\n6 See clause 5 and clause 4.\n"
    clauses = outline(text)
    found = find_references(text, clauses, ())
    assert [(r.targets, r.status) for r in found] == [((1, 2), "ambiguous"), ((0,), "resolved")]


def test_a_count_that_begins_again_is_not_ambiguous():
    text = "1 A.\n2 B.\n3 See clause 2.\n1 C.\n2 D.\n3 See clause 2.\n"
    found = find_references(text, outline(text), ())
    assert [(r.targets, r.status) for r in found] == [((1,), "resolved"), ((4,), "resolved")]


def test_a_line_of_an_index_is_no_rival_of_the_clause():
    text = "5 Entry\n" + "5 Clause. " + "The Seller shall deliver the goods. " * 40 + "\n6 See clause 5.\n"
    (found,) = find_references(text, outline(text), ())
    assert (found.targets, found.status) == ((1,), "resolved")


def test_no_more_than_eight_targets_of_an_ambiguous_number():
    text = "4 Head.\n" + "5 B.\n" * 30 + "6 See clause 5.\n"
    found = find_references(text, outline(text), ())[-1]
    assert found.status == "ambiguous"
    assert 2 <= len(found.targets) <= 8


def test_such_term_leads_to_the_definition_and_not_to_the_pointer():
    text = (
        "1 A. “Shares” has the meaning given in clause 2.\n2 B. all stock (the “Shares”).\n"
        "3 C. He sells such Shares.\n4 D. No such shares are lost; such party pays.\n"
    )
    found = [found[:3] for found in references(text) if found[0].startswith("such")]
    assert found[0] == ("such Shares", ["2"], "inferred")


def test_such_term_counts_inside_its_own_definition():
    text = "1 A. “Stock” means shares, where such Stock is listed.\n2 B. Such Stock’s price (and such Stocks).\n"
    assert [found[:2] for found in references(text)] == [
        ("such Stock", ["1"]),
        ("Such Stock", ["1"]),
        ("such Stocks", ["1"]),
    ]


def test_such_with_a_small_letter_is_a_term_only_where_it_is_rarely_written_so():
    text = "1 A. “Action” means a lawsuit.\n2 B. An Action, any Action or each Action.\n3 C. He takes such action.\n"
    assert references(text) == []


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
    "第一章 ……3 ", "(a)", " ", "\n", ".", "第", "such X ", "Section 1 A .... 3 ", "1.", "Rule 1 of the A ",
    "Title I of Part A of ", "Exhibit A, Part 1, ", "(a) or (b) ", "Section 1(a) or (b), ", "to 1.1(a)",
    "Article 1 of the A ", "该条前两款", "the Recitals ", "Sections 1 (“A”), ",
]  # fmt: skip


def test_this_clause_after_nothing_in_is_the_part():
    text = LEVELS.format("clause", "See clause 1 and clause 7.1.").replace("under this", "; nothing in this")
    found = [found for found in references(text) if found[0].lower().startswith("this")]
    assert [(t, s) for _, t, s, _ in found] == [(["7.5"], "inferred")]


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


@pytest.mark.parametrize("words", ["See clause 1{}", "See paragraph {} of clause 2", "See clauses 1{} and 2"])
def test_a_label_of_a_hundred_thousand_items_does_not_hang(words):
    text = EN.format(words.format("(a)" * 100_000), "")
    clauses = outline(text)
    start = time.process_time()
    found = find_references(text, clauses, ())
    assert time.process_time() - start < 20
    assert found
    assert {r.status for r in found} <= {"inferred", "dangling", "resolved"}
    label = EN.format("See clause 2.2(a)(a)(a)(a).", "")  # one that ends too deep is still followed as far as it goes
    assert references(label)[0][1:3] == (["(a)"], "inferred")
