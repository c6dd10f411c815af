"""Labels as careless files print them: lists with a holder, lost blanks, contents lists, Roman headings."""

import pytest

from softlookup.documents.definitions.find import find_definitions
from softlookup.documents.model import Clause, Span
from softlookup.documents.read import read_document
from softlookup.documents.references.resolve import find_references

from .outlines import EN, only, paths, references


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "See clauses (a) and (b) of this Section 2.2.",
            [("clauses (a)", ["(a)"]), ("(b)", ["(b)"]), ("Section 2.2", ["2.2"])],
        ),
        (
            "See clauses (a) through (b) of Section 2.2.",
            [("clauses (a) through (b)", ["(a)", "(b)"]), ("Section 2.2",)],
        ),
        # the last label has a word and a holder of its own
        (
            "See Section 3.1 and paragraph (b) of Section 2.2.",
            [("Section 3.1",), ("paragraph (b) of Section 2.2", ["(b)"])],
        ),
        (
            "See clauses (a) and (b) of Section 2.2 of the Exchange Act.",
            [("clauses (a)", []), ("(b)", []), ("Section 2.2", [])],
        ),
        ("See clauses “(a)” and “(b)” of Section 2.2.", [("clauses “(a)",), ("(b)",), ("Section 2.2",)]),
        ("See subdivision (b) of Section 2.2.", [("subdivision (b) of Section 2.2", ["(b)"])]),
        ("Sections 2.1-2.2 survive.", [("Sections 2.1-2.2", ["2.1", "2.2"], "resolved")]),
        ("Sections 2.1-3.1 survive.", [("Sections 2.1-3.1", [], "dangling")]),
        ("See Section 2.1 ofthe Exchange Act.", [("Section 2.1", [], "external")]),
        ("One or more clause(s) may fall.", []),
        ("依照Section 2.1规定办理。", [("Section 2.1", ["2.1"], "resolved")]),
        ("SCHEDULE 2 - Marks SCHEDULE 3 - Domain Names", []),
        ("Rent and Area Schedule 2 - Sample Guarantee", []),
        ("as stated in Schedule 2 - Sample Guarantee", [("Schedule 2", ["Schedule 2"])]),
        ("12 Section 2.1 Access; Reports. 50 Section 2.2 Fees 51 Section 3.1 Cap", [("Section 3.1", ["3.1"])]),
        ("Terms 12 ARTICLE 3 LIABILITY 14 3.1 Cap", []),
    ],
)
def test_lists_and_lost_print(words, expected):
    found = references(EN.format(words, ""))
    assert [entry[: len(want)] for entry, want in zip(found, expected, strict=True)] == expected


def test_a_mention_of_an_item_is_not_the_item():
    text = (
        "1 Patents.\n  (a) any patent;\n  (b) any renewal of a patent within subdivision (a);\n"
        "  (c) any extension of a patent within subdivisions (a) and (b).\n"
    )
    assert [found[:3] for found in paths(text)] == [
        ("subdivision (a)", ["1/(a)"], "resolved"),
        ("subdivisions (a)", ["1/(a)"], "resolved"),
        ("(b)", ["1/(b)"], "resolved"),
    ]


def test_an_item_may_stand_inside_the_item_before_it():
    text = (
        "1 Staff.\n  (a) at the site of A; or (b) elsewhere, if agreed.\n2 See clause (b) of Section 1, Section 1(c).\n"
    )
    assert [found[:3] for found in paths(text)] == [
        ("clause (b) of Section 1", ["1/(a)"], "resolved"),
        ("Section 1(c)", ["1"], "inferred"),
    ]


def test_a_small_item_is_not_a_capital_one():
    text = "7 Loss means (i) fines and (ii) fees, save\n(I) taxes; and\n(J) what clause (i) or clause (I) names.\n"
    clauses = _clauses(text, ("7", "", "7 L", None), ("(I)", "", "(I)", 0), ("(J)", "", "(J)", 0))
    assert _found(text, clauses) == [("clause (i)", [0], "resolved"), ("clause (I)", [1], "resolved")]


def test_a_number_may_follow_the_head_of_a_page():
    text = (
        "3 Data.\n  3.3 Reports. Draft Copy 3.3.1 The Seller reports.\n    3.3.2 See Section 3.3.1 and Section 3.3.9.\n"
    )
    assert [found[:3] for found in paths(text)] == [
        ("Section 3.3.1", ["3/3.3"], "resolved"),
        ("Section 3.3.9", [], "dangling"),
    ]


def _clauses(text, *rows):
    """Clauses (number, heading, first words, parent); each ends where the next one of its parent begins."""
    starts = [text.index(words) for _, _, words, _ in rows]
    clauses = []
    for index, (number, heading, _, parent) in enumerate(rows):
        later = [starts[i] for i in range(index + 1, len(rows)) if rows[i][3] in (parent, None)]
        end = min(later, default=len(text))
        clauses.append(Clause(index, number, heading, Span(starts[index], end), parent, 0, number, label=number))
    return tuple(clauses)


