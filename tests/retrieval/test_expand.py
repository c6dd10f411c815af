"""Closure over definitions and references, with reasons, budget and cycles; English and Chinese."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.model import Span
from softlookup.errors import UsageError
from softlookup.retrieval.expand import ClauseGraph, clause_name, closure

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
    assert reasons(make_document(EN), 2, depth=2)["6"] == ("clause 5 refers to it", "reference", 2)
    assert closure(make_document(EN), [2], depth=0).added == ()


def test_dangling_target_is_reported(make_document):
    document = make_document(EN)
    result = closure(document, [6])
    assert [document.text[r.span.start : r.span.end] for r in result.dangling] == ["Section 99"]
    assert not result.complete


def test_budget_cuts_are_reported_and_not_followed(make_document):
    document = make_document(EN)
    result = closure(document, [2], budget=45, cost=len)
    assert [document.clauses[e.clause].number for e in result.added] == ["5"]
    assert {document.clauses[e.clause].number for e in result.cut} == {"4", "6"}
    assert not result.complete
    result = closure(document, [2], budget=20)
    assert "6" not in {document.clauses[e.clause].number for e in (*result.added, *result.cut)}
    assert closure(document, [2], budget=0).added == ()


def test_cost_function_is_asked_for_the_text_to_add(make_document):
    document = make_document(EN)
    seen = []
    closure(document, [2], budget=10**6, cost=lambda span: seen.append(span) or 1)
    assert all(document.text[span.start : span.end].strip() for span in seen)
    assert len(seen) == 3


def test_cycle_ends(make_document):
    document = make_document("1 A. See Section 2.\n2 B. See Section 1 and this Section.\n")
    assert [e.clause for e in closure(document, [0], depth=9).added] == [1]


def test_seed_is_never_added_and_unknown_seed_is_refused(make_document):
    document = make_document(EN)
    everything = range(len(document.clauses))
    assert closure(document, list(everything)).added == ()
    with pytest.raises(UsageError, match="clause indices"):
        closure(document, [len(document.clauses)])


def test_common_terms_are_followed_only_when_there_is_nothing_else(make_document):
    body = "".join(f"{n} Point. The Vendor acts.\n" for n in range(2, 20))
    document = make_document('1 Alpha (the "Vendor") sells. \n' + body + '20 Rare. "Gem" means stone.\n'
                             "21 Use. The Vendor sells the Gem.\n")  # fmt: skip
    last = len(document.clauses) - 1
    assert [e.why for e in closure(document, [last], depth=1).added] == ['defines "Gem"']
    assert [e.why for e in closure(document, [5], depth=1).added] == ['defines "Vendor"']


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
    assert reasons(document, 1) == {"第一条": ('defines "违约金"', "definition", 1)}
    assert reasons(document, 2) == {"第四条": ("excepts 第三条", "reference", 1)}
    assert reasons(document, 3)["第三条"] == ("第四条 makes it an exception", "reference", 1)


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
