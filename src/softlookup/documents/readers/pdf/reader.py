"""PDF contracts: starts the pdfium process, turns its characters into paragraphs and accounts for every page.

pdfium itself runs in a process of its own (``pdf_child.py``). The steps are lines (``pdf_chars.py``), reading order
(``pdf_order.py``, ``pdf_columns.py``, ``pdf_cells.py``), running headers and page numbers (``pdf_furniture.py``),
footnotes (``pdf_footnotes.py``), paragraphs (``pdf_layout.py``), offsets (``pdf_assemble.py``) and the account of the
pages (``pdf_account.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from softlookup.documents.readers import DEFAULTS, ReaderResult, ReadOptions
from softlookup.documents.readers.pdf.account import PageAccount, coverage, judge
from softlookup.documents.readers.pdf.assemble import assemble
from softlookup.documents.readers.pdf.cells import cell_by_cell
from softlookup.documents.readers.pdf.chars import PageLines, page_lines
from softlookup.documents.readers.pdf.columns import in_reading_order
from softlookup.documents.readers.pdf.footnotes import footnotes
from softlookup.documents.readers.pdf.frames import FileFrame, PageFrame
from softlookup.documents.readers.pdf.furniture import furniture, kind_of
from softlookup.documents.readers.pdf.layout import paragraphs
from softlookup.documents.readers.pdf.lines import Page
from softlookup.documents.readers.pdf.ocr import read_scans
from softlookup.documents.readers.pdf.order import top_down
from softlookup.documents.readers.pdf.process import LIMITS, Limits, frames
from softlookup.errors import DocumentError

MAX_CHARACTERS = 30_000_000  # of all pages together
_DAMAGED = "fetch or export the file again; it may be cut short"


def read_pdf(data: bytes, options: ReadOptions = DEFAULTS) -> ReaderResult:
    """Text of a PDF; raises ``DocumentError`` for a password, a damaged file or a crash before page 1.

    Pages that are scanned or could not be read stay out of the text and have a coverage row that says so.
    """
    file, accounts = _accounts(data, options, LIMITS)
    read_scans(data, options, accounts)
    pages = [_page(account) for account in accounts]
    removed = furniture(pages)
    lines = {page.number: page for page in pages}
    beside = {(n, i): kind_of(lines[n].lines[i], lines[n]) for n, i in removed}
    layout = paragraphs(pages, beside, footnotes(pages, beside))
    done = assemble(layout, accounts)
    return ReaderResult(
        done.text,
        tuple(done.blocks),
        coverage(file, accounts, layout, done.asides, list(removed.values())),
        generated=tuple(done.generated),
        aside=tuple(done.asides),
        marks=tuple(done.marks),
        lines=tuple(done.lines),
    )


def _accounts(data: bytes, options: ReadOptions, limits: Limits) -> tuple[FileFrame, list[PageAccount]]:
    """What the file says of itself, and its pages as far as they could be read."""
    file = FileFrame()
    accounts: list[PageAccount] = []
    characters = 0
    for frame in frames(data, options.password, limits):
        if isinstance(frame, FileFrame):
            _refuse(frame, options, limits)
            file = frame
            continue
        characters += len(frame.codes) // 4
        if characters > MAX_CHARACTERS:
            break
        accounts.append(_account(frame))
    if not file.pages or not accounts:
        raise DocumentError("a sound PDF is required, this one is damaged or holds no page", _DAMAGED)
    return file, accounts


def _account(frame: PageFrame) -> PageAccount:
    if frame.failed:
        return PageAccount(frame.number, "failed", frame.failed)
    account = judge(frame, page_lines(frame))
    # the arrays are large, and what they hold is in the lines now
    account.frame = replace(frame, codes=b"", boxes=b"", owners=b"", texts=(), images=(), grounds=())
    return account


def _refuse(file: FileFrame, options: ReadOptions, limits: Limits) -> None:
    if file.error == "password":
        remedy = "put it in an environment variable and give its name with --password-env"
        if options.password is None:
            raise DocumentError("a password is required to open this PDF, none was given", remedy)
        raise DocumentError(
            "the right password is required to open this PDF, another one was given", "check the password"
        )
    if file.error == "memory":
        raise DocumentError(
            f"a PDF that opens in {limits.memory >> 30} GiB of memory is required", "print it to a new PDF"
        )
    if file.error or not file.pages:
        raise DocumentError("a sound PDF is required, this one is damaged or holds no page", _DAMAGED)


def _page(account: PageAccount) -> Page:
    """The page in reading order; what stands on a scan besides the picture does not go into the text."""
    found = account.lines or PageLines(0.0, 0.0, ())
    stray, lines = (found.lines, ()) if account.state == "scanned" else (account.stray, found.lines)
    lines = (*(replace(line, aside=line.aside or ()) for line in stray), *lines)
    page = Page(account.number, found.width, found.height, lines, found.turn)
    page = replace(page, has_fields=bool(account.frame and account.frame.fields))
    if account.reason.startswith("characters without"):
        page = replace(page, flags=("garbled",))
    return cell_by_cell(in_reading_order(top_down(page)))


__all__: Sequence[str] = ["read_pdf"]
