"""An answer, and two beside each other, as the templates show them; what the report says is said in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlookup.documents.language import Language
from softlookup.ui.document_view import Highlight
from softlookup.ui.page.shown import ShownDocument
from softlookup.ui.report.content import Record
from softlookup.ui.report.pages import PageMark
from softlookup.ui.report.questions import QuestionView, cell_titles, evidence_row, highlights, question_view
from softlookup.ui.report.strip import Row, strip_svg
from softlookup.ui.report.words import WORDS

if TYPE_CHECKING:
    from markupsafe import Markup

    from softlookup.evidence.answer import Answer
    from softlookup.ui.server.talks import Turn


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage stands: the parts of the text and the pages of a PDF that it touches, and its page."""

    parts: tuple[int, ...]
    pages: tuple[int, ...]
    page: int | None


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One turn of a session, number ``turn`` from 0."""

    turn: int
    view: QuestionView
    places: dict[int, Place]
    strip: Markup

    @property
    def answer(self) -> Answer:
        """The answer."""
        return self.view.record.answer


def answer_view(shown: ShownDocument, turn: int, held: Turn, language: Language, address: str) -> AnswerView:
    """View of a turn; ``address`` of the document, to which the strip leads."""
    document = shown.document
    record = Record(held.answer, held.fed, held.inspection, held.diagnosis)
    view = question_view(document, turn + 1, record, shown.cells, language, shown.unit(language))
    places = {}
    for passage, mark in zip(sorted(view.passages, key=lambda p: p.number), highlights(view, held.answer), strict=True):
        places[passage.number] = _place(shown, mark)
    return AnswerView(turn, view, places, linked(view.strip, address))


def _place(shown: ShownDocument, mark: Highlight) -> Place:
    span = mark.span
    page = shown.document.page_at(span.start)
    boxes = shown.document.boxes(span) if shown.is_pdf else ()
    pages = tuple(dict.fromkeys(box.page for box in boxes)) or (() if page is None else (page,))
    first, last = shown.part_at(span.start), shown.part_at(max(span.start, span.end - 1))
    return Place(tuple(range(first, last + 1)), pages, pages[0] if pages else None)


def marks_of(shown: ShownDocument, turn: int, held: Turn, language: Language) -> list[Highlight]:
    """Marks of a turn in the text."""
    record = Record(held.answer, held.fed)
    return highlights(question_view(shown.document, turn + 1, record, (), language, ""), held.answer)


def sheet_marks(shown: ShownDocument, marks: Sequence[Highlight]) -> list[PageMark]:
    """The same marks on page images; the anchors are those of the text."""
    found = []
    for mark in marks:
        boxes = shown.document.boxes(mark.span)
        if boxes:
            found.append(PageMark(boxes[0].page, boxes, mark.anchor, mark.title.rpartition(".")[2]))
    return found


def comparison_strip(shown: ShownDocument, views: Sequence[AnswerView], language: Language, address: str) -> Markup:
    """The evidence of several questions as rows of one strip."""
    words = WORDS[language]
    rows: list[Row] = [
        evidence_row(view.view.views, view.answer.alpha, f"{words['question']} {view.turn + 1}") for view in views
    ]
    named = [cell_titles(shown.cells, view.view.views, language, shown.unit(language)) for view in views]
    titles = ["\n".join(f"{view.turn + 1}: {names[n]}" for view, names in zip(views, named, strict=True))
              for n in range(len(shown.cells))]  # fmt: skip
    return linked(strip_svg(shown.document, shown.cells, rows, titles, words["strip_all"]), address)


def linked(svg: str, address: str) -> Markup:
    """A strip whose cells lead to clauses of the document's page, with script or without."""
    from markupsafe import Markup

    return Markup(svg.replace('<a href="#cl-', f'<a href="{address}?clause='))  # noqa: S704 - escaped where it is made


def shared(views: Sequence[AnswerView]) -> set[tuple[int, int]]:
    """Spans that every one of the answers cites."""
    spans = [{(c.start, c.end) for c in view.answer.citations} for view in views]
    return set.intersection(*spans) if spans else set()
