"""Putting an answer together: outcome, reasons for review and coverage, on a tiny model with planted scores."""

from __future__ import annotations

import json
from dataclasses import replace
from string import Formatter

import numpy as np
import pytest

from softlookup.cost.plan.strategy import Strategy
from softlookup.documents.language import language_of
from softlookup.documents.model import CoverageRow
from softlookup.documents.read import read_document
from softlookup.errors import ExitCode
from softlookup.evidence import reasons
from softlookup.evidence.abstention import decide
from softlookup.evidence.answer import Seconds
from softlookup.evidence.assembly import RunFacts, assemble_answer, assemble_word_answer, model_summary
from softlookup.evidence.profile import HeadProfile
from softlookup.evidence.reading import QuestionEvidence, Reading
from softlookup.retrieval.chunks import passages
from softlookup.retrieval.context import full_context
from softlookup.retrieval.passage_search import SearchScores
from softlookup.runtime.prefilled import Decoded, prefill
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CONTRACT

ALPHA = 0.05
TEXT = CONTRACT + "\n7. Fines. Fines follow clause 44.\n"
PROFILE = HeadProfile(((1, 0),), (1.0,), profiled=True)


class Case:
    """A document that a tiny model has read; ``ask`` plants where question and answer look."""

    def __init__(self, loaded, tmp_path, text=TEXT):
        path = tmp_path / "contract.txt"
        path.write_text(text, "utf-8")
        self.document = read_document(path)
        self.chunks = passages(self.document, 120)
        context = full_context(self.document)
        self.reading = Reading(
            prefill(loaded, PromptTemplate(loaded.tokenizer), context.text), context, self.chunks, PROFILE
        )
        self.strategy = Strategy("full_context", "it fits", 400, 400, 4096)
        self.alerts = ()
        self.profile = PROFILE

    def place(self, words):
        return next(i for i, c in enumerate(self.chunks) if words in self.document.text[c.span.start : c.span.end])

    def ask(self, looked_at, *, answer_at=None, text="", question="Who pays?"):
        scores = np.zeros(len(self.chunks))
        if looked_at:
            scores[self.place(looked_at)] = 2.0
        evidence = QuestionEvidence(
            tuple(self.chunks),
            scores,
            decide(scores, np.linspace(0.1, 1.0, 39), ALPHA),
            None if answer_at is None else self.chunks[self.place(answer_at)].span,
        )
        run = self.run(Seconds(read=0.12345, total=0.5), self.profile)
        decoded = Decoded((5, 6), text, -0.5, finished=True, question_seconds=0.1, answer_seconds=0.1)
        return assemble_answer(
            self.document, question, evidence, decoded, SearchScores(np.zeros(len(self.chunks))), run
        )

    def run(self, seconds, profile):
        begin, end = self.reading.prefilled.prefix.document
        loaded, template = self.reading.prefilled.loaded, self.reading.prefilled.template
        return RunFacts(
            self.strategy,
            ALPHA,
            self.alerts,
            seconds,
            model_summary(loaded.source, template.sha256, profile),
            profile,
            self.reading.context.spans,
            end - begin,
            end - begin,
        )


@pytest.fixture
def case(tiny_loaded, tmp_path):
    return Case(tiny_loaded("llama"), tmp_path)


def test_evidence_is_an_answer_without_review(case):
    answer = case.ask("laws of Ireland", text="The laws of Ireland.")
    assert (answer.outcome, answer.needs_review, answer.exit_code) == ("answered", False, ExitCode.OK)
    assert answer.answer == "The laws of Ireland."
    assert answer.citations[0].clause == "5"
    assert "p = 0.025, 1 heads" in answer.reason
    assert "not tested" in answer.reason
    assert answer.model.heads == ((1, 0),)
    assert answer.plan.context_tokens == answer.coverage.tokens_read == len(case.reading.prefilled.prefix.offsets)
    assert answer.coverage.characters == len(case.document.text)
    assert answer.seconds.read == 0.123
    json.dumps(answer.to_dict(), allow_nan=False)


@pytest.mark.parametrize("looked_at", ["laws of the sea", "laws of Ireland"])
def test_an_overriding_clause_must_be_read_with_the_overridden_one(tiny_loaded, tmp_path, looked_at):
    text = TEXT + "\n8. Storm. Notwithstanding clause 5, the laws of the sea apply in a storm.\n"
    answer = Case(tiny_loaded("llama"), tmp_path, text).ask(looked_at, text="The laws of Ireland.")
    assert answer.needs_review
    assert "read together: 8 overrides 5" in answer.reason
    assert {"5", "8"} <= {citation.clause for citation in answer.citations}


@pytest.mark.parametrize(("question", "words"), [("Who swims?", "please check by hand"), ("谁游泳？", "未见突出依据")])
def test_without_evidence_nothing_is_said(case, question, words):
    answer = case.ask(None, text="Bob swims in 2031.", question=question)
    assert (answer.outcome, answer.needs_review, answer.exit_code) == ("no_evidence", True, ExitCode.NO_EVIDENCE)
    assert answer.answer == ""
    assert answer.citations == ()
    assert words in answer.reason
    assert answer.ranking  # the nearest passages are still shown


def test_question_and_answer_at_different_clauses_conflict(case):
    answer = case.ask("laws of Ireland", answer_at="repair the jetty")
    assert (answer.outcome, answer.needs_review, answer.exit_code) == ("conflict", True, ExitCode.OK)
    assert "the model looked at 3, which your question did not point to" in answer.reason
    assert case.ask("laws of Ireland", answer_at="laws of Ireland").outcome == "answered"
    # a clause that the cited one needs is no other clause
    assert case.ask("2.2 Late payment", answer_at="4.1 Either").outcome == "answered"


