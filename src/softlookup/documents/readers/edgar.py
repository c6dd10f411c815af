"""Full EDGAR submissions: chooses the contract among the members, accounts for the others; no clauses.

A submission holds a form and several exhibits between ``<DOCUMENT>`` tags. They are separate documents,
so one is read (EX-10, EX-2 or EX-4, the longest if there are several) and each other one gets a row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from softlookup.documents.model import Coverage, CoverageRow
from softlookup.documents.readers import DEFAULTS, ReaderResult, ReadOptions
from softlookup.documents.readers.html import read_html
from softlookup.documents.readers.text import normalise_line_ends, paragraphs
from softlookup.errors import DocumentError

_START = re.compile(r"^(?:<SEC-DOCUMENT>|<SEC-HEADER>|<IMS-DOCUMENT>|-----BEGIN PRIVACY-ENHANCED MESSAGE-----)", re.M)
_MEMBER = re.compile(
    r"^<DOCUMENT>[^\n]*\n(?P<head>(?:(?!<TEXT>)[^\n]*\n){0,60})<TEXT>(?P<body>.*?)(?:^</TEXT>|^</DOCUMENT>|(?=^<DOCUMENT>)|\Z)",
    re.M | re.S,
)
_FIELD = re.compile(r"^<(TYPE|SEQUENCE|FILENAME|DESCRIPTION)>([^\n]*)", re.M)
_CONTRACT_TYPE = re.compile(r"EX-(?:10|2|4)(?:\D|$)", re.I)
_AGREEMENT = re.compile(r"\bagreement\b|\bcontract\b|\blease\b|\bindenture\b|\bplan of merger\b", re.I)
# <TABLE>, <S> and <C> are marks of plain text filings, not HTML
_HTML = re.compile(r"<(?:html|body|div|font)\b", re.I)


@dataclass(frozen=True, slots=True)
class _Member:
    type: str
    label: str
    body: str

    @property
    def rank(self) -> tuple[int, int]:
        """Contract exhibits first, then exhibits that call themselves an agreement, then length."""
        if _CONTRACT_TYPE.match(self.type):
            return (3, len(self.body))
        is_exhibit = self.type.upper().startswith("EX-")
        names_agreement = bool(_AGREEMENT.search(self.label + self.body[:3000]))
        return (2 if is_exhibit and names_agreement else int(is_exhibit), len(self.body))


def is_submission(head: str) -> bool:
    """True when the beginning of a text is that of a full EDGAR submission."""
    return bool(_START.search(head[:2000])) and "<DOCUMENT>" in head


def read_edgar(text: str, notes: tuple[str, ...] = (), options: ReadOptions = DEFAULTS) -> ReaderResult:
    """The chosen member of the submission ``text``; raises ``DocumentError`` when it has no member."""
    text, line_notes = normalise_line_ends(text)
    members = [_member(match) for match in _MEMBER.finditer(text)]
    if not members:
        raise DocumentError("an EDGAR submission needs a <DOCUMENT> with <TEXT>, this one has none", "fetch it again")
    chosen = max(members, key=lambda member: member.rank)
    rows = [
        CoverageRow(
            unit=member.label,
            state="skipped",
            characters=len(member.body),
            reason="another member of the submission",
        )
        for member in members
        if member is not chosen
    ]
    note = f"EDGAR submission with {len(members)} members; read: {chosen.label}"
    if _HTML.search(chosen.body[:5000]):
        inner = read_html(chosen.body, ())
        body, blocks, inner_rows = inner.text, inner.blocks, inner.coverage.rows
        notes += inner.coverage.notes
    else:
        body = chosen.body
        blocks, inner_rows = paragraphs(body), ()
    read = CoverageRow(unit=chosen.label, state="read", characters=len(body))
    coverage = Coverage(rows=(read, *inner_rows[1:], *rows), notes=(note, *notes, *line_notes))
    return ReaderResult(text=body, blocks=blocks, coverage=coverage)


def _member(match: re.Match[str]) -> _Member:
    fields = {name: value.strip() for name, value in _FIELD.findall(match["head"])}
    parts = [fields.get("TYPE", "?"), fields.get("DESCRIPTION", "") or fields.get("FILENAME", "")]
    return _Member(type=fields.get("TYPE", ""), label=" ".join(p for p in parts if p), body=match["body"])
