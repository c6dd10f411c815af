"""Full EDGAR submissions: chooses the contract among the members, accounts for the others; no clauses.

A submission holds a form and several exhibits between ``<DOCUMENT>`` tags. They are separate documents, so one is
read: the one that is asked for, else the exhibit that is most likely the contract (EX-10, EX-2 or EX-4, the longest
if there are several). Each other one gets a row, and a note says how to choose it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from softlookup.documents.model import CoverageRow
from softlookup.documents.readers import DEFAULTS, ReaderResult, ReadOptions
from softlookup.documents.readers.edgar_text import read_edgar_text
from softlookup.documents.readers.html.reader import read_html
from softlookup.documents.readers.text import normalise_line_ends
from softlookup.errors import DocumentError

_START = re.compile(
    r"^(?:<SEC-DOCUMENT>|<SEC-HEADER>|<IMS-DOCUMENT>|-----BEGIN PRIVACY-ENHANCED MESSAGE-----)"
    r"|\A\s{0,200}<DOCUMENT>[ \t]{0,20}\r?\n<TYPE>",  # one exhibit as the archive hands it out
    re.M,
)
_FIELD = re.compile(r"^<(TYPE|SEQUENCE|FILENAME|DESCRIPTION)>([^\n]{0,500})", re.M)
_HEAD = 5_000  # characters of a member in which its fields stand
_CONTRACT_TYPE = re.compile(r"EX-(?:10|2|4)(?:\D|$)", re.I)
_AGREEMENT = re.compile(r"\bagreement\b|\bcontract\b|\blease\b|\bindenture\b|\bplan of merger\b", re.I)
# <TABLE>, <S> and <C> are marks of plain text filings, not HTML
_HTML = re.compile(r"<(?:html|body|div|font|!doctype)\b|</(?:p|td|tr)>|<(?:p|table|td)[ \t]+[a-z-]{2,20}=", re.I)
_ESCAPED = re.compile(r"^- (?=-)", re.M)
_PUBLIC_COUNT = re.compile(r"^PUBLIC DOCUMENT COUNT:[ \t]{0,40}(\d{1,5})", re.M)
# what a member may be instead of text: by type or file name, then by its first line
_KINDS = (
    (re.compile(r"GRAPHIC|COVER|.*\.(?:jpe?g|gif|png|bmp|tiff?)", re.I), "a picture"),
    (re.compile(r".*\.pdf", re.I), "a PDF copy"),
    (re.compile(r"ZIP|EXCEL|.*\.(?:zip|xlsx?)", re.I), "a packed file or sheet"),
    (re.compile(r"EX-10[0-9]\.(?:INS|SCH|CAL|DEF|LAB|PRE)|XML|JSON|.*\.(?:xml|xsd|json|js|css)", re.I), "XBRL data"),
)
_PACKED = re.compile(r"\s{0,200}(?:<PDF>|<XBRL>|<XML>|<JSON>|begin [0-7]{3} )", re.I)
_LISTED = 12


@dataclass(frozen=True, slots=True)
class _Member:
    type: str
    sequence: str
    filename: str
    description: str
    body: str
    is_whole: bool

    @property
    def label(self) -> str:
        """Such as "EX-10.1 LOAN AGREEMENT"."""
        return " ".join(part for part in (self.type or "?", self.description or self.filename) if part)

    @property
    def name(self) -> str:
        """Type and sequence, by which it is chosen."""
        return f"{self.type or '?'} (sequence {self.sequence})" if self.sequence else self.type or self.filename

    @property
    def unreadable(self) -> str:
        """What the member is instead of text; "" for text."""
        for pattern, what in _KINDS:
            if pattern.fullmatch(self.type) or pattern.fullmatch(self.filename):
                return what
        return "packed data (PDF, XBRL or a picture)" if _PACKED.match(self.body) else ""

    @property
    def rank(self) -> tuple[int, int]:
        """Contract exhibits first, then exhibits that call themselves an agreement, then length."""
        if self.unreadable or not self.body.strip():
            return (-1, 0)
        if _CONTRACT_TYPE.match(self.type):
            return (3, len(self.body))
        is_exhibit = self.type.upper().startswith("EX-")
        names_agreement = bool(_AGREEMENT.search(self.description + self.body[:3000]))
        return (2 if is_exhibit and names_agreement else int(is_exhibit), len(self.body))


def is_submission(head: str) -> bool:
    """True when the beginning of a text is that of a full EDGAR submission."""
    return bool(_START.search(head[:2000])) and "<DOCUMENT>" in head


def read_edgar(text: str, notes: tuple[str, ...] = (), options: ReadOptions = DEFAULTS) -> ReaderResult:
    """The chosen member of the submission ``text``; raises ``DocumentError`` when it has no such member."""
    text, line_notes = normalise_line_ends(text)
    if text.lstrip().startswith("-----BEGIN PRIVACY"):
        text = _ESCAPED.sub("", text)  # this envelope puts "- " before every line that begins with a dash
    members, header = _members(text)
    if not members:
        raise DocumentError("an EDGAR submission needs a <DOCUMENT> with <TEXT>, this one has none", "fetch it again")
    chosen = _asked(members, options.member) if options.member else max(members, key=lambda member: member.rank)
    if chosen.rank[0] < 0:
        raise DocumentError(
            f"a member with text is required, {chosen.name} is {chosen.unreadable or 'empty'}", _choices(members)
        )
    if _HTML.search(chosen.body[:_HEAD]):
        inner = read_html(chosen.body, (), options)
    else:
        inner = read_edgar_text(chosen.body, chosen.label)
    return _accounted(inner, chosen, members, (header, _told(members, chosen, text), notes + line_notes))


def _accounted(
    inner: ReaderResult, chosen: _Member, members: list[_Member], told: tuple[int, tuple[str, ...], tuple[str, ...]]
) -> ReaderResult:
    """``inner`` with a row for every other member and the notes ``told``: header size, first and last notes."""
    header, first, last = told
    rows = [replace(inner.coverage.rows[0], unit=chosen.label), *inner.coverage.rows[1:]]
    if not chosen.is_whole:
        rows.append(CoverageRow(f"end of {chosen.label}", "failed", 0, "the submission is cut short in it"))
    rows += [
        CoverageRow(
            member.label, "skipped", 0, member.unreadable or "another member of the submission",
            characters_aside=len(member.body),
        )
        for member in members
        if member is not chosen
    ]  # fmt: skip
    if header:
        rows.append(CoverageRow("header of the submission", "skipped", 0, "no contract text", characters_aside=header))
    notes = (*first, *last, *inner.coverage.notes)
    return replace(inner, coverage=replace(inner.coverage, rows=tuple(rows), notes=notes))


def _told(members: list[_Member], chosen: _Member, text: str) -> tuple[str, ...]:
    """What was read, which other members can be, and what is missing."""
    others = [member for member in members if member is not chosen and member.rank[0] >= 0]
    size = f"{len(members)} member{'s' if len(members) > 1 else ''}"
    note = f"EDGAR submission with {size}; read: {chosen.label}"
    if others:
        others.sort(key=lambda member: -member.rank[0])
        listed = ", ".join(member.name for member in others[:_LISTED])
        more = f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
        best = others[0]
        note += f"; not read: {listed}{more}; choose another with --member {_option(best, members)}"
    found = _PUBLIC_COUNT.search(text[:20_000])
    notes: tuple[str, ...] = (note,)
    if found and int(found[1]) > len(members):
        notes += (f"the header announces {found[1]} members, the file holds {len(members)}: it may be cut short",)
    elif not members[-1].is_whole:
        notes += ("the submission is cut short: its last member has no end",)
    return notes


def _option(member: _Member, members: list[_Member]) -> str:
    """The shortest way to name a member."""
    if member.type and sum(1 for other in members if other.type == member.type) == 1:
        return member.type
    return member.sequence or member.filename or member.type


def _choices(members: list[_Member]) -> str:
    listed = [member.name for member in members if member.rank[0] >= 0]
    if not listed:
        return "fetch the text version of the filing"
    return f"choose with --member one of: {', '.join(listed[:40])}"


def _asked(members: list[_Member], asked: str) -> _Member:
    """The member with the type, file name, sequence or description ``asked`` for."""
    wanted = asked.strip().lower()
    for keys in (
        lambda member: (member.type, member.filename, member.sequence, f"#{member.sequence}"),
        lambda member: (member.description, member.label),
    ):
        found = [member for member in members if wanted in (key.lower() for key in keys(member) if key)]
        if len(found) == 1:
            return found[0]
        if found:
            raise DocumentError(
                f"one member is required, {len(found)} of the submission are called {asked}", _choices(members)
            )
    family = [member for member in members if member.type.lower().startswith(wanted.rstrip(".") + ".")]
    if len(family) == 1:
        return family[0]
    raise DocumentError(f"the submission has no member {asked}", _choices(members))


def _members(text: str) -> tuple[list[_Member], int]:
    """The members in order, and how many characters stand before the first one."""
    starts = [match.start() for match in re.finditer(r"^<DOCUMENT>", text, re.M)]
    members = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        body = text.find("<TEXT>", start, min(end, start + _HEAD))
        if body < 0:
            continue
        fields = {name: value.strip() for name, value in _FIELD.findall(text[start:body])}
        stops = [at for mark in ("\n</TEXT>", "\n</DOCUMENT>") if (at := text.find(mark, body, end)) >= 0]
        members.append(
            _Member(
                fields.get("TYPE", ""), fields.get("SEQUENCE", ""), fields.get("FILENAME", ""),
                fields.get("DESCRIPTION", ""), text[body + len("<TEXT>") : min(stops, default=end)],
                is_whole=bool(stops) or end < len(text),
            )
        )  # fmt: skip
    return members, starts[0] if starts else 0
