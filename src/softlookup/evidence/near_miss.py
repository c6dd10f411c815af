"""Names what a question asks about that the cited clauses never mention: another party, event or amount.

Attention singles out the clause on the same topic, also when the question is about somebody else. This check reads
words only. It is conservative: it looks at roles, names, events and numbers alone, knows their common synonyms, and
is silent where the clauses speak of every party or in another language. Silence is no sign that a clause answers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from softlookup.evidence.question_bank import Language, language_of
from softlookup.evidence.values import values_in, values_spelled

# parties: groups of words for one role; a question about one role is not answered by a clause on another
_ROLES_EN = (
    "buyer purchaser customer client distributor reseller", "seller supplier vendor provider manufacturer producer",
    "landlord lessor", "tenant lessee renter", "licensor", "licensee", "franchisor", "franchisee",
    "employer", "employee worker staff personnel", "lender bank creditor", "borrower debtor",
    "guarantor surety", "agent representative broker", "principal", "subcontractor", "contractor builder engineer",
    "insurer", "insured policyholder", "publisher", "author", "consultant adviser advisor", "carrier shipper",
    "bailee warehouse", "trustee", "beneficiary", "affiliate",
)  # fmt: skip
_ROLES_ZH = (
    "出租人 出租方 房东 业主", "承租人 承租方 租客 租户 租赁方", "买方 买受人 采购方 需方 买家", "卖方 出卖人 供应商 供方 卖家 供货方",
    "委托人 委托方 客户 发包人 发包方 定作人", "受托人 受托方 承包人 承包方 施工方 开发人 承揽人",
    "借款人 借款方", "贷款人 贷款方 出借人 银行", "保证人 担保人", "用人单位 雇主", "劳动者 员工 雇员 职工",
    "许可人 许可方", "被许可人 被许可方", "承运人 承运方", "托运人 托运方", "监理人 监理",
)  # fmt: skip
# clauses that speak of everybody: any party is mentioned
_EVERYBODY_EN = re.compile(
    r"\b(?:(?:either|each|neither|both|any|one|a|other|defaulting|breaching|non-?\w{1,12}ing)\s+(?:of\s+the\s+)?part(?:y|ies)"
    r"|the\s+parties|mutual(?:ly)?)\b",
    re.IGNORECASE,
)
_EVERYBODY_ZH = re.compile("双方|各方|任何一方|任一方|一方|对方|守约方|违约方|当事人|三方|四方")
_LETTERED_ZH = re.compile("[甲乙丙丁]方")
# events: groups of stems for one event
_EVENTS_EN = (
    "terminat cancel rescin end expir withdraw dissol", "renew extend extension prolong",
    "insolven bankrup liquidat receiver winding administrat creditor", "assign transfer novat",
    "death die dies died deceas", "merger merge acqui control takeover consolidat amalgamat",
    "strike lockout industrial labour labor force majeure", "fire flood earthquake storm lightning weather majeure disaster god",
    "recall", "audit inspect examin books", "subcontract", "sublet sublease underlet sublicens",
    "theft thief steal stole", "confiden secre disclos", "bribe corrupt", "pregnan matern", "arbitrat",
)  # fmt: skip
_EVENTS_ZH = (
    "解除 终止 解约 退租 取消 不干 提前结束", "续签 续租 续期 续约 延长 展期", "破产 清算 资不抵债", "转让 转给 让与 过户",
    "死亡 去世 身故", "合并 收购 控制权 并购 股权变更", "罢工", "地震 洪水 台风 火灾 不可抗力 自然灾害 着火 失火",
    "召回", "审计 查账 查阅", "转包 分包", "转租 分租", "被盗 盗窃 偷窃 丢失 遗失", "保密 泄露 泄密 外泄 秘密", "仲裁",
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]{0,40}")
# capitalised words that name no party
_NOT_NAMES = frozenset(
    [
        "agreement",
        "contract",
        "section",
        "clause",
        "article",
        "schedule",
        "exhibit",
        "annex",
        "appendix",
        "party",
        "parties",
        "i",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "term",
        "effective",
        "date",
        "services",
        "products",
    ]
)
_CLAUSE_NUMBER = re.compile(
    r"\b(?:section|clause|article|schedule|exhibit|annex|appendix|paragraph)\s+[\dIVXLC.()a-z]{1,12}"
    r"|第[零〇一二三四五六七八九十百\d]{1,6}[条款章节项]|附件[一二三四五六七八九十\d]{0,3}",
    re.IGNORECASE,
)
_SMALLEST_AMOUNT = 100
# how far behind a name the role stands that a contract gives it: Astrid Pedersen of Dock 4 ("Guarantor")
_NAMED_AS = re.compile(r"[^\n\"“]{0,80}[\"“](?:the\s+)?([A-Za-z][\w ]{1,40})[\"”]")
MOST_NAMED = 3


def not_mentioned(question: str, cited: Sequence[str], document: str) -> tuple[str, ...]:
    """Words of ``question`` for a party, event, name or number that none of the ``cited`` texts mentions.

    ``cited`` are the cited clauses, with headings, and what their closure added. ``document`` is the whole text: a
    role or name counts only if the document uses it elsewhere, for otherwise the question is in its own words.
    """
    if not cited:
        return ()
    asked = _CLAUSE_NUMBER.sub(" ", unicodedata.normalize("NFKC", question))
    told = unicodedata.normalize("NFKC", "\n".join(cited))
    language = language_of(question)
    found = [*_missing_numbers(asked, told)]
    if language_of(told) == language:
        rest = unicodedata.normalize("NFKC", document)
        find = _missing_zh if language == "zh" else _missing_en
        found = [*find(asked, told, rest), *found]
    return tuple(dict.fromkeys(found))[:MOST_NAMED]


def near_miss_reason(missing: Sequence[str], language: Language) -> str:
    """The reason for review, in the language of the question."""
    if language == "zh":
        return f"所引条款未提及{'、'.join(f'“{word}”' for word in missing)}，可能讲的是另一方、另一事件或另一金额"
    named = ", ".join(f'"{word}"' for word in missing)
    return f"the cited clauses do not mention {named}: they may be about another party, event or amount"


def _missing_numbers(asked: str, told: str) -> list[str]:
    """Amounts only: a question also makes up small numbers ("closed for five days, is that a breach?")."""
    known = values_spelled(told)
    return sorted(
        value
        for value in values_in(asked) - known
        if not value.startswith("month") and float(value) >= _SMALLEST_AMOUNT
    )


def _missing_en(asked: str, told: str, document: str) -> list[str]:
    words = {match.group().lower() for match in _WORD.finditer(told)}
    everywhere = {match.group().lower() for match in _WORD.finditer(document)}
    found = []
    everybody = _EVERYBODY_EN.search(told) is not None
    first = True
    for match in _WORD.finditer(asked):
        word = _singular(match.group().lower())
        role = next((group.split() for group in _ROLES_EN if word in group.split()), None)
        if role is not None:
            said = any(member in words or f"{member}s" in words or f"{member}'s" in words for member in role)
            if not everybody and not said and any(member in everywhere for member in role):
                found.append(match.group())
        elif not (first or everybody) and _is_name(match.group(), word):
            roles = _roles_of(match.group(), document)
            if not any(_mentions(words, name) for name in (word, *roles)) and _mentions(everywhere, word):
                found.append(match.group())
        first = asked[match.end() : match.end() + 2].strip() in {".", "?", "!", ":"}
    text = " ".join(sorted(words))
    for group in _EVENTS_EN:
        stems = group.split()
        asked_for = [m.group() for m in _WORD.finditer(asked) if m.group().lower().startswith(tuple(stems))]
        if asked_for and not any(re.search(rf"\b{stem}", text) for stem in stems):
            found.append(asked_for[0])
    return found


def _missing_zh(asked: str, told: str, document: str) -> list[str]:
    found = []
    if _EVERYBODY_ZH.search(told) is None:
        found += [word for word in dict.fromkeys(_LETTERED_ZH.findall(asked)) if word in document and word not in told]
        lettered = _LETTERED_ZH.search(told) is not None  # a role may be one of them: the words cannot tell
        for group in _ROLES_ZH:
            members = group.split()
            named = _named_role(asked, members)
            if named is None or lettered or any(member in told for member in members):
                continue
            if any(member in document for member in members):  # the document speaks of somebody in that role
                found.append(named)
    for group in _EVENTS_ZH:
        members = group.split()
        named = next((member for member in members if member in asked), None)
        if named and not any(member in told for member in members):
            found.append(named)
    return found


def _roles_of(name: str, document: str) -> list[str]:
    """What the document calls the bearer of a name: the last word of each role defined behind the name."""
    at = document.find(name)
    found = _NAMED_AS.match(document, at + len(name)) if at >= 0 else None
    return [] if found is None else [_singular(found[1].split()[-1].lower())]


def _is_name(written: str, word: str) -> bool:
    return written[0].isupper() and len(word) > 3 and word not in _NOT_NAMES


def _named_role(asked: str, members: Sequence[str]) -> str | None:
    """The role named in the question; "许可人" inside "被许可人" is not."""
    for member in members:
        if re.search(rf"(?<!被){re.escape(member)}", asked):
            return member
    return None


def _mentions(words: set[str], word: str) -> bool:
    return not {word, f"{word}s", f"{word}'s", f"{word}’s"}.isdisjoint(words)


def _singular(word: str) -> str:
    word = re.sub(r"['’]s?$", "", word)
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
