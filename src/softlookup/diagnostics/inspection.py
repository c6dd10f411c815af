"""Everything that the monitors know about one question on one document; prints nothing and decides nothing.

Rows: those of the question. The strip and the head lists are calibrated (the same for questions of the bank on this
document is subtracted), since raw mass shows where clauses are long and near, not where the question points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from softlookup.diagnostics.alerts import Alert
from softlookup.diagnostics.baseline import Baseline, baseline_of, outside_share
from softlookup.diagnostics.head_statistics import HeadStatistics, head_statistics
from softlookup.diagnostics.inspection_result import (
    ClauseShare,
    HeadClauses,
    Inspection,
    LayerSummary,
    PassageWeight,
    StripRow,
    layer_summary,
)
from softlookup.diagnostics.monitors import AttentionMonitor
from softlookup.diagnostics.sinks import Sink, named_sinks, sinks_of_prefill, sinks_of_rows
from softlookup.diagnostics.symptoms import answer_pieces, symptoms
from softlookup.documents.language import language_of
from softlookup.errors import ModelError
from softlookup.evidence.attribution import PassageMass, Rows
from softlookup.evidence.citation import clause_label
from softlookup.evidence.question_bank import question_bank
from softlookup.runtime.prefilled import Decoded, Pack
from softlookup.runtime.progress import Progress, no_progress

if TYPE_CHECKING:
    from softlookup.documents.model import Document, Span
    from softlookup.evidence.reading import QuestionEvidence, Reading
    from softlookup.runtime.attention_calls import AttentionCall
    from softlookup.runtime.observation import LayerObservation

FloatArray = npt.NDArray[np.float64]

# questions of the bank that are run for the comparison, evenly over both of its lists
BANK_QUESTIONS = 12
# share of all heads outside the range of the bank's questions on this document
UNLIKE_BANK = 0.25
STRIP_CLAUSES = 8
HEAD_CLAUSES = 3
OPENING = 40  # characters of a passage that stand for a clause without a number


@dataclass(frozen=True, slots=True)
class InspectOptions:
    """``baseline``: the model's stored one, or None. ``prefill``: layers of an observed prefill, or None."""

    alpha: float
    max_answer_tokens: int
    baseline: Baseline | None = None
    prefill: Mapping[int, LayerObservation] | None = None
    progress: Progress = no_progress


class LayerMass:
    """Mean mass [L, passages] of the rows of several questions over all heads of every layer, as they run."""

    def __init__(self, passage_of_key: npt.NDArray[np.int64], document: tuple[int, int], passages: int) -> None:
        self._owner, self._document, self._passages = passage_of_key, document, passages
        self.mass: dict[int, dict[int, FloatArray]] = {}

    def collect(self, call: AttentionCall, question: int, rows: slice) -> None:
        """Add one layer of ``question``."""
        from softlookup.attention.rows import row_weights

        visible = None if call.visible is None else call.visible[rows]
        weights = row_weights(call.query[:, rows], call.key, visible, call.scale, call.softcap, call.sinks)
        start, stop = self._document
        mean = weights[:, :, start:stop].double().mean(dim=(0, 1)).numpy()
        inside = self._owner >= 0
        found = np.bincount(self._owner[inside], weights=mean[inside], minlength=self._passages)
        self.mass.setdefault(call.layer, {})[question] = found.astype(np.float64)


