"""Options of a caller that mean nothing for the file at hand: refused or told, never ignored in silence."""

from __future__ import annotations

from softlookup.documents.readers import ReadOptions
from softlookup.errors import UsageError

_VIEWS = ("final", "original", "markup")
_WITH_VIEWS = ("docx", "html", "markdown", "edgar")
_WITH_ENCODING = ("text", "markdown", "html", "edgar")


def check_options(options: ReadOptions) -> None:
    """Refuse values that no format knows. Raises ``UsageError``."""
    if options.view not in _VIEWS:
        raise UsageError(f"view must be one of {', '.join(_VIEWS)}, got {options.view!r}", 'leave it out for "final"')
    if options.member is not None and not options.member.strip():
        raise UsageError("the name of a member is required, got an empty one", "for example --member EX-10.1")


def unused_options(kind: str, options: ReadOptions) -> tuple[str, ...]:
    """Notes on options that do nothing for a file of format ``kind``.

    Raises ``UsageError`` for a member of a file without members: it names what is not there.
    """
    if options.member is not None and kind != "edgar":
        raise UsageError(
            f"--member chooses an exhibit of an EDGAR submission, this file is {kind}", "leave --member out"
        )
    unused = []
    if options.view != "final" and kind not in _WITH_VIEWS:
        unused.append(f"--view {options.view}: a {kind} file has no tracked changes")
    if options.encoding is not None and kind not in _WITH_ENCODING:
        unused.append(f"--encoding {options.encoding}: a {kind} file states its own")
    if options.ocr and kind != "pdf":
        unused.append(f"--ocr: a {kind} file has no scanned pages")
    if options.password is not None and kind != "pdf":
        unused.append(f"password: a {kind} file needs none")
    return tuple(f"option without effect: {name}" for name in unused)
