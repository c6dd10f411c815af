"""Rungs 2 to 5: not seen; seen, not selected; selected, misread; an answer without evidence. Numbers: measures.py."""

from __future__ import annotations

import numpy as np

from softlookup.diagnostics.agreement import Agreement, agreement
from softlookup.diagnostics.case import Case
from softlookup.diagnostics.diagnosis import Hit, Step, Test
from softlookup.diagnostics.hold import held_text, hold
from softlookup.diagnostics.measures import Measures
from softlookup.evidence.citation import clause_label
from softlookup.evidence.values import unsupported_values, values_in
from softlookup.retrieval.expand import closure


def agrees(case: Case, answer: str) -> Agreement:
    """Whether ``answer`` agrees with the expected place and the clauses that it needs, by values and words."""
    quote = case.place.named if case.place is not None and case.place.is_quote else None
    return agreement(answer, f"{case.place_text}\n{held_text(case)[0]}", case.question, quote)


def agreement_test(found: Agreement) -> Test:
    """The copied-value check as a test: whether there is anything to explain. It fails on no rung."""
    right = True if found.agrees else None
    if found.words is not None:
        detail = "share of the answer's own words that stand in the expected place (neither names a value)"
        return Test("-", "copied_words", found.words, None, right, detail)
    detail = "values of the answer that the expected place does not hold"
    if found.strange:
        detail += f": {', '.join(found.strange)}"
    if found.missing:
        detail += f"; the answer has none of the quoted values: {', '.join(found.missing)}"
    return Test("-", "copied_values", float(len(found.strange) + len(found.missing)), 0.0, right, detail)


def not_seen(case: Case, measures: Measures) -> Step:
    """2: the question looks at the expected place no more than off-topic questions do."""
    p_value = measures.place_p_value
    test = Test(
        "2", "place_p_value", p_value, measures.alpha, p_value <= measures.alpha,
        "rank of the expected place's evidence among off-topic questions (clause named beforehand)",
    )  # fmt: skip
    if p_value <= measures.alpha:
        return Step((test,))
    facts = {"p": f"{p_value:.3f}", "top": _name(case, measures.decision.best)}
    via = _reached_from(case, measures)
    detail = "a passage that stands out leads to the expected place by a reference or definition"
    edge = Test("2", "closure_edge", float(bool(via)), None, None, f"{detail}{': ' + via if via else ''}")
    return Step((test, edge), Hit("not_seen", "closure" if via else "", {**facts, "via": via}))


def not_selected(case: Case, measures: Measures) -> Step:
    """3: seen, but the answer's values stand elsewhere, or its rows look elsewhere and masking the place does nothing.

    One sign that the place was used is enough to walk on: the rows of a weak model look elsewhere even when it copies.
    """
    sources = _copied_from(case, measures)
    chosen = int(np.argmax(measures.answer_scores))
    here = chosen in case.passages
    # a place that speaks against the answer makes it likelier when it is masked: it was used all the same
    change, limit = abs(measures.rows.drop), measures.drop_threshold
    tests = (
        Test("3", "answer_rows_at_place", float(measures.answer_scores[list(case.passages)].max()),
             float(measures.answer_scores.max()), here, f"the answer's rows look most at {_name(case, chosen)}"),
        Test("3", "direct_path_change", change, limit, change > limit,
             f"change of the answer's mean log-prob when the place is masked ({-measures.rows.drop:+.3f}), against "
             "off-topic answers"),
        Test("3", "copied_elsewhere", float(len(sources)), 0.0, not sources,
             "passages other than the expected one that hold the answer's values"),
    )  # fmt: skip
    if (here or change > limit) and not sources:
        return Step(tests)
    best = max(sources, key=lambda i: float(measures.answer_scores[i])) if sources else chosen
    facts = {"other": _name(case, best), "passage": str(best)}
    return Step(tests, Hit("not_selected", "", facts))


def misread(case: Case, max_new_tokens: int, *, given: bool) -> Step:
    """4: the place was used and the answer is wrong; the re-ask on it alone tells capacity from length."""
    held = hold(case, max_new_tokens)
    right = agrees(case, held.answer)
    needed = f", with {'; '.join(held.needed)}" if held.needed else ""
    detail = f"the answer on the expected place alone{needed}: {' '.join(held.answer.split())[:200]}"
    test = Test("4", "hold_agrees", float(right.agrees), 1.0, right.agrees, detail)
    # of a given answer it is not known that the model made it
    variant = ("given" if given else "length") if right.agrees else "capacity"
    return Step((test,), Hit("misread", variant, {"held": held.answer}))


def unsupported_claim(case: Case, measures: Measures, *, given: bool) -> Step:
    """5: there is an answer, and no passage stands out (family-wise), or none that does holds the answer's values."""
    decision = measures.decision
    evidence = Test(
        "5", "best_p_value", decision.p_value, measures.alpha, decision.found,
        "family-wise rank of the best passage among off-topic questions",
    )  # fmt: skip
    if not decision.found:
        facts = {"p": f"{decision.p_value:.3f}"}
        return Step((evidence,), Hit("unsupported_claim", "given" if given else "own", facts))
    cited = [i for i, p_value in enumerate(decision.passage_p_values) if p_value <= measures.alpha]
    spans = [case.reading.chunks[i].span for i in cited]
    spans += [item.span for item in closure(case.document, (), within=spans).added]
    texts = [case.document.text[span.start : span.end] for span in spans]
    strange = unsupported_values(measures.answer, [*texts, case.question])
    values = Test(
        "5", "copied_values", float(len(strange)), 0.0, not strange,
        "values of the answer that no passage which stands out, nor what it needs, holds"
        + (f": {', '.join(strange)}" if strange else ""),
    )  # fmt: skip
    hit = Hit("unsupported_claim", "values", {"values": ", ".join(strange)}) if strange else None
    return Step((evidence, values), hit)


def _name(case: Case, passage: int) -> str:
    return clause_label(case.document, case.reading.chunks[passage].clause) or f"passage {passage + 1}"


def _copied_from(case: Case, measures: Measures) -> list[int]:
    """Passages outside the place that hold every value of the answer that the place lacks."""
    strange = set(agrees(case, measures.answer).strange)
    if not strange:
        return []
    text = case.document.text
    return [
        index
        for index, chunk in enumerate(case.reading.chunks)
        if index not in case.passages and strange <= values_in(text[chunk.span.start : chunk.span.end])
    ]


def _reached_from(case: Case, measures: Measures) -> str:
    """The reason by which a passage that stands out brings the expected place, "" when none does."""
    p_values = measures.decision.passage_p_values
    cited = [i for i in np.argsort(-measures.scores)[:3] if p_values[i] <= measures.alpha]
    for index in cited:
        for item in closure(case.document, (), within=[case.reading.chunks[index].span]).added:
            if item.span.overlap(case.span):
                return f"{_name(case, int(index))} {item.why}"
    return ""
