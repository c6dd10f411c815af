"""The account of the parts of a DOCX: what was read, what is missing, what is no text; no reading of text here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from softlookup.documents.model import Aside, BlockKind, CoverageRow, CoverageState
from softlookup.documents.readers.docx.package import Package, Relationship, local

_WITHOUT_TEXT = frozenset((
    "styles", "numbering", "settings", "fontTable", "theme", "webSettings", "customXml", "glossaryDocument", "people",
    "commentsExtended", "commentsIds", "commentsExtensible", "stylesWithEffects", "hyperlink", "diagramLayout",
    "diagramQuickStyle", "diagramColors", "diagramDrawing", "keyMapCustomizations", "attachedToolbars", "documenttasks",
    "recipientData", "printerSettings", "customXmlProps", "chartUserShapes", "chartStyle", "chartColorStyle", "font",
    "classificationlabels", "activeXControlBinary",
))  # fmt: skip
_KEPT: dict[BlockKind, str] = {
    "header": "page header, kept aside",
    "footer": "page footer, kept aside",
    "comment": "comments, kept aside",
    "footnote": "notes without a mark in this view, kept aside",
    "endnote": "notes without a mark in this view, kept aside",
}
_MOST_ROWS = 10
_READ = frozenset(("footnotes", "endnotes", "comments", "header", "footer"))
_REASONS: dict[str, tuple[CoverageState, str]] = {
    "image": ("skipped", "picture"),
    "hdphoto": ("skipped", "picture"),
    "aFChunk": ("failed", "embedded document (altChunk), not read"),
    "subDocument": ("failed", "sub-document, not read"),
    "chart": ("skipped", "chart, not read"),
    "chartEx": ("skipped", "chart, not read"),
    "diagramData": ("skipped", "SmartArt, not read"),
    "oleObject": ("skipped", "embedded object, not read"),
    "package": ("skipped", "embedded file, not read"),
    "control": ("skipped", "ActiveX control, not read"),
    "origin": ("skipped", "digital signature, not checked"),
    "signature": ("skipped", "digital signature, not checked"),
    "vbaProject": ("skipped", "macros, never run"),
    "wordVbaData": ("skipped", "macros, never run"),
    "attachedTemplate": ("skipped", "template outside the file, not loaded"),
    "mailMergeSource": ("skipped", "mail merge source, not loaded"),
    "frame": ("failed", "frame from outside the file, not loaded"),
    "header": ("skipped", "header that no section uses"),
    "footer": ("skipped", "footer that no section uses"),
}
_LOST_WORDS = frozenset(("numbering", "footnotes", "endnotes", "aFChunk", "subDocument", "frame"))
_NEEDED: tuple[tuple[str, str, CoverageState, str], ...] = (
    ("numbering", "numbered", "skipped", "the lists that paragraphs name are not defined, no numbers are printed"),
    ("styles", "styled", "skipped", "numbers and hidden text that styles give are not seen"),
    ("footnotes", "footnote marks", "failed", "the footnotes cannot be read"),
    ("endnotes", "endnote marks", "failed", "the endnotes cannot be read"),
)


def part_rows(package: Package, asides: Iterable[Aside], in_text: dict[str, int]) -> list[CoverageRow]:
    """One row per part that holds words or is not read; ``in_text`` are the characters each part gave the text."""
    beside: Counter[str] = Counter()
    kinds: dict[str, BlockKind] = {}
    for aside in asides:
        part = aside.where.split(" ", 1)[0]
        beside[part] += len(aside.text)
        kinds[part] = aside.kind
    rows = [
        CoverageRow(part, "read", characters, characters_aside=beside.pop(part, 0))
        for part, characters in in_text.items()
    ]
    rows += [
        CoverageRow(part, "read", 0, _KEPT.get(kinds[part], "kept aside"), count)
        for part, count in sorted(beside.items())
    ]
    told = {row.unit for row in rows}
    unread: dict[str, list[CoverageRow]] = {}
    for relation in package.all_relationships():
        row = _row(package, relation)
        if row is not None and row.unit not in told:
            told.add(row.unit)
            unread.setdefault(row.reason if row.state == "skipped" else row.unit, []).append(row)
    return rows + [row for alike in unread.values() for row in _shortened(alike)]


def _shortened(rows: list[CoverageRow]) -> list[CoverageRow]:
    """The first rows of one reason, and one row for the rest: a file may hold hundreds of pictures."""
    if len(rows) <= _MOST_ROWS:
        return rows
    shown, rest = rows[: _MOST_ROWS - 1], rows[_MOST_ROWS - 1 :]
    beside = sum(row.characters_aside for row in rest)
    return [*shown, CoverageRow(f"{len(rest)} more parts", rest[0].state, 0, rest[0].reason, beside)]


def _row(package: Package, relation: Relationship) -> CoverageRow | None:
    kind = relation.kind
    state, reason = _REASONS.get(kind, ("skipped", f"{kind}, not read"))
    if relation.external:
        if kind == "hyperlink":
            return None
        return CoverageRow(f"{kind} outside the file", state, 0, reason if kind in _REASONS else "not loaded")
    if relation.target not in package.names:
        if kind == "hyperlink":
            return None
        return CoverageRow(relation.target, "failed" if kind in _LOST_WORDS else "skipped", 0, "missing from the file")
    if kind in _WITHOUT_TEXT or relation.target == package.main or relation.target.startswith("docProps/"):
        return None
    characters = _words(package, relation.target) if relation.target.endswith(".xml") else 0
    if kind in _READ and not characters:
        return None
    return CoverageRow(relation.target, state, 0, reason, characters)


def _words(package: Package, part: str) -> int:
    root = package.xml(part)
    return (
        0
        if root is None
        else sum(len((e.text or "").strip()) for e in root.iter() if local(e) in ("t", "delText", "v"))
    )


def missing_rows(package: Package, counts: Counter[str], told: Iterable[CoverageRow]) -> list[CoverageRow]:
    """Rows for parts that the text needs and the file lacks, beside those of ``told``."""
    rows: list[CoverageRow] = []
    units = {row.unit for row in told}
    folder, _, name = package.main.rpartition("/")
    rels = f"{folder}/_rels/{name}.rels".lstrip("/")
    if rels not in package.names and any(n.startswith(f"{folder}/") for n in package.names - {package.main}):
        rows.append(CoverageRow(rels, "skipped", 0, "missing; parts were looked for under their usual names"))
    for kind, needed, state, loss in _NEEDED:
        part = package.part(kind)
        if counts[needed] and part not in package.names and part not in units:
            rows.append(CoverageRow(part, state, 0, f"missing: {loss}"))
    return rows
