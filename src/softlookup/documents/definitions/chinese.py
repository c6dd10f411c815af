"""Chinese forms of definition: “X”是指, 具有第N条规定的含义, （以下简称“X”）; merging is ``definitions.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from softlookup.documents.definitions.names import Found, names_in
from softlookup.documents.model import TermKind
from softlookup.documents.writing import has_chinese, simplified

_ZH_OPEN, _ZH_CLOSE = r"[\"“”「『＂]", r"[\"“”」』＂]"
_ZH_QUOTED = rf"{_ZH_OPEN}([^\"“”「『」』＂\n。；]{{1,40}}){_ZH_CLOSE}"
_ZH_VERB = r"(?:是指|系指|意指|特指|均指|即指|仅指|是特指|指的是|一词指|指)"
_ZH_MEANS = re.compile(
    rf"(?:{_ZH_QUOTED}(?:或|及|和|、|/)?){{0,3}}{_ZH_QUOTED}(?:[（(][^（）()\n]{{1,40}}[)）])?(?:一词|一语)?"
    # “关联方”，就任何人士而言，指
    rf"(?:\s*[，,]\s*(?:就|对于?|在|当|用于|如|若)[^。；，“”\"\n]{{1,30}})?\s*[，,:：]?\s*"
    # “中国法律”不包括香港的法律
    rf"(?:{_ZH_VERB}|(?:不|应|应当|亦|还|均|仅)?包括)"
)
# 取得营业执照之日为“交割日”
_ZH_IS_NAMED = re.compile(
    rf"(?:之日|当日|期间|时间|地点|之时|日期|[日月年])(?:[（(][^（）()\n]{{1,30}}[)）])?(?:均?称)?为{_ZH_QUOTED}(?=[。；，,;）)])"
)
# （“保密信息”）, （合称“各方”，单称“一方”）
_ZH_PARENTHESIS = re.compile(
    rf"[（(【\[]\s*(?:即|每一方称?)?[:：，,]?\s*((?:{_ZH_QUOTED}\s*+(?:(?:、|和|或|及|/|与|，)\s*+)?)+)[)）】\]]"
)
# “质保期”具有第十一条规定的含义; “控制”的定义见第三条
_ZH_GIVEN = re.compile(
    rf"(?:{_ZH_QUOTED}(?:或|及|和|、|/)?){{0,3}}{_ZH_QUOTED}(?:[（(][^（）()\n]{{1,40}}[)）])?(?:一词)?\s*[，,]?\s*(?:应|应当|均)?"
    r"(?:具有[^。；\n]{1,60}?(?:含义|涵义|意义|定义)|[（(]?(?:的)?(?:含义|涵义|定义)(?:见|同|依照|按照|适用|与|以|由|规定于|载于))"
)
_ZH_SO_CALLED = re.compile(
    rf"所称(?:的)?{_ZH_OPEN}?([^，,。；;：:\n\"“”「」]{{1,24}}?){_ZH_CLOSE}?\s*[，,]?\s*{_ZH_VERB}"
)
_ZH_LABEL = (
    r"(?:第[〇○零一二三四五六七八九十百千两\d]+条|[一二三四五六七八九十]+、|[（(][一二三四五六七八九十\d]+[)）]"
    r"|\d+(?:\.\d+)*[、.．)）]?)"
)
_ZH_BARE = re.compile(
    rf"(?:^|(?<=[。；\n]))[ \t　]*+{_ZH_LABEL}?[ \t　]*+"
    r"([\u4e00-\u9fff][\u4e00-\u9fffA-Za-z0-9/、]{1,17}?)(?:[，,]?(?:是指|系指|意指)|[：:]\s?(?:是|系|即)?指)",
    re.MULTILINE,
)
# "买卖合同是……的合同。": the statute's way to define without a verb of meaning
_ZH_GENUS = re.compile(
    rf"^[ \t　]*+{_ZH_LABEL}[ \t　]*+([\u4e00-\u9fff]{{1,8}}?([\u4e00-\u9fff]{{2}}))是"
    r"[^。；\n]{5,160}的\2[。；，]",
    re.MULTILINE,
)
_ZH_SHORT = (
    r"(?:(?:以下|下文|下|以上|此后)\s*(?:均|分别|合并|单独|共同|或)*\s*(?:简称|统称|合称|并称|称)(?:之)?(?:为|作)?"
    r"|(?:简称|统称|合称|并称|单独称|单称|各称|分别称|各自称|均称|共同称|合并称|以上称)(?:之)?(?:为|作)?)\s*[:：]?\s*"
)
# without quotes only the full form is sure: 以下简称买方
_ZH_SHORT_SURE = r"(?:以下|下文|下|以上)\s*(?:均|分别|合并|单独|共同|或)*\s*(?:简称|统称|合称|称)(?:为|作)?\s*[:：]?\s*"
_ZH_SHORT_QUOTED = re.compile(rf"{_ZH_SHORT}((?:{_ZH_QUOTED}(?:、|和|或|及|/|与)?)+)")
_ZH_SHORT_BARE = re.compile(
    rf"[（(\[【][^（）()\[\]【】\n]{{0,20}}{_ZH_SHORT_SURE}([^（）()\[\]【】\n\"“”「」『』，。]{{1,16}})[)）\]】]"
)
_ZH_SHORT_OPEN = re.compile(rf"[，,]\s*{_ZH_SHORT_SURE}([\u4e00-\u9fff]{{2,16}})[。；，]")
_ZH_PARTY = re.compile(r"^[ \t　]*+[^\n：:，。]{0,12}?([甲乙丙丁戊]方)[^\n：:，。]{0,12}[：:]", re.MULTILINE)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_LABEL_BEFORE = re.compile(r"第[^第，。；]{1,8}[条款项章节]$")  # 第五条（“付款”） gives the heading
_ZH_NAME_LIST = re.compile(_ZH_QUOTED)
_PARTY_LABELS_WITHIN = 3000  # characters: party labels stand on the first page, signature blocks on the last


def chinese_definitions(text: str) -> Iterator[Found]:
    """Names that ``text`` defines, in no order, some of them more than once."""
    if not has_chinese(text):
        return
    plain = simplified(text)
    for found in _found(plain):
        if plain is text:
            yield found
        else:
            yield found._replace(
                name=text[found.start : found.start + len(found.name)],
                aliases=tuple(_as_printed(text, plain, alias, found.start) for alias in found.aliases),
            )


def _as_printed(text: str, plain: str, alias: str, start: int) -> str:
    """``alias``, a name of ``plain`` close after ``start``, as ``text`` of the same length prints it."""
    at = plain.find(alias, start)
    return text[at : at + len(alias)]


def _found(text: str) -> Iterator[Found]:
    yield from _quoted(text)
    for pattern in (_ZH_SO_CALLED, _ZH_BARE, _ZH_GENUS):
        for match in pattern.finditer(text):
            name = match.group(1).rstrip("仅均即系特")
            if name and not name.startswith(("本", "是", "前", "上述", "所称", "该")):
                yield Found(name, match.start(1), "means")
    for match in _ZH_IS_NAMED.finditer(text):
        yield Found(match.group(1), match.start(1), "means")
    for match in _ZH_PARENTHESIS.finditer(text):
        chinese = has_chinese(match.group(1)) or _HAN.match(text, max(0, match.start() - 1))
        if chinese and not _LABEL_BEFORE.search(text, max(0, match.start() - 14), match.start()):
            for name, start in names_in(_ZH_NAME_LIST, text, match.start(1), match.end(1)):
                yield Found(name, start, "parenthetical")
    yield from _short_names(text)


def _quoted(text: str) -> Iterator[Found]:
    patterns: tuple[tuple[re.Pattern[str], TermKind], ...] = ((_ZH_MEANS, "means"), (_ZH_GIVEN, "meaning_given_in"))
    for pattern, kind in patterns:
        for match in pattern.finditer(text):
            names = list(names_in(_ZH_NAME_LIST, text, match.start(), match.end()))
            if names:
                yield Found(*names[0], kind, tuple(name for name, _ in names[1:]))


def _short_names(text: str) -> Iterator[Found]:
    for match in _ZH_SHORT_QUOTED.finditer(text):
        for name, start in names_in(_ZH_NAME_LIST, text, match.start(1), match.end(1)):
            yield Found(name, start, "short_name")
    for pattern in (_ZH_SHORT_BARE, _ZH_SHORT_OPEN):
        for match in pattern.finditer(text):
            yield Found(match.group(1), match.start(1), "short_name")
    for match in _ZH_PARTY.finditer(text, 0, _PARTY_LABELS_WITHIN):
        yield Found(match.group(1), match.start(1), "short_name")