def inspect_reading(document: Document, reading: Reading, question: str, options: InspectOptions) -> Inspection:
    """Run ``question`` and a sample of the bank on ``reading``, and tell what every layer and head did.

    A model whose logits are not finite gives no answer; what the monitors saw until then is told all the same.
    """
    language = language_of(question)
    calibration = reading.calibration(language, options.progress, alpha=options.alpha)
    bank_runs, bank_mass = _bank(reading, language, options.progress)
    suffix = reading.prefilled.template.suffix(question)
    rows = slice(0, suffix.question_length)
    content: list[tuple[int, Rows]] = [(0, reading.rows(question))]
    config = reading.prefilled.loaded.model.config
    monitor = AttentionMonitor(suffix.question_length, config, options.baseline, thorough=True)
    per_head = PassageMass(reading.profile, reading.passage_map, 1)
    layer_mass = _layer_mass(reading)

    def callback(call: AttentionCall) -> None:
        monitor(call)
        per_head.collect(call, content)
        layer_mass.collect(call, 0, rows)

    evidence: QuestionEvidence | None = None
    decoded: Decoded | None = None
    failure = ""
    try:
        evidence, decoded = reading.ask(
            question,
            alpha=options.alpha,
            max_new_tokens=options.max_answer_tokens,
            monitor=callback,
            on_token=lambda ids: options.progress("answer", len(ids) / options.max_answer_tokens),
        )
    except ModelError as error:
        failure = error.message
    options.progress("answer", 1.0)
    document_baseline = baseline_of(bank_runs) if any(_finite(run) for run in bank_runs) else None
    scores = evidence.scores if evidence is not None else np.zeros(len(reading.chunks))
    return Inspection(
        question=question,
        language=language,
        rows=suffix.question_length,
        alerts=_alerts(document, reading, monitor, decoded, document_baseline),
        layers=_summaries(monitor.layers, options.baseline, document_baseline),
        strip=_strip(document, reading, scores, layer_mass, bank_mass),
        heads=_head_clauses(document, reading, per_head.mass[0] - calibration.null),
        sinks=_sinks(reading, monitor.layers, options.prefill),
        sink_rows="question" if options.prefill is None else "all",
        bank_questions=len(bank_runs),
        baseline_runs=None if options.baseline is None else options.baseline.runs,
        healthy_bank=document_baseline,
        p_value=None if evidence is None else round(evidence.decision.p_value, 4),
        alpha=options.alpha,
        found=evidence is not None and evidence.decision.found,
        answer="" if decoded is None else decoded.text,
        failure=failure,
        context_tokens=reading.prefilled.prefix.document[1] - reading.prefilled.prefix.document[0],
        model=reading.prefilled.loaded.source.name,
        model_sha256=reading.prefilled.loaded.source.sha256,
        template_sha256=reading.prefilled.template.sha256,
        profiled=reading.profile.profiled,
        passages=_passages(reading, layer_mass),
    )


def _alerts(
    document: Document,
    reading: Reading,
    monitor: AttentionMonitor,
    decoded: Decoded | None,
    document_baseline: Baseline | None,
) -> tuple[Alert, ...]:
    ids, text = ((), "") if decoded is None else (decoded.ids, decoded.text)
    pieces = answer_pieces(reading.prefilled.loaded.tokenizer, ids)
    found = [*monitor.alerts(), *symptoms(pieces, text, document, monitor.layers, monitor.baseline)]
    if document_baseline is not None:
        share = sum(outside_share(document_baseline, monitor.layers, "normalized_entropy"))
        if share > UNLIKE_BANK:
            found.append(Alert("question_unlike_bank", share, UNLIKE_BANK, detail="share of heads out of range"))
    return tuple(found)


def _bank(reading: Reading, language: str, progress: Progress) -> tuple[list[dict[int, HeadStatistics]], LayerMass]:
    """Statistics and passage mass of a sample of the bank, in packed passes through all layers."""
    bank = question_bank(language).questions  # type: ignore[arg-type]
    places = np.unique(np.linspace(0, len(bank) - 1, BANK_QUESTIONS).round().astype(int))
    suffixes = [reading.prefilled.template.question_only(bank[place]) for place in places]
    runs: list[dict[int, HeadStatistics]] = [{} for _ in suffixes]
    mass = _layer_mass(reading)

    def collect(pack: Pack, call: AttentionCall) -> None:
        for index, suffix, start in zip(pack.indices, pack.suffixes, pack.starts, strict=True):
            rows = slice(start, start + suffix.question_length)
            runs[index][call.layer] = head_statistics(call, rows, mass_rows=1)
            mass.collect(call, index, rows)

    reading.prefilled.observe_packed(suffixes, collect, progress)
    return runs, mass


