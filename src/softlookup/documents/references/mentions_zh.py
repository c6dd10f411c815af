"""Places of a Chinese text that mention a clause by its label; resolving them is ``references.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from softlookup.documents.model import DefinedTerm, Span
from softlookup.documents.references.labels import ZH_DIGITS, LabelKey, head_length, label_key
from softlookup.documents.references.mentions import Mention
from softlookup.documents.writing import has_chinese

# 第3-1条 was put in after 第3条, as 第三条之一 was; 第3-5条 is a range (``_shared_step``)
_NUM = rf"(?:\d{{1,3}}-\d{{1,2}}(?=\s*条)|[{ZH_DIGITS}\d０-９]+(?:[.．][\d０-９]+)*)"
_ITEM = rf"[（(]\s?(?:[{ZH_DIGITS}\d０-９]{{1,4}}|[a-zA-Z]{{1,4}})\s?[)）]"
_ONE = rf"(?:{_NUM}(?:{_ITEM})*|{_ITEM})"
_MANY_GLUE = r"\s*(?:、|和|及|与|或|以及|或者|至|到|~|～|—|-)(?:\s*第)?\s*"  # blanks have one place each
_UNIT = rf"(?:分?编|章|节|条(?!件)|款|项(?!目)|目)(?:之[{ZH_DIGITS}]+)?"
_STEP = rf"第\s*{_ONE}(?:{_MANY_GLUE}{_ONE}){{0,9}}\s*{_UNIT}"
_TAIL = rf"(?:\s?{_ITEM}\s*(?:款|项(?!目)|目)?)"  # 第二十三条（二）
_STEPS = rf"{_STEP}(?:{_STEP}|{_TAIL})*"
_ANNEX = rf"(?:附件|附表|附录)\s*[“\"]?(?:[{ZH_DIGITS}]{{1,3}}|\d{{1,2}}|[A-Z](?![A-Za-z]))[”\"]?"
_MENTION = re.compile(
    rf"(?P<annex>{_ANNEX})(?:(?P<inner>{_ANNEX})|(?:的|之|中的?|项下)?\s*(?P<inside>{_STEPS}))?|(?P<steps>{_STEPS})"
    rf"|(?<![\d.])(?P<dotted>\d+(?:\.\d+)+(?:{_ITEM})*)\s*(?:条|款|项(?!目))(?:{_STEP}|{_TAIL})*"
    rf"|(?P<bare>{_ITEM})\s*(?:款|项(?!目))"
)
_GLUE = re.compile(
    r"\s*(?:[、和与及或至到，]|以及|和/或|或者|直至|~|～|—+|-|\s)\s*(?:按照|依照|根据)?(?:本合同|本协议|本契约|本法)?(?:的|之)?\s*"
)
_RANGE = re.compile(r"至|到|~|～|—|-")
_BASE = re.compile(r"(?P<which>本|前|上一?|下一?|该|同)(?P<unit>条|款|项|章|节|编)(?:的|之|中)?\s*$")
_EXTERNAL = re.compile(
    r"(?:》|(?<![本])(?:[\u4e00-\u9fff]{1,20}(?:法典|法|条例|解释|规则|办法|通则|细则)))(?:的|之|中)?\s*(?:规定)?(?:的)?\s*$"
)
# a paper that is not this one: 披露函第4条, 补充协议第二条; 本补充协议 and the title of the document are
_OTHER_PAPER = re.compile(
    r"(?<!本)(?P<paper>披露函|承诺函|确认函|意向书|任务书|备忘录|公司章程|章程|招标文件|投标文件|中标通知书|[补主原总分][充]?(?:合同|协议)|"
    r"(?:补充|保密|框架|担保|保证|抵押|质押|借款|服务|许可|租赁|采购|销售|劳动|合作|股东|增资|托管|监管|原租赁|物业服务|技术)(?:合同|协议))"
    r"(?:的|之|中)?\s*$"
)
_OWN = re.compile(
    r"(?:本法|本条例|本办法|本合同|本协议|本契约|本合约|本规定|本规则|本章程|本租约|依法|无法|方法|以法)\s*(?:的|中|项下|之)?\s*$"
)
_LABEL_LINE = re.compile(r"(?:^|\n)[#>*\s　]*$")
# “第三条 付款 at the start of a line: the heading of a clause of the paper that is amended
_QUOTED_LINE = re.compile(r"(?:(?:^|\n)[#>*\s　]*|[为為][:：]\s?)[“\"「『]$")
_ADDED = re.compile(r"(?:[中后之的]{0,2})(?:增加|新增|增补|补充|增设)(?:一款|一项)?(?:作为)?")  # 原合同第五条增加第四款
_PAPER_TERM = re.compile(r"(?!本).{1,14}(?:合同|协议|合约|契约|租约|订单|保单|章程|文件)(?:书)?")
_PAPER_DEFINED = re.compile(r"(?:》|(?:签订|签署|订立|签定)的?[^。；，]{1,40})[^。；，》]{0,30}[（(][^（()）]{0,10}$")
_TITLE_MOST = 30  # characters
_TITLE_WITHIN = 200  # characters in which the document says what it is
_GLUE_MOST = 12  # characters between two members of a list
_SAME_ARTICLE_WITHIN = 80  # characters: 该条 is the article that was named last


class _Previous(NamedTuple):
    mention: Mention
    unit: str  # the last unit of the label: 条, 款, 项


def chinese_mentions(text: str, terms: Sequence[DefinedTerm] = ()) -> Iterator[Mention]:
    """Mentions such as 第五条第二款, 第五条（二）, 附件一第3条 and 8.2条; a list member may lack the 条.

    ``terms`` tell which papers are others: 借款人与银行签订的《融资合同》（以下简称“融资合同”）.
    """
    if not has_chinese(text):
        return
    previous: _Previous | None = None
    pending: Mention | None = None
    papers = _other_papers(text, terms)
    for match in _MENTION.finditer(text):
        for mention in _members(text, match, previous, papers):
            glue = text[pending.span.end : mention.span.start] if pending else ""
            if pending and pending.last is None and len(glue) <= 6 and _GLUE.fullmatch(glue) and _RANGE.search(glue):
                pending = pending._replace(span=Span(pending.span.start, mention.span.end), last=mention.key)
            else:
                if pending:
                    yield pending._replace(listed=True) if mention.listed and len(glue) <= _GLUE_MOST else pending
                pending = mention
            unit = re.search(r"[条款项)）](?=\D*$)", match.group())
            previous = _Previous(mention, unit.group() if unit else "")
    if pending:
        yield pending


def _other_papers(text: str, terms: Sequence[DefinedTerm]) -> tuple[str, ...]:
    """Names of papers that are defined as others, by their title in 《》 or as one that was signed."""
    if not terms or not has_chinese(text):
        return ()
    named = (text[term.span.start : term.span.end].strip("《》") for term in terms)
    return tuple(
        name
        for name, term in zip(named, terms, strict=True)
        if term.kind in ("short_name", "parenthetical")
        and _PAPER_TERM.fullmatch(name)
        and _PAPER_DEFINED.search(text, max(0, term.span.start - 100), term.span.start)
    )


def _members(text: str, match: re.Match[str], previous: _Previous | None, papers: tuple[str, ...]) -> Iterator[Mention]:
    start = match.start()
    before = text[max(0, start - 24) : start]
    if _LABEL_LINE.search(before) and re.match(r"[\s　:：]", text[match.end() : match.end() + 1] or "\n"):
        return  # the label of a clause or of a line of the table of contents
    if _QUOTED_LINE.search(before) and re.match(r"[\s　:：]", text[match.end() : match.end() + 1] or "\n"):
        return  # a heading that the amendment quotes
    glue = text[previous.mention.span.end : start] if previous else ""
    listed = previous if previous and len(glue) <= _GLUE_MOST and _GLUE.fullmatch(glue) else None
    if match["bare"] and not listed and not _BASE.search(before):
        return
    external = listed.mention.external if listed else _is_outside(text, before, papers)
    outer, inner = (label_key(match[group]) if match["inner"] else None for group in ("annex", "inner"))
    if outer is not None and inner is not None:  # 附件一附表A
        yield Mention(Span(start, match.end()), inner, external=external, within=(outer,))
        return
    keys = list(_keys(match))
    for span, key, printed in keys:
        mention = Mention(span, key, external=external, head=head_length(printed), listed=bool(listed) or len(keys) > 1)
        yield from _placed(mention, text, match, listed, previous)


def _is_outside(text: str, before: str, papers: tuple[str, ...]) -> bool:
    """Whether the words before a label name a statute or another paper."""
    if _EXTERNAL.search(before) and not _OWN.search(before):
        return True
    defined = re.sub(r"(?:的|之|中)?\s*$", "", before)
    paper = next((name for name in papers if defined.endswith(name) and not defined.endswith(f"本{name}")), "")
    match = None if paper else _OTHER_PAPER.search(before)
    paper = match["paper"] if match else paper
    if not paper:
        return False
    titles = (line for line in text[:_TITLE_WITHIN].split("\n") if len(line) <= _TITLE_MOST)
    return not any(line.strip("# *　").endswith(paper) for line in titles)


def _placed(
    mention: Mention, text: str, match: re.Match[str], listed: _Previous | None, previous: _Previous | None
) -> Iterator[Mention]:
    """The mention with what its label leaves out: the annex, the part, or the article of a bare 第二款."""
    annex = label_key(match["annex"]) if match["annex"] else None
    if annex is not None and match["inside"]:
        yield mention._replace(within=(annex,))
    elif mention.key.kind != "item":
        yield mention._replace(within=_outer_steps(match))
    else:
        before = text[max(0, mention.span.start - 8) : mention.span.start]
        found = _BASE.search(before)
        start = mention.span.start - (len(found.group()) if found else 0)
        mention = mention._replace(span=Span(start, mention.span.end))
        near = previous if previous and start - previous.mention.span.end <= _SAME_ARTICLE_WITHIN else None
        if found and found["which"] in "该同":  # 该条第二款
            if near is not None and near.mention.base is None and near.mention.key.kind == "clause":
                yield _continued(mention, near.mention, 0)
        elif listed and not found:
            depth = 0 if "款" in match.group() else _depth(listed)
            yield _continued(mention, listed.mention, depth)
        else:
            which, unit = (found["which"], found["unit"]) if found else ("本", "条")
            if previous and previous.mention.external and not found:
                added = _ADDED.fullmatch(text, previous.mention.span.end, start)
                mention = mention._replace(external=added is not None)
            step = -1 if which[0] in "前上" else 1 if which[0] == "下" else 0
            yield mention._replace(base=(step, unit))


def _depth(listed: _Previous) -> int:
    """Steps that 第二项 shares with the member before it: the 款 of 第一款第一项, none of 第一项."""
    steps = len(listed.mention.key.parts) - (0 if listed.mention.base else listed.mention.head)
    return max(0, steps - 1)


def _continued(mention: Mention, before: Mention, depth: int) -> Mention:
    """第二项 after 第五条第一项: the same article, or the same 前条, and ``depth`` of its steps."""
    if before.base is not None:
        key = LabelKey("item", (*before.key.parts[:depth], *mention.key.parts))
        return mention._replace(key=key, base=before.base)
    kept = before.key.parts[: before.head + depth]
    key = LabelKey(before.key.kind, (*kept, *mention.key.parts)) if kept else mention.key
    return mention._replace(key=key, head=before.head, within=before.within)


def _outer_steps(match: re.Match[str]) -> tuple[LabelKey, ...]:
    """第二编 and 第六章 of 第二编第六章第三节; none for the 条 of 第五条第二款."""
    steps = re.findall(_STEP, match["steps"] or "")
    outer = (label_key(step) for step in steps[:-1] if re.search(r"[编章节]", step))
    return tuple(key for key in outer if key is not None)


def _keys(match: re.Match[str]) -> Iterator[tuple[Span, LabelKey, str]]:
    """Place, key and full label of every member of 第三、四条 and 第五条第（一）、（三）项; mostly one."""
    group = "inside" if match["inside"] else 0
    printed, offset = match.group(group), match.start()
    if match["annex"] and not match["inside"]:
        printed = match["annex"]
    if match["dotted"]:
        printed = f"第{printed}"
    last = _shared_step(printed)
    if last is None:
        key = label_key(match["bare"] or printed)
        if key is not None:
            yield Span(offset, match.end()), key, printed
        return
    at, unit = last.start(), last["unit"]
    numbers = list(re.finditer(_ONE, printed[at : last.start("unit")]))
    for place, number in enumerate(numbers):
        value = number.group()
        if value[0] in "(（" and numbers[0].group()[0] not in "(（":  # 第9.1（a）至（c）款
            value = re.sub(rf"{_ITEM}$", "", numbers[0].group()) + value
        label = f"{printed[:at]}第{value}{unit}"
        key = label_key(label)
        first = offset if place == 0 else match.start(group) + at + number.start()
        end = match.end() if place == len(numbers) - 1 else match.start(group) + at + number.end()
        if key is not None:
            yield Span(first, end), key, label


_INSERTED = re.compile(r"第\s*(\d{1,3})-(\d{1,2})\s*条")
_SHARED = re.compile(rf"第\s*{_ONE}(?:{_MANY_GLUE}{_ONE}){{1,9}}\s*(?P<unit>{_UNIT})$")


def _shared_step(printed: str) -> re.Match[str] | None:
    """The last step, when several numbers share its unit."""
    starts = [match.start() for match in re.finditer(r"第", printed)]
    for start in starts:
        inserted = _INSERTED.match(printed, start)
        if inserted and int(inserted[2]) <= int(inserted[1]):
            continue  # 第3-1条 is one article; 第3-5条 is three
        match = _SHARED.match(printed, start)
        if match:
            return match
    return None
