"""A page of a PDF as SVG: its image, the boxes of citations, and where each clause stands; images in batches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from softlookup.ui.escape import html_text
from softlookup.ui.page.shown import ShownDocument
from softlookup.ui.page_images import PageImage, page_images
from softlookup.ui.report.pages import PageMark
from softlookup.ui.server.problems import NotFoundError

_BATCH = 4  # pages that one drawing process draws: starting it costs more than a page
_KEPT_BYTES = 48_000_000
_PAD = 1.5


class Sheets:
    """Page images of all documents, those not used for longest go first. Called from threads."""

    def __init__(self) -> None:
        self._images: OrderedDict[tuple[str, int], PageImage] = OrderedDict()
        self._lock = threading.Lock()
        self._drawing = threading.Lock()  # one process at a time: the model needs the processors

    def image(self, name: str, path: Path, page: int, pages: int) -> PageImage:
        """Page ``page`` of the document with the id ``name``. Raises ``NotFoundError`` when it cannot be drawn."""
        found = self._kept(name, page)
        if found is None:
            with self._drawing:
                found = self._kept(name, page)
                if found is None:
                    first = page - (page - 1) % _BATCH
                    wanted = [n for n in range(first, first + _BATCH) if n <= pages]
                    self._keep(name, page_images(path.read_bytes(), wanted))
                    found = self._kept(name, page)
        if found is None:
            raise NotFoundError(f"page {page} is not there, or cannot be drawn", "see the text instead")
        return found

    def forget(self, name: str) -> None:
        """Keep no image of a document."""
        with self._lock:
            for key in [key for key in self._images if key[0] == name]:
                del self._images[key]

    def _kept(self, name: str, page: int) -> PageImage | None:
        with self._lock:
            found = self._images.get((name, page))
            if found is not None:
                self._images.move_to_end((name, page))
            return found

    def _keep(self, name: str, images: dict[int, PageImage]) -> None:
        with self._lock:
            for page, image in images.items():
                self._images[name, page] = image
            total = sum(len(image.png) for image in self._images.values())
            while total > _KEPT_BYTES and len(self._images) > _BATCH:
                _, gone = self._images.popitem(last=False)
                total -= len(gone.png)


def sheet_svg(shown: ShownDocument, image: PageImage, address: str, marks: Sequence[PageMark], label: str) -> str:
    """The page; rectangles of class ``hit`` are clauses, those of class ``box`` the marks."""
    size = f'width="{image.width:g}" height="{image.height:g}"'
    view = f'viewBox="0 0 {image.width:g} {image.height:g}"'
    parts = [f'<svg class="page" {view} role="img" aria-label="{html_text(label)}">']
    parts.append(f'<image {size} href="{html_text(address)}"/>')
    parts += _hits(shown, image)
    for mark in marks:
        boxes = [box for box in mark.boxes if box.page == image.page]
        if not boxes:
            continue
        first = boxes[0]
        parts.append(f'<g id="{html_text(mark.target)}" class="cited" tabindex="-1">')
        for box in boxes:
            x, y = box.left - _PAD, image.height - box.top - _PAD
            wide, high = box.right - box.left + 2 * _PAD, box.top - box.bottom + 2 * _PAD
            parts.append(f'<rect class="box" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"/>')
        x, y = max(8.0, first.left - 12), image.height - (first.top + first.bottom) / 2
        parts.append(f'<circle class="bd" cx="{x:.1f}" cy="{y:.1f}" r="7"/>')
        parts.append(f'<text class="bt" x="{x:.1f}" y="{y + 3:.1f}">{html_text(mark.number)}</text></g>')
    return "".join([*parts, "</svg>"])


def _hits(shown: ShownDocument, image: PageImage) -> list[str]:
    """Lines of the page, those of one clause that follow one another as one rectangle."""
    groups: list[tuple[int, list[float]]] = []
    for line in shown.lines.get(image.page, ()):
        try:
            index = shown.document.clause_at(line.span.start).index
        except IndexError:
            continue
        box = line.box
        if groups and groups[-1][0] == index and box.top <= groups[-1][1][1] + 2:
            edges = groups[-1][1]
            edges[:] = [min(edges[0], box.left), min(edges[1], box.bottom), max(edges[2], box.right), edges[3]]
        else:
            groups.append((index, [box.left, box.bottom, box.right, box.top]))
    return [
        f'<rect class="hit" data-clause="{index}" x="{left - 3:.1f}" y="{image.height - top - 2:.1f}" '
        f'width="{right - left + 6:.1f}" height="{top - bottom + 4:.1f}"/>'
        for index, (left, bottom, right, top) in groups
    ]
