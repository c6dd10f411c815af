"""Decides the encoding of a text file from its bytes; never guesses in silence, never parses markup.

Order: byte order mark, what the file declares, strict UTF-8, UTF-16 or UTF-32 without a mark, then the best of
GB18030, Big5 and Windows-1252 by the characters that come out. A decoding that holds U+0000 is wrong, whatever
it is. What was decided is told with its evidence, and a close decision is an error that asks for ``--encoding``.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from softlookup.documents.readers.encoding_scores import Fit, fit, is_nonsense
from softlookup.errors import DocumentError, UsageError

# UTF-32 first: its little-endian mark begins with the UTF-16 one
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_REMEDY = "name the encoding with --encoding, or save the file as UTF-8"
_SAMPLE = 200_000
_MARGIN = 0.1
_WHOLE_PER_BROKEN = 20  # so many whole characters beyond ASCII for each broken place, or it may be no UTF-8
# bytes beyond ASCII that are whole UTF-8 by accident: a pair such as "É»" may be, a row of three hardly ever
_PAIRS_PER_BROKEN = 3
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "cp936": "gb18030", "hz": "hz", "big5": "big5hkscs",
              "cp950": "big5hkscs", "ascii": "cp1252", "iso8859-1": "cp1252"}  # fmt: skip
# codecs of Python that are no encodings of text files, or that hide what a file says
_NO_TEXT = frozenset((
    "utf-7", "unicode_escape", "unicode-escape", "raw_unicode_escape", "raw-unicode-escape", "punycode", "idna",
    "undefined", "mbcs", "oem",
))  # fmt: skip
_WIDE = ("utf-16", "utf-32")


@dataclass(frozen=True, slots=True)
class _Guess:
    codec: str
    text: str
    fit: Fit


def decode(data: bytes, *, encoding: str | None = None, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    """Decoded text and notes on how the encoding was found; none for UTF-8, which nobody needs to be told.

    ``encoding`` is what the user named: it must fit. ``declared`` is what the file says of itself: it is taken
    when it fits. Raises ``DocumentError`` when nothing fits, or two encodings fit alike.
    """
    if encoding is not None:
        return _as_asked(data, encoding)
    for mark, codec in _MARKS:
        if data.startswith(mark):
            text = _strict(data[len(mark) :], codec)
            if text is None or "\0" in text:
                raise DocumentError(f"text must decode as {codec} as its byte order mark says, it does not", _REMEDY)
            return text, (() if codec == "utf-8" else (f"encoding {codec} (byte order mark)",))
    if declared is not None:
        found = _as_declared(data, declared)
        if found is not None:
            return found
    text = _strict(data, "utf-8")
    if text is not None and "\0" not in text and not is_nonsense(text[:_SAMPLE]):
        return text, ()
    found = _wide_without_mark(data) or (_damaged_utf8(data) if text is None else None)
    if found is not None:
        return found
    try:
        return _by_bytes(data, broken=text is None)
    except DocumentError:
        if text is None or b"\0" in data:
            raise
        return text, ()  # odd, but strictly UTF-8


def _by_bytes(data: bytes, *, broken: bool) -> tuple[str, tuple[str, ...]]:
    """The encoding that fits best for what is neither UTF-8 nor UTF-16; ``broken``: it is no strict UTF-8."""
    if b"\0" in data:
        raise DocumentError(
            "a text document is required, the file holds binary data",
            "give a DOCX, PDF, HTML, Markdown or text file",
        )
    if broken and _looks_like_utf8(data):
        raise DocumentError(
            "the encoding must be clear, the file looks like UTF-8 with many broken bytes",
            "name the encoding with --encoding (utf-8 shows the broken bytes as U+FFFD), or save the file again",
        )
    return _by_characters(data)


def known_codec(name: str) -> str | None:
    """Python's name of the text encoding ``name``; None when there is none or it is not one of text files."""
    try:
        found = codecs.lookup(name.strip()).name
        b"a ".decode(found, "replace")  # refuses hex, rot13 and the like
    except (LookupError, ValueError, UnicodeError):
        return None
    return None if found in _NO_TEXT else found


