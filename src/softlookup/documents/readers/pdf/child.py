"""The process that runs pdfium: a PDF on stdin, one frame per page on stdout; nothing else.

It is started by ``pdf_process.py`` with limits on memory and time, because a hostile file may crash or hang
pdfium. No other process imports it, so pdfium stays out of every other one.
Run as ``python -m softlookup.documents.readers.pdf.child SECONDS BYTES FIRST``, with a line of JSON (the
password) before the PDF on stdin.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import BinaryIO

import pypdfium2 as pdfium

from softlookup.documents.readers.pdf import frames as pdf_frames
from softlookup.documents.readers.pdf.extract import Extractor

_MAX_ATTACHMENTS = 100
_PASSWORD = 4  # FPDF_ERR_PASSWORD


def main() -> int:
    """Read stdin, write frames to stdout; the exit status tells only a crash from an end."""
    seconds, size, first, most = (int(argument) for argument in sys.argv[1:5])
    limit(seconds, size)
    with frames_only() as out:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it has no business to write a file
        try:
            password = json.loads(sys.stdin.buffer.readline())
            _read(sys.stdin.buffer.read(), password, range(first, most + 1), out)
        except MemoryError:
            pdf_frames.write(out, {"error": "memory"})
        except BrokenPipeError:  # the reader has seen enough
            os._exit(0)
    return 0


def limit(seconds: int, size: int) -> None:
    """Bind this process to its share of processor time and memory, and let it leave no core file."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def frames_only() -> BinaryIO:
    """The pipe on stdout, which nothing else can write to from now on: libraries may print."""
    out = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    return out


def _read(data: bytes, password: str | None, wanted: range, out: BinaryIO) -> None:
    """Write the frame of the file and those of its pages, as far as they are ``wanted``."""
    try:
        document = pdfium.PdfDocument(data, password=password)
        count = len(document)
    except pdfium.PdfiumError as error:
        wrong = getattr(error, "err_code", 0) == _PASSWORD
        pdf_frames.write(out, {"error": "password" if wrong else "damaged", "detail": str(error)[:200]})
        return
    pdf_frames.write(
        out,
        {
            "pages": count,
            "protected": int(pdfium.raw.FPDF_GetSecurityHandlerRevision(document)) >= 0,
            "attachments": _attachments(document),
        },
    )
    extractor = Extractor(document)
    for number in range(wanted.start, min(count + 1, wanted.stop)):
        try:
            head, body = extractor.page(number - 1)
        except (pdfium.PdfiumError, ValueError, OSError, UnicodeError) as error:
            head, body = {"failed": str(error)[:200]}, ()
        pdf_frames.write(out, {"page": number, **head}, *body)
    pdf_frames.write(out, {"end": True})


def _attachments(document: pdfium.PdfDocument) -> list[str]:
    names = []
    for index in range(min(int(document.count_attachments()), _MAX_ATTACHMENTS)):
        try:
            names.append(str(document.get_attachment(index).get_name())[:200])
        except (pdfium.PdfiumError, UnicodeError):
            names.append("")
    return names


if __name__ == "__main__":
    sys.exit(main())
