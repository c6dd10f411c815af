"""One question on one reading: calibration, monitors, evidence, answer; or the order of words for want of evidence."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from softlookup.documents.language import language_of
from softlookup.documents.model import Span
from softlookup.evidence.answer import Answer, Seconds
from softlookup.evidence.assembly import RunFacts, assemble_answer, assemble_word_answer, model_summary
from softlookup.retrieval.chunks import without_contents

if TYPE_CHECKING:
    from softlookup.evidence.reading import QuestionEvidence, Reading
    from softlookup.runtime.prefilled import Decoded
    from softlookup.session.readings import Readings
    from softlookup.session.session import Session

Told = tuple[Answer, tuple[Span, ...]]


def answer_by_words(readings: Readings, question: str) -> Answer:
    """The answer of a model whose attention is no evidence: passages by BM25, a person decides."""
    return assemble_word_answer(
        readings.document,
        question,
        without_contents(readings.document, readings.chunks),
        readings.lexical.scores(question),
        _facts(readings, readings.take_seconds()),
    )


def answer_question(readings: Readings, question: str, reading: Reading) -> Told:
    """Calibrate if need be, read the question under the monitors, decode an answer where there is evidence.

    Also the spans of the document that the answer was made from.
    """
    evidence, decoded, alerts = _run(readings, question, reading, decided=False)
    return _told(readings, question, evidence, decoded, _fed_facts(readings, reading, decoded, alerts))


def answer_from_windows(readings: Readings, question: str) -> Told:
    """Evidence from all windows; where there is any, an answer from a context of the best clauses.

    Without evidence nothing more is read: no answer would be decoded.
    """
    from softlookup.runtime.prefilled import Decoded

    (evidence,) = readings.hybrid.evidence([question])
    if not evidence.decision.found:
        nothing = Decoded((), "", 0.0, finished=True, question_seconds=0.0, answer_seconds=0.0)
        facts = replace(_facts(readings, readings.take_seconds()), tokens_seen=readings.strategy.document_tokens)
        return _told(readings, question, evidence, nothing, facts)
    reading = readings.read(readings.hybrid.context(question))
    own, decoded, alerts = _run(readings, question, reading, decided=True)
    facts = replace(_fed_facts(readings, reading, decoded, alerts), tokens_seen=readings.strategy.document_tokens)
    return _told(readings, question, replace(evidence, answer_span=own.answer_span), decoded, facts)


def _told(readings: Readings, question: str, evidence: QuestionEvidence, decoded: Decoded, facts: RunFacts) -> Told:
    search = readings.search.scores(question)
    return assemble_answer(readings.document, question, evidence, decoded, search, facts), facts.fed


def _run(
    readings: Readings, question: str, reading: Reading, *, decided: bool
) -> tuple[QuestionEvidence, Decoded, tuple[str, ...]]:
    """Evidence on ``reading``, what was decoded, and the alerts of the monitors in the question's language."""
    from softlookup.diagnostics.alerts import condensed
    from softlookup.diagnostics.baseline import load_baseline
    from softlookup.diagnostics.monitors import AttentionMonitor
    from softlookup.diagnostics.symptoms import answer_pieces, symptoms

    session, document, language = readings.session, readings.document, language_of(question)
    options, loaded, template = session.options, session.loaded, session.template
    start = time.perf_counter()
    reading.calibration(language, session.progress, alpha=options.alpha)
    readings.spend("calibrate", start)
    monitor = AttentionMonitor(
        template.suffix(question).question_length,
        loaded.model.config,
        load_baseline(loaded.source.sha256, template.sha256),
    )
    evidence, decoded = reading.ask(
        question,
        alpha=options.alpha,
        max_new_tokens=options.max_answer_tokens,
        monitor=monitor,
        on_token=lambda ids: _report(session, ids),
        decided=decided,
    )
    session.progress("answer", 1.0)
    pieces = answer_pieces(loaded.tokenizer, decoded.ids)
    noticed = symptoms(pieces, decoded.text, document, monitor.layers, monitor.baseline)
    alerts = condensed((*monitor.alerts(), *noticed))
    return evidence, decoded, tuple(alert.in_chinese() if language == "zh" else str(alert) for alert in alerts)


def _report(session: Session, ids: Sequence[int]) -> None:
    """Tell how far the answer is, and its words so far; an answer may stop inside a character."""
    session.progress("answer", len(ids) / session.options.max_answer_tokens)
    if session.on_text is not None:
        text = session.loaded.tokenizer.decode(list(ids), skip_special_tokens=True)
        session.on_text(text.rstrip("\ufffd").strip())


def _fed_facts(readings: Readings, reading: Reading, decoded: Decoded, alerts: tuple[str, ...]) -> RunFacts:
    """The facts of a run that read a context for its answer."""
    spent = readings.take_seconds()
    spent["question"] = spent.get("question", 0.0) + decoded.question_seconds
    spent["answer"] = decoded.answer_seconds
    begin, end = reading.prefilled.prefix.document
    return replace(
        _facts(readings, spent),
        alerts=alerts,
        fed=reading.context.spans,
        tokens_fed=end - begin,
        tokens_seen=end - begin,
    )


def _facts(readings: Readings, spent: Mapping[str, float]) -> RunFacts:
    """The facts of a run that fed nothing to the model."""
    session = readings.session
    return RunFacts(
        readings.strategy,
        session.options.alpha,
        (),
        Seconds(**spent, total=sum(spent.values())),
        model_summary(session.source, session.template.sha256, session.profile),
        session.profile,
    )
