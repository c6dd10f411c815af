"""One question as the report shows it: outcome in plain words, citations with what stands around them, the strip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlookup.documents.language import Language
from softlookup.documents.model import Document, Span
from softlookup.ui.document_view import Highlight, clause_anchor
from softlookup.ui.report.cells import Cell, CellView, cell_views, densities
from softlookup.ui.report.content import Record
from softlookup.ui.report.strip import Row, Shade, strip_svg
from softlookup.ui.report.words import WORDS, clause_name, page_name

if TYPE_CHECKING:
    from softlookup.evidence.answer import Answer, Citation

_AROUND = 180  # characters shown before and behind a quote
_MOST_NEAREST = 5


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote with what stands around it in its clause. ``facts``: how it was found; ``cited``: by the attention."""

    number: int
    anchor: str
    clause: str
    heading: str
    page: int | None
    before: str
    quote: str
    after: str
    target: str
    cited: bool
    score: float | None = None
    p_value: float | None = None
    via: str = ""
    why: str = ""
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionView:
    """What the template shows of one record; ``strip`` is SVG."""

    number: int
    record: Record
    plain: str
    cited: tuple[Passage, ...]
    added: tuple[Passage, ...]
    nearest: tuple[Passage, ...]
    strip: str
    views: tuple[CellView, ...]

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All that have a mark in the text."""
        return (*self.cited, *self.added, *self.nearest)


def question_view(
    document: Document, number: int, record: Record, cells: Sequence[Cell], language: Language, unit: str
) -> QuestionView:
    """View of ``record``, the ``number``-th question of the report; cells are as wide as they have ``unit``."""
    answer = record.answer
    passages = [
        _passage(document, citation, number, place, language) for place, citation in enumerate(answer.citations, 1)
    ]
    cited = tuple(passage for passage in passages if passage.cited)
    views = cell_views(
        document, cells, record.fed, answer.clauses, () if record.inspection is None else record.inspection.passages
    )
    return QuestionView(
        number,
        record,
        plain_outcome(answer, language),
        cited,
        tuple(passage for passage in passages if not passage.cited),
        () if passages else _nearest(document, answer, number),
        _strip(document, record, cells, views, language, unit),
        views,
    )


def highlights(view: QuestionView, answer: Answer) -> list[Highlight]:
    """Marks of the document's text."""
    found = []
    spans = [(c.start, c.end) for c in answer.citations] or [(r.start, r.end) for r in answer.ranking[:_MOST_NEAREST]]
    for passage, (start, end) in zip(sorted(view.passages, key=lambda p: p.number), spans, strict=True):
        kind = "cited" if passage.cited else ("added" if answer.citations else "near")
        found.append(Highlight(Span(start, end), kind, passage.target, f"{view.number}.{passage.number}"))
    return found


def plain_outcome(answer: Answer, language: Language) -> str:
    """The outcome for a reader who wants no numbers."""
    words = WORDS[language]
    labels = list(dict.fromkeys(c.clause for c in answer.citations if c.via == "attention"))
    named = [clause_name(label, language) for label in labels if label]
    clauses = words["some"]
    if named and all(labels):
        clauses = words["last"].join(part for part in (words["joint"].join(named[:-1]), named[-1]) if part)
    return words[f"say_{answer.outcome}"].format(clauses=clauses)


def cell_titles(cells: Sequence[Cell], views: Sequence[CellView], language: Language, unit: str) -> list[str]:
    """What pointing at each cell shows."""
    words, titles = WORDS[language], []
    for cell, view in zip(cells, views, strict=True):
        fed = "fed" if view.fed > 0.95 else "part_fed" if view.fed > 0.05 else "not_fed"
        page = "" if cell.page is None else page_name(cell.page, language)
        parts = [cell.name, f"{cell.length:,} {unit}", page, words[fed]]
        if view.evidence is not None:
            parts.append(words["evidence_at"].format(score=f"{view.evidence:.4f}", p=f"{view.p_value:.3f}"))
        if view.attention is not None:
            parts.append(words["of_attention"].format(share=f"{view.attention:.1%}"))
        titles.append(" · ".join(part for part in parts if part))
    return titles


def evidence_row(views: Sequence[CellView], alpha: float, name: str, data: str = "evidence") -> Row:
    """Scores above 0 as shares of the best."""
    top = max((view.evidence or 0.0 for view in views), default=0.0)
    return Row(
        name,
        "ev",
        tuple(
            Shade(
                max(0.0, view.evidence or 0.0) / top if top > 0 else 0.0,
                underlined=view.p_value is not None and view.p_value <= alpha,
                value="" if view.evidence is None else f"{view.evidence:.4g}",
            )
            for view in views
        ),
        data,
    )


def _strip(
    document: Document, record: Record, cells: Sequence[Cell], views: Sequence[CellView], language: Language, unit: str
) -> str:
    words = WORDS[language]
    rows = [evidence_row(views, record.answer.alpha, words["row_evidence"])]
    if record.inspection is not None:
        shares = zip(densities(cells, views), views, strict=True)
        shades = tuple(Shade(share, value=f"{view.attention or 0.0:.3g}") for share, view in shares)
        rows.append(Row(words["row_attention"], "at", shades, "attention"))
    fed = tuple(
        Shade(1, "fd" if view.fed > 0.95 else "fp" if view.fed > 0.05 else "fn", value=f"{view.fed:.2g}")
        for view in views
    )
    rows.append(Row(words["row_fed"], "fd", fed, "read"))
    titles = cell_titles(cells, views, language, unit)
    return strip_svg(document, cells, rows, titles, words["strip"])


def _passage(document: Document, citation: Citation, question: int, place: int, language: Language) -> Passage:
    before, after = _around(document, citation.start, citation.end)
    return Passage(
        place,
        f"q{question}-c{place}",
        citation.clause,
        citation.heading,
        citation.page,
        before,
        citation.quote,
        after,
        f"q{question}-m{place}",
        cited=citation.via in ("attention", "lexical"),
        score=citation.score,
        p_value=citation.p_value,
        via=WORDS[language][citation.via],
        why=citation.why,
        pages=tuple(dict.fromkeys(box.page for box in citation.boxes)),
    )


def _nearest(document: Document, answer: Answer, question: int) -> tuple[Passage, ...]:
    found = []
    for place, passage in enumerate(answer.ranking[:_MOST_NEAREST], 1):
        clause = clause_anchor(document, passage.start)
        index = int(clause.removeprefix("cl-")) if clause else -1
        above = (document.clauses[index], *document.ancestors(index)) if clause else ()
        heading = next((item.heading for item in above if item.heading), "")
        found.append(
            Passage(
                place, f"q{question}-c{place}", passage.clause, heading, document.page_at(passage.start), "",
                document.text[passage.start : passage.end], "", f"q{question}-m{place}", cited=False,
            )
        )  # fmt: skip
    return tuple(found)


def _around(document: Document, start: int, end: int) -> tuple[str, str]:
    """What stands before and behind a quote in the outermost clause around it, cut at words."""
    try:
        clause = document.clause_at(start)
        outer = [clause, *document.ancestors(clause.index)][-1].span
    except IndexError:
        outer = Span(0, len(document.text))
    before = document.text[max(outer.start, start - _AROUND) : start]
    if outer.start < start - _AROUND:
        before = "… " + (before.split(None, 1)[-1] if " " in before.strip() else before)
    after = document.text[end : min(outer.end, end + _AROUND)]
    if outer.end > end + _AROUND:
        after = (after.rsplit(None, 1)[0] if " " in after.strip() else after) + " …"
    return before, after.rstrip("\n")
