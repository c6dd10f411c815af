"""Which language a text may be in, so that patterns of the other need not run; not a language detector."""

from __future__ import annotations

import re

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_ENGLISH = re.compile(r"\b(?:the|means?|shall|this|such|under|of|and|an?)\b|[a-z]{2}\s[a-z]{2,20}\s[a-z]{2}")


def has_chinese(text: str) -> bool:
    """Whether ``text`` holds a Chinese character: without one no Chinese pattern can match."""
    return _CHINESE.search(text) is not None


def has_english(text: str) -> bool:
    """Whether ``text`` may hold an English sentence: a Chinese one with Latin names alone does not."""
    return not has_chinese(text) or _ENGLISH.search(text) is not None


# only what the patterns of clauses, references and definitions are made of
_PAIRS = (
    "條条項项編编節节約约協协議议規规則则細细釋释辦办稱称簡简係系義义為为總总統统單单獨独別别並并個个雙双書书附附錄录"
    "標标題题賣卖買买資资質质購购銷销勞劳動动東东託托監监業业務务員员術术貸贷擔担證证據据當当時时間间點点該该應应關关"
    "與与後后這这無无專专違违圖图紙纸壹壹貳贰參叁陸陆兩两萬万華华認认備备詞词語语處处從从進进適适涵涵諾诺顧顾問问"
)
_PLAIN = dict(zip(map(ord, _PAIRS[::2]), _PAIRS[1::2], strict=True))
_TRADITIONAL = re.compile(f"[{''.join(a for a, b in zip(_PAIRS[::2], _PAIRS[1::2], strict=True) if a != b)}]")
_NUMERAL = r"第\s*[〇○零一二三四五六七八九十百千兩两\d]{1,9}\s*"
# in Taiwan a 條 has 項 and these have 款; elsewhere it is the other way round
_ITEMS_FIRST = re.compile(rf"{_NUMERAL}條(?:之[一二三四五六七八九十]{{1,3}})?{_NUMERAL}項")
_PARAGRAPHS_FIRST = re.compile(rf"{_NUMERAL}條(?:之[一二三四五六七八九十]{{1,3}})?{_NUMERAL}款")
_STEP = re.compile(rf"(?P<before>{_NUMERAL}|[前本次])(?P<unit>[项款])")


def simplified(text: str) -> str:
    """``text`` of the same length with simplified characters where patterns ask for them; not for showing.

    The same object when there is nothing to change. Labels of Taiwan (第一條第二項第三款) get the order of units that
    the patterns know (第一条第二款第三项).
    """
    if _TRADITIONAL.search(text) is None:
        return text
    plain = text.translate(_PLAIN)
    if _ITEMS_FIRST.search(text) and not _PARAGRAPHS_FIRST.search(text):
        plain = _STEP.sub(lambda match: match["before"] + ("款" if match["unit"] == "项" else "项"), plain)
    return plain
