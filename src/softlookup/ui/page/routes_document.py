"""One document: the page, parts of its text, pages of a PDF, branches of the clause tree."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from softlookup.ui.document_view import Highlight
from softlookup.ui.page.answers import answer_view, marks_of, sheet_marks
from softlookup.ui.page.preferences import preferences
from softlookup.ui.page.problems import PageRoute
from softlookup.ui.page.rendering import rendered
from softlookup.ui.page.sheets import sheet_svg
from softlookup.ui.page.shown import BRANCH, Part, ShownDocument, TreeItem
from softlookup.ui.page.state import Page, PageState
from softlookup.ui.page.words import EXAMPLES, PAGE_WORDS
from softlookup.ui.page_images import PageImage
from softlookup.ui.report import facts
from softlookup.ui.report.words import WORDS, page_name
from softlookup.ui.server.access import Server
from softlookup.ui.server.problems import NotFoundError
from softlookup.ui.server.talks import Talk

router = APIRouter(prefix="/documents/{document}", route_class=PageRoute, include_in_schema=False)
_Index = Annotated[int, Query(ge=0, le=10_000_000)]
_Turn = Annotated[int | None, Query(ge=0, le=100_000)]
_MOST_OPEN = 40  # lines of the clause tree that are shown before anybody opens a branch
_Session = Annotated[str, Query(max_length=64)]


class _Wanted(BaseModel):
    """What the address of the page says: pages or text, and the clause, part or turn to begin with."""

    session: str = Field(default="", max_length=64)
    show: str = Field(default="", max_length=16)
    clause: int | None = Field(default=None, ge=0, le=10_000_000)
    part: int | None = Field(default=None, ge=0, le=10_000_000)
    turn: int | None = Field(default=None, ge=0, le=100_000)


@router.get("")
async def document_page(
    document: str,
    request: Request,
    state: Server,
    page: Page,
    wanted: Annotated[_Wanted, Query()],
) -> Response:
    """Clauses, text or pages, and questions."""
    stored = await state.documents.describe(document)
    shown = await page.shown(document)
    talk = page.talk(document, wanted.session)
    language = preferences(request).language
    context = await asyncio.to_thread(_context, shown, talk, wanted, language, f"/documents/{document}")
    others = [other for other in reversed(page.talks(document)) if other is not talk and other.turns]
    return rendered(
        request, "page_document.html", stored=stored, facts=facts, talk=talk, document=document, others=others,
        chosen=wanted.session, runs=[] if talk is None else page.unfinished(talk), **context,
    )  # fmt: skip


@router.get("/parts/{number}")
async def part_of_text(
    document: str, number: int, request: Request, page: Page, session: _Session = "", turn: _Turn = None
) -> Response:
    """Paragraphs, with the marks of a turn."""
    shown = await page.shown(document)
    if not 0 <= number < len(shown.parts):
        raise NotFoundError("the document has no such part", "load the page again")
    marks = await asyncio.to_thread(_marks, shown, page.talk(document, session), turn, request)
    html = await asyncio.to_thread(shown.part_html, number, marks)
    return Response(html, media_type="text/html")


@router.get("/pages/{number}")
async def page_of_pdf(
    document: str, number: int, request: Request, page: Page, session: _Session = "", turn: _Turn = None
) -> Response:
    """A page of a PDF with the boxes of a turn."""
    shown = await page.shown(document)
    image = await _image(page, document, shown, number)
    marks = await asyncio.to_thread(_marks, shown, page.talk(document, session), turn, request)
    label = page_name(number, preferences(request).language)
    svg = sheet_svg(shown, image, f"/documents/{document}/images/{number}.png", sheet_marks(shown, marks), label)
    return Response(svg, media_type="text/html")


@router.get("/images/{number}.png")
async def page_png(document: str, number: int, page: Page) -> Response:
    """The image of a page; it never changes, so the browser may keep it."""
    image = await _image(page, document, await page.shown(document), number)
    return Response(image.png, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


@router.get("/tree")
async def branch(
    document: str, request: Request, page: Page, parent: _Index | None = None, offset: _Index = 0
) -> Response:
    """Clauses of one level."""
    shown = await page.shown(document)
    items, total = shown.branch(parent, offset)
    return rendered(
        request, "_page_branch.html", document=document, items=items, parent=parent, offset=offset + BRANCH,
        more=total > offset + BRANCH, open_at={}, current=None,
    )  # fmt: skip


@router.get("/path")
async def path_to_clause(document: str, page: Page, clause: _Index) -> Response:
    """Clauses around a clause, outermost first, as words with blanks between: what the tree must open."""
    shown = await page.shown(document)
    if clause >= len(shown.document.clauses):
        raise NotFoundError("there is no such clause", "load the page again")
    return Response(" ".join(str(index) for index in shown.path_to(clause)), media_type="text/plain")


async def _image(page: PageState, name: str, shown: ShownDocument, number: int) -> PageImage:
    pages = len(shown.sheets) if shown.is_pdf else 0
    if not 1 <= number <= pages:
        raise NotFoundError("the document has no such page", "load the page again")
    store = page.server.store
    return await asyncio.to_thread(page.sheets.image, name, store.path(store.get(name)), number, pages)


def _marks(shown: ShownDocument, talk: Talk | None, turn: int | None, request: Request) -> list[Highlight]:
    if talk is None or turn is None or turn >= len(talk.turns):
        return []
    return marks_of(shown, turn, talk.turns[turn], preferences(request).language)


def _context(shown: ShownDocument, talk: Talk | None, wanted: _Wanted, language: Any, address: str) -> dict[str, Any]:
    """What the template shows; runs in a thread."""
    from markupsafe import Markup

    turns = [] if talk is None else list(enumerate(talk.turns))
    answers = [answer_view(shown, number, turn, language, address) for number, turn in reversed(turns)]
    as_text = wanted.show == "text" or not shown.is_pdf
    places = shown.parts if as_text else shown.sheets
    first = _first_place(shown, places, wanted)
    marks: list[Highlight] = []
    if talk is not None and wanted.turn is not None and wanted.turn < len(talk.turns):
        marks = marks_of(shown, wanted.turn, talk.turns[wanted.turn], language)
    items, total = shown.branch(None)
    return {
        "answers": answers, "places": places, "first": first, "as_text": as_text, "shown": shown,
        "html": Markup(shown.part_html(first, marks)) if as_text and shown.parts else "",  # noqa: S704
        "items": items, "more": total > BRANCH, "offset": BRANCH, "parent": None, "current": wanted.clause,
        "open_at": _branches(shown, items, total), "place_name": lambda part: _place_name(part, language),
        "coverage": shown.document.coverage, "document_lang": shown.lang, "examples": EXAMPLES[language],
    }  # fmt: skip


def _branches(shown: ShownDocument, items: tuple[TreeItem, ...], total: int) -> dict[int, tuple[TreeItem, ...]]:
    """Second level of a short tree, open from the start; a longer one is an overview first."""
    if total + sum(item.children for item in items) > _MOST_OPEN:
        return {}
    return {item.index: shown.branch(item.index)[0] for item in items if item.children}


def _first_place(shown: ShownDocument, places: tuple[Part, ...], wanted: _Wanted) -> int:
    """Index among ``places`` of the one to begin with."""
    if wanted.clause is not None and wanted.clause < len(shown.document.clauses) and places:
        start = shown.document.clauses[wanted.clause].span.start
        return max((n for n, place in enumerate(places) if place.start <= start), default=0)
    if wanted.part is not None and wanted.part < len(places):
        return wanted.part
    return 0


def _place_name(part: Part, language: Any) -> str:
    """What stands in a part that is not loaded yet."""
    if part.page is None:
        return PAGE_WORDS[language]["part"].format(part.number + 1)
    if part.page == part.last_page:
        return page_name(part.page, language)
    return WORDS[language]["joint"].join((page_name(part.page, language), page_name(part.last_page or 0, language)))
