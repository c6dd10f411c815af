"""Stories beside the body of a DOCX: footnotes and endnotes (blocks after it), comments, headers and footers."""

from __future__ import annotations

from collections import Counter

from lxml import etree

from softlookup.documents.model import BlockKind, Flag
from softlookup.documents.readers.docx.blocks import read_story
from softlookup.documents.readers.docx.fields import ignore_broken_fields
from softlookup.documents.readers.docx.output import Output, Point
from softlookup.documents.readers.docx.package import Package, attribute, children, local
from softlookup.documents.readers.docx.reading import Reading, Story
from softlookup.documents.readers.docx.revisions import Context
from softlookup.documents.readers.docx.runs import note_label

_MOST_USES = 200  # a header that more sections name again is told often enough


def read_notes(reading: Reading, package: Package, output: Output) -> dict[str, int]:
    """Footnotes, then endnotes, in the order of their marks; what each part gave the text.

    Notes without a mark in the view are set aside. A note may hold the mark of another one.
    """
    kinds: tuple[BlockKind, ...] = ("footnote", "endnote")
    parts = {kind: package.part(f"{kind}s") for kind in kinds}
    notes = {kind: _notes_by_id(package.xml(parts[kind]), kind) for kind in kinds}
    numberings = {kind: reading.fresh_numbering() for kind in kinds}  # the notes of a kind count on
    lengths: dict[str, int] = {}
    while any(reading.waiting_notes.values()):
        for kind in kinds:
            before = output.length
            for note in reading.waiting_notes.pop(kind, ()):
                if note in notes[kind]:
                    label = note_label(kind, reading.notes[kind, note])
                    story = Story(reading, output, parts[kind], kind, numberings[kind], lead=f"{label} ", label=label)
                    read_story(story, notes[kind].pop(note), Context())
                    reading.counts[f"{kind}s"] += 1
            if output.length > before:
                lengths[parts[kind]] = lengths.get(parts[kind], 0) + output.length - before
    for kind in kinds:
        for note, element in notes[kind].items():
            anchor, flags = reading.absent_notes.get((kind, note), (Point(0), ()))
            _put_aside(output, _read_apart(reading, element, parts[kind], kind), kind, anchor, flags, parts[kind])
    return lengths


def _notes_by_id(root: etree._Element | None, kind: str) -> dict[str, etree._Element]:
    """The notes of a part, its separators left out."""
    if root is None:
        return {}
    ignore_broken_fields(root)
    return {attribute(e, "id"): e for e in children(root, kind) if attribute(e, "type") in ("", "normal")}


def read_comments(reading: Reading, package: Package, output: Output, part: str) -> None:
    """Comments, anchored where they were made; author and date stand in ``where``."""
    root = package.xml(part)
    if root is None:
        return
    ignore_broken_fields(root)
    for element in children(root, "comment"):
        who = ", ".join(filter(None, (attribute(element, "author"), attribute(element, "date"))))
        anchor = reading.comments.get(attribute(element, "id"), Point(0))
        where = f"{part} by {who}" if who else part
        own = _read_apart(reading, element, part, "comment")
        reading.counts["comments"] += _put_aside(output, own, "comment", anchor, (), where)


def read_headers(reading: Reading, package: Package, output: Output, by_id: dict[str, str]) -> None:
    """Headers and footers, once per section that names them, at its start; ``by_id`` are the parts."""
    stories: dict[str, Output] = {}
    uses: Counter[str] = Counter()
    for start, section in reading.sections:
        for reference in section:
            kind = _header_kind(local(reference))
            part = by_id.get(attribute(reference, "id"), "")
            root = package.xml(part) if kind is not None and part != package.main else None
            if kind is None or root is None:
                continue
            if part not in stories:
                ignore_broken_fields(root)
                stories[part] = _read_apart(reading, root, part, kind)
                reading.counts[f"{kind}s"] += bool(stories[part].text.strip())
            uses[part] += 1
            if uses[part] <= _MOST_USES:
                _put_aside(output, stories[part], kind, start, (), part)


def _header_kind(name: str) -> BlockKind | None:
    return "header" if name == "headerReference" else "footer" if name == "footerReference" else None


def _read_apart(reading: Reading, element: etree._Element, part: str, kind: BlockKind) -> Output:
    """``element`` read as a story that is no part of the text."""
    own = Output()
    story = Story(reading, own, part, kind, reading.fresh_numbering(), is_main=False)
    read_story(story, element, Context())
    own.close()
    return own


def _put_aside(
    output: Output, own: Output, kind: BlockKind, anchor: Point, flags: tuple[Flag, ...], where: str
) -> bool:
    """Set a story aside as a whole, and what it set aside itself; True when it holds words."""
    text = own.text
    if text.strip():
        output.set_aside_at(anchor, text, kind, flags, where)
    output.absorb(own, anchor)
    return bool(text.strip())
