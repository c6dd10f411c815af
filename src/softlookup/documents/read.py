"""The way in: a file becomes a :class:`Document`; picks the reader by content, builds the structure.

Not for reading a format (``readers/``) nor for finding clauses (``structure.py``).
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path

from softlookup.documents.definitions import find_definitions
from softlookup.documents.model import Document, Source, View
from softlookup.documents.readers import ReaderResult, ReadOptions
from softlookup.documents.readers.docx import read_docx
from softlookup.documents.readers.edgar import is_submission, read_edgar
from softlookup.documents.readers.html import declared_encoding, read_html
from softlookup.documents.readers.markdown import read_markdown
from softlookup.documents.readers.pdf import read_pdf
from softlookup.documents.readers.text import decode, normalise_line_ends, read_text
from softlookup.documents.references import find_references
from softlookup.documents.structure import build_structure
from softlookup.errors import DocumentError

MAX_BYTES = 256 * 1024 * 1024
_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SAVE_AS = "save it as DOCX or PDF and read that file"
_KNOWN = "give a DOCX, PDF, HTML, Markdown or text file"
_HTML_START = re.compile(
    r"\s*(?:<!--.*?-->\s*|<\?xml[^>]*>\s*|<%.*?%>\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HTML_TAG = re.compile(r"<(?:html|body|div|p|table|td|font|br|span)\b", re.I)
_FOREIGN = (
    (b"{\\rtf", "an RTF file", _SAVE_AS),
    (b"\x89PNG", "a PNG picture", _KNOWN),
    (b"\xff\xd8\xff", "a JPEG picture", _KNOWN),
    (b"II*\0", "a TIFF picture", _KNOWN),
    (b"MM\0*", "a TIFF picture", _KNOWN),
    (b"GIF8", "a GIF picture", _KNOWN),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
)


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
    that is not read. What could be read only in part is told in ``Document.coverage``, not raised.
    """
    data = _load(Path(path))
    name = os.fspath(path)
    options = ReadOptions(encoding=encoding, view=view, password=password, member=member, ocr=ocr)
    kind, result = _read(data, Path(path).suffix.lower(), options)
    if not result.text.strip() and not result.coverage.skipped:
        raise DocumentError(f"a document with text is required, {name} holds none", "check that it is the right file")
    structure = build_structure(result.text, result.blocks)
    clauses = structure.clauses
    terms = find_definitions(result.text, clauses)
    return Document(
        text=result.text,
        source=Source(path=name, sha256=hashlib.sha256(data).hexdigest(), format=kind, size=len(data)),
        blocks=result.blocks,
        clauses=clauses,
        coverage=replace(result.coverage, notes=result.coverage.notes + structure.notes),
        terms=terms,
        references=find_references(result.text, clauses, terms, result.links),
        generated=result.generated,
        aside=result.aside,
        marks=result.marks,
        links=result.links,
        lines=result.lines,
        view=view,
    )


def _load(path: Path) -> bytes:
    """Bytes of the file, after the checks that need no parsing."""
    try:
        if path.is_dir():
            raise DocumentError(f"a file is required, {path} is a directory", "name one file in it")
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise DocumentError(
                f"a file of at most {MAX_BYTES} bytes is required, {path} has {size}",
                "split it into smaller files",
            )
        if not path.is_file():
            raise DocumentError(f"a regular file is required, {path} is none", "save the document as a file")
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise DocumentError(f"no such file: {path}", "check the path") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError(f"cannot open {path!s}: {reason}", "check the path and its permissions") from error
    if not data:
        raise DocumentError(f"a document with text is required, {path} is empty (0 bytes)", "check the file")
    return data


def _read(data: bytes, suffix: str, options: ReadOptions) -> tuple[str, ReaderResult]:
    """Format name and reader result; content decides first, the extension second."""
    if b"%PDF-" in data[:1024]:
        return "pdf", read_pdf(data, options)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "docx", read_docx(data, options)
    if data.startswith(_OLE2):
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise DocumentError(
                "a readable DOCX is required, this one is encrypted with a password",
                "remove the password in Word and save it again",
            )
        raise DocumentError("DOCX or PDF is required, this is an old Word (.doc) or other OLE2 file", _SAVE_AS)
    for magic, what, remedy in _FOREIGN:
        if data.startswith(magic):
            raise DocumentError(f"DOCX, PDF, HTML, Markdown or text is required, this is {what}", remedy)
    if suffix in (".docx", ".docm"):
        raise DocumentError(
            "a DOCX file must be a zip archive, this one is not",
            "save it again as DOCX; it may be damaged or renamed",
        )
    if suffix == ".pdf":
        raise DocumentError(
            "a PDF file must start with %PDF-, this one does not",
            "fetch it again; it may be damaged or renamed",
        )
    return _read_textual(data, suffix, options)


def _read_textual(data: bytes, suffix: str, options: ReadOptions) -> tuple[str, ReaderResult]:
    text, notes = decode(data, encoding=options.encoding or declared_encoding(data))
    _refuse_binary(text)
    if suffix not in (".md", ".markdown"):
        head = text[:20_000]
        if is_submission(head):
            return "edgar", read_edgar(text, notes, options)
        if _HTML_START.match(head) or (suffix in (".htm", ".html", ".xhtml") and _HTML_TAG.search(head)):
            return "html", read_html(text, notes, options)
        return "text", read_text(data, encoding=options.encoding)
    normalised, line_notes = normalise_line_ends(text)
    return "markdown", read_markdown(normalised, notes + line_notes)


def _refuse_binary(text: str) -> None:
    sample = text[:100_000]
    controls = sum(1 for character in sample if character < " " and character not in "\n\r\t\f\v\x1b\b\x1a")
    if controls > 0.02 * len(sample) + 8:
        raise DocumentError("a text document is required, the file holds binary data", _KNOWN)
