"""Headings as printed: on the line of the label, run in before the text, or on the line below; no structure.

A heading is a name, not a sentence: short, without an inner full stop, in title case or capitals.
"""

from __future__ import annotations

import re

# tags, emphasis (not a redaction "[***]"), heading marks, links
_MARKUP = re.compile(
    r"</?[a-zA-Z][^<>\n]{0,500}>|(?<![\[*])\*{1,3}(?![\]*])|(?<!\w)__(?=[^\W_])|`"
    r"|(?<=[^\W_])__(?!\w)|(?<=[^\W_][.:])__(?!\w)"
    r"|^[#>\s]+|\[(?=[^\]\n]*\]\()|\]\([^)\n]*\)"
)
_MAY_BE_MARKUP = re.compile(r"[<*_`\[#>\u200b]")
_BLANKS = re.compile(r"\s+")
_LETTER_AFTER = re.compile(r"(?<=[A-Z]{2})[ ][a-z]\Z")  # "PAYMENT a. The price": the label of the first item
_OTHER_BLANKS = re.compile(r"[^\S ]+")
_RUN_IN = re.compile(
    r"(?P<name>[^.:\n]{2,110}?(?:\b(?:etc|No|Inc|Co|Corp|U\.S)\.[^.:\n]{0,60}?)?)"
    r"(?:\.(?=[\s\"“'(]|$)|:(?=\s|$)|[ ]+[–—-]{1,2}[ ]+|(?<=[a-z])[–—](?=\s?[A-Z])|[ ]{3,})"
)
_ZH_RUN_IN = re.compile(
    r"(?P<name>[^，。；：,;:\n“”_（(]{2,24}(?:[（(][^）)\n]{1,12}[）)])?)"
    r"(?:[：:]|[ 　\u2003]+(?=[\u3400-\u9fff“（《]))"
)
_ZH_NAME = re.compile(r"[\u3400-\u9fff、]{2,12}|[\u3400-\u9fff][ \u3000]+[\u3400-\u9fff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’\-/]*")
_SMALL = frozenset((
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to",
    "with", "without", "upon", "under", "per", "its", "their", "between", "among", "re", "vs", "that",
    "than", "other", "not", "no", "if", "etc",
))  # fmt: skip
_VERBS = frozenset((
    "is", "are", "was", "were", "shall", "will", "may", "must", "has", "have", "had", "agrees", "agree",
    "hereby", "does", "do", "can", "should", "would", "means", "mean", "represents", "warrants",
    "acknowledges",
))  # fmt: skip
_PLACEHOLDER = re.compile(r"[\[(]?\s*(?:reserved|intentionally\s+(?:omitted|left\s+blank|deleted))\s*[\])]?\.?", re.I)


def heading_after(text: str, start: int, line_end: int, end: int, *, stands_alone: bool) -> str:
    """Heading of the clause whose label ends at ``start``; "" when it has none.

    ``line_end`` is the end of the label's line, ``end`` the end of the clause's own text; ``stands_alone``
    tells that the line is a paragraph of its own, so that no text runs on below it.
    """
    stop = min(max(start, line_end), end)
    raw = text[start : min(stop, start + 400)].lstrip(" \t\u3000\xa0.、．:：-–—)*_")
    rest = _clean(raw)
    if rest:
        alone = stands_alone or not text[stop:end].strip()
        return _on_line(rest, whole=stop - start <= 400 and alone)
    following = text[stop : min(end, stop + 300)].lstrip()
    return heading_line(following.split("\n", 1)[0])


def heading_line(line: str) -> str:
    """The line without markup when it reads as a heading, else ""."""
    cleaned = _clean(line)
    if not 2 <= len(cleaned) <= 120:
        return ""
    if _HAN.search(cleaned):
        return cleaned if len(cleaned) <= 30 and not re.search(r"[，。；,;：:_]", cleaned) else ""
    return cleaned.rstrip(" .:") if _is_name(cleaned) and not cleaned.endswith((",", ";")) else ""


