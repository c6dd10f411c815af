"""Tables of the report: coverage, seconds, strategies, alerts, sinks, tests of a diagnosis; no words of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlookup.cost.plan.plan_texts import seconds_text
from softlookup.diagnostics.alert_texts import ALERT_TEXTS
from softlookup.diagnostics.alerts import condensed
from softlookup.documents.language import Language
from softlookup.ui.report.words import WORDS

if TYPE_CHECKING:
    from softlookup.cost.figures import Figure
    from softlookup.cost.plan.estimate import CostEstimate
    from softlookup.diagnostics.diagnosis import Diagnosis
    from softlookup.diagnostics.inspection_result import Inspection
    from softlookup.documents.model import Document
    from softlookup.evidence.answer import Answer
    from softlookup.ui.report.content import Record

PHASES = ("read", "load", "prefill", "calibrate", "question", "answer", "total")
_MOST_LABELS = 40
_MOST_ROWS = 40
_MOST_SINKS = 8

Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the reader made of the file: whole units in one line, every other one by itself."""

    complete: bool
    whole: int
    others: tuple[str, ...]
    more: int
    notes: tuple[str, ...]
    asides: int


def coverage(document: Document) -> Coverage:
    """The reader's account."""
    rows = [row for row in document.coverage.rows if row.state != "read" or row.reason]
    others = [f"{row} ({row.characters:,})" if row.characters else str(row) for row in rows]
    return Coverage(
        document.coverage.complete,
        len(document.coverage.rows) - len(rows),
        tuple(others[:_MOST_ROWS]),
        max(0, len(others) - _MOST_ROWS),
        document.coverage.notes,
        len(document.aside),
    )


def plan_groups(records: Sequence[Record]) -> list[tuple[tuple[int, ...], Answer]]:
    """Numbers of the questions that were read in the same way, with the answer of the first of them."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, record in enumerate(records, 1):
        plan, covered = record.answer.plan, record.answer.coverage
        same = (plan.strategy, plan.reason, covered.tokens_seen, covered.tokens_total, covered.tokens_read)
        groups.setdefault((*same, covered.clauses_not_fed), []).append(number)
    return [(tuple(numbers), records[numbers[0] - 1].answer) for numbers in groups.values()]


def not_fed_line(answer: Answer, language: Language) -> str:
    """Labels of the clauses that the answer was made without."""
    words, left = WORDS[language], answer.coverage.clauses_not_fed
    if not left:
        return words["nothing_left"]
    named = words["joint"].join(left[:_MOST_LABELS])
    more = len(left) - _MOST_LABELS
    return named if more <= 0 else f"{named} {words['and_more'].format(count=more)}"


def seconds_rows(records: Sequence[Record], language: Language) -> list[Cells]:
    """Predicted seconds, then measured ones by phase; one column per question; no row for what took no time."""
    words = WORDS[language]
    names = {**{phase: words[phase] for phase in PHASES if phase in words}, "question": words["question_s"],
             "answer": words["answer_s"]}  # fmt: skip
    rows: list[Cells] = []
    for key in ("first", "next"):
        values = [getattr(record.answer.plan, f"{key}_answer_seconds") for record in records]
        if any(value is not None for value in values):
            shown = tuple("–" if value is None else seconds_text(value, language) for value in values)
            rows.append((words[f"predicted_{key}"], *shown))
    for phase in PHASES:
        values = [getattr(record.answer.seconds, phase) for record in records]
        if any(values):
            rows.append((names[phase], *(seconds_text(value, language) if value else "–" for value in values)))
    return rows


def strategy_rows(found: CostEstimate, language: Language) -> list[Cells]:
    """Name, first answer, each more, memory, what can be lost, and "yes" where it was chosen."""
    words = WORDS[language]
    rows: list[Cells] = []
    for row in found.strategies:
        lost = f"{words['impossible']}: {row.obstacle}" if row.obstacle else row.loses
        figures = ("–",) * 3 if row.obstacle else (
            _span(row.first_answer, language), _span(row.next_answer, language), _bytes(row.memory.value)
        )  # fmt: skip
        kind = words["kind_measured" if row.first_answer.kind == "measured" else row.first_answer.kind]
        chosen = words["chosen"] if found.decision.strategy == row.name else ""
        rows.append((words[row.name], *figures, lost, "" if row.obstacle else kind, chosen))
    return rows


def _span(figure: Figure, language: Language) -> str:
    text = seconds_text(figure.value, language)
    if figure.low == figure.high:
        return text
    return f"{text} ({seconds_text(figure.low, language)} – {seconds_text(figure.high, language)})"


def _bytes(value: float) -> str:
    for factor, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value:.0f} B"


def alert_rows(found: Inspection, language: Language) -> list[Cells]:
    """Monitor, place, value, threshold, meaning, remedy."""
    words = WORDS[language]
    rows: list[Cells] = []
    for alert in condensed(found.alerts):
        text = ALERT_TEXTS[alert.monitor]
        meaning, remedy = (text.meaning_zh, text.remedy_zh) if language == "zh" else (text.meaning, text.remedy)
        place = words["whole_model"]
        if alert.layer is not None:
            head = "" if alert.head is None else f"{words['joint']}{words['head']} {alert.head}"
            more = f" (+{alert.layers - 1})" if alert.layers > 1 else ""
            place = f"{words['layer']} {alert.layer}{head}{more}"
        detail = f" [{alert.detail}]" if alert.detail else ""
        rows.append((alert.monitor, place, f"{alert.value:.3g}", f"{alert.threshold:.3g}", meaning + detail, remedy))
    return rows


def sink_rows(found: Inspection, language: Language) -> list[Cells]:
    """What the key is, how many heads, mean weight, the best heads."""
    rows: list[Cells] = []
    for sink in found.sinks[:_MOST_SINKS]:
        token = "" if sink.key is None else f" {sink.key} “{sink.token.encode('unicode_escape').decode('ascii')}”"
        if sink.token.strip() and sink.token.isprintable():
            token = f" {sink.key} “{sink.token}”"
        places = ", ".join(f"{layer}-{head} {mass:.2f}" for layer, head, mass in sink.places[:3])
        rows.append((f"{WORDS[language][sink.kind]}{token}", f"{sink.heads:,}", f"{sink.mass:.2f}", places))
    return rows


def test_rows(found: Diagnosis, language: Language) -> list[tuple[Cells, str]]:
    """(rung, name, value, threshold, result, detail) and the class of each row."""
    words = WORDS[language]
    rows: list[tuple[Cells, str]] = []
    for test in found.tests:
        result, kind = {True: ("ok", "good"), False: ("fail", "bad"), None: ("open", "open")}[test.passed]
        value = "–" if test.value is None else f"{test.value:.4g}"
        limit = "–" if test.threshold is None else f"{test.threshold:.4g}"
        rows.append(((test.rung, test.name, value, limit, words[result], test.detail), kind))
    return rows


def verdict_name(found: Diagnosis, language: Language) -> str:
    """The verdict in words."""
    return WORDS[language]["not_fed_v" if found.verdict == "not_fed" else found.verdict]


def heads_line(heads: tuple[tuple[int, int], ...] | str) -> str:
    """Heads as "18-7, 17-4", or the phrase that stands for them."""
    return heads if isinstance(heads, str) else ", ".join(f"{layer}-{head}" for layer, head in heads)


def formats(document: Document) -> str:
    """How many blocks of each kind there are, for those who compare readers."""
    counts = Counter(block.kind for block in document.blocks)
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