def _layer_mass(reading: Reading) -> LayerMass:
    places = reading.passage_map
    return LayerMass(places.passage_of_token, places.document, places.count)


def _finite(run: Mapping[int, HeadStatistics]) -> bool:
    return bool(run) and all(layer.finite for layer in run.values())


def _summaries(
    layers: Mapping[int, HeadStatistics], stored: Baseline | None, document: Baseline | None
) -> tuple[LayerSummary, ...]:
    return tuple(layer_summary(layers[number], stored, document) for number in sorted(layers))


def _strip(
    document: Document, reading: Reading, scores: FloatArray, question: LayerMass, bank: LayerMass
) -> tuple[StripRow, ...]:
    """The clauses of the best passages, with what their passages together got in every layer beyond the bank."""
    numbers = sorted(question.mass)
    calibrated = np.array(
        [question.mass[number][0] - np.mean(list(bank.mass[number].values()), axis=0) for number in numbers]
    )  # [L, passages]
    by_clause: dict[str, list[int]] = {}
    for place in np.argsort(-scores, kind="stable"):
        clause = clause_label(document, reading.chunks[place].clause)
        name = clause or f"@{reading.chunks[place].span.start}"
        by_clause.setdefault(name, []).append(int(place))
    rows = []
    for name, places in list(by_clause.items())[:STRIP_CLAUSES]:
        best = reading.chunks[places[0]]
        mass = tuple(round(float(value), 6) for value in calibrated[:, places].sum(axis=1))
        clause = "" if name.startswith("@") else name
        score = round(float(scores[places[0]]), 6)
        opening = _opening(document, best.span)
        rows.append(StripRow(clause, opening, best.span.start, best.span.end, score, mass))
    return tuple(rows)


def _passages(reading: Reading, question: LayerMass) -> tuple[PassageWeight, ...]:
    """The question's mean weight on every passage of the reading."""
    mean = np.mean([layer[0] for layer in question.mass.values()], axis=0) if question.mass else ()
    found = (
        PassageWeight(chunk.span.start, chunk.span.end, round(float(weight), 6))
        for chunk, weight in zip(reading.chunks, mean, strict=False)
    )
    return tuple(sorted(found, key=lambda passage: passage.start))


def _opening(document: Document, span: Span) -> str:
    return " ".join(document.text[span.start : min(span.end, span.start + 2 * OPENING)].split())[:OPENING]


def _head_clauses(document: Document, reading: Reading, calibrated: FloatArray) -> tuple[HeadClauses, ...]:
    found = []
    for index, (layer, head) in enumerate(reading.profile.heads):
        order = np.argsort(-calibrated[index], kind="stable")[:HEAD_CLAUSES]
        shares = tuple(
            ClauseShare(
                clause_label(document, reading.chunks[place].clause),
                _opening(document, reading.chunks[place].span),
                reading.chunks[place].span.start,
                reading.chunks[place].span.end,
                round(float(calibrated[index, place]), 6),
            )
            for place in order
        )
        found.append(HeadClauses(layer, head, round(float(reading.profile.weights[index]), 4), shares))
    return tuple(found)


def _sinks(
    reading: Reading, layers: Mapping[int, HeadStatistics], prefill: Mapping[int, LayerObservation] | None
) -> tuple[Sink, ...]:
    prefix, tokenizer = reading.prefilled.prefix, reading.prefilled.loaded.tokenizer
    found = sinks_of_rows(layers) if prefill is None else sinks_of_prefill(prefill)

    def token_at(column: int) -> str:
        return str(tokenizer.decode([prefix.ids[column]])) if column < len(prefix.ids) else ""

    return named_sinks(found, token_at, prefix.document)