def _as_asked(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    name = known_codec(encoding)
    if name is None:
        raise UsageError(
            f"--encoding must be a known codec, got {encoding!r}", "for example utf-8, gb18030, big5, cp1252"
        )
    text = _strict(data, name)
    note = f"encoding {name} (as asked)"
    if text is None and name == "utf-8" and _looks_like_utf8(data):
        text, note = _with_broken_places(data)
    if text is None:
        raise DocumentError(f"the file does not decode as {encoding}", "leave --encoding out or name another encoding")
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise DocumentError(
            f"decoded as {encoding} the text holds NUL characters", "name another encoding with --encoding"
        )
    if is_nonsense(text[:_SAMPLE]):
        better = _otherwise(data, name)
        if better:
            raise DocumentError(
                f"the file is no {encoding} text: decoded so it is a jumble of rare characters, "
                f"while it reads as {better}",
                "leave --encoding out or name another encoding",
            )
    return text, (note,)


def _otherwise(data: bytes, not_this: str) -> str:
    """Encoding that detection finds and that is not the one asked for; "" for none."""
    try:
        text, notes = decode(data)
    except DocumentError:
        return ""
    found = notes[0].split()[1] if notes else "utf-8"
    return "" if found == not_this or is_nonsense(text[:_SAMPLE]) else found


def _as_declared(data: bytes, declared: str) -> tuple[str, tuple[str, ...]] | None:
    """Text in the encoding that the file names; None when that is not true of its bytes."""
    name = known_codec(declared)
    if name is None or name.startswith(_WIDE):  # a declaration that could be read byte by byte is no wide one
        return None
    codec = _SUPERSETS.get(name, name)
    if codec == "cp1252":
        utf8 = _strict(data, "utf-8")
        if utf8 is not None and "\0" not in utf8:
            note = () if utf8.isascii() else (f"encoding utf-8 (by its bytes; the file declares {declared})",)
            return utf8, note
    text = _strict(data, codec)
    if text is None or "\0" in text or is_nonsense(text[:_SAMPLE]):
        return None
    return text, (() if codec == "utf-8" else (f"encoding {codec} (declared by the file)",))


def _strict(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except (UnicodeError, ValueError):
        return None


def _damaged_utf8(data: bytes) -> tuple[str, tuple[str, ...]] | None:
    """UTF-8 with a few broken bytes, which are told and marked; None when it may be another encoding."""
    pairs, longer, broken = _utf8_places(data)
    if b"\0" in data or broken * _WHOLE_PER_BROKEN > pairs + longer:
        return None
    text, note = _with_broken_places(data)
    return text.removeprefix("\ufeff"), (note,)


def _with_broken_places(data: bytes) -> tuple[str, str]:
    """The file as UTF-8 with U+FFFD for what is broken, and a note that says so."""
    broken = _utf8_places(data)[2]
    return data.decode("utf-8", "replace"), f"encoding utf-8 with {broken} broken places, shown as U+FFFD"


def _utf8_places(data: bytes) -> tuple[int, int, int]:
    """Whole characters of two bytes and of more, and broken places, when the file is read as UTF-8."""
    beyond = [character for character in data.decode("utf-8", "replace") if character > "\x7f"]
    printed = data.count("\ufffd".encode())  # as the file has it
    longer = sum(1 for character in beyond if character > "\u07ff" and character != "\ufffd") + printed
    broken = beyond.count("\ufffd") - printed
    return len(beyond) - longer - broken, longer, broken


def _looks_like_utf8(data: bytes) -> bool:
    """Whether more of the bytes beyond ASCII are whole UTF-8 characters than chance brings about.

    Read as Windows-1252 such a file would be mojibake that scores well.
    """
    pairs, longer, broken = _utf8_places(data)
    return pairs + _PAIRS_PER_BROKEN * longer >= _PAIRS_PER_BROKEN * broken


def _wide_without_mark(data: bytes) -> tuple[str, tuple[str, ...]] | None:
    """UTF-32 or UTF-16 without a mark: zeros on a fixed parity, as Latin letters and line ends leave them."""
    sample = data[:_SAMPLE]
    candidates: list[str] = []
    if len(data) % 4 == 0:
        candidates += ["utf-32-le", "utf-32-be"]
    if len(data) % 2 == 0 and b"\0" in sample:
        even, odd = sample[0::2].count(0), sample[1::2].count(0)
        candidates += ["utf-16-le", "utf-16-be"] if odd >= even else ["utf-16-be", "utf-16-le"]
    for codec in candidates:
        text = _strict(data, codec)
        if text and "\0" not in text and fit(text[:_SAMPLE], codec).readable > 0.8:
            return text, (f"encoding {codec} (no byte order mark, by its zero bytes)",)
    return None


def _by_characters(data: bytes) -> tuple[str, tuple[str, ...]]:
    guesses: list[_Guess] = []
    tried = ["gb18030", "big5hkscs", "cp1252"]
    tried += ["utf-16-le", "utf-16-be"] if len(data) % 2 == 0 else []  # Chinese without one Latin letter or line end
    for codec in tried:
        text = _strict(data, codec)
        if text is not None and "\0" not in text:
            guesses.append(_Guess(codec, text, fit(text[:_SAMPLE], codec)))
    guesses.sort(key=lambda guess: -guess.fit.score)
    if not guesses or guesses[0].fit.score <= 0.0:
        raise DocumentError(
            "text in a known encoding is required, none of UTF-8, UTF-16, GB18030, Big5, Windows-1252 fits", _REMEDY
        )
    best = guesses[0]
    rivals = [guess for guess in guesses[1:] if guess.text != best.text]
    margin = best.fit.score - (rivals[0].fit.score if rivals else 0.0)
    if margin < _MARGIN and not rivals:
        raise DocumentError(f"the encoding is unclear: {best.codec} hardly fits", _REMEDY)
    if margin < _MARGIN:
        raise DocumentError(f"the encoding is unclear: {best.codec} and {rivals[0].codec} fit almost alike", _REMEDY)
    beaten = f" over {rivals[0].codec}" if rivals else ""
    return best.text, (f"encoding {best.codec} (by its characters: {best.fit.evidence}; margin {margin:.2f}{beaten})",)