def test_invented_values_ask_for_review(case):
    kept = case.ask("repair the jetty", text="Within 30 days.")
    assert not kept.needs_review
    invented = case.ask("repair the jetty", text="Within 45 days.")
    assert invented.needs_review
    assert "values that the cited passages do not contain: 45" in invented.reason


def test_dangling_references_ask_for_review(case):
    answer = case.ask("Fines follow")
    assert answer.needs_review
    assert "does not contain: clause 44" in answer.reason


def test_alerts_and_unprofiled_heads_ask_for_review(case):
    case.alerts = ("sink: x",)
    case.profile = replace(PROFILE, profiled=False)
    answer = case.ask("laws of Ireland")
    assert answer.alerts == ("sink: x",)
    assert "the model behaved unusually" in answer.reason
    assert "not profiled" in answer.reason
    assert answer.model.heads == "all heads of layers 1 to 1 (not profiled)"


def test_a_partly_read_document_is_said_and_changes_the_exit_code(case):
    rows = (*case.document.coverage.rows, CoverageRow("page 2", "scanned", 0, "a picture"))
    case.document = replace(case.document, coverage=replace(case.document.coverage, rows=rows))
    answer = case.ask("laws of Ireland")
    assert answer.exit_code == ExitCode.DOCUMENT
    assert answer.coverage.skipped == ("page 2: scanned (a picture)",)
    assert not answer.coverage.complete
    assert "part of the document could not be read" in answer.reason


def test_retrieval_without_evidence_says_that_not_all_was_read(case):
    case.strategy = Strategy("retrieval", "it does not fit", 90_000, 3000, 4096)
    assert "only the retrieved clauses were read" in case.ask(None).reason
    assert "only the retrieved clauses" not in case.ask("laws of Ireland").reason


# --- near misses


def test_a_cited_clause_on_another_event_asks_for_review(case):
    missed = case.ask("4.1 Either", question="May the Owner assign the barge after a merger?")
    assert missed.outcome == "answered"
    assert missed.needs_review
    assert 'the cited clauses do not mention "assign", "merger"' in missed.reason
    assert missed.reasons[0] in missed.reason
    answered = case.ask("4.1 Either", question="May the Owner end the agreement?")
    assert "do not mention" not in answered.reason
    assert not answered.needs_review


def test_what_the_closure_adds_counts_as_mentioned(case):
    """Clause 2.2 is subject to 4.1, which is added: its words are there for the reader."""
    assert "do not mention" not in case.ask("2.2 Late payment", question="Is a notice of 90 days needed?").reason
    answer = case.ask("2.2 Late payment", question="Is there a theft of 700?")
    assert 'do not mention "theft", "700"' in answer.reason


# --- models without attention evidence


def words_only(case, question, *, note=""):
    lexical = np.zeros(len(case.chunks))
    lexical[case.place("laws of Ireland")] = 3.0
    run = case.run(Seconds(total=0.5), replace(PROFILE, languages=(), note=note))
    return assemble_word_answer(
        case.document, question, case.chunks, lexical, replace(run, fed=(), tokens_fed=0, tokens_seen=0)
    )


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which law governs?", "attention evidence is unavailable for this model (mere chance)"),
        ("适用哪国法律？", "须由人工阅读判断"),
    ],
)
def test_without_attention_evidence_a_person_decides(case, question, words):
    answer = words_only(case, question, note="mere chance")
    assert (answer.outcome, answer.needs_review, answer.exit_code) == ("no_evidence", True, ExitCode.NO_EVIDENCE)
    assert answer.p_value is None
    assert answer.evidence_score is None
    assert answer.citations == ()
    assert words in answer.reason
    assert answer.ranking[0].clause == "5"  # BM25 alone
    assert answer.coverage.tokens_read == answer.plan.context_tokens == 0
    json.dumps(answer.to_dict(), allow_nan=False)


def test_a_partly_read_document_is_said_without_attention_evidence_too(case):
    rows = (*case.document.coverage.rows, CoverageRow("page 2", "scanned", 0, "a picture"))
    case.document = replace(case.document, coverage=replace(case.document.coverage, rows=rows))
    answer = words_only(case, "Which law governs?")
    assert answer.exit_code == ExitCode.DOCUMENT
    assert "part of the document could not be read" in answer.reason
    assert "not found on planted questions" in answer.reason  # the default note


def test_many_heads_are_named_by_a_phrase(case):
    heads = tuple((layer, head) for layer in (4, 5, 6) for head in range(12))
    source = case.reading.prefilled.loaded.source
    summary = model_summary(source, "2" * 64, replace(PROFILE, heads=heads, weights=(1.0,) * 36))
    assert summary.heads == "all heads of layers 4 to 6 (no choice of heads did better on planted questions)"


@pytest.mark.parametrize("key", sorted(reasons._EN))
def test_every_reason_exists_in_both_languages_with_the_same_facts(key):
    english, chinese = (
        sorted(name for _, name, _, _ in Formatter().parse(table[key]) if name) for table in (reasons._EN, reasons._ZH)
    )
    assert english == chinese
    assert language_of(reasons._ZH[key]) == "zh" or key == "joint"


def test_reasons_follow_the_language_of_the_question(case):
    reason = case.ask("laws of Ireland", question="适用哪国法律，以何种语言书写？").reason
    assert language_of(reason) == "zh"
    assert "p = 0." in reason
    assert language_of(case.ask("laws of Ireland").reason) == "en"
