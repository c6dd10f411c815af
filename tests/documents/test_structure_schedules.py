"""Schedules, exhibits and 附件 as namespaces; tables of contents, signature blocks, wrapped references."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import pytest

from .trees import by_path, paths, tree, words_of

BODY = "1. Boats\n\nThe owner lends the boats that are named in the list.\n\n2. Nets\n\nThe owner lends the nets as well.\n\n"
OWN = "The things are named here, each with its number and its price, for the season that begins in May.\n\n"


def test_each_schedule_counts_for_itself():
    text = (
        BODY
        + "SCHEDULE 1\nBoats\n\n1. Skiff. Old.\n\n2. Dory. New.\n\nSCHEDULE 2\nNets\n\n1. Seine. Long.\n\n2. Trawl. Wide.\n\n"
    )
    assert paths(text) == [
        "1",
        "2",
        "Schedule 1",
        "Schedule 1/1",
        "Schedule 1/2",
        "Schedule 2",
        "Schedule 2/1",
        "Schedule 2/2",
    ]


@pytest.mark.parametrize(
    "label",
    [
        "Exhibit A-1",
        "EXHIBIT 7.22",
        "Schedule 10.2.6",
        "Annex I(b)",
        "Attachment C",
        "APPENDIX II",
        'Exhibit "B"',
        "附件一",
        "附录A",
        "附表2",
    ],
)
def test_forms_of_schedule_labels(label):
    text = BODY + f"\n\n\n{label}\n\nList of boats\n\n" + OWN
    assert words_of(text, paths(text)[-1]).startswith(label)
    assert len(paths(text)) == 3


def test_the_exhibit_number_of_a_filing_opens_nothing():
    text = "EXHIBIT 10.4\n\nLOAN OF BOATS\n\n" + BODY.replace("2. Nets", "\n\n\nEXHIBIT 10.4\n\n2. Nets")
    assert paths(text) == ["1", "2"]


def test_a_list_of_exhibits_is_not_the_exhibits():
    listed = "Exhibit A  Form of receipt\n\nExhibit B  List of boats\n\nExhibit C  List of nets\n\n"
    text = (
        BODY
        + "IN WITNESS WHEREOF the parties have signed.\n\n"
        + listed
        + "".join(f"\n\n\nEXHIBIT {x}\n\n{OWN * 3}" for x in "ABC")
    )
    assert paths(text)[2:] == ["Exhibit A", "Exhibit B", "Exhibit C"]
    assert by_path(text)["Exhibit A"].span.start > text.index("Exhibit C")


def test_redacted_exhibits_that_stand_close_are_exhibits():
    text = BODY + "".join(f"\n\n\nEXHIBIT {x}\n\nPrices\n\n[***]\n\n" for x in "ABC")
    assert paths(text)[2:] == ["Exhibit A", "Exhibit B", "Exhibit C"]


def test_the_name_on_top_of_every_page_opens_the_exhibit_once():
    text = BODY + "\n\n\nEXHIBIT A\n\n" + OWN + "\n\n\nEXHIBIT A\n\n" + OWN + "\n\n\nEXHIBIT B\n\n" + OWN
    assert paths(text)[2:] == ["Exhibit A", "Exhibit B"]


def test_a_list_of_annexes_inside_a_clause_is_text_of_the_clause():
    text = "1、甲方出租船只，乙方承租船只。\n2、本合同有效附件有：\n附件1.船只清单。\n3、乙方确认附件的送达。\n附件1\n船只清单\n一、小船\n二、大船\n"
    assert paths(text) == ["1", "2", "3", "附件1", "附件1/一", "附件1/二"]


def test_mention_at_a_line_start_opens_nothing():
    text = (
        BODY
        + "3. Papers\n\nThe papers are those of\nExhibit A, which the parties sign, and\nSchedule 2 of the Harbour Rules.\n\n4. End\n\nNone.\n"
    )
    assert paths(text) == ["1", "2", "3", "4"]


NAMES = ["Scope", "Price", "Delivery", "Insurance", "Law"]
ARTICLES = "".join(
    f"ARTICLE {r}\n{n.upper()}\n\n{k}.1 {n}. The parties agree on the {n.lower()} as this clause says, at length.\n\n{k}.2 More. And so on for the rest of it.\n\n"
    for k, (r, n) in enumerate(zip(["I", "II", "III", "IV", "V"], NAMES, strict=True), 1)
)
EXPECTED = [p for k, r in enumerate(["I", "II", "III", "IV", "V"], 1) for p in (f"Article {r}", f"{k}.1", f"{k}.2")]


@pytest.mark.parametrize(
    "entries",
    [
        "".join(
            f"ARTICLE {r} {n} ............ {k}\n"
            for k, (r, n) in enumerate(zip(["I", "II", "III", "IV", "V"], NAMES, strict=True), 1)
        ),
        "".join(
            f"ARTICLE {r} {n}          {k}\n"
            for k, (r, n) in enumerate(zip(["I", "II", "III", "IV", "V"], NAMES, strict=True), 1)
        ),
        "".join(
            f"ARTICLE {r}\t{n}\t{k}\n"
            for k, (r, n) in enumerate(zip(["I", "II", "III", "IV", "V"], NAMES, strict=True), 1)
        ),
        "".join(
            f"ARTICLE {r}   {n}\n" for r, n in zip(["I", "II", "III", "IV", "V"], NAMES, strict=True)
        ),  # no page numbers
        "".join(f"{k}.1   {n}   {k}\n\n{k}.2   More   {k}\n\n" for k, n in enumerate(NAMES, 1)),
        "   ".join(
            f"ARTICLE {r}   {n}   {k}   {k}.1   {n}   {k}   {k}.2   More   {k}"
            for k, (r, n) in enumerate(zip(["I", "II", "III", "IV", "V"], NAMES, strict=True), 1)
        )
        + "\n",  # one line
        "ARTICLE I Scope ..... 1     ARTICLE IV Insurance ..... 4\nARTICLE II Price ..... 2     ARTICLE V Law ..... 5\nARTICLE III Delivery ..... 3\n",  # two columns
    ],
)
def test_tables_of_contents_hold_no_clauses(entries):
    text = (
        "LOAN OF BOATS\n\nTABLE OF CONTENTS\n\n"
        + entries
        + "\nThis loan is made by Alder and Birch, who agree as follows:\n\n"
        + ARTICLES
    )
    assert paths(text) == EXPECTED
    assert by_path(text)["Article I"].span.start >= text.index("ARTICLE I\nSCOPE")


def test_chinese_table_of_contents_holds_no_clauses():
    names = ["总则", "价款", "交付", "附则"]
    han = "一二三四"
    contents = "".join(f"第{h}条 {n}{'.' * 20}{k}\n" for k, (h, n) in enumerate(zip(han, names, strict=True), 1))
    body = "".join(
        f"第{h}条 {n}\n甲乙双方就{n}约定如下，双方应当遵守，不得违反。\n" for h, n in zip(han, names, strict=True)
    )
    text = (
        "买卖合同\n目  录\n"
        + contents
        + "甲方：青岚公司，住所地在海边的小镇上，法定代表人是本镇的居民。\n乙方：北溪公司，住所地在河边的小镇上。\n"
        + body
    )
    assert paths(text) == [f"第{h}条" for h in han]
    parties = next(c for c in tree(text) if text[c.span.start :].startswith("甲方"))
    assert parties.number == ""


def test_signature_block_before_schedules_is_no_part_of_the_last_clause():
    text = "第一条 出租\n甲方出租船只。\n第二条 争议\n提交仲裁。\n（以下无正文）\n甲方（盖章）：____\n附件一\n清单\n一、小船\n"
    assert "以下无正文" not in words_of(text, "第二条")
    assert "以下无正文" not in words_of(text, "附件一")


def test_references_dates_and_amounts_at_line_starts_open_no_clause():
    text = (
        "1. Scope. The work is described in\nSection 4.2 of this Agreement and in\nclause 3.1 hereof. It starts on\n12 March 2021 and ends in\n2024. The fee is\n"
        "12.50 dollars, to be called at\n555 2000 or paid at\n64 Sidney Street.\n\n2. Price. See Section\n9. of the Rules.\n\n3. Law. Norway.\n"
    )
    assert paths(text) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("label", "path"),
    [
        ("THE FIRST SCHEDULE", "First Schedule"),
        ("SECOND SCHEDULE", "Second Schedule"),
        ("The Twenty-First Schedule", "Twenty-First Schedule"),
        ("SCHEDULE ONE", "Schedule One"),
        ("SCHEDULE", "Schedule"),
        ("Schedule", "Schedule"),
        ("Schedule No. 1", "Schedule No. 1"),
        ("Annexure A", "Annexure A"),
        ("RIDER 1", "Rider 1"),
        ("Schedule 1 - Boats", "Schedule 1"),
        ("Schedule 1: Boats", "Schedule 1"),
    ],
)
def test_words_and_names_that_open_a_schedule(label, path):
    text = BODY + f"{label}\n\n1. Skiff is old.\n\n2. Dory is new.\n"
    assert paths(text) == ["1", "2", path, f"{path}/1", f"{path}/2"]


def test_words_with_schedule_in_a_sentence_open_none():
    text = BODY.replace("in the list", "in the\nFirst Schedule and the price\nSCHEDULE that the owner keeps")
    assert paths(text) == ["1", "2"]
    assert paths(BODY.replace("2. Nets", "Schedule\n\nMonday to Friday.\n\n2. Nets")) == ["1", "2"]
    assert paths(BODY + "Schedule\n\nMonday to Friday.\n") == ["1", "2"]
    assert paths(BODY + "PRICE SCHEDULE\n\nThe price is ten.\n") == ["1", "2"]


def test_schedules_of_a_body_numbered_without_dots():
    text = "1 Boats\n\n1.1 See Schedule 1.\n\n2 Nets\n\n2.1 None.\n\nSchedule 1 - Skiffs\n\n1 The old one.\n\n2 The new one.\n\nSchedule 2 - Keys\n\n1 Hand over the keys.\n"
    assert paths(text) == [
        "1", "1.1", "2", "2.1", "Schedule 1", "Schedule 1/1", "Schedule 1/2", "Schedule 2", "Schedule 2/1",
    ]  # fmt: skip


@pytest.mark.parametrize("between", ["：", " "])
@pytest.mark.parametrize("numbers", ["12", "一二"])
def test_chinese_annexes_after_a_list(between, numbers):
    body = "一、船只\n甲方出借船只。\n\n二、其他\n1、一份。\n2、两份。\n\n"
    heads = [f"附件{number}{between}{name}\n" for number, name in zip(numbers, ("图纸", "清单"), strict=True)]
    found = paths(body + heads[0] + "\n" + heads[1] + "1、小艇两只\n2、渔网三张\n")
    assert found == [
        "一",
        "二",
        "二/1",
        "二/2",
        *(f"附件{n}" for n in numbers),
        *(f"附件{numbers[1]}/{n}" for n in "12"),
    ]


def test_a_list_of_chinese_annexes_before_the_signatures_opens_none():
    body = "一、船只\n甲方出借船只。\n\n二、附件\n附件一：图纸\n附件二：清单\n附件三：收据\n\n甲方（盖章）：\n\n乙方（盖章）：\n"
    assert paths(body) == ["一", "二"]
