"""One question on one reading: calibration, monitors, evidence, answer; or the order of words for want of evidence."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from softlookup.documents.language import language_of
from softlookup.evidence.answer import Answer, Seconds
from softlookup.evidence.assembly import RunFacts, assemble_answer, assemble_word_answer, model_summary
from softlookup.retrieval.chunks import without_contents

if TYPE_CHECKING:
    from softlookup.evidence.reading import Reading
    from softlookup.session.readings import Readings


def answer_by_words(readings: Readings, question: str) -> Answer:
    """The answer of a model whose attention is no evidence: passages by BM25, a person decides."""
    session, spent = readings.session, readings.take_seconds()
    run = RunFacts(readings.strategy, session.options.alpha, (), Seconds(**spent, total=sum(spent.values())))
    return assemble_word_answer(
        readings.document,
        question,
        without_contents(readings.document, readings.chunks),
        readings.lexical.scores(question),
        run,
        model_summary(session.source, session.template.sha256, session.profile),
        note=session.profile.note,
    )


def answer_question(readings: Readings, question: str, reading: Reading) -> Answer:
    """Calibrate if need be, read the question under the monitors, decode an answer where there is evidence."""
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
        on_token=lambda count: session.progress("answer", count / options.max_answer_tokens),
    )
    session.progress("answer", 1.0)
    spent = {**readings.take_seconds(), "question": decoded.question_seconds, "answer": decoded.answer_seconds}
    pieces = answer_pieces(loaded.tokenizer, decoded.ids)
    noticed = symptoms(pieces, decoded.text, document, monitor.layers, monitor.baseline)
    alerts = condensed((*monitor.alerts(), *noticed))
    run = RunFacts(
        readings.strategy,
        options.alpha,
        tuple(alert.in_chinese() if language == "zh" else str(alert) for alert in alerts),
        Seconds(**spent, total=sum(spent.values())),
    )
    return assemble_answer(document, reading, question, evidence, decoded, readings.search.scores(question), run)
