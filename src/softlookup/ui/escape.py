"""Makes hostile text harmless for a terminal, for JSON and for a page; changes nothing that is plain text."""

from __future__ import annotations

import html
import json
import re
from typing import Any

# C0 and C1 controls, DEL, bidi controls and isolates, zero-width and other invisible format characters,
# line separators, tags, variation-less annotation marks, BOM, lone surrogates
_DANGEROUS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """``text`` with every dangerous character written as an escape; tab and newline stay."""
    return _DANGEROUS.sub(lambda match: _escape(match.group()), text)


def printable_line(text: str) -> str:
    """The same on one line: runs of white space become one blank."""
    return printable(" ".join(text.split()))


def html_text(text: str) -> str:
    """Text that is only text inside HTML, in an attribute too: invisible characters shown, markup escaped."""
    return html.escape(printable(text), quote=True)


def json_line(value: Any) -> str:
    """One line of JSON, readable (Chinese stays Chinese) and without raw dangerous characters.

    JSON escapes decode to the same text, so nothing is lost.
    """
    return _json(value, indent=None)


def json_text(value: Any) -> str:
    """The same over several lines, for files that people open."""
    return _json(value, indent=1)


def _json(value: Any, indent: int | None) -> str:
    encoded = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return _DANGEROUS.sub(lambda match: json.dumps(match.group())[1:-1], encoded)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
