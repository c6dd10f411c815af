"""Clause labels as printed: recognises one and reads its value; does not judge whether it belongs there.

English and Chinese: "5.2", "(a)", "iv.", "ARTICLE V", "Section 4.1", "Schedule 2", "第三条", "（二）".
A label keeps its printed form; ``values`` are for order only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from softlookup.documents.tree.numerals import ENCLOSED as ENCLOSED  # noqa: PLC0414
from softlookup.documents.tree.numerals import HAN, NUMBER_WORDS, enclosed_number, word_number
from softlookup.documents.tree.numerals import han_number as han_number  # noqa: PLC0414
from softlookup.documents.tree.numerals import letter_number as letter_number  # noqa: PLC0414
from softlookup.documents.tree.numerals import roman_number as roman_number  # noqa: PLC0414

# full-width letters, digits and marks: one character each, so offsets stay
FOLD = {0xFF01 + i: 0x21 + i for i in range(94)} | {
    0x3000: 0x20,
    0xA0: 0x20,
    0x2002: 0x20,
    0x2003: 0x20,
    0x2009: 0x20,
}
FOLD |= {0x202F: 0x20, 0x09: 0x20}
# invisible characters and marks of direction: a blank before a label, nothing inside it
INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_FOLLOWED = 80  # characters after the start of a label that may disguise it
FOLD |= dict.fromkeys(
    (0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF), 0x20
)

# letters of other alphabets that look like Latin ones: a label with them reads as it looks, and is flagged
_LOOKS_LIKE = dict(
    zip(
        "асеорхуіјѕԁһԛԝАВСЕНІЈКМОРЅТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧοι",
        "aceopxyijsdhqwABCEHIJKMOPSTXABEZHIKMNOPTYXoi",
        strict=True,
    )
)
FOLD |= {ord(sign): ord(latin) for sign, latin in _LOOKS_LIKE.items()}
_HAN = HAN
_SIGNS = "".join(ENCLOSED.values())
_NUMERAL = rf"\d{{1,3}}|[IVXLC]{{1,8}}|(?i:{NUMBER_WORDS})\b"
_KEYWORD = r"(?i:section|clause|sec\.|paragraph)|§{1,2}"
_SCHEDULES = "schedule|exhibit|annexure|annex|appendix|attachment|addendum|rider"
_FORMS = (
    # 第三条, 第一百二十条之一, 第3-1条, 第二章
    (
        rf"(?P<zh>第[ ]{{0,2}}(?P<zhn>[{_HAN}]{{1,9}}|\d{{1,4}})(?:[-–—](?P<zhd>\d{{1,2}})(?=[ ]?条))?"
        rf"[ ]{{0,2}}(?P<zhu>分编|编|章|节|條|条)"
        rf"(?:之(?P<zhs>[{_HAN}]{{1,3}}))?)"
    ),
    # 附件一, 附录A
    rf"(?P<annex>(?:附件|附录|附錄|附表)[ ]?(?P<annexn>[{_HAN}]{{1,3}}|\d{{1,2}}|[A-Z](?![A-Za-z]))?)",
    # 二、 and （二）
    rf"(?P<dun>(?P<dunn>[{_HAN}]{{1,4}})[、.](?!\d))",
    rf"(?P<zhp>\((?P<zhpn>[{_HAN}]{{1,4}})\))",
    # Schedule 2, Exhibit A-1, Schedule No. 1, SCHEDULE ONE
    (
        rf"(?P<sched>(?i:{_SCHEDULES})[ ]{{1,3}}(?:No\.?[ ]{{0,2}}|Number[ ]{{1,2}})?(?P<schedn>\"?"
        r"(?:[A-Z](?:-?\d{1,2}(?:\.\d{1,2})?|-[A-Z])?|\d{1,2}(?:(?:[.-]\d{1,3}){1,3}|[.-]?[A-Z])?|[IVX]{1,5})\"?"
        rf"(?:\([a-z0-9]{{1,3}}\)){{0,3}}|(?i:{NUMBER_WORDS})\b)(?![A-Za-z0-9']))"
    ),
    # THE FIRST SCHEDULE, and SCHEDULE alone on its line
    (
        rf"(?P<nth>(?:THE|The)[ ]{{1,3}}(?P<nthn>(?i:{NUMBER_WORDS}))[ ]{{1,3}}(?:SCHEDULE|Schedule|ANNEX(?:URE)?|"
        r"Annex(?:ure)?|APPENDIX|Appendix)|(?P<nthn2>[A-Z]{4,12}(?:-[A-Z]{4,8})?)[ ]{1,3}"
        r"(?:SCHEDULE|ANNEX(?:URE)?|APPENDIX))(?=[ ]{0,40}(?:[-–—:.(*_\n]|\Z))"
    ),
    (
        r"(?P<only>(?:THE[ ]{1,3})?(?:SCHEDULE|ANNEX(?:URE)?|APPENDIX)"
        r"|(?:The[ ]{1,3})?(?:Schedule|Annex(?:ure)?|Appendix))(?=[ ]{0,40}[*_]{0,3}(?:\n|\Z))"
    ),
    # ARTICLE V, Article Ten, Part B
    (
        rf"(?P<art>(?:(?P<artw>(?i:article|part|title|chapter|item))[ ]{{1,4}}(?P<artn>{_NUMERAL})"
        rf"|(?i:part)[ ]{{1,4}}(?P<partn>[A-Z]))(?P<arta>(?<=\d)[A-Z])?(?![A-Za-z0-9])(?!\.\d))"
    ),
    # Section 4
    (
        rf"(?P<sec>(?:{_KEYWORD})[ ]{{0,4}}(?P<secn>\d{{1,3}}|[IVX]{{1,6}}(?![A-Za-z])|(?i:{NUMBER_WORDS})\b)"
        r"(?P<seca>(?<=\d)[A-Z])?(?![A-Za-z0-9])(?!\.\d))"
    ),
    # 5.2, Section 5.2, "2. 2. 1." as some scans print it; no date, amount or share
    (
        rf"(?P<dec>(?:(?P<decw>{_KEYWORD}|(?i:article))[ ]{{0,4}})?(?P<decn>\d{{1,3}}[A-Z]?(?:\.\d{{1,3}}){{1,5}}"
        r"|\d{1,2}(?:\.[ ]{1,2}\d{1,2}){1,5}(?=\.[ ])|[IVX]{1,5}(?:\.\d{1,2}){1,3})(?P<deca>[A-Z](?![A-Za-z\d]))?"
        r"(?![\d%,/:]|\.\d))"
    ),
    # 5.  5)  5、  5A.
    r"(?P<one>(?P<onen>\d{1,4})(?P<onea>[A-Z](?=[.、:)]|[ ]{1,9}[A-Z\"“]))?(?:[.、:)](?!\d)|[ ]{1,9}(?=[A-Z\"“])))",
    # (a) (iv) (B) (3)
    r"(?P<par>\([ ]?(?P<parn>[a-z]{1,3}|[ivxl]{1,8}|[A-Z]{1,2}|[IVX]{1,5}|\d{1,2})[ ]?\))",
    # a.  a)  A.  IV.
    (
        r"(?P<half>(?P<halfn>(?P<twice>[A-Za-z])(?P=twice)|[A-Z]|[a-z]|[ivx]{1,7}|[IVXL]{1,7})(?P<halfm>[.)])"
        r"(?:(?=[ ])|(?<=\))(?=[A-Z\"“])|(?<=[IVXL]{2}\.)(?=[A-Z][a-z]{2})))"
    ),
    rf"(?P<circ>[{_SIGNS}])[.、]?",
)
_PATTERN = re.compile("|".join(_FORMS))
_ZH_STYLES = {
    "分编": "zh-part",
    "编": "zh-part",
    "章": "zh-chapter",
    "节": "zh-division",
    "条": "zh-article",
    "條": "zh-article",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a label: ``style`` names the sequence it counts in, ``values`` its place there.

    ``inserted`` is the letter of a clause put in later: 1 for the A of "5A", which stands between 5 and 6.
    """

    style: str
    values: tuple[int, ...]
    inserted: int = 0

    @property
    def place(self) -> tuple[int, ...]:
        """``values`` with the inserted letter: (5, 1) for "5A"."""
        return (*self.values, self.inserted) if self.inserted else self.values


