"""How much a decoding looks like English or Chinese text; ``encodings.py`` decides.

A wrong decoding still gives characters: Big5 read as GB18030 gives rare signs, Windows-1252 read as UTF-16 gives
Chinese characters that nobody uses. So common characters count for a decoding, rare ones do not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

# frequent in contracts, statutes and daily Chinese; simplified, then traditional forms that differ
_COMMON = frozenset(
    "的一是不了在人有我他这中大来上个国到说们为以要定于出会可也你对生能而子那得同方条款合约和本其或及应当甲乙双规按照日月年任权利义务责依法"
    "律支付时自行使下过发后作里用道所然事成多经么去法学如都起与把好还无又被并将各其内外此前由从向因但只则即若除非另再者之等第项章节附"
    "件份元金额价钱费税率租赁买卖房屋物业公司单位地址电话名称代表签字盖章人员工作服务技术信息数据资料保密知识产品质量标准交货期限违反"
    "损失赔偿解除终止变更通知争议仲裁诉讼法院管辖生效履行义务承担转让担保保证抵押押金定金余款开户银行账号委托受理提供使用管理维修期间"
    "届满续签书面协商一致同意确认有效原件复印件正副本各执壹贰叁肆伍陆柒捌玖拾佰仟万亿百千零二三四五六七八九十两半全部分期次以内以上以下"
    "社会政府机关规定办理申请批准登记审查股东董事出资设立财产债务债权收取支出计算比例百分已未收到提出要求给予取得具有进行根据有关相关"
    "其他以及包括不得必须可能情况情形条件方式范围目的原因结果影响问题关系责任主体开始结束完成实现保护安全环境市场经济"
    "這為個來時說們國會對過發後裡與並將應當條約規權務責貳參陸億萬兩雙於從無則動產買賣費額價錢單電話稱簽員術資數據識產質標準貨違損償"
    "終變議訴訟轄擔讓證銀號書確認執關機辦請審東債計護場經濟給貨款項內實現進開據業點間體當總處長門見東車馬語讀寫辭職帳戶聯繫繼續屆滿"
)
_MARKS = frozenset("，。、；：（）《》“”‘’！？「」『』【】〔〕　—…·％－／～①②③④⑤⑥⑦⑧⑨⑩")
_LATIN = frozenset("‘’“”–—•§©®™é èêëíîïóôöúûüñçàáâäåæøßÉÈÜÖÄÑÇÅØ£€°½¼¾…¢²³×·¶†‚„‹›«»\xa0\xad".replace(" ", ""))

_IN_A_ROW = re.compile("[\u00c0-\u024f]{3,400}")
_SIGN_IN_WORD = re.compile("(?<=[A-Za-z\u00c0-\u024f])[\u00a1-\u00ac\u00ae-\u00b6\u00b8-\u00bf](?=[A-Za-z])")


@dataclass(frozen=True, slots=True)
class Fit:
    """``score`` in [-1, 1] and ``readable``, the share of characters known to English and Chinese texts."""

    score: float
    readable: float
    evidence: str


def fit(text: str, codec: str) -> Fit:
    """Fit of ``text``, decoded with ``codec``; ASCII is left out, it looks the same in most encodings."""
    total = han = common = marks = latin = ascii_ = bad = 0
    for character, count in Counter(text).items():
        if character.isascii():
            plain = character.isprintable() or character in "\n\r\t\f"
            ascii_ += count if plain else 0
            bad += 0 if plain else 2 * count
            total += 0 if plain else count
            continue
        total += count
        if character in _MARKS:
            marks += count
        elif _is_han(character):
            han += count
            common += count if character in _COMMON else 0
        elif character in _LATIN:
            latin += count
        else:
            bad += (2 if _is_impossible(character) else 1) * count
    readable = (ascii_ + marks + han + latin) / max(1, len(text))
    if codec == "cp1252":
        bad += 2 * _misplaced(text)
        score = (latin + 0.5 * marks - bad - han) / total if total else 0.5
        return Fit(score, readable, "letters and signs of Western texts")
    if not total:
        return Fit(0.5, readable, "plain Latin letters")
    if han == 0:
        return Fit((marks + 0.5 * latin - bad) / total, readable, "Chinese punctuation")
    share = common / han
    score = (han * max(-1.0, min(1.0, (share - 0.35) / 0.25)) + marks - bad) / total
    return Fit(score, readable, f"{round(100 * share)} % of the Chinese characters are common ones")


def _misplaced(text: str) -> int:
    """Characters that stand where no Western text has them: three accented letters in a row, a sign in a word.

    Russian, Greek, Hebrew, Arabic or Polish text of another one-byte encoding comes out so.
    """
    return sum(len(match[0]) for match in _IN_A_ROW.finditer(text)) + sum(1 for _ in _SIGN_IN_WORD.finditer(text))


def is_nonsense(text: str) -> bool:
    """True for what a wrong decoding leaves: rare Chinese characters, accented letters in rows, no characters."""
    counts = Counter(text)
    odd = sum(n for c, n in counts.items() if _is_impossible(c) and c not in "\n\r\t\f")
    han = sum(n for c, n in counts.items() if _is_han(c))
    common = sum(n for c, n in counts.items() if c in _COMMON)
    kana = sum(n for c, n in counts.items() if "\u3041" <= c <= "\u30ff" or "\uac00" <= c <= "\ud7a3")
    total = max(1, len(text))
    rare_han = han > 0.3 * total and common < 0.12 * han and kana < 0.1 * total
    in_rows = sum(len(match[0]) for match in _IN_A_ROW.finditer(text))
    return odd > 0.1 * total or rare_han or in_rows > 0.2 * total


def _is_han(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or "\U00020000" <= character <= "\U0003ffff"


def _is_impossible(character: str) -> bool:
    """Private use, unassigned and control characters, which no text holds in number."""
    return unicodedata.category(character) in ("Co", "Cn", "Cc", "Cs")
