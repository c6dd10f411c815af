"""Closure over definitions and references, with reasons, budget and cycles; English and Chinese."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.model import Span
from softlookup.documents.read import read_document
from softlookup.errors import UsageError
from softlookup.retrieval.edge_wording import clause_name
from softlookup.retrieval.expand import ClauseGraph, closure

EN = """1 Definitions. "Losses" means harm and costs. "Agreement" means this paper.
2 Payment. The Buyer pays for such Losses under the Agreement.
3 Cap. Subject to Section 5, liability is capped.
4 Override. Notwithstanding Section 3, fraud is uncapped.
5 Floor. The floor of Section 6 applies.
6 Base. The base is 10.
7 Odd. Section 99 governs oddities.
"""
ZH = """第一条 定义。“违约金”是指本合同约定的款项。
第二条 付款。逾期的，乙方支付违约金。
第三条 限额。乙方责任以租金为限。
第四条 例外。除第三条另有规定外，乙方承担全部责任。
"""


def reasons(document, seed, **options):
    return {document.clauses[e.clause].number: (e.why, e.via, e.depth)
            for e in closure(document, [seed], **options).added}  # fmt: skip


def test_such_losses_brings_the_definition(make_document):
    document = make_document(EN)
    result = closure(document, [1])
    assert [document.clauses[e.clause].number for e in result.added] == ["1"]
    assert result.added[0].why == 'defines "Losses"'
    assert result.added[0].via == "definition"
    assert result.complete


def test_references_forward_and_back_with_reasons(make_document):
    assert reasons(make_document(EN), 2, depth=1) == {
        "5": ("clause 3 is subject to it", "reference", 1),
        "4": ("overrides clause 3", "reference", 1),
    }


def test_depth(make_document):
    chain = EN.replace("The floor of Section 6 applies.", "Subject to Section 6, the floor of Section 7 applies.")
    assert reasons(make_document(chain), 2, depth=2)["6"] == ("clause 5 is subject to it", "reference", 2)
    assert "6" not in reasons(make_document(chain), 2, depth=1)
    assert closure(make_document(EN), [2], depth=0).added == ()


def test_mere_references_are_followed_one_step(make_document):
    assert set(reasons(make_document(EN), 2, depth=2)) == {"5", "4"}  # 5 refers to 6
    assert reasons(make_document(EN), 4)["6"] == ("clause 5 refers to it", "reference", 1)


def test_dangling_target_is_reported(make_document):
    document = make_document(EN)
    result = closure(document, [6])
    assert [document.text[r.span.start : r.span.end] for r in result.dangling] == ["Section 99"]
    assert not result.complete


def test_budget_cuts_are_reported_and_not_followed(make_document):
    document = make_document(EN.replace("The floor of Section 6", "Subject to Section 6, it"))
    result = closure(document, [2], budget=58, cost=len)
    assert [document.clauses[e.clause].number for e in result.added] == ["4"]
    assert {document.clauses[e.clause].number for e in result.cut} == {"5"}
    assert not result.complete
    result = closure(document, [2], budget=20)
    assert "6" not in {document.clauses[e.clause].number for e in (*result.added, *result.cut)}
    assert closure(document, [2], budget=0).added == ()


def test_cost_function_is_asked_for_the_text_to_add(make_document):
    document = make_document(EN)
    seen = []
    closure(document, [2], budget=10**6, cost=lambda span: seen.append(span) or 1)
    assert all(document.text[span.start : span.end].strip() for span in seen)
    assert len(seen) == 2


def test_cycle_ends(make_document):
    document = make_document("1 A. See Section 2.\n2 B. See Section 1 and this Section.\n")
    assert [e.clause for e in closure(document, [0], depth=9).added] == [1]


def test_seed_is_never_added_and_unknown_seed_is_refused(make_document):
    document = make_document(EN)
    everything = range(len(document.clauses))
    assert closure(document, list(everything)).added == ()
    with pytest.raises(UsageError, match="clause indices"):
        closure(document, [len(document.clauses)])


def test_terms_of_every_clause_and_parties_are_not_explained(make_document):
    body = "".join(f"{n} Point. The Vendor acts with Zeal.\n" for n in range(2, 20))
    document = make_document('1 Alpha Ltd (the "Vendor") sells. "Zeal" means vigour.\n' + body
                             + '20 Rare. "Gem" means stone.\n21 Use. The Vendor sells the Gem.\n')  # fmt: skip
    last = len(document.clauses) - 1
    assert [e.why for e in closure(document, [last], depth=1).added] == ['defines "Gem"']
    assert closure(document, [5], depth=1).added == ()


def test_a_party_is_not_explained_even_when_it_is_rare(make_document):
    document = make_document('1 Alpha Ltd (the "Vendor") sells a boat (the "Gem").\n2 Use. The Vendor keeps the Gem.\n')
    assert [e.why for e in closure(document, [1]).added] == ['defines "Gem"']


def test_what_changes_the_meaning_comes_before_references_and_definitions(make_document):
    text = (
        '1 Terms. "Gem" means stone. "Losses" means harm.\n2 Cap. The Gem is capped under Section 3; such Losses too.\n'
        "3 Sum. The sum is 9.\n4 Fraud. Notwithstanding Section 2, fraud is uncapped.\n5 Floor. Subject to Section 2.\n"
    )
    document = make_document(text)
    assert [e.why for e in closure(document, [1]).added] == [
        "overrides clause 2",
        'defines "Losses"',
        "is subject to clause 2",
        "clause 2 refers to it",
        'defines "Gem"',
    ]


def test_the_four_rarest_terms_are_explained(make_document):
    names = ("Ash", "Birch", "Cedar", "Daphne", "Elm")
    terms = "".join(f'1.{n} "{name}" means tree number {n}.\n' for n, name in enumerate(names, 1))
    uses = "".join(f"{n} Uses. Plant {' and '.join(names[n - 2 :])}.\n" for n in range(2, 7))
    document = make_document(terms + uses)
    seed = next(c.index for c in document.clauses if c.number == "2")
    assert [e.why for e in closure(document, [seed]).added] == [
        'defines "Ash"', 'defines "Birch"', 'defines "Cedar"', 'defines "Daphne"',
    ]  # fmt: skip


def test_a_long_list_of_clauses_is_not_followed_and_a_short_one_is(make_document):
    clauses = "".join(f"{n} Part. Words.\n" for n in range(1, 8))
    document = make_document(
        clauses + "8 End. Sections 1, 2, 3, 4, 5 and 6 survive.\n9 Pay. Sections 1, 2 and 3 apply.\n"
    )
    assert closure(document, [7]).added == ()
    assert [e.clause for e in closure(document, [8]).added] == [0, 1, 2]


def test_this_clause_adds_nothing(make_document):
    document = make_document("7 Warranty.\n  7.1 Scope.\n  7.2 No one is liable under this clause. See clause 7.1.\n")
    assert [document.clauses[e.clause].number for e in closure(document, [2]).added] == ["7.1"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '1 Terms. "Grace" has the meaning given in Section 3.\n2 Use. Pay in the Grace.\n3 Time. Nine days.\n',
            'gives the meaning of "Grace"',
        ),
        (
            "第一条 定义。“宽限期”具有第三条规定的含义。\n第二条 应在宽限期内付款。\n第三条 期限为九日。\n",
            "给出“宽限期”的含义",
        ),
    ],
)
def test_a_pointer_to_a_definition_is_followed_to_its_target(make_document, text, why):
    document = make_document(text)
    (added,) = closure(document, [1]).added
    assert (added.clause, added.why, added.via) == (2, why, "definition")


def test_a_definition_comes_with_its_list_and_without_its_neighbours(make_document):
    text = (
        "1 Definitions.\n"
        "  1.1 “Grace” means:\n    (a) nine days for rent; and\n    (b) two days for tax.\n"
        "  1.2 “Rent” means money. “Tax” means dues.\n"
        "2 Use. The Tax is due after the Grace.\n"
    )
    document = make_document(text)
    last = len(document.clauses) - 1
    added = {e.why: text[e.span.start : e.span.end] for e in closure(document, [last]).added}
    assert "two days for tax" in added['defines "Grace"']
    assert added['defines "Tax"'] == "“Tax” means dues."


def test_one_passage_of_a_clause_with_thousands_of_references_is_fast(make_document):
    text = "1 Head. " + "Notwithstanding Section 2, such X. " * 4000 + "\n2 Tail. See Section 1.\n"
    document = make_document(text)
    graph = ClauseGraph(document)
    start = time.process_time()
    for offset in range(8, 8 + 35 * 200, 35):
        graph.closure((), within=[Span(offset, offset + 34)])
    assert time.process_time() - start < 2


def test_long_definitions_clause_contributes_the_definition_alone(make_document):
    terms = "".join(
        f"“Item {chr(65 + n)}” means the thing with number {n} and nothing else at all. " for n in range(20)
    )
    document = make_document("1 Definitions. " + terms + "\n2 Use. Deliver Item C now.\n")
    (added,) = closure(document, [1]).added
    assert document.text[added.span.start : added.span.end].startswith("“Item C” means")
    assert len(added.span) < 100


def test_long_target_is_marked_partial(make_document):
    document = make_document("1 A. See Section 2.\n2 B. " + "Long words follow here. " * 200)
    (added,) = closure(document, [0]).added
    assert added.partial
    assert len(added.span) <= 1500


def test_within_restricts_a_long_clause_to_a_passage(make_document):
    document = make_document("1 A. See Section 2. Later, see Section 3.\n2 B.\n3 C.\n")
    passage = Span(0, document.text.index("Later"))
    added = ClauseGraph(document).closure([0], within=[passage]).added
    assert [document.clauses[e.clause].number for e in added] == ["2"]


def test_short_seed_counts_with_its_children(make_document):
    document = make_document("1 A.\n  1.1 See Section 2.\n2 B.\n3 C. " + "Words. " * 300 + "\n  3.1 See Section 2.\n")
    assert [e.clause for e in closure(document, [0]).added] == [2]
    assert closure(document, [3]).added == ()


def test_chinese(make_document):
    document = make_document(ZH)
    assert reasons(document, 1) == {"第一条": ("定义“违约金”", "definition", 1)}
    assert reasons(document, 2) == {"第四条": ("以第三条为例外", "reference", 1)}
    assert reasons(document, 3)["第三条"] == ("第四条将其列为例外", "reference", 1)


def test_clauses_in_a_span(make_document):
    document = make_document("1 A.\n  1.1 B.\n  1.2 C.\n2 D.\n")
    graph = ClauseGraph(document)
    start, end = document.text.index("1.1"), document.text.index("1.2") + 3
    assert [document.clauses[i].number for i in graph.clauses_in(Span(start, end))] == ["1.1", "1.2"]


def test_names(make_document):
    document = make_document("Preamble words\n1 A.\n第三条 乙。\n")
    assert [clause_name(c) for c in document.clauses] == ['"Preamble words"', "clause 1", "第三条"]


SENTENCES = st.sampled_from(
    [
        "See Section 2.",
        "Notwithstanding Section 1, pay.",
        '"Gem" means stone.',
        "Give such Gem.",
        "Subject to Section 3.",
    ]
)


@given(st.lists(SENTENCES, min_size=1, max_size=6), st.integers(0, 3), st.integers(0, 200))
def test_closure_holds_its_promises(make_document, sentences, depth, budget):
    document = make_document("".join(f"{n} Point. {s}\n" for n, s in enumerate(sentences, 1)))
    result = closure(document, [0], depth=depth, budget=budget)
    assert sum(len(e.span) for e in result.added) <= budget
    assert all(1 <= e.depth <= depth and e.clause != 0 and e.why for e in (*result.added, *result.cut))
    assert len({e.span for e in result.added}) == len(result.added)


def test_every_step_tells_its_kind_and_direction(make_document):
    document = make_document(
        '1 Terms. "Losses" means harm.\n2 Price. As clause 4 says, for such Losses.\n3 Cap. Subject to clause 2.\n'
        "4 Place. Notwithstanding clause 2, see Schedule 1.\nSchedule 1 Sites.\n  5 North.\n"
    )
    kinds = {
        (document.clauses[e.clause].number, e.edge, e.reverse, e.via) for e in closure(document, [1], depth=1).added
    }
    assert kinds == {
        ("1", "defines", False, "definition"),
        ("3", "subject_to", True, "reference"),
        ("4", "overrides", True, "reference"),
    }


def test_a_clause_of_a_schedule_brings_the_clause_that_brings_the_schedule_in(make_document):
    document = make_document(
        "1 Sites. The Owner keeps the sites of Schedule 1.\n2 Price. Free.\nSchedule 1 Sites.\n  1 North.\n"
    )
    (added,) = closure(document, [len(document.clauses) - 1]).added
    assert (document.clauses[added.clause].number, added.edge, added.reverse) == ("1", "schedule_of", True)
    assert added.why == "brings in Schedule 1"
    assert closure(document, [1]).added == ()  # a clause of the main body has no schedule around it


@pytest.mark.parametrize(
    ("text", "seed", "added", "why"),
    [
        (
            "第一条 租金\n租金每月支付。\n第二条 例外\n除第一条另有规定外，乙方不承担费用。\n",
            "第一条",
            "第二条",
            "以第一条为例外",
        ),
        (
            "第一条 定义\n本合同所称“仓库”，是指河西路八号的库房。\n第二条 修理\n甲方修理仓库。\n",
            "第二条",
            "第一条",
            "定义“仓库”",
        ),
    ],
)
def test_a_chinese_document_gives_its_reasons_in_chinese(tmp_path, text, seed, added, why):
    path = tmp_path / "hetong.txt"
    path.write_text(text, "utf-8")
    document = read_document(path)
    number = {clause.number: clause.index for clause in document.clauses}
    found = {item.clause: item.why for item in closure(document, (number[seed],)).added}
    assert found[number[added]] == why