@dataclass(frozen=True, slots=True)
class Label:
    """A printed label at ``[start, end)`` with every reading it allows, the likeliest first.

    ``number`` is the label without trailing punctuation; ``has_keyword`` tells "Section 4.1" from "4.1".
    """

    start: int
    end: int
    number: str
    readings: tuple[Reading, ...]
    has_keyword: bool = False


def label_at(folded: str, position: int, text: str) -> Label | None:
    """Label that starts at ``position``; ``folded`` is ``text.translate(FOLD)``. None when there is none."""
    if _INVISIBLE.search(text, position, position + _FOLLOWED):
        return _disguised(text, position)
    match = _PATTERN.match(folded, position)
    if match is None:
        return None
    readings = _readings(match)
    if not readings:
        return None
    end = match.end()
    has_keyword = bool(match["decw"] or match["sec"] or match["art"] or match["zh"] or _is_schedule(match))
    number = text[position:end].rstrip()
    if not match["par"] and not match["zhp"]:
        # the bracket of "Schedule 1.1(a)" closes one that the label opens
        number = number.rstrip(".、．:：" if re.search(r"[(（][^()（）]*[)）]$", number) else ".、．:：)）")
    elif folded[end : end + 1] == ".":
        end += 1
    if match["dec"] or match["sec"] or match["art"]:
        while folded[end : end + 1] in (".", "、", ":", ")") and folded[end : end + 1]:
            end += 1
    return Label(start=position, end=end, number=_squeezed(number), readings=readings, has_keyword=has_keyword)


