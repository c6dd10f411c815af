"""The small markup of the sample contracts: parsing, numbering and cross references; it writes no files.

One line is one paragraph, ``:tag text``; a line that starts with ``%`` is a comment. Tags:

- ``:lang``, ``:header``, ``:footer`` (``{page}`` and ``{pages}`` become fields): settings of the document
- ``:title :centre :head :body :def``: paragraphs without a number
- ``:party :recital :ch :1 :2 :3 :4 :sched :att :s1 :s2``: paragraphs that Word numbers by itself
- ``:row a | b``: one table row; neighbouring rows form a table whose first row is its head

Inside a text, ``**bold**`` is bold, ``[#name]`` at the start names the paragraph, ``[@name]`` prints its clause
number as typed text and ``[^name]`` prints it as a REF field with that number as the cached result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

RunKind = Literal["text", "bold", "ref", "page", "pages"]
_LINE = re.compile(r":(\w+)(?: (.*))?")
_ANCHOR = re.compile(r"\[#(\w+)\] ?")
_INLINE = re.compile(r"(\*\*|\[[@^]\w+\]|\{pages?\})")
_CHINESE_DIGITS = "零一二三四五六七八九"


class MarkupError(ValueError):
    """The source breaks the markup; the message names the line or the anchor."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a numbered list, in the words of WordprocessingML: ``pattern`` is lvlText, ``fmt`` numFmt."""

    tag: str
    pattern: str
    fmt: str


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a paragraph; ``target`` is the anchor of a ``ref`` run."""

    kind: RunKind
    text: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph or table row. ``label`` is the printed number, ``path`` the full clause path."""

    tag: str
    runs: tuple[Run, ...]
    cells: tuple[str, ...] = ()
    anchor: str = ""
    label: str = ""
    path: str = ""

    @property
    def text(self) -> str:
        """The words of the paragraph without its number."""
        return "".join(run.text for run in self.runs) or " | ".join(self.cells)


@dataclass(frozen=True, slots=True)
class Contract:
    """A parsed sample contract."""

    language: str
    header: tuple[Run, ...]
    footer: tuple[Run, ...]
    paragraphs: tuple[Paragraph, ...]

    def clause_text(self, path: str) -> str:
        """All words of the clause at ``path`` and below it; raises ``KeyError`` when there is no such clause."""
        parts: list[str] = []
        depth: int | None = None
        depths = level_depths(self.language)
        for paragraph in self.paragraphs:
            own = depths.get(paragraph.tag)
            outside = paragraph.tag == "head" or (own is not None and depth is not None and own <= depth)
            if depth is not None and outside:
                break
            if depth is None and path and paragraph.path == path:
                depth = own
            if depth is not None:
                parts.append(paragraph.text)
        if not parts:
            raise KeyError(path)
        return "\n".join(parts)


LISTS: dict[str, tuple[tuple[Level, ...], ...]] = {
    "en": (
        (
            Level("1", "%1.", "decimal"),
            Level("2", "%1.%2", "decimal"),
            Level("3", "(%3)", "lowerLetter"),
            Level("4", "(%4)", "lowerRoman"),
        ),
        (
            Level("sched", "Schedule %1", "decimal"),
            Level("s1", "%2.", "decimal"),
            Level("s2", "(%3)", "lowerLetter"),
        ),
        (Level("party", "(%1)", "decimal"),),
        (Level("recital", "(%1)", "upperLetter"),),
    ),
    "zh": (
        (
            Level("1", "第%1条", "chineseCountingThousand"),
            Level("2", "（%2）", "chineseCounting"),
            Level("3", "%3.", "decimal"),
        ),
        (
            Level("att", "附件%1", "chineseCounting"),
            Level("s1", "%2.", "decimal"),
            Level("s2", "（%3）", "decimal"),
        ),
        (Level("ch", "第%1章", "chineseCounting"),),
    ),
}
_PLAIN_TAGS = frozenset({"title", "centre", "head", "body", "def", "row"})


def level_depths(language: str) -> dict[str, int]:
    """Tag -> depth in its list; a chapter or a schedule ends whatever clause stands before it."""
    depths = {level.tag: depth for levels in LISTS[language] for depth, level in enumerate(levels)}
    return {tag: -1 if tag == "ch" else depth for tag, depth in depths.items()}


def chinese_number(value: int) -> str:
    """``value`` from 1 to 99 as 一, 十, 十一, 二十, 二十一."""
    if not 1 <= value <= 99:
        raise MarkupError(f"Chinese numbers run from 1 to 99 here, got {value}")
    tens, units = divmod(value, 10)
    head = {0: "", 1: "十"}.get(tens, _CHINESE_DIGITS[tens] + "十")
    return head + (_CHINESE_DIGITS[units] if units else "")


