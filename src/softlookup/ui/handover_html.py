"""A hand-over as one HTML page: no scripts, nothing loaded, every string escaped; for reading and print."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from softlookup.evidence.handover import NOT_TESTED
from softlookup.ui.escape import printable
from softlookup.ui.handover_labels import HANDOVER_LABELS, heads_text
from softlookup.ui.labels import LABELS

if TYPE_CHECKING:
    from softlookup.evidence.handover import Handover, QuestionRecord

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; border-top: 2px solid #888; padding-top: .8rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin-bottom: .3rem; } blockquote { margin: .3rem 0 .8rem; padding: .4rem .8rem;
border-left: 4px solid #bbb; background: #f6f6f6; white-space: pre-wrap; } .outcome { font-weight: 600; }
.small { color: #555; font-size: .85rem; overflow-wrap: anywhere; } ul { margin: .2rem 0; }
@media print { h2 { break-before: auto; } blockquote { break-inside: avoid; } }
"""


def html_text(handover: Handover) -> str:
    """The page."""
    label = HANDOVER_LABELS[handover.language]
    title = f"{label['title']}: {handover.document.source.path}"
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="{handover.language}">',
        '<head><meta charset="utf-8">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_safe(title)}</title><style>{_STYLE}</style></head>",
        "<body>",
        f"<h1>{_safe(title)}</h1>",
        f"<p>{_safe(label['intro'])}</p>",
        *_document(handover, label),
    ]
    for number, record in enumerate(handover.records, 1):
        parts += _question(number, record)
    parts += ["</body>", "</html>"]
    return "\n".join(parts) + "\n"


def _document(handover: Handover, label: dict[str, str]) -> Iterator[str]:
    document = handover.document
    state = label["complete"] if document.coverage.complete else label["incomplete"]
    yield f"<h3>{_safe(label['coverage'])}: {_safe(state)}</h3>"
    rows = [f"{row} ({row.characters:,} {label['characters']})" for row in document.coverage.rows]
    yield _list([*rows, *document.coverage.notes])
    facts = (f"SHA-256 {document.source.sha256}", f"softlookup {handover.version}", handover.created)
    yield f'<p class="small">{" · ".join(map(_safe, facts))}</p>'


def _question(number: int, record: QuestionRecord) -> Iterator[str]:
    answer, label, words = record.answer, HANDOVER_LABELS[record.language], LABELS[record.language]
    yield f'<section lang="{record.language}">'
    yield f"<h2>{number}. {_safe(answer.question)}</h2>"
    p_value = "" if answer.p_value is None else f" (p = {answer.p_value:.3f}, alpha {answer.alpha:g})"
    review = f" · {words['review']}" if answer.needs_review else ""
    yield f'<p class="outcome">{_safe(words[answer.outcome] + p_value + review)}</p>'
    yield _list(answer.reasons or (answer.reason,))
    if answer.answer:
        yield f"<h3>{_safe(words['answer'])} ({_safe(words['unverified'])})</h3>"
        yield f"<blockquote>{_safe(answer.answer)}</blockquote>"
    if answer.citations:
        yield f"<h3>{_safe(words['citations'])}</h3>"
        for c in answer.citations:
            via = c.via + (f": {c.why}" if c.why else "")
            yield from _passage(record, c.clause, c.heading, c.page, (c.start, c.end), c.quote, via)
    yield f"<h3>{_safe(label['nearest'])}</h3>"
    for passage in record.nearest:
        place = (passage.start, passage.end)
        yield from _passage(record, passage.clause, passage.heading, passage.page, place, passage.text)
    yield f"<h3>{_safe(label['not_fed'])}</h3>"
    yield _list([", ".join(record.not_fed) or label["nothing_fed"]])
    yield f"<h3>{_safe(label['not_tested'])}</h3>"
    yield _list(NOT_TESTED[record.language])
    yield f'<p class="small">{"<br>".join(map(_safe, _facts(record)))}</p>'
    yield "</section>"


def _passage(
    record: QuestionRecord,
    clause: str,
    heading: str,
    page: int | None,
    place: tuple[int, int],
    text: str,
    via: str = "",
) -> Iterator[str]:
    label, words = HANDOVER_LABELS[record.language], LABELS[record.language]
    facts = [f"{label['clause']} {clause}" if clause else words["unnumbered"], heading]
    facts += [f"{words['page']} {page}" if page is not None else "", f"{label['offsets']} {place[0]}-{place[1]}", via]
    yield f'<p class="small">{" · ".join(_safe(fact) for fact in facts if fact)}</p>'
    yield f"<blockquote>{_safe(text)}</blockquote>"


def _facts(record: QuestionRecord) -> list[str]:
    answer, label, words = record.answer, HANDOVER_LABELS[record.language], LABELS[record.language]
    read = f"{answer.coverage.tokens_read:,} / {answer.coverage.tokens_total:,} {words['tokens']}"
    return [
        f"{label['read']}: {answer.plan.strategy}: {answer.plan.reason}; {read}",
        f"{label['model']}: {answer.model.name} (SHA-256 {answer.model.sha256})",
        f"{label['template']}: {answer.model.template_sha256}",
        f"{label['heads']}: {heads_text(answer.model.heads)}",
        f"{label['off_topic']}: {'-' if record.off_topic is None else record.off_topic}",
        *(f"{words['alerts']}: {alert}" for alert in answer.alerts),
    ]


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{_safe(item)}</li>" for item in items) + "</ul>"


def _safe(text: str) -> str:
    """Text that is only text: control and invisible characters shown as escapes, markup escaped."""
    return html.escape(printable(text), quote=True)
