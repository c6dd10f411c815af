"""What stands inside a paragraph of a DOCX: words, characters, fields, links, notes; not paragraphs themselves.

Elements that are not known are walked into: a wrapper that this reader has never heard of loses no text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from lxml import etree

from softlookup.documents.readers.docx.fields import Field
from softlookup.documents.readers.docx.formulas import around
from softlookup.documents.readers.docx.looks import INVISIBLE_CONTRAST, OFF, TINY_HALF_POINTS, contrast
from softlookup.documents.readers.docx.output import Point
from softlookup.documents.readers.docx.package import attribute, child, children, local
from softlookup.documents.readers.docx.reading import Bookmark, Story
from softlookup.documents.readers.docx.results import end_field, field_char, instruction, open_result, points_to
from softlookup.documents.readers.docx.revisions import CHANGES, Context
from softlookup.documents.readers.docx.symbols import UNKNOWN, symbol

_XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_WORDS = frozenset(("t", "sym", "symEx", "delText"))
_CONTROLS = frozenset(("checkbox", "dropDownList", "comboBox", "date", "text", "picture"))
# namespaces whose markup this reader walks into; a Choice that needs another one gives way to its Fallback
_KNOWN_NAMESPACES = re.compile(
    r"http://schemas\.(?:microsoft\.com/office/(?:word|drawing)/20\d\d/|openxmlformats\.org/|"
    r"microsoft\.com/office/mac/drawingml/)|http://purl\.oclc\.org/ooxml/"
)


def read_inline(story: Story, element: etree._Element, context: Context) -> None:
    """Everything inside ``element`` in order."""
    for inner in element:
        name = local(inner)
        if name == "t":
            story.put(_words(inner), context)
        elif name == "delText":  # deleted, even where its wrapper was lost
            story.put(_words(inner), context if context.deleted else replace(context, deleted=True))
        elif name in _CHARACTERS:
            story.put(_CHARACTERS[name], context)
        elif name in _ACTIONS:
            _ACTIONS[name](story, inner, context)
        elif name in CHANGES:
            read_inline(story, inner, story.reading.revisions.enter(context, inner))
        elif name and not name.endswith("Pr"):  # properties hold no words
            before, after = around(inner)
            story.put(before, context, is_generated=True)
            read_inline(story, inner, context)
            story.put(after, context, is_generated=True)


def _words(element: etree._Element) -> str:
    """Text of ``w:t``; line ends inside are blanks, blanks at the ends count only with xml:space="preserve"."""
    text = element.text or ""
    if "\n" in text or "\r" in text:
        text = text.replace("\r", " ").replace("\n", " ")
    if text and (text[0] in " \t" or text[-1] in " \t"):
        stated = element.get(_XML_SPACE) or next(filter(None, (a.get(_XML_SPACE) for a in element.iterancestors())), "")
        return text if stated == "preserve" else text.strip(" \t")
    return text


def _run(story: Story, element: etree._Element, context: Context) -> None:
    reading = story.reading
    look = reading.looks.of_run(reading.revisions.run_properties(element), context.style)
    if look.hidden or look.size is not None or look.colour:
        background = context.background if look.fill is None else look.fill
        is_pale = bool(look.colour and background) and contrast(look.colour or "", background) < INVISIBLE_CONTRAST
        is_tiny = look.size is not None and look.size <= TINY_HALF_POINTS
        if look.hidden or is_pale or is_tiny:
            context = replace(context, hidden=context.hidden or bool(look.hidden), low_contrast=is_pale, tiny=is_tiny)
    read_inline(story, element, context)


def _symbol(story: Story, element: etree._Element, context: Context) -> None:
    character = symbol(attribute(element, "font"), attribute(element, "char"))
    story.reading.counts["unknown_symbols"] += character == UNKNOWN
    story.put(character, context)


def _simple_field(story: Story, element: etree._Element, context: Context) -> None:
    opened = Field(in_instruction=False, words=[attribute(element, "instr")])
    open_result(story, opened)
    read_inline(story, element, context)
    end_field(story, opened, context)


def _hyperlink(story: Story, element: etree._Element, context: Context) -> None:
    start = story.line.point()
    read_inline(story, element, context)
    anchor = attribute(element, "anchor")
    if anchor:
        points_to(story, start, story.line.point(), anchor)


def bookmark_start(story: Story, element: etree._Element, point: Point) -> None:
    """A bookmark begins at ``point``."""
    name = attribute(element, "name").casefold()
    if story.is_main and name and name not in story.reading.bookmarks:
        found = Bookmark(point)
        story.reading.bookmarks[name] = story.reading.open_bookmarks[attribute(element, "id")] = found


def bookmark_end(story: Story, element: etree._Element, point: Point) -> None:
    """A bookmark ends at ``point``."""
    found = story.reading.open_bookmarks.pop(attribute(element, "id"), None) if story.is_main else None
    if found is not None:
        found.end = point


def _note(story: Story, element: etree._Element, context: Context) -> None:
    kind = local(element).removesuffix("Reference")
    key = (kind, attribute(element, "id"))
    notes = story.reading.notes
    if not context.is_shown(story.reading.view):
        story.reading.absent_notes.setdefault(key, (story.line.point(), context.flags))
        return
    if key not in notes:
        story.reading.counts[f"{kind} marks"] += 1
        notes[key] = story.reading.counts[f"{kind} marks"]
        story.reading.waiting_notes.setdefault(kind, []).append(key[1])
    story.put(note_label(kind, notes[key]), context, is_generated=True)


def note_label(kind: str, number: int) -> str:
    """What stands for the mark of a note: "[3]", "[e3]" for an endnote."""
    return f"[{number}]" if kind == "footnote" else f"[e{number}]"


def comment_start(story: Story, element: etree._Element, point: Point) -> None:
    """The words that a comment is about begin at ``point``."""
    if story.is_main:
        story.reading.comments.setdefault(attribute(element, "id"), point)


def _comment_start(story: Story, element: etree._Element, _: Context) -> None:
    comment_start(story, element, story.line.point())


def _comment(story: Story, element: etree._Element, _: Context) -> None:
    if story.is_main:
        story.reading.comments[attribute(element, "id")] = story.line.point()


def control(
    story: Story, element: etree._Element, context: Context, read: Callable[[Story, etree._Element, Context], None]
) -> None:
    """A content control around what ``read`` reads; a placeholder is printed, and marked."""
    properties = child(element, "sdtPr")
    kinds = set() if properties is None else {local(e) for e in properties}
    story.reading.counts["form_fields"] += bool(kinds & _CONTROLS)
    start = story.here()
    length = story.line.length
    for content in children(element, "sdtContent"):
        read(story, content, context)
    if "checkbox" in kinds and story.line.length == length and not _has_words(element):
        state = attribute(child(child(properties, "checkbox"), "checked"), "val")
        story.put("☒" if state and state not in OFF else "☐", context, is_generated=True)
    shown = child(properties, "showingPlcHdr")
    if shown is not None and attribute(shown, "val") not in OFF:
        end = story.line.point() if story.line.length else Point(story.output.length)
        story.output.mark(start, end, "field", "placeholder of a content control")


def _has_words(element: etree._Element) -> bool:
    return any(local(e) in _WORDS for e in element.iter())


def _inline_control(story: Story, element: etree._Element, context: Context) -> None:
    control(story, element, context, read_inline)


def branch(alternatives: etree._Element) -> etree._Element | None:
    """The one alternative that is read: the first Choice that is understood, else the Fallback.

    A Choice without words gives way to a Fallback that has some, so that markup of the future loses none.
    """
    choices = list(children(alternatives, "Choice"))
    fallback = child(alternatives, "Fallback")
    for choice in choices:
        prefixes = attribute(choice, "Requires").split()
        if all(_KNOWN_NAMESPACES.match(choice.nsmap.get(prefix) or "") for prefix in prefixes):
            return fallback if fallback is not None and _has_words(fallback) and not _has_words(choice) else choice
    return fallback if fallback is not None or not choices else choices[0]


def _alternatives(story: Story, element: etree._Element, context: Context) -> None:
    chosen = branch(element)
    if chosen is not None:
        read_inline(story, chosen, context)


def _box(story: Story, element: etree._Element, context: Context) -> None:
    story.boxes.append((element, context))


def _guide(story: Story, element: etree._Element, context: Context) -> None:
    """A ruby guide says how the words below it are spoken; it is no part of the sentence."""
    text = "".join(e.text or "" for e in element.iter() if local(e) in ("t", "delText"))
    story.output.set_aside(story.line, text, story.aside_kind, context.flags, f"{story.where} ruby guide")


def _word_art(story: Story, element: etree._Element, context: Context) -> None:
    """Text of old WordArt stands in an attribute: watermarks such as DRAFT are made so."""
    text = attribute(element, "string")
    story.output.set_aside(story.line, text, "textbox", context.flags, f"{story.where} word art")


def _picture(story: Story, element: etree._Element, _: Context) -> None:
    story.reading.counts["pictures"] += bool(attribute(element, "embed") or attribute(element, "id"))


def _bookmark_start(story: Story, element: etree._Element, _: Context) -> None:
    bookmark_start(story, element, story.line.point())


def _bookmark_end(story: Story, element: etree._Element, _: Context) -> None:
    bookmark_end(story, element, story.line.point())


_ACTIONS: dict[str, Callable[[Story, etree._Element, Context], None]] = {
    "r": _run,
    "sym": _symbol,
    "symEx": _symbol,  # emoji since Word 2016
    "fldChar": field_char,
    "fldSimple": _simple_field,
    "instrText": instruction,
    "delInstrText": instruction,
    "hyperlink": _hyperlink,
    "bookmarkStart": _bookmark_start,
    "bookmarkEnd": _bookmark_end,
    "footnoteReference": _note,
    "endnoteReference": _note,
    "commentReference": _comment,
    "commentRangeStart": _comment_start,
    "sdt": _inline_control,
    "AlternateContent": _alternatives,
    "txbxContent": _box,
    "txBody": _box,
    "rt": _guide,
    "textpath": _word_art,
    "blip": _picture,
    "imagedata": _picture,
}
