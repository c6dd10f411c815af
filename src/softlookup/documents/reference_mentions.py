"""Places that mention a clause by its label, in English and Chinese; resolving them is ``references.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from softlookup.documents.model import Span
from softlookup.documents.reference_labels import ZH_DIGITS, LabelKey, label_key

_ITEM = r"\((?:[a-z]{1,2}|[A-Z]{1,2}|[ivxl]{1,6}|[IVXL]{1,6}|\d{1,3})\)"
_DOTTED = (
    r"\d{1,4}[A-Z]?(?:[.-]\d{1,3})*(?:\.(?:[a-z]|[ivx]{2,4}|\d{1,2})(?![a-zA-Z]))*"
    rf"(?:\s?{_ITEM}|{_ITEM})*(?![\d%])"
)
_LETTER = r"[\"“]?(?:[IVXLC]{1,7}|[A-Z])(?:-\d+)?(?![\w’'&])[\"”]?"
_WORD = (
    r"(?:Sections?|Clauses?|Articles?|Paragraphs?|Sub-?sections?|Sub-?clauses?|Sub-?paragraphs?|Schedules?|Exhibits?|"
    r"Annex(?:es)?|Annexures?|Appendix|Appendices|Attachments?|Secs?\.|§§?)"
)
_MENTION_EN = re.compile(
    rf"(?<![\w-])(?P<word>(?i:{_WORD}))\s*(?P<label>{_DOTTED}|(?<=\s){_LETTER}(?:{_ITEM})*|(?:{_ITEM})+)(?!\w)"
)
_NEXT_EN = re.compile(
    rf"(?P<glue>\s*,\s*(?:and/or|and|or|&)?\s*|\s+(?:and/or|and|or|through|to|thru|&)\s+|\s*[–—-]\s*)"
    rf"(?:(?P<word>(?i:{_WORD}))\s*)?(?P<label>{_DOTTED}|{_LETTER}|(?:{_ITEM})+)(?!\w)"
)
_RANGE_GLUE = re.compile(r"through|thru|to|[–—-]")
_OF_CLAUSE = re.compile(rf"\s+of\s+(?:this\s+)?(?P<word>(?i:{_WORD}))\s*(?P<label>{_DOTTED}|{_LETTER})(?!\w)")
# "of the Exchange Act", "of the Company Disclosure Letter"; a heading in parentheses may stand between
_OF_OTHER = re.compile(
    r"(?:\s*\([^()]{1,60}\))?\s*,?\s*(?:inclusive\s*,?\s*)?of\s+(?:the\s+|such\s+|that\s+certain\s+|its\s+|their\s+|each\s+)?"
    r"(?P<name>(?:[A-Z]|\d+\s+[A-Z])[\w.’'&/-]*(?:\s+(?:[A-Z(][\w.’'&/()-]*|of|and|on|for))*)"
)
_ELSEWHERE = re.compile(r"\s*,?\s*(?:et\.?\s+seq|thereof\b|thereunder\b)")
# no contract has a hundred sections; "Section 409A" is the Internal Revenue Code
_STATUTE_NUMBER = r"\d{3}"
_OWN_NAMES = re.compile(
    r"(?:this|agreement|contract|terms|lease|deed|framework\s+terms|standard\s+terms|msa|mnda|section|article|"
    r"clause|schedule|exhibit|annex|appendix|attachment|agreement\s+and)\b(?!\s+(?:act|code|law))",
    re.IGNORECASE,
)
# only a paper can be the document itself, called by its title
_PAPER = re.compile(r"(?:Agreement|Contract|Terms|Lease|Deed|Addendum|Amendment|Licen[cs]e|Policy)$")
_STATUTE_BEFORE = re.compile(
    r"(?:\bCode|\bAct|\bRules?|\bRegulations?|\bTreas\.?\s+Reg\.?|U\.?\s?S\.?\s?C\.?(?:A\.)?|C\.?\s?F\.?\s?R\.?|\bStatutes?|"
    r"\bOrdinance|\bLaw|\bStat\.|\bUCC|\bERISA|\bD?FARS?|\bHIPAA|\bDGCL|\bGDPR)\s*,?\s*(?:\(?[\d.]+\)?\s*,?\s*)?$"
)
_OTHER_PAPER_BEFORE = re.compile(
    r"(?:Disclosure\s+(?:Letter|Schedules?|Memorandum)|[A-Z][\w.&]+\s+(?:Letter|Plan|Indenture|Prospectus))\s*,?\s*$"
)

# the rest of a line of a table of contents, also when its lines were joined: "  Publicity    53  Section"
_CONTENTS_LINE = re.compile(
    r"\.?\s+[A-Z][^.;:\n]{2,120}?(?:\s*\.{3,}\s*|\s{2,}|\s)\d{1,3}"
    r"(?=\s*\n|\s+(?:Section|SECTION|Article|ARTICLE|Exhibit|Annex)\s)"
)
_THIS_BEFORE = re.compile(r"\bthis\s+$", re.IGNORECASE)
_NUM_ZH = rf"[{ZH_DIGITS}\d０-９]+(?:[.．][\d０-９]+)*"
_COUNT_ZH = rf"(?:{_NUM_ZH}|[（(]{_NUM_ZH}[)）])(?:、(?:{_NUM_ZH}))*"
_STEP_ZH = rf"第\s*{_COUNT_ZH}\s*(?:分?编|章|节|条(?!件)|款|项(?!目)|目)(?:之[{ZH_DIGITS}]+)?"
_MENTION_ZH = re.compile(
    rf"(?P<steps>(?:{_STEP_ZH})+)|(?<![\d.])(?P<dotted>\d+(?:\.\d+)+)\s*(?:条|款|项(?!目))"
    rf"|(?P<annex>(?:附件|附表|附录)\s*[“\"]?(?:[{ZH_DIGITS}]{{1,3}}|\d{{1,2}}|[A-Z](?![A-Za-z]))[”\"]?)"
)
_GLUE_ZH = re.compile(r"\s*(?:[、和与及或至到]|以及|或者|直至|~|～|—+|-|\s)\s*(?:本合同|本协议|本法)?\s*")
_RANGE_ZH = re.compile(r"至|到|~|～|—|-")
_BASE_ZH = re.compile(r"(?P<which>本|前|上一?|下一?)(?P<unit>条|款|项|章|节|编)(?:的)?$")
_EXTERNAL_ZH = re.compile(
    r"(?:》|(?<![本])(?:[\u4e00-\u9fff]{1,20}(?:法典|法|条例|解释|规则|办法|通则|细则)))(?:的|之|中)?\s*(?:规定)?(?:的)?\s*$"
)
_OWN_ZH = re.compile(
    r"(?:本法|本条例|本办法|本合同|本协议|本规定|本规则|本章程|本租约|依法|无法|方法|以法)\s*(?:的|中|项下|之)?\s*$"
)
_LABEL_LINE_ZH = re.compile(r"(?:^|\n)[#>*\s　]*$")


class Mention(NamedTuple):
    """One label in the text.

    ``last`` closes a range, ``base`` is (step, kind) for 本条第二款 and 前条第一款, and ``own`` tells "this
    Section 5": the mention itself says that it stands inside the target.
    """

    span: Span
    key: LabelKey
    last: LabelKey | None = None
    external: bool = False
    likely_statute: bool = False
    within: LabelKey | None = None
    own: bool = False
    base: tuple[int, str] | None = None


def english_mentions(text: str) -> Iterator[Mention]:
    """Mentions such as "Section 5.1(a)", each member of a list of its own, ranges as one."""
    title = " ".join(text[:600].lower().split())
    end = 0
    for match in _MENTION_EN.finditer(text):
        if match.start() < end or _is_printed_label(text, match):
            continue
        members = list(_members(text, match))
        if not members:
            continue
        end = members[-1][0].end
        external = _external(text, match.start(), end, title)
        own = bool(_THIS_BEFORE.search(text, max(0, match.start() - 8), match.start()))
        for span, printed, last in members:
            key, within = _qualified(text, printed, end) if span.end == end else (printed, None)
            statute = bool(re.match(_STATUTE_NUMBER, key.parts[0]))
            yield Mention(span, key, last, external, statute, within, own=own)


def _members(text: str, match: re.Match[str]) -> Iterator[tuple[Span, LabelKey, LabelKey | None]]:
    """(span, key, end of range) of every label of the list that starts at ``match``."""
    word = match["word"]
    plural = word.lower().rstrip(".").endswith(("s", "ces")) or word == "§§"
    key = _key(word, match["label"])
    if key is None:
        return
    span, base, last = Span(match.start(), match.end("label")), key, None
    while True:
        following = _NEXT_EN.match(text, span.end)
        if following is None:
            break
        word = following["word"] or word
        label = following["label"]
        items_only = label.startswith("(")
        items_follow = items_only and "(" in match["label"]
        if not (following["word"] or plural or items_follow or ("." in label and "." in match["label"])):
            break  # "Section 5 and 30 days": a bare number after a singular word is no label
        bare = following["word"] is None
        key = _sibling(base, label) if items_only and bare else _key(word, label)
        if key is None or (bare and label[0].isalpha() and not plural):
            break
        place = Span(following.start("word") if following["word"] else following.start("label"), following.end("label"))
        if _RANGE_GLUE.search(following["glue"]) and last is None:
            span, last = Span(span.start, place.end), key
            continue
        yield span, base, last
        span, base, last = place, key, None
    yield span, base, last


def _key(word: str, label: str) -> LabelKey | None:
    singular = re.sub(r"(?i)^(schedule|exhibit|annexure|attachment)s$", r"\1", word)
    singular = re.sub(r"(?i)^annexes$", "Annex", re.sub(r"(?i)^appendices$", "Appendix", singular))
    if label.startswith("("):
        return label_key(label.replace(" ", ""))
    return label_key(f"{singular} {label.replace(' ', '')}")


def _sibling(base: LabelKey, label: str) -> LabelKey | None:
    """Key of "(b)" after "5.1(a)": 5.1(b)."""
    items = label_key(label)
    if items is None:
        return None
    alike = [i for i, part in enumerate(base.parts) if i and _style(part) == _style(items.parts[0])]
    stem = base.parts[: alike[-1]] if alike else base.parts[:-1]
    return LabelKey(base.kind, (*stem, *items.parts))


def _style(part: str) -> str:
    return "digit" if part.isdigit() else "roman" if re.fullmatch(r"[ivx]+", part) else "letter"


def _qualified(text: str, key: LabelKey, end: int) -> tuple[LabelKey, LabelKey | None]:
    """Key and surrounding clause, from the words after it: "clause (i) of Section 5.1"."""
    match = _OF_CLAUSE.match(text, end)
    outer = _key(match["word"], match["label"]) if match else None
    if outer is None or outer.kind == "item":
        return key, None
    if key.kind == "item":
        return LabelKey(outer.kind, (*outer.parts, *key.parts)), None
    return key, outer


def _is_printed_label(text: str, match: re.Match[str]) -> bool:
    """Whether the words stand where a clause or a line of a table of contents is labelled, not mentioned."""
    word = match["word"]
    if word.isupper() and len(word) > 2 and re.search(r"[a-z]{2}", text[max(0, match.start() - 30) : match.start()]):
        return True  # "...as follows: ARTICLE I APPOINTMENT": a heading that lost its line break
    if _CONTENTS_LINE.match(text, match.end()):
        return True
    line_start = text.rfind("\n", 0, match.start()) + 1
    if text[line_start : match.start()].strip(" \t#>*|"):
        return False
    earlier = text[max(0, line_start - 80) : line_start].rstrip(" \t")
    fresh = not earlier.strip() or earlier.endswith("\n\n") or earlier.rstrip()[-1:] in ".;:。；："
    rest = text[match.end() : match.end() + 4]
    return (fresh or bool(re.match(r"\.?(?:\s{2,}|\t|\n)", rest))) and not word.lower().endswith("s")


def _external(text: str, start: int, end: int, title: str) -> bool:
    """Whether the words before or after place the label in a statute or in another document."""
    before = text[max(0, start - 60) : start]
    if _STATUTE_BEFORE.search(before) or _OTHER_PAPER_BEFORE.search(before):
        return True
    if _ELSEWHERE.match(text, end):
        return True
    match = _OF_OTHER.match(text, end)
    if match is None:
        return False
    name = " ".join(match["name"].split())
    names_itself = _PAPER.search(name) is not None and name.lower() in title
    return not _OWN_NAMES.match(name) and not names_itself


def chinese_mentions(text: str) -> Iterator[Mention]:
    """Mentions such as 第五条第二款, 附件一 and 8.2条; a list member may lack the 条."""
    previous: tuple[int, LabelKey, bool] | None = None  # end, key and externality of the member before
    pending: Mention | None = None
    for match in _MENTION_ZH.finditer(text):
        mentions = _chinese_members(text, match, previous)
        for mention in mentions:
            glue = text[pending.span.end : mention.span.start] if pending else ""
            if (
                pending
                and pending.last is None
                and len(glue) <= 6
                and _GLUE_ZH.fullmatch(glue)
                and _RANGE_ZH.search(glue)
            ):
                pending = pending._replace(span=Span(pending.span.start, mention.span.end), last=mention.key)
            else:
                if pending:
                    yield pending
                pending = mention
            previous = (mention.span.end, mention.key, mention.external)
    if pending:
        yield pending


def _chinese_members(text: str, match: re.Match[str], previous: tuple[int, LabelKey, bool] | None) -> Iterator[Mention]:
    span = Span(*match.span())
    before = text[max(0, span.start - 24) : span.start]
    if _LABEL_LINE_ZH.search(before) and re.match(r"[\s　:：]", text[span.end : span.end + 1] or "\n"):
        return  # the label of a clause or of a line of the table of contents
    listed = (
        previous is not None and span.start - previous[0] <= 6 and _GLUE_ZH.fullmatch(text[previous[0] : span.start])
    )
    external = previous[2] if listed and previous else bool(_EXTERNAL_ZH.search(before) and not _OWN_ZH.search(before))
    for key in _chinese_keys(match):
        if key.kind != "item":
            yield Mention(span, key, external=external, within=_outer_step(match))
        elif listed and previous and previous[1].kind == "clause":
            depth = 1 if match.group().endswith("款") else max(1, len(previous[1].parts) - 1)
            yield Mention(span, LabelKey("clause", (*previous[1].parts[:depth], *key.parts)), external=external)
        else:
            found = _BASE_ZH.search(before)
            which, unit = (found["which"], found["unit"]) if found else ("本", "条")
            step = -1 if which[0] in "前上" else 1 if which[0] == "下" else 0
            start = span.start - (len(found.group()) if found else 0)
            base = (step, "paragraph" if unit == "款" else "clause")
            yield Mention(Span(start, span.end), key, external=external, base=base)


def _outer_step(match: re.Match[str]) -> LabelKey | None:
    """第二编 of 第二编第六章; None for a mention of one step, and for the 条 of 第五条第二款."""
    steps = re.findall(_STEP_ZH, match["steps"] or "")
    outer = [step for step in steps[:-1] if re.search(r"[编章节]", step)]
    return label_key(outer[-1]) if outer else None


def _chinese_keys(match: re.Match[str]) -> list[LabelKey]:
    printed = match.group()
    shared = re.fullmatch(rf"第\s*({_NUM_ZH}(?:、{_NUM_ZH})+)\s*(\w)", printed)  # 第三、四条
    if shared:
        texts = [f"第{number}{shared.group(2)}" for number in shared.group(1).split("、")]
    else:
        texts = [match["dotted"] or printed]
    keys = (label_key(item) for item in texts)
    return [key for key in keys if key is not None]
