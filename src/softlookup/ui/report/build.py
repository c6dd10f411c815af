"""From the parts of a report to one HTML file that needs nothing else; the same input gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import softlookup
from softlookup.documents.language import Language
from softlookup.documents.model import Document, Span
from softlookup.ui.document_view import document_pieces
from softlookup.ui.page_images import PageImage, page_images
from softlookup.ui.report import facts
from softlookup.ui.report.cells import Cell, document_cells
from softlookup.ui.report.content import ReportInput
from softlookup.ui.report.heads import clause_map, entropy_map, head_map_svg, sink_map
from softlookup.ui.report.pages import PageMark, images_svg, page_svg, pages_of
from softlookup.ui.report.questions import QuestionView, evidence_row, highlights, question_view
from softlookup.ui.report.strip import Row, strip_svg
from softlookup.ui.report.text_section import text_section
from softlookup.ui.report.words import WORDS, clause_name, page_name
from softlookup.ui.templating import UI_FOLDER, template_environment

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

# cells of all strips together, and of one
_MOST_CELLS, _CELLS_OF_ONE = 4_800, 1_200
# the share of the file that page images may take, and how many are drawn at most
_IMAGE_SHARE, _MOST_IMAGES = 0.55, 40


def build_report(given: ReportInput) -> str:
    """The whole HTML file of ``given``; only the section ``measured`` differs between two runs with the same input."""
    document, language = given.document, given.shown_language
    given = replace(given, language=language)
    cells, unit = _cells(given), WORDS[language]["tokens" if given.count_tokens else "characters"]
    views = [question_view(document, n, record, cells, language, unit) for n, record in enumerate(given.records, 1)]
    images, left = _images(given)
    context = _context(given, cells, views, images, left)
    template = _environment().get_template("report.html")
    frame = template.render(**context, text=None)
    marks = [mark for view in views for mark in highlights(view, view.record.answer)]
    text = text_section(
        document,
        list(document_pieces(document, marks)),
        [*(mark.span for mark in marks), *_expected(given)],
        frame,
        language,
        given.most_bytes - len(frame.encode()) - 2_000,
    )
    from markupsafe import Markup

    shown = {"html": Markup(text.html), "shown": text.shown, "total": text.total, "complete": text.complete}  # noqa: S704
    return template.render(**context, text=shown)


def _cells(given: ReportInput) -> tuple[Cell, ...]:
    strips = len(given.records) + (1 if len(given.records) > 1 else 0)
    most = max(40, min(_CELLS_OF_ONE, _MOST_CELLS // strips))
    return document_cells(given.document, given.count_tokens or len, most)


def _expected(given: ReportInput) -> list[Span]:
    """Places that a person said hold the truth."""
    places = [record.diagnosis.expected for record in given.records if record.diagnosis is not None]
    return [Span(p.start, p.end) for p in places if p is not None and p.start is not None and p.end is not None]


def _images(given: ReportInput) -> tuple[dict[int, PageImage], int]:
    """Images of cited pages as far as they fit, and how many were left out for size."""
    wanted = pages_of(citation for record in given.records for citation in record.answer.citations)
    if given.source is None or given.document.source.format != "pdf" or not wanted:
        return {}, 0
    drawn = page_images(given.source, wanted[:_MOST_IMAGES], password=given.password)
    kept: dict[int, PageImage] = {}
    room = _IMAGE_SHARE * given.most_bytes
    for page in wanted[:_MOST_IMAGES]:
        if page in drawn and len(drawn[page].data_uri) <= room:
            kept[page] = drawn[page]
            room -= len(drawn[page].data_uri)
    return kept, max(0, len(wanted) - _MOST_IMAGES) + len(set(drawn) - set(kept))


def _context(
    given: ReportInput, cells: Sequence[Cell], views: Sequence[QuestionView], images: Mapping[int, PageImage], left: int
) -> dict[str, Any]:
    from markupsafe import Markup

    document, language = given.document, given.shown_language
    marks = _marks(views)
    alone = _marks(views, several=False)
    wanted = pages_of(citation for record in given.records for citation in record.answer.citations)
    lacking = sorted(set(wanted[:_MOST_IMAGES]) - set(images)) if given.source is not None and not left else []
    crops = {
        (view.number, passage.number, page): _crop(images[page], [mark], language)
        for view in views
        for passage in (*view.cited, *view.added)
        for page in passage.pages
        if page in images and (mark := alone.get((view.number, passage.number))) is not None
    }
    whole = [(page, _page(images[page], list(marks.values()), language)) for page in sorted(images)]
    return {
        "lang": "zh-CN" if language == "zh" else "en", "w": WORDS[language], "document": document,
        "file_name": _file_name(document), "questions": views, "records": given.records,
        "style": Markup(_style()), "version": softlookup.__version__,  # noqa: S704 - our own file
        "unit": WORDS[language]["tokens" if given.count_tokens else "characters"],
        "merged": None if len(cells) >= _drawn_clauses(document) else (len(cells), len(document.clauses)),
        "compared": _compared(document, cells, views, language), "coverage": facts.coverage(document),
        "seconds": facts.seconds_rows(given.records, language),
        "estimate": None if given.estimate is None else facts.strategy_rows(given.estimate, language),
        "decision": None if given.estimate is None else given.estimate.decision,
        "images": Markup(images_svg(images)), "crops": crops, "whole_pages": whole,  # noqa: S704 - escaped where made
        "pages_left": left, "pages_failed": lacking, "page_name": lambda page: page_name(page, language),
        "limit_mb": f"{given.most_bytes / 1e6:.3g}", "facts": facts, "language": language,
        "clause_name": lambda label: clause_name(label, language),
        "not_fed": lambda answer: facts.not_fed_line(answer, language),
        "maps": [_maps(view, language) for view in views],
        "strips": [Markup(view.strip) for view in views],  # noqa: S704 - escaped where it is made
    }  # fmt: skip


def _drawn_clauses(document: Document) -> int:
    return sum(1 for _, span in document.own_spans() if document.text[span.start : span.end].strip())


def _file_name(document: Document) -> str:
    return document.source.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _marks(views: Sequence[QuestionView], *, several: bool | None = None) -> dict[tuple[int, int], PageMark]:
    """Marks on page images by (question, citation); where ``several`` questions share a page both numbers stand."""
    several = len(views) > 1 if several is None else several
    return {
        (view.number, passage.number): PageMark(
            passage.pages[0],
            citation.boxes,
            passage.anchor,
            f"{view.number}.{passage.number}" if several else str(passage.number),
        )
        for view in views
        for passage, citation in zip(
            sorted((*view.cited, *view.added), key=lambda p: p.number), view.record.answer.citations, strict=True
        )
        if passage.pages
    }


def _crop(image: PageImage, marks: Sequence[PageMark], language: Language) -> Markup:
    from markupsafe import Markup

    name = WORDS[language]["crop"].format(page=image.page)
    return Markup(page_svg(image, marks, name, crop=True))  # noqa: S704 - escaped where it is made


def _page(image: PageImage, marks: Sequence[PageMark], language: Language) -> Markup:
    from markupsafe import Markup

    return Markup(page_svg(image, marks, WORDS[language]["page_alt"].format(page=image.page)))  # noqa: S704 - as above


def _compared(
    document: Document, cells: Sequence[Cell], views: Sequence[QuestionView], language: Language
) -> Markup | None:
    """The evidence of all questions as rows of one strip; None for a single one."""
    from markupsafe import Markup

    if len(views) < 2:
        return None
    rows: list[Row] = [
        evidence_row(
            view.views, view.record.answer.alpha, f"{WORDS[language]['question']} {view.number}", f"q{view.number}"
        )
        for view in views
    ]
    titles = []
    for place, cell in enumerate(cells):
        scored = [
            f"{view.number}: {WORDS[language]['evidence_at'].format(score=f'{found.evidence:.4f}', p=found.p_value)}"
            for view in views
            if (found := view.views[place]).evidence is not None
        ]
        titles.append(" · ".join([cell.name, *scored]))
    return Markup(strip_svg(document, cells, rows, titles, WORDS[language]["strip_all"]))  # noqa: S704 - as above


def _maps(view: QuestionView, language: Language) -> dict[str, Markup] | None:
    from markupsafe import Markup

    found, words = view.record.inspection, WORDS[language]
    if found is None:
        return None
    layer, head = words["layer"], words["head"]
    drawn = {
        "entropy": head_map_svg(entropy_map(found), words["entropy_map"], layer, head),
        "sink": head_map_svg(sink_map(found), words["sink_map"], layer, head),
        "clauses": head_map_svg(clause_map(found), words["clause_map"], layer, ""),
    }
    return {name: Markup(svg) for name, svg in drawn.items()}  # noqa: S704 - escaped where it is made


@cache
def _style() -> str:
    return (UI_FOLDER / "static" / "report.css").read_text("utf-8")


@cache
def _environment() -> Environment:
    return template_environment()
