"""Defined terms and their uses, English and Chinese."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.definitions.find import (
    definition_spans,
    find_definitions,
    find_uses,
    names_party,
    term_variants,
)
from softlookup.documents.model import Clause, Span
from softlookup.documents.read import read_document


def whole(text, heading=""):
    return (Clause(0, "", heading, Span(0, len(text)), None, 0, ""),)


def defined(text, heading=""):
    return {t.term: t.kind for t in find_definitions(text, whole(text, heading))}


@pytest.mark.parametrize(
    ("text", "term", "kind"),
    [
        ("“Losses” means all damage.", "Losses", "means"),
        ('"Net Price" shall mean the price paid.', "Net Price", "means"),
        ('"Control", when used of a person, means power over it.', "Control", "means"),
        ('"Affiliate" of a Person means another Person.', "Affiliate", "means"),
        ('**"Fees"** means the amounts due.', "Fees", "means"),
        ('<span id="1">**"Site"**</span> means the place.', "Site", "means"),
        ('"Code" has the meaning set forth in Section 2.', "Code", "meaning_given_in"),
        ("“Taxes” will have the respective meaning given in Annex 1.", "Taxes", "meaning_given_in"),
        ('Alpha GmbH (the "Seller") sells.', "Seller", "parenthetical"),
        ("three lorries (each, an “Asset”) are sold", "Asset", "parenthetical"),
        ('the notes and bonds (collectively, the "Securities")', "Securities", "parenthetical"),
        ('the plan (such plan, as amended, the "Plan 401(k)")', "Plan 401(k)", "parenthetical"),
        ('Beta Inc., hereinafter referred to as the "Buyer", buys.', "Buyer", "short_name"),
        ("“违约金”是指一方应付的款项。", "违约金", "means"),
        ('"租赁物"系指本合同项下的房屋。', "租赁物", "means"),
        ("本合同所称不可抗力，是指不能预见的情况。", "不可抗力", "means"),
        ("保密信息是指一方披露的信息。", "保密信息", "means"),
        ("第九条 寄售合同是一方交付货物，另一方代为出售的合同。", "寄售合同", "means"),
        ("甲乙科技有限公司（以下简称“出租人”）", "出租人", "short_name"),
        ("承租方[以下简称乙方]:某某公司", "乙方", "short_name"),
        ("平台运营方（下称「平台」）", "平台", "short_name"),
        ("甲方（出卖人）：某某公司\n", "甲方", "short_name"),
        ("“Credit Note” Means a note.", "Credit Note", "means"),
        ("“Euros” or “€” designates the currency.", "Euros", "means"),
        ("“Writing”, “written” and comparable terms refer to print.", "Writing", "means"),
        ("“Controlling” shall have a corresponding meaning.", "Controlling", "means"),
        ("References to a “person” include a company.", "person", "means"),
        ("references to “Clauses” are to clauses of this deed", "Clauses", "means"),
        ("A and B, and each of them a “Party”;", "Party", "parenthetical"),
        ("each referred to herein as a “Party” and collectively as the “Parties.”", "Parties", "short_name"),
        ("the unit is hereinafter termed as a “MIU”.", "MIU", "short_name"),
        ("For purposes of this Agreement, “Software” shall include upgrades.", "Software", "means"),
        ("under Exhibit A (the “Support Period”)", "Support Period", "parenthetical"),
        ("described in the **Support Policy** on the Cover Page", "Support Policy", "meaning_given_in"),
        ("the **Level Agreement** (**SLA**) identified in Annex 1", "SLA", "parenthetical"),
        ("“Taxes” shall bear the meaning ascribed to it in Section 3.", "Taxes", "meaning_given_in"),
        ("the term “Net Sales” shall be defined as the gross sum", "Net Sales", "means"),
        ("“Change in Control” shall be deemed to have occurred if", "Change in Control", "means"),
        ("“Intellectual Property” includes patents.", "Intellectual Property", "means"),
        ("the term ‘Affiliate’ means any company", "Affiliate", "means"),
        ("Tarn Ltd (the ''Seller'') sells.", "Seller", "parenthetical"),
        ("Tarn Ltd (the ‘Seller’) sells.", "Seller", "parenthetical"),
        ("“设备”（定义见附件一）由乙方交付。", "设备", "meaning_given_in"),
        ("本协议项下“违约”一词系指不履行。", "违约", "means"),
        ("1.1 用户：指使用服务的人。", "用户", "means"),
        ("技术参数见清单（“技术规格书”）。", "技术规格书", "parenthetical"),
        ("支付定金(「定金」或「首付款」)", "首付款", "parenthetical"),
        ("甲方与乙方合称“双方”，单独称“一方”。", "一方", "short_name"),
        ("“关联方”，就任何人士而言，指受其控制的人。", "关联方", "means"),
        ("取得执照之日为“交割日”。", "交割日", "means"),
        ("“中国法律”不包括香港的法律。", "中国法律", "means"),
        ("本条所称税收法律仅指所得税法。", "税收法律", "means"),
    ],
)
def test_forms_of_definition(text, term, kind):
    assert defined(text)[term] == kind


@pytest.mark.parametrize(
    "text",
    [
        'information marked as "confidential", "secret", or the like',
        'The goods are sold "AS IS" by means of auction.',
        'the Fee (as such term is defined in the "Master Terms")',
        "a device commonly referred to as a “kill switch” (“x”)",
        "By no means is this a price.",
        "双方应当遵守“诚实信用”的原则。",
        "本条规定的意思是指明责任。",
    ],
)
def test_quotations_that_define_nothing(text):
    assert defined(text) == {}


def test_several_names():
    text = '"User Name" or "ID" means a string. Gamma (collectively, the "Parties" and each, a "Party") agree.'
    terms = find_definitions(text, whole(text))
    assert [(t.term, t.aliases) for t in terms] == [("User Name", ("ID",)), ("Parties", ()), ("Party", ())]


def test_bare_lines_count_in_a_definitions_section_only():
    text = "Business Day means a day on which banks open.\nnothing means less.\n"
    assert defined(text, "Definitions") == {"Business Day": "means"}
    assert defined(text, "Fees") == {}


def test_span_is_the_printed_name_and_clause_is_the_innermost():
    text = "1 Terms\n(a) “Losses” means harm.\n"
    clauses = (
        Clause(0, "1", "Terms", Span(0, len(text)), None, 0, "1"),
        Clause(1, "(a)", "", Span(8, len(text)), 0, 1, "1(a)"),
    )
    (term,) = find_definitions(text, clauses)
    assert text[term.span.start : term.span.end] == term.term == "Losses"
    assert term.clause == 1


def test_text_outside_all_clauses_is_not_searched():
    assert find_definitions('"Losses" means harm.', ()) == ()


def test_party_labels_come_from_the_first_page_once():
    text = "甲方：某公司\n乙方：某某\n" + "正文。\n" * 900 + "丙方：\n甲方：（盖章）\n"
    assert [t.term for t in find_definitions(text, whole(text))] == ["甲方", "乙方"]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("“宽限期”具有第九条第（二）款规定的含义。", "宽限期"),
        ("“宽限期”具有本合同第九条所赋予的含义。", "宽限期"),
        ("“宽限期”应具有附件一中载明的含义。", "宽限期"),
        ("“宽限期”的含义见第九条。", "宽限期"),
        ("“宽限期”一词的定义见附件一。", "宽限期"),
    ],
)
def test_a_meaning_that_another_clause_gives_in_chinese(text, term):
    assert defined(text) == {term: "meaning_given_in"}


def test_words_about_meaning_that_define_nothing():
    assert defined("各方确认“宽限”具有积极作用。\n标题中的“说明”不影响条款的含义。\n") == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("甲方（出租人）：山溪公司（以下简称“甲方”）\n乙方（承租人）：林间公司（以下简称“乙方”）\n", ["甲方", "乙方"]),
        ("甲方：山溪公司\n乙方：林间公司\n鉴于山溪公司（以下简称甲方）拟出租房屋。\n", ["甲方", "乙方"]),
        (
            'Hill Ltd (the "Lessor") and Wood Ltd (the "Lessee").\n\nHill Ltd of Wales (the "Lessor") owns a barn.\n',
            ["Lessor", "Lessee"],
        ),
        ('Hill Ltd (the "Lessor") agrees.\n\nSigned for Hill Ltd ("Lessor")\n', ["Lessor"]),
        ('Hill Ltd (the "Lessor") agrees.\n\nSigned for Dale plc (the "Lessor")\n', ["Lessor", "Lessor"]),
    ],
)
def test_a_party_is_listed_once(text, names):
    assert [term.term for term in find_definitions(text, whole(text))] == names


def test_clause_of_a_term_is_the_innermost_one_that_holds_its_name():
    text = "第一条 定义\n（一）“定金”指首笔款项。\n（二）“余款”具有第二条规定的含义。\n第二条 余款 余款为一元。\n"
    starts = [0, text.index("（一）"), text.index("（二）"), text.index("第二条 余款")]
    clauses = (
        Clause(0, "第一条", "定义", Span(0, starts[3]), None, 0, "第一条"),
        Clause(1, "（一）", "", Span(starts[1], starts[2]), 0, 1, "第一条（一）"),
        Clause(2, "（二）", "", Span(starts[2], starts[3]), 0, 1, "第一条（二）"),
        Clause(3, "第二条", "余款", Span(starts[3], len(text)), None, 0, "第二条"),
    )
    assert [(t.term, t.clause, t.kind) for t in find_definitions(text, clauses)] == [
        ("定金", 1, "means"),
        ("余款", 2, "meaning_given_in"),
    ]


def test_uses_longest_match_plural_possessive_and_not_in_the_definition():
    text = (
        '"Loss" means any Loss of money.\n"Loss Event" means a fire.\n'
        "The Seller bears Losses. A Loss Event's cause and loss or Lossless data do not count.\n"
    )
    terms = find_definitions(text, whole(text))
    uses = [(text[u.start : u.end], terms[u.term].term) for u in find_uses(text, terms)]
    assert uses == [("Losses", "Loss"), ("Loss Event", "Loss Event")]


def test_uses_in_chinese_have_no_word_boundaries():
    text = "“违约金”是指款项。\n（以下简称“违约金额”）\n乙方应付违约金，不含违约金额。\n"
    terms = find_definitions(text, whole(text))
    uses = [text[u.start : u.end] for u in find_uses(text, terms)]
    assert uses == ["违约金", "违约金额"]


def test_use_takes_the_nearest_earlier_of_two_definitions():
    text = 'A (the "Fee") x.\nFee one.\nB (the "Fee") y.\nFee two.\n'
    terms = find_definitions(text, whole(text))
    assert [u.term for u in find_uses(text, terms)] == [0, 1]


def test_a_name_broken_over_lines_is_still_used():
    text = 'X (the "Effective Date").\nFrom the Effective\n   Date on.'
    terms = find_definitions(text, whole(text))
    assert [text[u.start : u.end] for u in find_uses(text, terms)] == ["Effective\n   Date"]


@pytest.mark.parametrize(
    ("term", "other"),
    [
        ("Party", "Parties"),
        ("Losses", "Loss"),
        ("Tax", "Taxes"),
        ("Services", "Service"),
        ("Day", "Days"),
        ("甲方", None),
    ],
)
def test_variants(term, other):
    assert term_variants(term) == ((term, other) if other else (term,))


def test_definition_spans_stop_at_the_next_definition():
    text = "“A1” means one thing. “B1” means another thing.\nNext paragraph."
    terms = find_definitions(text, whole(text))
    assert [text[s.start : s.end] for s in definition_spans(text, terms)] == [
        "“A1” means one thing.",
        "“B1” means another thing.",
    ]


@given(st.text(alphabet='"“”()（）“X是指means \nTheA，。', max_size=200))
def test_any_text_gives_spans_inside_it(text):
    terms = find_definitions(text, whole(text)) if text else ()
    for term in terms:
        assert " ".join(text[term.span.start : term.span.end].split()) == term.term
    for use in find_uses(text, terms):
        assert 0 <= use.start < use.end <= len(text)


def test_speed_on_a_long_contract():
    defs = "".join(f'"Term {chr(65 + i % 26)}{i}" means thing number {i}.\n' for i in range(300))
    text = defs + "The Buyer shall pay Term A0 and Term B27 without delay to the Seller. " * 10_000
    start = time.perf_counter()
    terms = find_definitions(text, whole(text))
    uses = find_uses(text, terms)
    assert time.perf_counter() - start < 3
    assert len(terms) == 300
    assert len(uses) == 20_000


@pytest.mark.parametrize(
    "piece", [" ", '"', "“”", "“甲”或", "“A” or ", "以下简称“甲”、", "X means ", "\t", "(the ", "“甲”具有", "**"]
)
def test_hostile_text_is_searched_in_time(piece):
    text = piece * (60_000 // len(piece))
    start = time.process_time()
    terms = find_definitions(text, whole(text, "Definitions"))
    find_uses(text, terms)
    assert time.process_time() - start < 2


def test_a_term_that_is_defined_thousands_of_times_is_used_in_time():
    text = '"Gem" means a Gem of stone.\n' * 5000
    start = time.process_time()
    find_uses(text, find_definitions(text, whole(text)))
    assert time.process_time() - start < 3


def test_definition_spans_of_wrapped_lines_lists_and_shared_sentences():
    text = (
        "“Rent” means the money that the hirer of the boat\nshall pay each month.\n"
        "“Grace” means:\n(a) nine days; and\n(b) two more.\n2. Next. "
        "“Oar” and “Sail” mean what moves the boat.\n"
    )
    terms = find_definitions(text, whole(text))
    spans = [text[s.start : s.end] for s in definition_spans(text, terms)]
    assert spans[0] == "“Rent” means the money that the hirer of the boat\nshall pay each month."
    assert spans[1] == "“Grace” means:\n(a) nine days; and\n(b) two more."
    assert spans[2].endswith("“Oar” and “Sail” mean what moves the boat.")


def test_definition_span_of_a_name_given_deep_in_a_paragraph_is_short():
    text = "1 The hirer sails on the lake and so on " * 60 + '(the "Trip") every day ' + "and again " * 100 + "\n"
    (span,) = definition_spans(text, find_definitions(text, whole(text)))
    assert '"Trip"' in text[span.start : span.end]
    assert len(span) < 900


def test_names_of_parties():
    text = 'Hill Ltd (the "Lessor") hires a boat (the "Boat"). 山溪公司（以下简称“出租人”）提供船只（以下简称“船”）。\n'
    terms = find_definitions(text, whole(text))
    assert {t.term: names_party(text, t) for t in terms} == {
        "Lessor": True, "Boat": False, "出租人": True, "船": False,
    }  # fmt: skip


def test_a_heading_after_a_label_is_not_defined_by_it():
    assert defined('"MAA" has the meaning set forth in Section 1.44 ("Drug Approval").') == {"MAA": "meaning_given_in"}


def test_labelled_lines_of_a_definitions_section():
    text = "Boat: A vessel.\nLake: The water.\nOar: A tool.\nSail: A cloth.\n"
    assert list(defined(text, "Definitions")) == ["Boat", "Lake", "Oar", "Sail"]
    assert defined(text, "Notices") == {}
    assert defined("Boat: A vessel.\nNote: This is odd.\n", "Definitions") == {}


@pytest.mark.parametrize(
    "text",
    [
        'pursuant to Exhibits 8 ("Rent"), 9 ("Repairs") and 10 ("Insurance").',
        'as per Clauses 16.4 ("Procedure") and 16.6 ("Consequences").',
        'by electronic mail ("PDF" format).',
        "each reference to “25% or more” is a reference to “more than 50%”.",
        "all references to “three (3) Business Days” shall be deemed to be “two Business Days”",
        "The **Seller** pays. **Price.** The price is fixed.",
        "It is the Buyer's right. The 'Premium' line, the tenants' Deposit and the owner's Goods.",
        "依照第五条（“付款”）办理。",
    ],
)
def test_titles_and_amounts_define_nothing(text):
    assert defined(text) == {}


def test_a_line_that_every_page_repeats_is_no_definition():
    foot = "Source: Registry Office\n"
    labels = "".join(f"{name}: A thing of that name.\n" for name in ("Permit", "Works", "Site"))
    text = "1 Definitions\n" + labels + foot * 4
    clauses = (Clause(0, "1", "Definitions", Span(0, len(text)), None, 0, "1"),)
    assert [term.term for term in find_definitions(text, clauses)] == []
    more = text + "Plan: The plan of the Site.\n"
    clauses = (Clause(0, "1", "Definitions", Span(0, len(more)), None, 0, "1"),)
    assert [term.term for term in find_definitions(more, clauses)] == ["Permit", "Works", "Site", "Plan"]


def test_a_table_of_terms():
    text = "1 Definitions\n“Early Event”\n\n\nconcerns an exchange before its time;\n\n“Works” | the repairs\n"
    clauses = (Clause(0, "1", "Definitions", Span(0, len(text)), None, 0, "1"),)
    assert [term.term for term in find_definitions(text, clauses)] == ["Early Event", "Works"]


def terms_read(tmp_path, text, name="contract.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return [(term.term, term.kind) for term in read_document(path).terms]


LISTED = """1. Definitions. In this Agreement:

