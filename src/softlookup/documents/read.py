"""The way in: a file becomes a :class:`Document`; picks the reader by content, builds the structure.

Not for reading a format (``readers/``) nor for finding clauses (``structure.py``).
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path

from softlookup.documents.definitions.find import find_definitions
from softlookup.documents.file_kinds import GIVE, refuse_foreign
from softlookup.documents.model import Document, Source, View
from softlookup.documents.readers import ReaderResult, ReadOptions
from softlookup.documents.readers.docx.reader import read_docx
from softlookup.documents.readers.edgar import is_submission, read_edgar
from softlookup.documents.readers.encodings import decode
from softlookup.documents.readers.html.reader import declared_encoding, read_html
from softlookup.documents.readers.markdown import read_markdown
from softlookup.documents.readers.text import normalise_line_ends, read_plain
from softlookup.documents.references.resolve import find_references
from softlookup.documents.tree.long_blanks import MARK, with_marks
from softlookup.documents.tree.structure import build_structure
from softlookup.documents.unused_options import check_options, unused_options
from softlookup.errors import DocumentError

MAX_BYTES = 256 * 1024 * 1024
MAX_CHARACTERS = 20_000_000  # a contract of 1,000 pages has 3 million
_HTML_START = re.compile(
    r"<(?P<page>!doctype\s+html|html|head|body)\b"
    r"|<(?:meta|title|style|link|div|p|table|center|font|form|span|h[1-6]|ol|ul|pre|b)\b",
    re.I,
)
_BEFORE_HTML = (("<!--", "-->"), ("<?", "?>"), ("<%", "%>"))
_HTML_END = re.compile(r"</(?:html|body|div|p|table|center|font|form|span|h[1-6]|ol|ul|pre|title|b)\s*>", re.I)
_HTML_TAG = re.compile(r"<(?:html|body|div|p|table|td|font|br|span)\b", re.I)
_HEADING = re.compile(r"^#{1,6} +\S", re.M)
_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")


def read_document(
    path: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    view: View = "final",
    password: str | None = None,
    member: str | None = None,
    ocr: bool = False,
) -> Document:
    """Document read from the file at ``path``.

    ``encoding`` overrides the detection for text and HTML; ``view`` chooses the text of a document with tracked
    changes ("final": accepted, "original": rejected, "markup": both); ``password`` opens an encrypted PDF;
    ``member`` chooses an exhibit of an EDGAR submission ("EX-10.1"); ``ocr`` reads scanned pages (extra ``[ocr]``).

    Raises ``DocumentError`` when the file is missing, empty, too large, encrypted, damaged or of a kind
    that is not read, ``UsageError`` for an unknown view or a member of a file without members. What could be read
    only in part is told in ``Document.coverage``, not raised.
    """
    name = os.fspath(path)
    options = ReadOptions(encoding=encoding, view=view, password=password, member=member, ocr=ocr)
    check_options(options)
    data = _load(Path(path), name)
    kind, result = _read(data, Path(path).suffix.lower(), options)
    unused = unused_options(kind, options)
    if not result.text.strip() and not result.coverage.skipped:
        unseen = sum(len(aside.text) for aside in result.aside)
        found = f"only {len(data)} bytes of blanks" if not data.strip() else "none"
        found = f"only text that is not seen ({unseen} characters)" if unseen else found
        raise DocumentError(
            f"a document with text is required, {name} holds {found}", "check that it is the right file"
        )
    _refuse_long(result.text)
    text = with_marks(result.text)
    structure = build_structure(text, result.blocks)
    clauses = structure.clauses
    if text != result.text:
        clauses = tuple(replace(clause, heading=clause.heading.replace(MARK, " ")) for clause in clauses)
    terms = find_definitions(text, clauses)
    return Document(
        text=result.text,
        source=Source(path=name, sha256=hashlib.sha256(data).hexdigest(), format=kind, size=len(data)),
        blocks=result.blocks,
        clauses=clauses,
        coverage=replace(result.coverage, notes=result.coverage.notes + structure.notes + unused),
        terms=terms,
        references=find_references(text, clauses, terms, result.links),
        generated=result.generated,
        aside=result.aside,
        marks=result.marks,
        links=result.links,
        lines=result.lines,
        view=view,
    )


def _load(path: Path, name: str) -> bytes:
    """Bytes of the file, after the checks that need no parsing."""
    if not name.strip():
        raise DocumentError("the path of a document is required, an empty one came", "name a file")
    try:
        _refuse_special(path, name)
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise DocumentError(
                f"a file of at most {MAX_BYTES} bytes is required, {name} has {size}",
                "split it into smaller files",
            )
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise DocumentError(f"no such file: {name}", "check the path") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError(f"cannot open {name}: {reason}", "check the path and its permissions") from error
    if not data:
        raise DocumentError(
            f"a document with text is required, {name} is empty (0 bytes)", "check that it was saved or copied wholly"
        )
    return data


def _refuse_special(path: Path, name: str) -> None:
    """Refuse what has a name but is no document: a directory, a device, a lock file of an open document."""
    if path.is_dir():
        raise DocumentError(f"a file is required, {name} is a directory", "name one file in it")
    if path.exists() and not path.is_file():
        raise DocumentError(
            f"a regular file is required, {name} is a device or a pipe", "save the document as a file and name that"
        )
    locked = path.name.startswith(("~$", ".~lock.")) and path.is_file() and path.stat().st_size < 1024
    if locked:
        raise DocumentError(
            f"a document is required, {name} is the lock file of a document that is open elsewhere",
            "name the document itself, without the ~ in front",
        )


def _read(data: bytes, suffix: str, options: ReadOptions) -> tuple[str, ReaderResult]:
    """Format name and reader result; content decides first, the extension second."""
    if _is_pdf(data):
        from softlookup.documents.readers.pdf.reader import read_pdf  # numpy is loaded for these files only

        return "pdf", read_pdf(data, options)
    refuse_foreign(data)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "docx", read_docx(data, options)
    return _read_textual(data, suffix, options)


def _is_pdf(data: bytes) -> bool:
    """True for a PDF; a text that only mentions the mark of one is none."""
    at = data[:1024].find(b"%PDF-")
    return at == 0 or (at > 0 and (not data[:at].strip(b"\xef\xbb\xbf \t\r\n\0") or b"startxref" in data[-2048:]))


def _read_textual(data: bytes, suffix: str, options: ReadOptions) -> tuple[str, ReaderResult]:
    try:
        text, notes = decode(data, encoding=options.encoding, declared=declared_encoding(data))
    except DocumentError as error:
        raise _renamed(suffix) or error from error
    kind = _textual_kind(text, suffix)
    renamed = _renamed(suffix)
    if kind == "text" and renamed is not None:
        raise renamed
    _refuse_binary(text)
    if kind == "edgar":
        return kind, read_edgar(text, notes, options)
    if kind == "html":
        return kind, read_html(text, notes, options)
    _refuse_long(text)
    if kind == "markdown":
        normalised, line_notes = normalise_line_ends(text)
        return kind, read_markdown(normalised, notes + line_notes, options)
    return kind, read_plain(text, notes)


def _refuse_long(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise DocumentError(
            f"a document of at most {MAX_CHARACTERS:,} characters is required, this one has {len(text):,}",
            "split it into smaller files",
        )


def _textual_kind(text: str, suffix: str) -> str:
    """Format of a decoded file, by what it holds; the extension decides only between Markdown and plain text."""
    head = text[:20_000].removeprefix("\ufeff")
    if is_submission(head):
        return "edgar"
    start = _HTML_START.match(_after_comments(head))
    if start and (start["page"] or (suffix not in _MARKDOWN and _HTML_END.search(head))):
        return "html"
    if suffix in (".htm", ".html", ".xhtml") and _HTML_TAG.search(head):
        return "html"
    if suffix in _MARKDOWN:
        return "markdown"
    return "markdown" if _is_markdown(head) else "text"


def _after_comments(head: str) -> str:
    """``head`` without the comments, declarations and template code that it begins with."""
    position = len(head) - len(head.lstrip())
    while opened := next((end for start, end in _BEFORE_HTML if head.startswith(start, position)), ""):
        stop = head.find(opened, position)
        if stop < 0:
            break
        position = stop + len(opened)
        position += len(head[position:]) - len(head[position:].lstrip())
    return head[position:]


def _is_markdown(head: str) -> bool:
    """True when a file that is not called Markdown has its headings."""
    lines = head.count("\n") + 1
    return 3 <= len(_HEADING.findall(head)) <= lines / 2


def _renamed(suffix: str) -> DocumentError | None:
    """The error for a file whose extension promises a format that it does not have."""
    if suffix in (".docx", ".docm"):
        return DocumentError(
            "a DOCX file must be a zip archive, this one is not",
            "save it again as DOCX; it may be damaged or renamed",
        )
    if suffix == ".pdf":
        return DocumentError(
            "a PDF file must start with %PDF-, this one does not",
            "fetch it again; it may be damaged or renamed",
        )
    return None


def _refuse_binary(text: str) -> None:
    sample = text[:100_000]
    controls = sum(1 for character in sample if character < " " and character not in "\n\r\t\f\v\x1b\b\x1a")
    if controls > 0.02 * len(sample) + 8:
        raise DocumentError("a text document is required, the file holds binary data", GIVE)
