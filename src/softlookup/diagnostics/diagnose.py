"""Walks the ladder from "was it fed?" to "was it misread?" and stops at the first rung that fails.

Structural rungs come first: while the text was not fed, or the program computes something else, attention says
nothing. What it never says: that an answer is right, or why the model answered as it did.
"""

from __future__ import annotations

from collections.abc import Callable

from softlookup.diagnostics.case import Case
from softlookup.diagnostics.diagnosis import (
    RUNGS,
    Diagnosis,
    ExpectedPlace,
    Hit,
    NamedClause,
    Run,
    Step,
    Test,
)
from softlookup.diagnostics.feeding import beyond_window, not_fed
from softlookup.diagnostics.measures import Measures
from softlookup.diagnostics.reach import out_of_reach
from softlookup.diagnostics.selection import (
    agreement_test,
    agrees,
    misread,
    not_seen,
    not_selected,
    unsupported_claim,
)
from softlookup.diagnostics.soundness import implementation_fault
from softlookup.diagnostics.wording import worded
from softlookup.documents.language import Language, language_of
from softlookup.errors import ModelError, UsageError
from softlookup.evidence.assembly import model_summary
from softlookup.evidence.citation import clause_label
from softlookup.evidence.question_bank import question_bank

_NOT_TESTED: dict[Language, tuple[str, ...]] = {
    "en": (
        "whether the answer means what the clause says: values and words only",
        "near misses: a question about another party or event can look like evidence",
        "damage of the model's files, which their digests show",
    ),
    "zh": (
        "回答与条款含义是否一致：只比较了数值和用词",
        "近似问题：涉及其他当事人或事项的问题也可能看似有依据",
        "模型文件是否损坏：由文件摘要检验",
    ),
}
_ROWS = "question tokens; for the answer the rows before each of its tokens"


def diagnose(case: Case, *, answer: str | None, alpha: float, max_new_tokens: int) -> Diagnosis:
    """Why an answer to ``case`` was wrong. ``answer`` None: the model's own greedy one is diagnosed.

    Raises ``UsageError`` for an empty answer, and for a place of which no passage is read as contract text (a table
    of contents).
    """
    if answer is not None and not answer.strip():
        raise UsageError("the answer is empty", "leave --answer out to diagnose the model's own")
    walk = _Walk(case, Measures(case, answer, alpha, max_new_tokens), given=answer is not None)
    hit = walk.structure(max_new_tokens) or walk.evidence(max_new_tokens)
    return _assembled(walk, hit)


class _Walk:
    """The ladder of one case; collects the tests on the way."""

    def __init__(self, case: Case, measures: Measures, *, given: bool) -> None:
        self.case = case
        self.measures = measures
        self.given = given
        self.tests: list[Test] = []
        self.model_ran = False

    def take(self, step: Step) -> Hit | None:
        """Keep the tests of a step, return its hit."""
        self.tests += step.tests
        return step.hit

    def structure(self, answer_tokens: int) -> Hit | None:
        """Rungs 0a to 1."""
        hit = self.take(not_fed(self.case))
        if hit is not None:
            return hit
        beyond = beyond_window(self.case, answer_tokens)
        if beyond.hit is not None:  # nothing that long is run: the masks cannot be read
            detail = "not taken: a prompt beyond the trained window is not run"
            self.tests.append(Test("0b", "layers_that_reach", None, None, None, detail))
            return self.take(beyond)
        self.model_ran = True
        rungs: tuple[Callable[[], Step], ...] = (
            lambda: out_of_reach(self.case),
            lambda: beyond,
            lambda: implementation_fault(self.case),
        )
        return next((hit for rung in rungs if (hit := self.take(rung())) is not None), None)

    def evidence(self, max_new_tokens: int) -> Hit:
        """Rungs 2 to 5."""
        case, measures = self.case, self.measures
        if case.place is None:
            self._check_evidence()
            return self.take(unsupported_claim(case, measures, given=self.given)) or self._blind_spot()
        if not case.passages:
            raise UsageError("the expected place is a table of contents", "name the clause itself")
        nothing_wrong = Hit("no_fault")
        if self.given:
            agreed = agrees(case, measures.answer)
            self.tests.append(agreement_test(agreed))
            if agreed.agrees:
                return nothing_wrong
        self._check_evidence()
        hit = self.take(not_seen(case, measures))
        if hit is not None:
            return hit
        if not self.given:
            agreed = agrees(case, measures.answer)
            self.tests.append(agreement_test(agreed))
            if agreed.agrees:
                return self.take(unsupported_claim(case, measures, given=False)) or nothing_wrong
        return (
            self.take(not_selected(case, measures))
            or self.take(misread(case, max_new_tokens, given=self.given))
            or nothing_wrong
        )

    def _check_evidence(self) -> None:
        profile = self.case.reading.profile
        if not profile.serves(language_of(self.case.question)):
            raise ModelError(
                "rungs 0 and 1 found no fault, and the attention of this model is no evidence for the others "
                f"({profile.note})",
                "diagnose with another model, or compare the answer with the clause by hand",
            )

    def _blind_spot(self) -> Hit:
        decision = self.measures.decision
        chunk = self.case.reading.chunks[decision.best]
        top = clause_label(self.case.document, chunk.clause) or f"passage {decision.best + 1}"
        detail = "a passage stands out although nothing is expected to answer"
        failed = Test("5", "nothing_stands_out", decision.p_value, self.measures.alpha, passed=False, detail=detail)
        self.tests.append(failed)
        return Hit("blind_spot", "", {"top": top, "p": f"{decision.p_value:.3f}"})


def _assembled(walk: _Walk, hit: Hit) -> Diagnosis:
    case = walk.case
    language = language_of(case.question)
    sentence, remedy = worded(hit, "" if case.place is None else case.place.label, language)
    return Diagnosis(
        question=case.question,
        expected=_expected(case),
        # an answer is decoded for the rungs that need one only
        answer=walk.measures.answer if walk.given or hit.verdict in _WITH_ANSWER else "",
        answer_given=walk.given,
        verdict=hit.verdict,
        rung=RUNGS[hit.verdict],
        sentence=sentence,
        remedy=remedy,
        tests=tuple(walk.tests),
        distractor=_distractor(case, hit),
        run=_run(walk) if walk.model_ran else None,
        not_tested=_NOT_TESTED[language],
    )


_WITH_ANSWER = ("not_seen", "not_selected", "misread", "unsupported_claim", "blind_spot", "no_fault")


def _expected(case: Case) -> ExpectedPlace | None:
    place = case.place
    if place is None:
        return None
    if place.span is None:
        return ExpectedPlace(place.named, "", None, None, "")
    quote = case.document.text[place.span.start : place.span.end]
    return ExpectedPlace(place.named, place.label, place.span.start, place.span.end, quote)


def _distractor(case: Case, hit: Hit) -> NamedClause | None:
    if hit.verdict != "not_selected":
        return None
    chunk = case.reading.chunks[int(hit.facts["passage"])]
    return NamedClause(hit.facts["other"], chunk.span.start, chunk.span.end)


def _run(walk: _Walk) -> Run:
    case = walk.case
    model = model_summary(case.loaded.source, case.template.sha256, case.reading.profile)
    count = len(question_bank(language_of(case.question), walk.measures.alpha).compared)
    return Run(model.name, model.sha256, model.template_sha256, model.heads, walk.measures.alpha, count, _ROWS)