{0}

2. Sale. The Buyer pays.

3. Law. English law.
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            "Affiliate: any company of the group.\n\nCompletion Date: 1 July 2024.\n\nRent: £900.",
            [("Affiliate", "means"), ("Completion Date", "means"), ("Rent", "means")],
        ),
        ("Completion Date: has the meaning given in clause 2.", [("Completion Date", "meaning_given_in")]),
        ("Start Date means 1 May.", [("Start Date", "means")]),
        ('"Fee" means the fee; Start Date means 1 May.', [("Fee", "means"), ("Start Date", "means")]),
        (
            '"Fee" means the fee, and "Net Fee" shall be construed accordingly.',
            [("Fee", "means"), ("Net Fee", "means")],
        ),
        ('"Fee" means the fee; "Group": the company.', [("Fee", "means"), ("Group", "means")]),
        ("Note: this list is not complete.", []),
        ("the date: it is set below.", []),
    ],
)
def test_unquoted_names_in_a_clause_of_definitions(tmp_path, lines, expected):
    assert terms_read(tmp_path, LISTED.format(lines)) == expected


def test_lines_with_a_colon_elsewhere_define_nothing(tmp_path):
    text = LISTED.format("Rent: nine pounds.").replace("Definitions. In this Agreement:", "Payment. The sums:")
    assert terms_read(tmp_path, text) == []