def _found(text, clauses):
    found = find_references(text, clauses, find_definitions(text, clauses))
    return [(text[r.span.start : r.span.end], list(r.targets), r.status) for r in found]


def test_roman_headings_are_articles():
    text = "I. Grant\n1.1 A grants.\nII. Term\n2.1 B. See Article I, Articles I-III and Article IV.\nIII. Law\n3.1 C.\n"
    clauses = _clauses(
        text,
        ("I", "Grant", "I. G", None),
        ("1.1", "", "1.1", None),
        ("II", "Term", "II. T", 1),  # a heading that was taken for an item of the clause before it
        ("2.1", "", "2.1", None),
        ("III", "Law", "III. L", None),
        ("3.1", "", "3.1", None),
    )
    assert _found(text, clauses) == [
        ("Article I", [0], "resolved"),
        ("Articles I-III", [0, 2, 4], "resolved"),
        ("Article IV", [], "dangling"),
    ]


def test_a_heading_elsewhere_in_the_tree_is_the_article_around():
    text = "5.1 甲方付款。\n六、费用\n6.1 乙方承担税费。\n6.2 违反本条约定的，应当赔偿。\n"
    clauses = _clauses(
        text, ("5.1", "", "5.1", None), ("六", "费用", "六、", 0), ("6.1", "", "6.1", None), ("6.2", "", "6.2", None)
    )
    assert _found(text, clauses) == [("本条", [1], "resolved")]


def test_an_annex_of_an_annex_is_one_reference():
    assert [found[0] for found in references("第一条 明细见附件一附表A。\n第二条 见附件二和附件三。\n")] == [
        "附件一附表A",
        "附件二",
        "附件三",
    ]


def test_numbers_printed_otherwise():
    text = "D. Expiry.\n1. A ends.\n2. See subparagraph 1 above, Section D and subparagraph 7.\nE. Plan.\n"
    clauses = _clauses(
        text, ("D", "", "D. E", None), ("1", "", "1. A", 0), ("2", "", "2. S", 0), ("E", "", "E. P", None)
    )
    assert _found(text, clauses) == [
        ("subparagraph 1", [1], "resolved"),
        ("Section D", [0], "resolved"),
        ("subparagraph 7", [], "dangling"),
    ]


def test_a_letter_after_a_number_is_an_item_of_it():
    text = "9. Reports.\nD) A yearly plan.\n10. See clause 9D, clause 9F and clause 11A.\n"
    clauses = tuple(
        Clause(i, number, "", Span(text.index(words), end), parent, 0, number, label=label)
        for i, (number, label, words, end, parent) in enumerate(
            [
                ("9", "9.", "9. R", text.index("10."), None),
                ("D", "D)", "D) A", text.index("10."), 0),
                ("10", "10.", "10. S", len(text), None),
            ]
        )
    )
    assert _found(text, clauses) == [
        ("clause 9D", [1], "resolved"),
        ("clause 9F", [], "dangling"),
        ("clause 11A", [], "dangling"),
    ]


def test_a_heading_about_a_statute_is_no_reference():
    text = "SECTION 5.1 SECTION 203. The board acts under Section 203 of the Corporations Act.\n"
    clauses = (Clause(0, "SECTION 5.1", "SECTION 203", Span(0, len(text)), None, 0, "5.1"),)
    assert _found(text, clauses) == [("Section 203", [], "external")]


def test_a_word_at_the_end_of_one_clause_has_no_number_in_the_next():
    text = "14 Fees from Sales of Articles\n     14.1 The site sells. See Articles\n     14.1 and 14.2 below.\n"
    at = text.index("14.1")
    clauses = (
        Clause(0, "14", "", Span(0, len(text)), None, 0, "14"),
        Clause(1, "14.1", "", Span(at, len(text)), 0, 1, "14.1"),
    )
    assert _found(text, clauses)[0] == ("Articles\n     14.1", [1], "resolved")
    assert len(_found(text, clauses)) == 2


def test_items_of_a_definition_by_name_and_by_thereof():
    text = (
        "1 Terms.\n  1.1 “Lien” means:\n    (a) a charge;\n    (b) a tax;\n    (c) a lease.\n"
        "2 Duties.\n  (a) No Lien but those under clauses (a) and (c) of the definition thereof.\n"
        "  (b) Clauses (a), (b) and (c) of the definition of “Lien” apply, and clause (a).\n"
    )
    assert [found[:2] for found in paths(text)] == [
        ("clauses (a)", ["1/1.1/(a)"]),
        ("(c)", ["1/1.1/(c)"]),
        ("Clauses (a)", ["1/1.1/(a)"]),
        ("(b)", ["1/1.1/(b)"]),
        ("(c)", ["1/1.1/(c)"]),
        ("clause (a)", ["2/(a)"]),
    ]