def _disguised(text: str, position: int) -> Label | None:
    """Label at ``position`` as it reads without the invisible characters in it."""
    kept = [at for at in range(position, min(len(text), position + _FOLLOWED)) if not _INVISIBLE.match(text, at)]
    shown = "".join(text[at] for at in kept)
    found = label_at(shown.translate(FOLD), 0, shown)
    return replace(found, start=position, end=kept[found.end - 1] + 1) if found is not None else None


def parse_label(label: str) -> Label | None:
    """Label read from a string that holds nothing else (such as an automatic number); None when it is none.

    >>> parse_label("第三十五条").readings[0].values
    (35,)
    """
    stripped = label.strip()
    for candidate in (stripped, stripped + " ", stripped + ". "):
        found = label_at(candidate.translate(FOLD), 0, candidate)
        if found is not None and not candidate[found.end :].strip(" ."):
            return found
    return None


def _squeezed(number: str) -> str:
    return re.sub(r"\s+", " ", number)


def _numeral(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    return word_number(text) or roman_number(text)


def _readings(match: re.Match[str]) -> tuple[Reading, ...]:
    if match["zh"]:
        return _zh_readings(match)
    if _is_schedule(match):
        return _schedule_readings(match)
    if match["par"]:
        return _letter_readings(match["parn"], "()")
    if match["half"]:
        return _letter_readings(match["halfn"], match["halfm"])
    if match["dec"]:
        first, *rest = match["decn"].replace(" ", "").split(".")
        if first[0].isdigit() and first[-1].isalpha():  # 3A.2 is in the inserted clause 3A
            first, rest = first[:-1], [str(letter_number(first[-1])), *rest]
        head = _numeral(first)
        inserted = letter_number(match["deca"] or "") or 0
        return (Reading(f"decimal{1 + len(rest)}", (head, *map(int, rest)), inserted),) if head is not None else ()
    if match["circ"]:
        sign = enclosed_number(match["circ"])
        return _one(*sign) if sign else ()
    return _one(*_simple_reading(match), letter_number(match["onea"] or match["seca"] or match["arta"] or "") or 0)


def _simple_reading(match: re.Match[str]) -> tuple[str, int | None]:
    """Style and value of the forms that count with a single number."""
    if match["dun"]:
        return "zh-list", han_number(match["dunn"])
    if match["zhp"]:
        return "zh-paren", han_number(match["zhpn"])
    if match["partn"]:
        letter = match["partn"]  # Part C follows Part B far more often than it is the hundredth
        return "part", roman_number(letter) if letter in "IVX" else letter_number(letter)
    if match["art"]:
        return {"article": "article", "item": "item"}.get(match["artw"].lower(), "part"), _numeral(match["artn"])
    if match["sec"]:
        return "section", _numeral(match["secn"])
    value = int(match["onen"])
    style = {")": "number)", "、": "decimal1、"}.get(match["one"].rstrip()[-1:], "decimal1")
    is_marked = not match["one"][-1:].isspace()
    is_year = 1900 <= value <= 2100
    return style, value if 0 < value < (10_000 if is_marked else 200) and not is_year else None


def _zh_readings(match: re.Match[str]) -> tuple[Reading, ...]:
    value = han_number(match["zhn"])
    if value is None:
        return ()
    inserted = han_number(match["zhs"] or match["zhd"] or "")
    values = (value,) if inserted is None else (value, inserted)
    style = "zh-subpart" if match["zhu"] == "分编" else _ZH_STYLES[match["zhu"]]
    return (Reading(style, values),)


def _is_schedule(match: re.Match[str]) -> bool:
    return bool(match["sched"] or match["annex"] or match["nth"] or match["only"])


def _schedule_readings(match: re.Match[str]) -> tuple[Reading, ...]:
    if match["nthn2"] and word_number(match["nthn2"]) is None:
        return ()  # "PRICE SCHEDULE"
    numeral = (match["schedn"] or match["annexn"] or match["nthn"] or match["nthn2"] or "1").strip('"')
    value = han_number(numeral) or word_number(numeral) or roman_number(numeral) or letter_number(numeral[:1])
    return (Reading("schedule", (value or 1,)),)  # schedules need not come in order


def _letter_readings(token: str, marks: str) -> tuple[Reading, ...]:
    if token.isdigit():
        return _one(f"number{marks}", int(token))
    case = "upper" if token.isupper() else "lower"
    found: list[Reading] = []
    letter, roman = letter_number(token), roman_number(token)
    if letter is not None and (len(token) == 1 or letter <= 78):
        found.append(Reading(f"{case}-letter{marks}", (letter,)))
    if roman is not None and roman <= 60:
        found.append(Reading(f"{case}-roman{marks}", (roman,)))
    return tuple(found)


def _one(style: str, value: int | None, inserted: int = 0) -> tuple[Reading, ...]:
    return () if value is None else (Reading(style, (value,), inserted),)


def is_confusable(printed: str) -> bool:
    """True for a label with letters that look like Latin ones ("(а)" with a Cyrillic а) or invisible characters."""
    return any(character in _LOOKS_LIKE for character in printed) or _INVISIBLE.search(printed) is not None