def format_number(value: int, fmt: str) -> str:
    """``value`` in the WordprocessingML number format ``fmt`` (only those the samples use, up to 20)."""
    if fmt == "decimal":
        return str(value)
    if fmt.startswith("chineseCounting"):
        return chinese_number(value)
    if not 1 <= value <= 20:
        raise MarkupError(f"{fmt} runs from 1 to 20 here, got {value}")
    if fmt == "lowerRoman":
        units = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
        return "x" * (value // 10) + units[value % 10]
    letter = chr(ord("a") + value - 1)
    return letter.upper() if fmt == "upperLetter" else letter


@dataclass(slots=True)
class _Counters:
    """Running numbers of every list of one document."""

    language: str
    values: dict[int, list[int]] = field(default_factory=dict)

    def number(self, tag: str) -> tuple[str, str, str]:
        """(printed label, clause path, wording of a typed reference) of the next paragraph with ``tag``."""
        for index, levels in enumerate(LISTS[self.language]):
            for depth, level in enumerate(levels):
                if level.tag == tag:
                    counts = [*self.values.get(index, [])[: depth + 1], *[0] * depth][: depth + 1]
                    counts += [0] * (depth + 1 - len(counts))
                    counts[depth] += 1
                    self.values[index] = counts
                    labels = [_print(levels, at, counts) for at in range(depth + 1)]
                    return labels[-1], _path(labels), _wording(labels, self.language)
        raise MarkupError(f"unknown tag :{tag}")


def _print(levels: tuple[Level, ...], depth: int, counts: list[int]) -> str:
    label = levels[depth].pattern
    for at in range(depth + 1):
        label = label.replace(f"%{at + 1}", format_number(counts[at], levels[at].fmt))
    return label


def _path(labels: list[str]) -> str:
    """Labels joined to "17.3(a)", "Schedule 2/3(a)", "第二十六条（二）/1"."""
    path = ""
    for label in (label.rstrip(".") for label in labels):
        if path and label.startswith(f"{path}."):
            path = label
        else:
            path += f"/{label}" if path and label[0].isdigit() else label
    return path


def _wording(labels: list[str], language: str) -> str:
    if language == "en" or labels[0].startswith("附件"):
        return _path(labels)
    return "".join(
        pattern.format(label.rstrip(".")) for pattern, label in zip(("{}", "第{}款", "第{}项"), labels, strict=False)
    )


def _lines(source: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(source.splitlines(), start=1):
        if not line.strip() or line.startswith("%"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise MarkupError(f"line {number} needs ':tag text', got {line[:40]!r}")
        yield number, match[1], (match[2] or "").strip()


def _runs(text: str, wordings: dict[str, str], paths: dict[str, str]) -> tuple[Run, ...]:
    runs: list[Run] = []
    bold = False
    for piece in _INLINE.split(text):
        if piece == "**":
            bold = not bold
        elif piece in ("{page}", "{pages}"):
            runs.append(Run("page" if piece == "{page}" else "pages", ""))
        elif piece.startswith(("[@", "[^")):
            name = piece[2:-1]
            if name not in paths:
                raise MarkupError(f"reference to the unknown anchor {name!r}")
            if piece[1] == "^" and "/" in paths[name]:  # what Word prints there is not known well enough
                raise MarkupError(f"a REF field cannot point to {paths[name]}, type the reference with [@{name}]")
            runs.append(Run("text", wordings[name]) if piece[1] == "@" else Run("ref", paths[name], name))
        elif piece:
            runs.append(Run("bold" if bold else "text", piece))
    if bold:
        raise MarkupError(f"bold is not closed in {text[:40]!r}")
    return tuple(runs)


def parse_contract(source: str) -> Contract:
    """Parse and number the markup ``source``; raises :class:`MarkupError`."""
    settings: dict[str, str] = {"lang": "en", "header": "", "footer": ""}
    numbered: list[tuple[str, str, str, str, str]] = []
    paths: dict[str, str] = {}
    wordings: dict[str, str] = {}
    counters: _Counters | None = None
    for number, tag, text in _lines(source):
        if tag in settings:
            settings[tag] = text
            continue
        counters = counters or _Counters(settings["lang"])
        label, path, wording = ("", "", "") if tag in _PLAIN_TAGS else counters.number(tag)
        match = _ANCHOR.match(text)
        anchor = match[1] if match else ""
        if anchor in paths or (anchor and not path):
            raise MarkupError(f"line {number}: anchor {anchor!r} is used twice or stands on an unnumbered paragraph")
        if anchor:
            paths[anchor], wordings[anchor] = path, wording
        numbered.append((tag, text[match.end() :] if match else text, anchor, label, path))
    paragraphs = tuple(
        Paragraph(tag, (), tuple(cell.strip() for cell in text.split("|")))
        if tag == "row"
        else Paragraph(tag, _runs(text, wordings, paths), (), anchor, label, path)
        for tag, text, anchor, label, path in numbered
    )
    header, footer = (_runs(settings[name], wordings, paths) for name in ("header", "footer"))
    return Contract(settings["lang"], header, footer, paragraphs)