@pytest.mark.parametrize(
    "words",
    [
        "Sub-clauses (a) and (b)",
        "Either of sub-clauses (a) or (b)",
        "Clause 2.2(a) or (b)",
        "Clauses 2.2(a) and/or (b)",
    ],
)
def test_a_list_of_items_inside_an_item_is_no_list_that_the_item_prints(words):
    text = EN.replace("(b) by breach.", "(b) by breach;\n    (c) both. " + words + " do not apply.").format("", "")
    found = paths(text)
    assert [t for _, t, *_ in found] == [["2/2.2/(a)"], ["2/2.2/(b)"]]


def test_an_item_that_the_text_prints_is_still_found():
    text = "1 Price. The price is due when (a) goods arrive and (b) the buyer agrees. See clause (b).\n2 Term. None.\n"
    assert only(text)[1] == ["1"]


ROMAN = """I. GRANT

A. Rights. The owner grants rights. {0}

B. Term. The term is set elsewhere.

II. TERM

A. First Term. As follows:

1. Five years.

2. Ten years.

B. Renewal. None.

III. FEES

A. Fees are due.
"""


def read_references(tmp_path, text):
    path = tmp_path / "contract.txt"
    path.write_text(text, encoding="utf-8")
    document = read_document(path)
    return [
        (document.text[r.span.start : r.span.end], [document.clauses[t].path for t in r.targets], r.status)
        for r in document.references
    ]


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("Paragraph II", "II"),
        ("Paragraph I.B", "I/B"),
        ("Section II.A.1", "II/A/1"),
        ("Section II(A)(2)", "II/A/2"),
        ("Article III", "III"),
        ("Paragraph III.A", "III/A"),
    ],
)
def test_labels_of_an_outline_with_roman_headings(tmp_path, words, target):
    text = ROMAN.format(f"See {words}.") + "\nB. Costs are due.\n"
    assert read_references(tmp_path, text) == [(words, [target], "resolved")]


def test_a_roman_heading_that_is_missing_is_not_found(tmp_path):
    assert [r[2] for r in read_references(tmp_path, ROMAN.format("See Section VII.A."))] == ["dangling"]


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("Clause 1 applies.", ["Clause 1"]),
        ("Clause 1 and clause 2 survive the end.", ["Clause 1", "clause 2"]),
        ("Clause 1 (Term) shall apply.", ["Clause 1"]),
        ("Clause 7 Payment\n\nText.", []),
    ],
)
def test_a_reference_may_begin_a_paragraph(tmp_path, paragraph, expected):
    text = f"1. Term\n\nOne year.\n\n2. Law\n\n{paragraph}\n\n3. End\n\nIt ends.\n"
    found = read_references(tmp_path, text)
    assert [r[0] for r in found] == expected
    assert {r[2] for r in found} <= {"resolved"}


def test_articles_joined_by_a_hyphen_are_a_range(tmp_path):
    text = (
        "ARTICLE 1 - TERM\n\n1.1 One year.\n\nARTICLE 2 - LAW\n\n2.1 Articles 1-2 apply.\n\n"
        "ARTICLE 3 - END\n\n3.1 It ends.\n"
    )
    assert read_references(tmp_path, text) == [("Articles 1-2", ["Article 1", "Article 2"], "resolved")]


SCHEDULES = """1. Sale. {0}

2. Price. Nine pounds.

3. Law. English law.

Schedule 1

1. Land. A field.

2. Gate. A gate.

Schedule 2

1. Rent. {1}

2. Tax. None.
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("See the Second Schedule.", [("the Second Schedule", ["Schedule 2"], "resolved")]),
        ("See the Second Schedule, paragraph 1.", [("the Second Schedule, paragraph 1", ["Schedule 2/1"], "resolved")]),
        (
            "See paragraph 2 of the First Schedule.",
            [("paragraph 2 of the First Schedule", ["Schedule 1/2"], "resolved")],
        ),
        (
            "See paragraphs 1 and 2 of Schedule 2.",
            [
                ("paragraphs 1", ["Schedule 2/1"], "resolved"),
                ("2", ["Schedule 2/2"], "resolved"),
                ("Schedule 2", ["Schedule 2"], "resolved"),
            ],
        ),
        ("See Schedule Two.", [("Schedule Two", ["Schedule 2"], "resolved")]),
        ("See the Fifth Schedule.", [("the Fifth Schedule", [], "dangling")]),
        ("See the First Schedule to the Housing Act 1985.", [("the First Schedule", [], "external")]),
        ("The first schedule of works is due.", []),
    ],
)
def test_schedules_by_ordinal_and_lists_of_their_paragraphs(tmp_path, words, expected):
    assert read_references(tmp_path, SCHEDULES.format(words, "Nine pounds.")) == expected


def test_a_paragraph_in_a_schedule_is_one_of_its_own(tmp_path):
    found = read_references(tmp_path, SCHEDULES.format("A field.", "See paragraph 2, paragraph 1 and clause 3."))
    assert [(t, s) for _, t, s in found] == [
        (["Schedule 2/2"], "resolved"),
        (["Schedule 2/1"], "resolved"),
        (["3"], "resolved"),
    ]
