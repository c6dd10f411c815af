"""Page breaks in texts that were once printed: page lines, running lines, paragraphs that go on; no layout.

Shared by the readers of HTML, EDGAR and plain text. A page line is a number alone beside a page break.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(
    r"[ \t]*(?:[-–—][ ]?)?(?:(?:Page|PAGE|page|第)[ ]?)?(?:(?P<part>[A-Z]{1,2}|[A-Z]?\d{0,2})[-–—])?"
    r"(?P<number>\d{1,4}|[ivxlc]{1,8}|[IVXLC]{1,8})(?:[ ]?页)?"
    r"(?:[ ]?(?:of|/|共)[ ]?\d{1,4}(?:[ ]?页)?)?(?:[ ]?[-–—])?[ \t]*"
)
_LABEL = re.compile(
    r"[ \t]*(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,6})[.)]|\d{1,3}\.\d|§|第|[（(][一二三四五六七八九十\d]"
    r"|[一二三四五六七八九十]{1,3}、|[•·*-][ ]"
    r"|(?:Section|SECTION|Article|ARTICLE|Exhibit|EXHIBIT|Schedule|SCHEDULE|Annex|ANNEX|Appendix|APPENDIX)\b"
    r"|附[件录表])"
)
_FULL = 50  # characters; a line of running text is no shorter
_FINAL = tuple('.;:!?。；：！？)"”’_]')


def page_number(line: str) -> str | None:
    """The number of a line that holds a page number alone; None for any other line."""
    line = line.strip()
    found = _NUMBER.fullmatch(line) if len(line) <= 40 else None
    return None if found is None else found["number"]


def same_line(line: str) -> str:
    """``line`` with its digits hidden, so that running lines of several pages compare equal.

    The digits of a label stay: "SCHEDULE 1" and "SCHEDULE 2" at the head of their pages are no running line.
    """
    words = " ".join(line.split())
    return words if _LABEL.match(line) else re.sub(r"\d+", "#", words)


def goes_on(before: str, after: str, above: str = "") -> bool:
    """True when the paragraph that ends a page with line ``before`` goes on with line ``after`` on the next one.

    ``above`` is the line above ``before``: below a full line even a short one is no title.
    """
    before, after = before.rstrip(), after.strip()
    if not before.strip() or not after or _LABEL.match(after):
        return False
    first = next((c for c in after if c.isalnum()), "")
    if before.endswith(_FINAL):
        return first.islower() and not before.endswith((".", "。", "!", "?"))
    if first.islower():
        return True
    is_title = before.strip().isupper() or after.isupper()
    return not is_title and (
        len(before.strip()) >= _FULL or len(above.strip()) >= _FULL or before.endswith((",", "，", "、"))
    )


def page_offset(numbers: Sequence[str | None]) -> int | None:
    """What to add to the ordinal of a page (from 0) to get its printed number; None when they do not agree.

    ``numbers`` holds the printed number of each page, None where there is none.
    """
    decimal = [(at, int(number)) for at, number in enumerate(numbers) if number and number.isdecimal()]
    if len(decimal) < 2:
        return None
    differences = [number - at for at, number in decimal]
    usual = max(set(differences), key=differences.count)
    return usual if differences.count(usual) == len(differences) and usual + decimal[0][0] >= 0 else None
