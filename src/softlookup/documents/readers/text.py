r"""Plain text: decides the encoding from the bytes, normalises line ends, cuts paragraphs; no markup.

The text is the decoded file with ``\\r\\n`` and ``\\r`` turned into ``\\n`` and a byte order mark removed;
nothing else is changed, so offsets can be checked against the file itself.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter

from softlookup.documents.model import Block, Coverage, CoverageRow, Span
from softlookup.documents.readers import ReaderResult
from softlookup.errors import DocumentError, UsageError

# UTF-32 first: its little-endian mark begins with the UTF-16 one
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ENCODING_REMEDY = "name the encoding with --encoding, or save the file as UTF-8"
_COMMON_HAN = frozenset(
    "的一是不了在人有我他这中大来上个国到说们为以要定于出会可也你对生能而子那得同方条款合约和本其或及应当"
    "甲乙双规按照不得由日月年任权利义务责依法律支付時個國這為們會對說應當條約規權義務責壹貳付給與"
)
_CHINESE_MARKS = frozenset("，。、；：（）《》“”！？「」　")
_PARAGRAPH = re.compile(r"\S(?:.*?)(?=\n[^\S\n]*\n|\Z)", re.DOTALL)
_SAMPLE = 200_000


def read_text(data: bytes, *, encoding: str | None = None) -> ReaderResult:
    """Text of a plain text file; raises ``DocumentError`` when no encoding fits."""
    decoded, notes = decode(data, encoding=encoding)
    text, line_end_notes = normalise_line_ends(decoded)
    coverage = Coverage(
        rows=(CoverageRow(unit="file", state="read", characters=len(text)),), notes=notes + line_end_notes
    )
    return ReaderResult(text=text, blocks=paragraphs(text), coverage=coverage)


def normalise_line_ends(text: str) -> tuple[str, tuple[str, ...]]:
    r"""``text`` with ``\\n`` line ends only, and a note when the file mixes line ends or has lone ``\\r``."""
    windows = text.count("\r\n")
    lone = text.count("\r") - windows
    if not windows and not lone:
        return text, ()
    is_mixed = lone or text.count("\n") > windows
    notes = (f"line ends: {windows} CRLF and {lone} CR read as LF",) if is_mixed else ()
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def paragraphs(text: str, offset: int = 0) -> tuple[Block, ...]:
    """Blocks between blank lines; when the text has none to speak of, one block per line."""
    lines = list(re.finditer(r"^[^\n]*\S[^\n]*", text, re.M))
    if not is_hard_wrapped(text):
        return tuple(Block(span=_trimmed(text, m.start(), m.end(), offset)) for m in lines)
    return tuple(Block(span=_trimmed(text, m.start(), m.end(), offset)) for m in _PARAGRAPH.finditer(text))


def is_hard_wrapped(text: str) -> bool:
    """True when lines were broken at a fixed width, so that a new line is no new paragraph."""
    lengths = sorted(len(line.rstrip()) for line in text.split("\n") if line.strip())
    if len(lengths) < 20:
        return False
    upper = lengths[int(len(lengths) * 0.9)]
    median = lengths[len(lengths) // 2]
    return 40 <= median <= 100 and upper <= 110 and upper - median <= 30


def decode(data: bytes, *, encoding: str | None = None) -> tuple[str, tuple[str, ...]]:
    """Decoded text and notes on how the encoding was found; none for UTF-8, which nobody needs to be told.

    ``encoding`` is what the user named; it must fit. Raises ``DocumentError`` otherwise.
    """
    if encoding is not None:
        return _decode_named(data, encoding)
    for mark, codec in _MARKS:
        if data.startswith(mark):
            text = _strict(data[len(mark) :], codec)
            if text is None or "\0" in text:
                raise DocumentError(
                    f"text must decode as {codec} as its byte order mark says, it does not", _ENCODING_REMEDY
                )
            return text, (() if codec == "utf-8" else (f"encoding {codec} (byte order mark)",))
    text = _strict(data, "utf-8")
    if text is not None and "\0" not in text:
        return text, ()
    wide = _wide_without_mark(data)
    if wide is not None:
        return wide
    if b"\0" in data:
        raise DocumentError(
            "a text document is required, the file holds binary data",
            "give a DOCX, PDF, HTML, Markdown or text file",
        )
    return _decode_scored(data)


def _decode_named(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    try:
        name = codecs.lookup(encoding).name
        text = data.decode(name)
    except LookupError as error:
        raise UsageError(
            f"--encoding must be a known codec, got {encoding!r}", "for example utf-8, gb18030, big5, cp1252"
        ) from error
    except (UnicodeError, ValueError) as error:
        raise DocumentError(
            f"the file does not decode as {encoding}", "leave --encoding out or name another codec"
        ) from error
    if "\0" in text:
        raise DocumentError(
            f"decoded as {encoding} the text holds NUL characters", "name another codec with --encoding"
        )
    return text.removeprefix("\ufeff"), (f"encoding {name} (as asked)",)


def _strict(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except (UnicodeError, ValueError):
        return None


def _wide_without_mark(data: bytes) -> tuple[str, tuple[str, ...]] | None:
    """UTF-32 or UTF-16 without a mark: zeros on a fixed parity, or wide line ends in Chinese text."""
    sample = data[:_SAMPLE]
    codecs_to_try: list[str] = []
    if len(data) % 4 == 0:
        codecs_to_try += ["utf-32-le", "utf-32-be"]
    if len(data) % 2 == 0 and (b"\0" in sample):
        even, odd = sample[0::2].count(0), sample[1::2].count(0)
        codecs_to_try += ["utf-16-le", "utf-16-be"] if odd >= even else ["utf-16-be", "utf-16-le"]
    for codec in codecs_to_try:
        text = _strict(data, codec)
        if text and "\0" not in text and _readable_share(text[:_SAMPLE]) > 0.8:
            return text, (f"encoding {codec} (no byte order mark, by its zero bytes)",)
    return None


def _readable_share(text: str) -> float:
    """Share of ASCII, common Chinese characters and Chinese punctuation."""
    good = sum(
        n for c, n in Counter(text).items() if c in "\n\r\t" or " " <= c <= "~" or _is_han(c) or c in _CHINESE_MARKS
    )
    return good / max(1, len(text))


def _is_han(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def _decode_scored(data: bytes) -> tuple[str, tuple[str, ...]]:
    scores: list[tuple[float, str, str]] = []
    for codec in ("gb18030", "big5hkscs", "cp1252"):
        text = _strict(data, codec)
        if text is not None and "\0" not in text:
            scores.append((_score(text[:_SAMPLE]), codec, text))
    scores.sort(key=lambda row: -row[0])
    if not scores or scores[0][0] <= 0.0:
        raise DocumentError(
            "text in a known encoding is required, none of UTF-8, UTF-16, GB18030, Big5, cp1252 fits",
            _ENCODING_REMEDY,
        )
    best, codec, text = scores[0]
    margin = best - scores[1][0] if len(scores) > 1 else best
    if margin < 0.02:
        raise DocumentError(f"the encoding is unclear ({codec} and {scores[1][1]} fit equally well)", _ENCODING_REMEDY)
    return text, (f"encoding {codec} (by its characters, margin {margin:.2f})",)


def _score(text: str) -> float:
    """Fit of a decoding in [-1, 1]: common characters count for it, rare and control ones against it."""
    total = good = bad = 0
    for character, count in Counter(text).items():
        if character.isascii() and (character.isprintable() or character in "\n\r\t"):
            continue  # ASCII bytes look the same in all three
        total += count
        if character in _COMMON_HAN or character in _CHINESE_MARKS or character in "‘’–—•§©®éèüöäßñçàá£€°½…":
            good += count
        elif not character.isprintable() and not character.isspace():
            bad += 2 * count
        elif not _is_han(character):
            bad += count  # symbols, private use, half-width forms, Latin letters in the wrong place
    return (good - bad) / total if total else 0.5


def _trimmed(text: str, start: int, end: int, offset: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start + offset, end + offset)
