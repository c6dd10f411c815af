"""Words beside labels and names: capitals, such X, this Section, effects; definitions without quotation marks."""

import pytest

from softlookup.documents.definitions.find import find_definitions
from softlookup.documents.definitions.names import term_variants
from softlookup.documents.model import Clause, Span
from softlookup.documents.references.resolve import find_references

from .outlines import EN, outline, paths, references


@pytest.mark.parametrize(
    ("term", "variants"),
    [
        ("SUPERIOR OFFERS", ("SUPERIOR OFFERS", "SUPERIOR OFFER", "Superior Offers", "Superior Offer")),
        ("COVERED PARTIES", ("COVERED PARTIES", "COVERED PARTY", "Covered Parties", "Covered Party")),
        ("NOTICE OF MERGER", ("NOTICE OF MERGER", "NOTICE OF MERGERS", "Notice of Merger", "Notice of Mergers")),
        ("LLC", ("LLC", "LLCs")),
        ("EBITDA", ("EBITDA", "EBITDAS", "Ebitda", "Ebitdas")),
        ("Losses", ("Losses", "Loss")),
    ],
)
def test_names_in_capitals_are_used_in_small_letters(term, variants):
    assert term_variants(term) == variants


def test_a_name_in_capitals_has_uses():
    text = '1 The buyer pays (the "PURCHASE PRICE").\n2 The Purchase Price is due. Such Purchase Price is net.\n'
    clauses = outline(text)
    (term,) = find_definitions(text, clauses)
    assert [text[use.start : use.end] for use in term.uses] == ["Purchase Price", "Purchase Price"]
    assert [found[:2] for found in references(text)] == [("Such Purchase Price", ["1"])]


ACME = (
    '1 Parties. Acme Ltd ("Acme") and each buyer (a "Buyer").\n2 “Claim Notice” means a letter. (the "Order")\n3 {0}\n'
)


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("Acme informs such Buyer of it.", ["such Buyer"]),
        ("Acme informs suchBuyer of it.", ["suchBuyer"]),
        ("Each Acme engineer, if such Acme Field Engineer agrees.", []),
        ("On a letter, such claim notice counts.", ["such claim notice"]),
        ("A court may make such order.", []),
    ],
)
def test_such_names(words, printed):
    assert [found[0] for found in references(ACME.format(words))] == printed


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("1.1 Gross Margin means sales.", ["Gross Margin"]),
        ("1.1 Control (used as a noun) means a majority.", ["Control"]),
        ("1.1 Build or Building means to erect.", ["Build"]),
        ("Draft Copy 1.1 New Model means a later one.", ["New Model"]),
        ("1.1 The parties agree what it means to build.", []),
    ],
)
def test_unquoted_definitions_in_numbered_clauses(name, found):
    text = f"1 Definitions\n{name}\n"
    at = text.index("1.1")
    clauses = (
        Clause(0, "1", "Definitions", Span(0, len(text)), None, 0, "1"),
        Clause(1, "1.1", "", Span(at, len(text)), 0, 1, "1.1"),
    )
    terms = find_definitions(text, clauses)
    assert [term.term for term in terms] == found
    assert all(term.clause == 1 for term in terms)
    assert [term.aliases for term in terms if term.term == "Build"] == ([("Building",)] if "Build" in found else [])
    elsewhere = (Clause(0, "1", "Duties", Span(0, len(text)), None, 0, "1"), clauses[1])
    assert find_definitions(text, elsewhere) == ()


def test_the_last_item_names_the_whole_list():
    text = (
        "1 The board shall not:\n  (a) sell the firm;\n  (b) pay a fee (each of the foregoing, a “Change”).\n"
        "2 It shall not:\n  (a) lend to it or its heirs (any of the foregoing, a “Loan”);\n  (b) borrow.\n"
    )
    clauses = outline(text)
    assert [(term.term, clauses[term.clause].number) for term in find_definitions(text, clauses)] == [
        ("Change", "1"),
        ("Loan", "(a)"),
    ]


MIXED = "7 Secrecy.\n  7.1 Duties. {0}\n8 Other. See Section 7 and Section 7.1.\n"


@pytest.mark.parametrize(
    ("words", "targets"),
    [
        ("Nothing else in this Section counts.", ["7/7.1"]),
        ("The buyer's obligations under this Section end.", ["7"]),
        ("A breach of this Section ends it.", ["7"]),
        ("Under this Section 7 A pays; so this Section says.", ["7"]),
        ("Under this Section 7.1 A pays; so this Section says.", ["7/7.1"]),
    ],
)
def test_this_section_where_the_document_calls_both_so(words, targets):
    found = [entry for entry in paths(MIXED.format(words)) if entry[0] == "this Section"]
    assert [entry[1:3] for entry in found] == [(targets, "inferred")]


def test_this_article_in_chinese():
    text = (
        "第一条 定义\n  1.1 控制，为本条之目的，指半数以上表决权。\n  1.2 违反本条的，应当赔偿。\n"
        "第二条 见第一条和第1.1条。\n"
    )
    found = [entry for entry in paths(text) if entry[0] == "本条"]
    assert [entry[1:3] for entry in found] == [(["第一条/1.1"], "inferred"), (["第一条"], "inferred")]


@pytest.mark.parametrize(
    ("words", "effects"),
    [
        ("A plan that is subject to Section 412 of the Code ends.", ["refers"]),
        ("Subject to Section 203 of the Corporations Act, A pays.", ["subject_to"]),
        ("This is subject to Section 7 of the Supply Agreement.", ["subject_to"]),
        ("WITHOUT PREJUDICE TO CLAUSES 2.1 AND 2.2, A pays.", ["subject_to", "subject_to"]),
        ("Subject to the remainder of this Section 1, A pays.", ["subject_to"]),
        ("Subject to the terms hereof, including Sections 2.1 and 2.2, A pays.", ["subject_to", "subject_to"]),
        ("Except as disclosed in Section 2.1, A pays.", ["exception_to"]),
        (
            "Except in Section 1, in the first sentence of Section 2.1 and in Section 3.1, A pays.",
            ["exception_to"] * 3,
        ),
    ],
)
def test_effects_of_the_words_around(words, effects):
    assert [found[3] for found in references(EN.format(words, ""))] == effects


def test_english_names_in_chinese_parentheses():
    text = "第一条 赔偿总额（the “Liability Cap”）以实付金额为限。\n第二条 附件六（Data Annex，“DPA”）适用。\n"
    assert [term.term for term in find_definitions(text, outline(text))] == ["Liability Cap", "DPA"]


def test_hostile_text_ends_soon():
    text = "1 " + "clauses (a), " * 4000 + "(any of the foregoing " * 2000 + "Sections 1.1-1.2, " * 2000 + "(" * 5000
    clauses = (Clause(0, "1", "Definitions", Span(0, len(text)), None, 0, "1"),)
    found = find_references(text, clauses, find_definitions(text, clauses))
    assert found[0].kind in ("explicit", "list")


@pytest.mark.parametrize(
    ("title", "status"),
    [
        ("SUPPLY AGREEMENT\n", "resolved"),
        ("This Supply Agreement is made today.\n", "resolved"),
        ("LICENCE\nA and B have signed the Supply Agreement.\n", "external"),
        ("LICENCE\n", "external"),
    ],
)
def test_a_paper_that_the_first_page_only_mentions_is_another(title, status):
    text = title + EN.format("See Section 2.1 of the Supply Agreement.", "")
    assert references(text)[0][::2] == ("Section 2.1", status)