def run_in_heading(line: str) -> str:
    """Heading that a paragraph without number begins with ("Governing Law. This Agreement ..."); "" for none."""
    rest = _clean(line[:200])
    if not rest or _HAN.search(rest[:20]):
        return ""
    match = _RUN_IN.match(rest)
    if match is None or not 3 <= len(match["name"]) <= 60 or not _is_name(match["name"]):
        return _capitals(rest)
    words = [word for word in _WORD.findall(match["name"]) if word.lower() not in _SMALL]
    is_titled = all(word[0].isupper() for word in words)
    runs_on = len(line) - match.end() > 20 and rest[match.end() : match.end() + 30].strip()
    return match["name"].strip(" \"“”'’,;-–—") if is_titled and runs_on else ""


def shortened(line: str) -> str:
    """The beginning of a line that is a heading by its format, without markup; at most 80 characters."""
    return _clean(line).strip()[:80].rstrip()


def _on_line(rest: str, *, whole: bool) -> str:
    placeholder = _PLACEHOLDER.match(rest)
    if placeholder:
        return placeholder[0].strip(" .")
    if _HAN.search(rest[:20]):
        return _chinese(rest, whole=whole)
    match = _RUN_IN.match(rest)
    if match and _is_name(match["name"]):
        return _LETTER_AFTER.sub("", match["name"]).strip(" \"“”'’,;-–—")
    if (
        whole
        and len(rest) <= 120
        and _is_name(rest)
        and not re.search(r"[,;:]$|; (?:and|or)$|, (?:a|an|the) |\(\"", rest)
    ):
        return rest.rstrip(" .")
    return _capitals(rest)


def _chinese(rest: str, *, whole: bool) -> str:
    if whole and len(rest) <= 30 and not re.search(r"[，。；,;：:_]", rest):
        return rest
    match = _ZH_RUN_IN.match(rest)
    if match is None or len(match["name"].strip()) < 2:
        return ""
    name = match["name"].strip()
    if rest[match.end("name")] not in "：:" and not _ZH_NAME.fullmatch(name):
        return ""
    return name if len(name) <= 20 and not re.search(r"(?:应当|不得|可以|应|是指|如下|下列)", name) else ""


def _capitals(rest: str) -> str:
    """Leading words in capitals ("TERM AND TERMINATION The term ..."), when there are at least two."""
    match = re.match(r"(?:[A-Z][A-Z'’&,/\-]+[ ]+(?:(?:and|of|the)[ ]+)?){2,12}(?=[A-Z\"“(][a-z]|[A-Z][ ])", rest)
    return match[0].strip(" ,") if match and len(match[0]) <= 110 else ""


def _clean(raw: str) -> str:
    if not _MAY_BE_MARKUP.search(raw):  # most lines have none, and the long pattern is slow
        return _BLANKS.sub(" ", raw).strip() if "   " not in raw else _OTHER_BLANKS.sub(" ", raw).strip()
    return _BLANKS.sub(" ", _MARKUP.sub("", raw).replace("\u200b", "")).strip() if "   " not in raw else _keep_gaps(raw)


def _keep_gaps(raw: str) -> str:
    # three blanks may separate a heading from its text where line ends were lost
    return _OTHER_BLANKS.sub(" ", _MARKUP.sub("", raw)).strip()


def _is_name(candidate: str) -> bool:
    words = _WORD.findall(candidate)
    if not words or len(words) > 16:
        return False
    if not words[0][0].isupper():
        return False
    lowered = [word.lower() for word in words]
    if any(word in _VERBS for word in lowered[1:]) and not candidate.isupper():
        return False
    bearing = [word for word in words if word.lower() not in _SMALL]
    if not bearing:
        return False
    capital = sum(1 for word in bearing if word[0].isupper())
    return capital >= 0.6 * len(bearing) or len(words) <= 4
