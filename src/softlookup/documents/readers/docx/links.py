"""What the cross-reference fields of a DOCX point to, and whether their words are out of date; no reading here."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from softlookup.documents.model import Block, Link, Mark, Span
from softlookup.documents.readers.docx.fields import Instruction
from softlookup.documents.readers.docx.reading import Bookmark, Label, Pointer, Reading

_ABOVE = re.compile(r"\s{1,20}(?:above|below)$|^(?:above|below)$", re.I)
_BLANKS = re.compile(r"\s+")
_ERROR = re.compile(r"\s*(?:Error! |错误!|错误！)")
_LONGEST_TEXT = 200  # a REF to more than this repeats a passage, not a label


@dataclass(frozen=True, slots=True)
class Links:
    """Links of the document and marks on those that are stale."""

    links: tuple[Link, ...]
    stale: tuple[Mark, ...]


def resolve_links(text: str, blocks: Sequence[Block], reading: Reading) -> Links:
    """Links of all fields and hyperlinks that name a bookmark.

    A field is stale when its bookmark is gone, when Word itself printed an error, or when its words are not what
    the bookmark gives now. Page numbers, marks of notes and entries of a table of contents refer to no clause.
    """
    starts = [block.span.start for block in blocks]
    contexts = full_contexts(reading.labels)
    links: list[Link] = []
    stale: list[Mark] = []
    for pointer in reading.pointers:
        span = _trimmed(text, pointer.start.offset, pointer.end.offset)
        bookmark = reading.bookmarks.get(pointer.bookmark.casefold())
        is_reference = pointer.instruction is not None and pointer.instruction.name in ("REF", "NOTEREF", "PAGEREF")
        if not len(span) or not blocks or (bookmark is None and not is_reference):
            continue
        if bookmark is None:
            stale.append(Mark(span, "stale_ref", f"no bookmark {pointer.bookmark[:80]}"))
            continue
        if pointer.instruction is not None and pointer.instruction.name in ("NOTEREF", "PAGEREF"):
            continue
        if blocks[max(0, bisect_right(starts, span.start) - 1)].kind == "toc":
            continue
        block = max(0, bisect_right(starts, bookmark.start.offset) - 1)
        computed = _disagrees(text, span, pointer, bookmark, contexts.get(block, ()))
        if computed or (pointer.instruction is not None and _ERROR.match(text, span.start)):
            stale.append(Mark(span, "stale_ref", f"now {computed}" if computed else "an error of Word's"))
        links.append(Link(span, starts[block], computed))
    links.sort(key=lambda link: (link.span, link.target))
    return Links(tuple(links), tuple(stale))


def full_contexts(labels: Sequence[Label]) -> dict[int, tuple[str, ...]]:
    r"""Per numbered block the labels from the outermost level to its own, as Word joins them for ``REF \w``.

    A level whose number the label itself shows ("2.1") is not put before it again.
    """
    latest: dict[str, dict[int, Label]] = {}
    contexts: dict[int, tuple[str, ...]] = {}
    for label in labels:
        levels = latest.setdefault(label.list_id, {})
        for deeper in [level for level in levels if level > label.level]:
            del levels[deeper]
        levels[label.level] = label
        chain = [label]
        while (above := [level for level in levels if level < chain[0].lowest_level]) and len(chain) < 9:
            chain.insert(0, levels[max(above)])
        contexts[label.block] = tuple(item.label.rstrip(" .") for item in chain)
    return contexts


def _disagrees(text: str, span: Span, pointer: Pointer, bookmark: Bookmark, chain: tuple[str, ...]) -> str:
    """What the field would print now; "" when that is what it prints, or when it cannot be told."""
    instruction = pointer.instruction
    if instruction is None:
        return ""
    printed = _plain(_ABOVE.sub("", text[span.start : span.end]))
    if any(instruction.has(switch) for switch in "nrw"):
        if not chain or not printed:
            return ""
        allowed = {_plain("".join(chain[at:])) for at in range(len(chain))}
        allowed |= {_digits(form) for form in allowed} if instruction.has("t") else set()
        return "" if printed in allowed else _by_switch(instruction, chain)
    end = bookmark.end
    if (
        end is None
        or not printed
        or instruction.has("f")
        or not 0 < end.offset - bookmark.start.offset <= _LONGEST_TEXT
    ):
        return ""
    now = text[bookmark.start.offset : end.offset].strip()
    return "" if not now or _plain(now) == printed else now


def _by_switch(instruction: Instruction, chain: tuple[str, ...]) -> str:
    return chain[-1] if instruction.has("n") else "".join(chain)


def _plain(words: str) -> str:
    return _BLANKS.sub("", words).rstrip(".").casefold()


def _digits(words: str) -> str:
    return re.sub(r"[^\d.()]", "", words).strip(".")


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, max(start, end))
