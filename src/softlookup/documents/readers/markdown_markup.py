"""What of a Markdown file its rendered page does not show, and where its links lead; no blocks here.

Nothing is removed: a passage that a reader of the page does not see is replaced by as many blanks and goes aside,
so that offsets stay those of the file and hidden words reach no one. Tags and emphasis stay as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field

from softlookup.documents.model import Aside, Block, Flag, Link, Mark, Span, View

_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[^\n]*$", re.M)
_INLINE_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`\n]{1,500}(?<!`)\1(?!`)")
_COMMENT = re.compile(r"<!--")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:[^\n]*\n){1,200}?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_DEFINITION = re.compile(r"^[ ]{0,3}\[(?!\^)[^\]\n]{1,200}\]:[ \t]{0,10}\S[^\n]{0,2000}$", re.M)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w-]{0,30})(?P<attributes>(?:\s[^<>]{0,1000})?)/?>")
_HIDING = re.compile(r"\shidden(?:[\s=>/]|$)|display\s{0,5}:\s{0,5}none|visibility\s{0,5}:\s{0,5}hidden", re.I)
_STRUCK = re.compile(r"(?<!~)~~(?![\s~])(?P<words>[^~\n]{1,2000})(?<!\s)~~(?!~)")
_ID = re.compile(r"\s(?:id|name)\s{0,5}=\s{0,5}[\"']?([^\"'\s>]{1,200})", re.I)
_LINK = re.compile(r"\[(?P<words>[^\[\]\n]{1,500})\]\(#(?P<id>[^()\s]{1,300})\)")
_HTML_LINK = re.compile(
    r"<a\s[^<>]{0,500}?href\s{0,5}=\s{0,5}[\"']?#([^\"'\s>]{1,200})[^<>]{0,500}>([^<\n]{1,500})</a>", re.I
)
_NOTE_REFERENCE = re.compile(r"\[\^([^\]\s]{1,50})\](?!:)")
_NOTE = re.compile(r"^[ ]{0,3}\[\^([^\]\s]{1,50})\]:", re.M)
_REVISED: dict[str, Flag] = {"del": "deleted", "s": "deleted", "strike": "deleted", "ins": "inserted"}
_DROPPED = ("script", "style", "template", "noscript", "iframe", "object")


@dataclass(slots=True)
class Markup:
    """``text`` with blanks for what is not seen; ``counts`` by kind."""

    text: str
    asides: list[Aside] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    fences: list[Span] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def read_markup(text: str, view: View) -> Markup:
    """Front matter, comments, hidden elements, link definitions and revisions of ``text``."""
    markup = Markup(text, fences=_fences(text))
    hidden: list[tuple[Span, Flag | None, str]] = []
    front = _FRONT_MATTER.match(text)
    if front is not None and ":" in front[0]:
        hidden.append((Span(0, len(front[0].rstrip())), None, "front matter"))
    hidden += [(span, "hidden", "HTML comment") for span in _comments(text)]
    hidden += [(Span(*found.span()), "hidden", "link definition") for found in _DEFINITION.finditer(text)]
    for span, flag, where in _elements(text):
        if flag in ("deleted", "inserted"):
            markup.counts[flag] += 1
            if view == "markup":
                markup.marks.append(Mark(span, flag))
            elif (view == "final") == (flag == "deleted"):
                hidden.append((span, flag, where))
        else:
            hidden.append((span, flag, where))
    code = sorted([*markup.fences, *(Span(*found.span()) for found in _INLINE_CODE.finditer(text))])
    starts = [span.start for span in code]

    def is_code(span: Span) -> bool:
        at = bisect_right(starts, span.start) - 1
        return at >= 0 and span.start < code[at].end

    _hide(markup, [entry for entry in hidden if not is_code(entry[0])])
    return markup


def _fences(text: str) -> list[Span]:
    """Code blocks between fences; one that is not closed reaches to the end."""
    found: list[Span] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[0].strip(" `~"):
            found.append(Span(opened.start(), fence.end()))
            opened = None
    if opened is not None:
        found.append(Span(opened.start(), len(text)))
    return found


def _comments(text: str) -> list[Span]:
    found: list[Span] = []
    position = 0
    for opened in _COMMENT.finditer(text):
        if opened.start() < position:
            continue
        end = text.find("-->", opened.end())
        if end < 0:
            break  # a comment without an end: its words stay, or a slip of the pen would hide the contract
        position = end + 3
        found.append(Span(opened.start(), position))
    return found


def _elements(text: str) -> list[tuple[Span, Flag | None, str]]:
    """Elements that are hidden, struck out or inserted, the outermost of nested ones; ``~~`` too."""
    found: list[tuple[Span, Flag | None, str]] = []
    opened: list[tuple[str, int, Flag | None]] = []
    for tag in _TAG.finditer(text):
        name = tag["name"].lower()
        if opened and tag["end"] and name == opened[-1][0]:
            _, start, flag = opened.pop()
            if flag is not None and not any(outer[2] for outer in opened):
                found.append((Span(start, tag.end()), flag, f"<{name}>"))
        elif not tag["end"] and (opened or name in _REVISED or name in _DROPPED or _HIDING.search(tag["attributes"])):
            if opened and name != opened[-1][0] and name not in _REVISED:
                continue  # only elements of the same name must be counted to find the end
            flag = "hidden" if name in _DROPPED or _HIDING.search(tag["attributes"]) else _REVISED.get(name)
            opened.append((name, tag.start(), flag))
    found += [(Span(*struck.span()), "deleted", "~~") for struck in _STRUCK.finditer(text)]
    return sorted(found, key=lambda entry: entry[0])


def _hide(markup: Markup, hidden: list[tuple[Span, Flag | None, str]]) -> None:
    pieces: list[str] = []
    position = 0
    text = markup.text
    for span, flag, where in sorted(hidden, key=lambda entry: entry[0]):
        if span.start < position:
            continue
        words = text[span.start : span.end]
        markup.asides.append(
            Aside(words.strip(), "paragraph", span.start, () if flag is None else (flag,), None, where)
        )
        pieces += [text[position : span.start], re.sub(r"[^\n]", " ", words)]
        position = span.end
    markup.text = "".join(pieces) + text[position:]


def find_links(text: str, blocks: tuple[Block, ...]) -> tuple[Link, ...]:
    """Links of ``text`` to its own headings, ids and footnotes, as far as these exist."""
    anchors = _anchors(text, blocks)
    ends = [block.span.end for block in blocks]
    found: list[tuple[Span, int]] = []
    for link in _LINK.finditer(text):
        target = anchors.get(link["id"], anchors.get(link["id"].lower(), -1))
        found.append((Span(*link.span("words")), target))
    for link in _HTML_LINK.finditer(text):
        found.append((Span(*link.span(2)), anchors.get(link[1], -1)))
    notes = {note[1]: note.start() for note in _NOTE.finditer(text)}
    for reference in _NOTE_REFERENCE.finditer(text):
        found.append((Span(*reference.span()), notes.get(reference[1], -1)))
    links: list[Link] = []
    for span, target in sorted(found):
        at = bisect_right(ends, target)
        if target >= 0 and at < len(blocks):
            links.append(Link(span, blocks[at].span.start))
    return tuple(links)


def _anchors(text: str, blocks: tuple[Block, ...]) -> dict[str, int]:
    """Offsets of the ids of tags, and of headings by the name that a renderer gives them."""
    anchors: dict[str, int] = {}
    for tag in _TAG.finditer(text):
        identity = _ID.search(tag["attributes"])
        if identity is not None:
            anchors.setdefault(identity[1], tag.start())
    seen: Counter[str] = Counter()
    for block in blocks:
        if block.kind != "heading":
            continue
        line = text[block.span.start : block.span.end]
        own = re.search(r"\{#([\w.-]{1,100})\}\s*$", line)
        words = re.sub(r"<[^<>]{0,1000}>|\{#[^}]{0,100}\}|\]\([^)]{0,500}\)", "", line).strip("# \t").lower()
        slug = own[1] if own else re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words).strip())
        anchors.setdefault(slug if not seen[slug] else f"{slug}-{seen[slug]}", block.span.start)
        seen[slug] += 1
    return anchors
