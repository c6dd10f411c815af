"""Word documents: the text as printed in one view, automatic numbers included; no clause structure.

The view decides on tracked changes: "final" has them accepted, "original" rejected, "markup" has all words. What
the view leaves out, hidden or invisible words, comments, headers and footers stand in ``aside``. Notes follow the
body. Every part that is not read gets a coverage row.

``docx_blocks.py`` reads paragraphs, ``docx_runs.py`` what stands in them, ``docx_notes.py`` the other stories.
"""

from __future__ import annotations

from collections import Counter

from lxml import etree

from softlookup.documents.model import Coverage, CoverageCounts, CoverageRow, Mark
from softlookup.documents.readers import DEFAULTS, ReaderResult, ReadOptions
from softlookup.documents.readers.docx.blocks import read_story
from softlookup.documents.readers.docx.fields import ignore_broken_fields
from softlookup.documents.readers.docx.links import resolve_links
from softlookup.documents.readers.docx.looks import parse_looks
from softlookup.documents.readers.docx.notes import read_comments, read_headers, read_notes
from softlookup.documents.readers.docx.numbering import parse_numbering
from softlookup.documents.readers.docx.output import Output
from softlookup.documents.readers.docx.package import Package, child, local
from softlookup.documents.readers.docx.parts import missing_rows, part_rows
from softlookup.documents.readers.docx.reading import Reading, Story
from softlookup.documents.readers.docx.revisions import Context, Revisions
from softlookup.documents.readers.docx.styles import parse_styles
from softlookup.errors import DocumentError

_COUNTED = ("tables", "footnotes", "endnotes", "comments", "headers", "footers", "textboxes", "pictures", "form_fields",
            "hidden_characters")  # fmt: skip


def read_docx(data: bytes, options: ReadOptions = DEFAULTS) -> ReaderResult:
    """Text, blocks and coverage of a DOCX; raises ``DocumentError`` when the package is unsound."""
    package = Package(data)
    root = package.xml(package.main)
    if root is None or local(root) != "document":
        raise DocumentError(
            "DOCX or PDF is required, the main part of this Office file is no Word document",
            "save the contract as DOCX or PDF",
        )
    try:
        return _read(package, root, options)
    except RecursionError as error:  # text boxes in text boxes, within the depth that the XML parser allows
        raise DocumentError(
            "a sound DOCX is required, this one nests its parts too deeply", "save it again from Word or LibreOffice"
        ) from error


def _read(package: Package, root: etree._Element, options: ReadOptions) -> ReaderResult:
    reading, output = _start(package, options), Output()
    in_text = {package.main: _read_body(reading, output, package, root)}
    in_text |= read_notes(reading, package, output)
    read_comments(reading, package, output, package.part("comments"))
    named = package.relationships(package.main)
    read_headers(reading, package, output, {r.id: r.target for r in named if not r.external})
    output.close()
    return _result(reading, output, package, in_text)


def _start(package: Package, options: ReadOptions) -> Reading:
    styles = package.xml(package.part("styles"))
    return Reading(
        revisions=Revisions(options.view, Counter()),
        looks=parse_looks(styles),
        styles=parse_styles(styles),
        numbering=parse_numbering(package.xml(package.part("numbering"))),
    )


def _read_body(reading: Reading, output: Output, package: Package, root: etree._Element) -> int:
    """Read the body; its length in the text."""
    reading.counts["broken_fields"] += ignore_broken_fields(root)
    story = Story(reading, output, package.main, "paragraph", reading.fresh_numbering())
    body = child(root, "body")
    if body is not None:
        reading.sections.append((output.point(), body))
        background = "" if child(root, "background") is not None else "FFFFFF"
        read_story(story, body, Context(background=background))
        reading.sections.pop()  # what follows the last section properties is no section
    return output.length


def _result(reading: Reading, output: Output, package: Package, in_text: dict[str, int]) -> ReaderResult:
    text, blocks, asides = output.text, tuple(output.blocks), tuple(output.asides())
    links = resolve_links(text, blocks, reading)
    rows: list[CoverageRow] = part_rows(package, asides, in_text)
    rows += missing_rows(package, reading.counts, rows)
    revisions, counts = reading.revisions, reading.counts
    coverage = Coverage(
        rows=tuple(rows),
        notes=_notes(reading),
        counts=CoverageCounts(
            insertions=revisions.insertions,
            deletions=revisions.deletions,
            moves=revisions.moves,
            stale_references=len(links.stale),
            **{name: counts[name] for name in _COUNTED},
        ),
    )
    marks: tuple[Mark, ...] = tuple(sorted((*output.marks(), *links.stale), key=lambda m: (m.span, m.flag)))
    return ReaderResult(text, blocks, coverage, output.generated(), asides, marks, links.links)


def _notes(reading: Reading) -> tuple[str, ...]:
    """What a reader should be told in words."""
    counts, revisions, found = reading.counts, reading.revisions, []
    if revisions.insertions or revisions.deletions or revisions.moves:
        others = " or ".join(f"--view {v}" for v in ("final", "original", "markup") if v != reading.view)
        found.append(
            f"tracked changes: {revisions.insertions} insertions, {revisions.deletions} deletions, "
            f"{revisions.moves} moves; this is the {reading.view} view ({others} reads the file otherwise)"
        )
    if counts["hidden_characters"]:
        found.append(f"hidden or invisible text kept aside: {counts['hidden_characters']} characters")
    if counts["unknown_symbols"]:
        found.append(f"symbols of unknown fonts shown as U+FFFD: {counts['unknown_symbols']}")
    if counts["computed_numbers"]:
        found.append(f"numbers of fields that store none, computed: {counts['computed_numbers']}; check them")
    if counts["broken_fields"]:
        found.append(f"parts of fields without partners ignored: {counts['broken_fields']}")
    if reading.without_result:
        names = ", ".join(f"{name} {count}" for name, count in sorted(reading.without_result.items())[:8])
        found.append(f"fields that store no result, left empty: {names}")
    return tuple(found)