def test_bold_names_without_quotes(tmp_path):
    text = (
        "# Supply terms\n\n## 1. Definitions\n\n**Completion Date**: 1 July 2024.\n\n**Deposit** means ten pounds.\n\n"
        "**Rent** has the meaning given in section 2.\n\n## 2. Pay\n\n**Note**: pay at **once**.\n"
    )
    expected = [("Completion Date", "means"), ("Deposit", "means"), ("Rent", "meaning_given_in")]
    assert terms_read(tmp_path, text, "contract.md") == expected


def test_a_table_of_definitions_with_and_without_a_column_of_numbers(tmp_path):
    rows = [("“Fee”", "the fee under clause 2"), ("“Hours”", "9.00 am to 5.00 pm"), ("Goods", "the goods")]
    plain = "".join(f"<tr><td>{term}</td><td>{meaning}</td></tr>" for term, meaning in rows)
    counted = "".join(f"<tr><td>1.{n}</td><td>{a}</td><td>{b}</td></tr>" for n, (a, b) in enumerate(rows, 1))
    page = (
        "<html><body><p>1. Definitions</p><table><tr>{0}<td>Term</td><td>Meaning</td></tr>{1}</table>"
        "<p>2. Pay. The Fee is paid.</p></body></html>"
    )
    expected = [("Fee", "means"), ("Hours", "means"), ("Goods", "means")]
    assert terms_read(tmp_path, page.format("", plain), "contract.html") == expected
    assert terms_read(tmp_path, page.format("<td>No.</td>", counted), "contract.html") == expected
    other = page.replace("Definitions", "Prices").replace("Term", "Item").replace("Meaning", "Price")
    assert terms_read(tmp_path, other.format("", plain.replace("“", "").replace("”", "")), "contract.html") == []


def test_rows_of_a_table_that_a_page_prints_with_one_blank(tmp_path):
    text = LISTED.format(
        "“Opening Date” the date of opening\n“Secret\nMatter” all words of a party\n“Fees” the sums due"
    )
    assert [name for name, _ in terms_read(tmp_path, text)] == ["Opening Date", "Secret Matter", "Fees"]
    assert terms_read(tmp_path, LISTED.format("The parties say that\n“Fees” the word is not clear.")) == []
