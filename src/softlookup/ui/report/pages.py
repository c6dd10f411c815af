"""Cited pages of a PDF: each image stands in the report once, and is shown whole and cropped by reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlookup.ui.escape import html_text

if TYPE_CHECKING:
    from softlookup.documents.model import Box
    from softlookup.evidence.answer import Citation
    from softlookup.ui.page_images import PageImage

# points above and below the boxes in a crop, and its least height
_AROUND, _LEAST = 54.0, 150.0
_PAD = 1.5


@dataclass(frozen=True, slots=True)
class PageMark:
    """Boxes of one citation on one page; ``target`` is where they lead, ``number`` stands beside them."""

    page: int
    boxes: tuple[Box, ...]
    target: str
    number: str


def pages_of(citations: Iterable[Citation]) -> tuple[int, ...]:
    """Pages that have a box of a citation, in order of citation."""
    return tuple(dict.fromkeys(box.page for citation in citations for box in citation.boxes))


def images_svg(images: Mapping[int, PageImage]) -> str:
    """The images themselves, defined but not shown."""
    if not images:
        return ""
    drawn = "".join(
        f'<image id="img-{page}" width="{image.width:g}" height="{image.height:g}" href="{image.data_uri}"/>'
        for page, image in sorted(images.items())
    )
    return f'<svg class="store" width="0" height="0" aria-hidden="true"><defs>{drawn}</defs></svg>'


def page_svg(image: PageImage, marks: Sequence[PageMark], name: str, *, crop: bool = False) -> str:
    """The page with its marks; ``crop``: only the part around them, over the whole width."""
    mine = [mark for mark in marks if any(box.page == image.page for box in mark.boxes)]
    top, bottom = 0.0, image.height
    if crop:
        own = [box for mark in mine for box in mark.boxes if box.page == image.page]
        top = max(0.0, image.height - max(box.top for box in own) - _AROUND)
        bottom = min(image.height, image.height - min(box.bottom for box in own) + _AROUND)
        missing = max(0.0, _LEAST - (bottom - top))
        top, bottom = max(0.0, top - missing / 2), min(image.height, bottom + missing / 2)
    view = f"0 {top:.1f} {image.width:.1f} {bottom - top:.1f}"
    body = "".join(_mark(image, mark) for mark in mine)
    return (
        f'<svg class="page" viewBox="{view}" role="img" aria-label="{html_text(name)}">'
        f'<title>{html_text(name)}</title><use href="#img-{image.page}"/>{body}</svg>'
    )


def _mark(image: PageImage, mark: PageMark) -> str:
    own = [box for box in mark.boxes if box.page == image.page]
    rectangles = "".join(
        f'<rect class="box" x="{box.left - _PAD:.1f}" y="{image.height - box.top - _PAD:.1f}" '
        f'width="{box.right - box.left + 2 * _PAD:.1f}" height="{box.top - box.bottom + 2 * _PAD:.1f}"/>'
        for box in own
    )
    first = own[0]
    x, y = max(10.0, min(box.left for box in own) - 14), image.height - (first.top + first.bottom) / 2
    badge = (
        f'<circle class="bd" cx="{x:.1f}" cy="{y:.1f}" r="8"/>'
        f'<text class="bt" x="{x:.1f}" y="{y + 3.4:.1f}">{html_text(mark.number)}</text>'
    )
    return f'<a href="#{html_text(mark.target)}">{rectangles}{badge}</a>'
