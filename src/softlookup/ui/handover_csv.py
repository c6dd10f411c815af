"""A hand-over as CSV for spreadsheets: one row per question, clause, gap and fact; no cell is run as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from softlookup.evidence.handover import NOT_TESTED
from softlookup.ui.escape import printable
from softlookup.ui.handover_labels import HANDOVER_LABELS, heads_text
from softlookup.ui.labels import LABELS

if TYPE_CHECKING:
    from softlookup.evidence.answer import Citation
    from softlookup.evidence.handover import Handover, QuestionRecord

COLUMNS = (
    "record", "number", "question", "outcome", "review", "p_value", "alpha", "clause", "heading", "page", "start",
    "end", "score", "via", "text",
)  # fmt: skip
# spreadsheets run a cell that begins so, full-width signs too, and some skip blanks before them
_FORMULA = ("=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠")
_BOM = "\ufeff"

Cell = str | int | float | None
Row = dict[str, Cell]


def csv_text(handover: Handover) -> str:
    """The file's text: byte-order mark (Excel needs it for Chinese), header, rows; every cell quoted."""
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    label = HANDOVER_LABELS[handover.language]
    writer.writerow([label[f"csv_{name}"] for name in COLUMNS])
    for row in _rows(handover):
        writer.writerow([safe_cell(row.get(name)) for name in COLUMNS])
    return _BOM + stream.getvalue()


def safe_cell(value: Cell) -> str:
    """``value`` as text that no spreadsheet takes for a formula: an apostrophe goes before what looks like one.

    Numbers stay numbers.
    """
    if value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) or text[:1] in {"\t", "\n"} else text


def _rows(handover: Handover) -> Iterator[Row]:
    for number, record in enumerate(handover.records, 1):
        yield from _question_rows(number, record)
    label = HANDOVER_LABELS[handover.language]
    document = handover.document
    yield {"record": label["document"], "text": f"{document.source.path}  SHA-256 {document.source.sha256}"}
    for row in document.coverage.rows:
        text = f"{row.state}, {row.characters} {label['characters']}" + (f", {row.reason}" if row.reason else "")
        yield {"record": label["coverage"], "clause": row.unit, "text": text}
    for note in document.coverage.notes:
        yield {"record": label["coverage"], "text": note}
    yield {"record": label["run"], "text": f"softlookup {handover.version}, {handover.created}"}


def _question_rows(number: int, record: QuestionRecord) -> Iterator[Row]:
    answer, label, words = record.answer, HANDOVER_LABELS[record.language], LABELS[record.language]
    base: Row = {"number": number, "question": answer.question}
    yield {
        **base,
        "record": words["question"],
        "outcome": words[answer.outcome],
        "review": label["yes"] if answer.needs_review else label["no"],
        "p_value": answer.p_value,
        "alpha": answer.alpha,
    }
    for reason in answer.reasons or (answer.reason,):
        yield {**base, "record": label["reason"], "text": reason}
    if answer.answer:
        yield {**base, "record": f"{words['answer']} ({words['unverified']})", "text": answer.answer}
    for citation in answer.citations:
        yield {**base, **_citation(citation), "record": words["citations"]}
    for passage in record.nearest:
        yield {
            **base, "record": label["nearest"], "clause": passage.clause, "heading": passage.heading,
            "page": passage.page, "start": passage.start, "end": passage.end, "score": passage.score,
            "text": passage.text,
        }  # fmt: skip
    for clause in record.not_fed:
        yield {**base, "record": label["not_fed"], "clause": clause}
    plan, model = answer.plan, answer.model
    read = f"{answer.coverage.tokens_read} / {answer.coverage.tokens_total} {words['tokens']}"
    yield {**base, "record": label["read"], "text": f"{plan.strategy}: {plan.reason}; {read}"}
    yield {**base, "record": label["model"], "text": f"{model.name}  SHA-256 {model.sha256}"}
    yield {**base, "record": label["template"], "text": model.template_sha256}
    yield {**base, "record": label["heads"], "text": heads_text(model.heads)}
    yield {**base, "record": label["off_topic"], "text": "-" if record.off_topic is None else str(record.off_topic)}
    for untested in NOT_TESTED[record.language]:
        yield {**base, "record": label["not_tested"], "text": untested}


def _citation(citation: Citation) -> Row:
    return {
        "clause": citation.clause, "heading": citation.heading, "page": citation.page, "start": citation.start,
        "end": citation.end, "score": citation.score, "p_value": citation.p_value, "text": citation.quote,
        "via": citation.via + (f": {citation.why}" if citation.why else ""),
    }  # fmt: skip
