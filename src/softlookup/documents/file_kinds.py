"""Names what a file is from its first bytes, for the refusal of what is not read; reads nothing.

The extension is not asked: it lies. Every kind comes with the way out.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from io import BytesIO

from softlookup.errors import DocumentError

SAVE_AS = "save it as DOCX or PDF and read that file"
GIVE = "give a DOCX, PDF, HTML, Markdown or text file"
_UNPACK = "unpack it and name the contract inside"
_OCR = "scan or print it to PDF and read that with OCR"
_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAGIC = (
    (b"{\\rtf", "an RTF file (.rtf)", SAVE_AS),
    (b"\x89PNG", "a PNG picture", _OCR),
    (b"\xff\xd8\xff", "a JPEG picture", _OCR),
    (b"II*\0", "a TIFF picture", _OCR),
    (b"MM\0*", "a TIFF picture", _OCR),
    (b"GIF8", "a GIF picture", _OCR),
    (b"BM", "a BMP picture", _OCR),
    (b"AT&TFORM", "a DjVu file", "convert it to PDF"),
    (b"\x1f\x8b", "a gzip archive", _UNPACK),
    (b"7z\xbc\xaf", "a 7z archive", _UNPACK),
    (b"Rar!", "a RAR archive", _UNPACK),
    (b"BZh", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ", "an xz archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", _UNPACK),
    (b"\xffWPC", "a WordPerfect file (.wpd)", SAVE_AS),
    (b"%!PS", "a PostScript file", "convert it to PDF"),
    (b"\x7fELF", "a program", GIVE),
    (b"SQLite format 3", "an SQLite database", GIVE),
)
_ZIPPED = (
    ("xl/workbook.", "an Excel workbook (.xlsx)", "save the sheet as PDF, or its text as DOCX"),
    ("ppt/presentation.", "a PowerPoint file (.pptx)", "save it as PDF"),
    ("Index/Document.iwa", "an Apple Pages file (.pages)", "export it as DOCX or PDF"),
    ("Index/Tables/", "an Apple Numbers file", "export it as PDF"),
    ("Index.zip", "an Apple Pages file (.pages)", "export it as DOCX or PDF"),
    ("index.xml", "an Apple Pages file (.pages)", "export it as DOCX or PDF"),
    ("META-INF/container.xml", "an EPUB book", "convert it to PDF or HTML"),
    ("FixedDocSeq.fdseq", "an XPS file", "save it as PDF"),
)
_MAIL = re.compile(
    rb"\A(?:(?:From|To|Cc|Subject|Date|Received|Return-Path|Message-ID|MIME-Version|Delivered-To|X-[A-Za-z-]{1,40}"
    rb"|DKIM-Signature|Content-Type|Content-Transfer-Encoding|Reply-To|Sender|In-Reply-To|References)"
    rb":[^\n]{0,2000}\r?\n(?:[ \t][^\n]{0,2000}\r?\n){0,50}){3,100}",
    re.I,
)
_EMAIL = ("an e-mail (.eml)", "save its attachment, or its text as a text file")
_WEB_ARCHIVE = ("a saved web archive (.mht)", "save the page as HTML, DOCX or PDF")
_XML_WORD = re.compile(rb"<\?mso-application[^>]{0,60}Word|<w:wordDocument\b|<pkg:package\b|<office:document\b")


def refuse_foreign(data: bytes) -> None:
    """Raise ``DocumentError`` for a kind of file that is not read; zip archives that may be DOCX pass."""
    if data.startswith(_OLE2):
        _refuse_ole2(data)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        _refuse_zipped(data)
        return
    for magic, what, remedy in _MAGIC:
        if data.startswith(magic) and (magic != b"BM" or data[6:10] == b"\0\0\0\0"):
            _refuse(what, remedy)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        _refuse("a WebP picture", _OCR)
    if data[4:8] == b"ftyp" and data[8:11] in (b"hei", b"mif", b"avi", b"hev"):
        _refuse("a HEIC picture", _OCR)
    if data[257:262] == b"ustar":
        _refuse("a tar archive", _UNPACK)
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if _XML_WORD.search(head):
        _refuse("a Word or OpenDocument XML file", SAVE_AS)
    mail = _MAIL.match(head)
    if mail and re.search(rb"^(?:MIME-Version|Received|Message-ID|Return-Path):", mail[0], re.I | re.M):
        _refuse(*(_WEB_ARCHIVE if re.search(rb"multipart/related", mail[0], re.I) else _EMAIL))


def _refuse(what: str, remedy: str) -> None:
    raise DocumentError(f"DOCX, PDF, HTML, Markdown or text is required, this is {what}", remedy)


def _refuse_ole2(data: bytes) -> None:
    """Old Office files and Outlook messages share a container; the names of their streams tell them apart."""

    def holds(name: str) -> bool:
        return name.encode("utf-16-le") in data

    if holds("EncryptedPackage"):
        raise DocumentError(
            "a readable DOCX is required, this one is encrypted with a password",
            "remove the password in Word and save it again",
        )
    if holds("__substg1.0_"):
        _refuse("an Outlook message (.msg)", "save its attachment, or its text as a text file")
    if holds("WordDocument"):
        _refuse("an old Word file (.doc)", SAVE_AS)
    if holds("Workbook") or holds("Book\0"):
        _refuse("an old Excel file (.xls)", "save the sheet as PDF, or its text as DOCX")
    if holds("PowerPoint Document"):
        _refuse("an old PowerPoint file (.ppt)", "save it as PDF")
    _refuse("an old Word (.doc) or other OLE2 file", SAVE_AS)


def _refuse_zipped(data: bytes) -> None:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = archive.infolist()
            names = [member.filename for member in members[:10_000]]
            kind = b""
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                kind = archive.read("mimetype")
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, zlib.error, EOFError):
        # damaged or hostile: the DOCX reader says what is wrong with it
        return
    if kind.startswith(b"application/vnd.oasis.opendocument"):
        what = "text (.odt)" if b"text" in kind else "sheet or drawing"
        _refuse(f"an OpenDocument {what} file", SAVE_AS)
    if any(name.startswith("word/") or name in ("[Content_Types].xml", "_rels/.rels") for name in names):
        office = [entry for entry in _ZIPPED[:2] if any(name.startswith(entry[0]) for name in names)]
        if office and not any(name.startswith("word/") for name in names):
            _refuse(*office[0][1:])
        return
    for start, what, remedy in _ZIPPED:
        if any(name.startswith(start) for name in names):
            _refuse(what, remedy)
    if names:
        _refuse(f"a zip archive of {len(members)} files without a Word document", _UNPACK)
