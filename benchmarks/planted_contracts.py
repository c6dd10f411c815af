"""Contracts by construction, English and Chinese: one clause holds the value that a question asks for. No model here.

Every number of a contract occurs once, so that a value in an answer names its clause.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """``{v}`` is the value. ``twin``: the same topic for another event. ``near``: a question that neither answers."""

    heading: str
    text: str
    question: str
    quote: str
    answer: str
    twin: str
    near: str


@dataclass(frozen=True)
class Planted:
    """``text`` of a contract without and with the needle and its twin; ``value`` and ``twin_value`` as printed."""

    language: str
    topic: Topic
    text: str
    without: str
    with_twin: str
    value: str
    twin_value: str
    invented: str
    others: tuple[tuple[str, str], ...]  # (question, quote) of the other clauses

    @property
    def quote(self) -> str:
        """Words of the needle that hold its value."""
        return self.topic.quote.format(v=self.value)

    @property
    def twin_quote(self) -> str:
        """The sentence of the twin."""
        return self.topic.twin.format(v=self.twin_value)


_EN = (
    Topic("Invoices", "The Buyer shall pay every invoice for goods within {v} days after it arrives.",
          "Within how many days must the Buyer pay an invoice for goods?", "within {v} days after it arrives",
          "The Buyer must pay it within {v} days.",
          "The Buyer shall pay every invoice for repair work within {v} days after it arrives.",
          "Within how many days must the Buyer pay an invoice for freight?"),
    Topic("Notice", "The Seller may end this contract by a written notice of {v} days.",
          "How long is the notice by which the Seller may end the contract?", "a written notice of {v} days",
          "The notice is {v} days.", "The Buyer may end this contract by a written notice of {v} days.",
          "How long is the notice by which the guarantor may end the contract?"),
    Topic("Defects", "The Seller repairs defects of the machines for {v} months after delivery.",
          "For how many months does the Seller repair defects of the machines?", "for {v} months after delivery",
          "For {v} months after delivery.", "The Seller repairs defects of the software for {v} months after delivery.",
          "For how many months does the Seller repair defects of the buildings?"),
    Topic("Delay", "For every week of late delivery the Seller owes a penalty of {v} euros.",
          "What penalty does the Seller owe for a week of late delivery?", "a penalty of {v} euros",
          "The penalty is {v} euros a week.", "For every week of late installation the Seller owes {v} euros.",
          "What penalty does the Seller owe for a week of late training?"),
    Topic("Insurance", "The Buyer insures the warehouse against fire for {v} euros.",
          "For what amount does the Buyer insure the warehouse against fire?", "against fire for {v} euros",
          "It insures the warehouse for {v} euros.", "The Buyer insures the warehouse against theft for {v} euros.",
          "For what amount does the Buyer insure the warehouse against earthquakes?"),
    Topic("Secrecy", "The Seller keeps the drawings secret for {v} months after the end of this contract.",
          "How long must the Seller keep the drawings secret?", "keeps the drawings secret for {v} months",
          "For {v} months after the end.", "The Buyer keeps the price lists secret for {v} months after the end.",
          "How long must the Seller keep the names of employees secret?"),
    Topic("Books", "The Buyer may inspect the books of the Seller after an announcement of {v} days.",
          "How many days before must the Buyer announce an inspection of the books?", "an announcement of {v} days",
          "It must announce it {v} days before.",
          "The Buyer may inspect the workshop of the Seller after an announcement of {v} days.",
          "How many days before must the tax office announce an inspection of the books?"),
    Topic("Storage", "The Seller stores spare parts at its own cost for {v} weeks.",
          "For how many weeks does the Seller store spare parts?", "spare parts at its own cost for {v} weeks",
          "For {v} weeks at its own cost.", "The Seller stores packaging at its own cost for {v} weeks.",
          "For how many weeks does the Seller store the tools of the Buyer?"),
)  # fmt: skip

_ZH = (
    Topic("付款", "买方应当在收到货物发票后{v}日内付款。", "买方应当在收到货物发票后多少日内付款？",
          "收到货物发票后{v}日内付款", "买方应当在{v}日内付款。", "买方应当在收到维修发票后{v}日内付款。",
          "买方应当在收到运费发票后多少日内付款？"),
    Topic("解除", "卖方可以提前{v}日书面通知解除合同。", "卖方解除合同应当提前多少日通知？",
          "卖方可以提前{v}日书面通知", "应当提前{v}日通知。",
          "买方可以提前{v}日书面通知解除合同。", "担保人解除合同应当提前多少日通知？"),
    Topic("保修", "设备的保修期为交付后{v}个月。", "设备的保修期是多少个月？", "设备的保修期为交付后{v}个月",
          "保修期为{v}个月。", "软件的保修期为交付后{v}个月。", "厂房的保修期是多少个月？"),
    Topic("违约", "卖方迟延交货的，每周支付违约金{v}元。", "卖方迟延交货每周支付多少违约金？", "每周支付违约金{v}元",
          "每周支付{v}元。", "卖方迟延安装的，每周支付{v}元。", "卖方迟延培训每周支付多少违约金？"),
    Topic("保险", "买方为仓库投保火灾险，保额为{v}元。", "仓库火灾险的保额是多少？", "火灾险，保额为{v}元",
          "保额为{v}元。", "买方为仓库投保盗窃险，保额为{v}元。", "仓库地震险的保额是多少？"),
    Topic("保密", "卖方在合同终止后{v}个月内对图纸保密。", "卖方对图纸保密多长时间？", "合同终止后{v}个月内对图纸保密",
          "保密{v}个月。", "买方在合同终止后{v}个月内对价目表保密。", "卖方对员工名单保密多长时间？"),
    Topic("检查", "买方提前{v}日通知后，可以查阅卖方账簿。", "买方查阅账簿应当提前多少日通知？", "买方提前{v}日通知后",
          "应当提前{v}日通知。", "买方提前{v}日告知后，可以参观卖方车间。", "税务机关查阅账簿应当提前多少日通知？"),
    Topic("仓储", "卖方免费保管备件{v}周。", "卖方免费保管备件多少周？", "免费保管备件{v}周", "免费保管{v}周。",
          "卖方免费保管包装物{v}周。", "卖方免费保管买方的工具多少周？"),
)  # fmt: skip

# questions about nothing in these contracts, none of them in the bank
UNRELATED = {
    "en": ("Which instrument does the soloist play?", "How long may a guest stay in the mountain hut?",
           "Which breed of sheep is shorn in May?", "How many players sit on the bench?"),
    "zh": ("独奏者演奏什么乐器？", "登山者可以在山屋住几晚？", "五月剪哪个品种的羊毛？", "替补席上坐几名球员？"),
}  # fmt: skip


def planted_contract(language: str, seed: int) -> Planted:
    """One contract; the same for the same seed."""
    draw = random.Random(f"{language} {seed}")
    topics = list(_ZH if language == "zh" else _EN)
    draw.shuffle(topics)
    values = [str(number) for number in draw.sample(range(101, 980), len(topics) + 2)]
    needle, rest = topics[0], topics[1:]
    at = draw.randrange(len(topics))
    twin_at = draw.randrange(len(rest) + 1)
    clauses = [(topic.heading, topic.text.format(v=value)) for topic, value in zip(rest, values[3:], strict=False)]
    with_needle = [*clauses[:at], (needle.heading, needle.text.format(v=values[0])), *clauses[at:]]
    twin = ("其他" if language == "zh" else "Further duties", needle.twin.format(v=values[1]))
    return Planted(
        language=language,
        topic=needle,
        text=_printed(language, with_needle),
        without=_printed(language, clauses),
        with_twin=_printed(language, [*with_needle[:twin_at], twin, *with_needle[twin_at:]]),
        value=values[0],
        twin_value=values[1],
        invented=values[2],
        others=tuple((t.question, t.quote.format(v=v)) for t, v in zip(rest, values[3:], strict=False)),
    )


def two_hop(language: str, seed: int) -> tuple[str, str, str, str, str]:
    """(text, question, quote of the referring clause, right answer, words of the definition)."""
    planted = planted_contract(language, seed)
    value = planted.invented
    if language == "zh":
        define, use = f"本合同所称“待机费”，是指每日{value}元的费用。", "设备停用期间，买方向卖方支付待机费。"
        extra = [("定义", define), ("停用", use)]
        question, answer = "设备停用期间买方每日支付多少？", f"每日{value}元。"
        return _appended(language, planted.text, extra), question, use, answer, define
    define = f'"Standby Fee" means an amount of {value} euros a day.'
    use = "While the machines stand idle the Buyer pays the Standby Fee to the Seller."
    extra = [("Definitions", define), ("Idle machines", use)]
    question, answer = (
        "How much does the Buyer pay a day while the machines stand idle?",
        f"It pays {value} euros a day.",
    )
    return _appended(language, planted.text, extra), question, use, answer, define


def long_contract(language: str, seed: int, characters: int) -> Planted:
    """The same with so many further clauses before the others that the needle stands behind ``characters``."""
    planted = planted_contract(language, seed)
    lines, number = [], 0
    while sum(map(len, lines)) < characters:
        number += 1
        lines.append(
            f"附则{number}：编号为{number + 2000}的货架由双方每季度共同清点一次。"
            if language == "zh"
            else f"Rack {number + 2000} is counted by both parties together once in every quarter of the year."
        )
    head, rest = planted.text.split("\n\n", 1)
    return Planted(**{**planted.__dict__, "text": "\n\n".join([head, *lines, rest])})


def _printed(language: str, clauses: list[tuple[str, str]]) -> str:
    if language == "zh":
        numbers = "一二三四五六七八九十"
        body = [f"第{numbers[i]}条 {heading} {text}" for i, (heading, text) in enumerate(clauses)]
        return "\n\n".join(["设备买卖合同", "甲方为买方，乙方为卖方。", *body]) + "\n"
    body = [f"{i}. {heading}. {text}" for i, (heading, text) in enumerate(clauses, 1)]
    opening = "This contract is made between a buyer and a seller of machines."
    return "\n\n".join(["CONTRACT OF SALE", opening, *body]) + "\n"


def _appended(language: str, text: str, clauses: list[tuple[str, str]]) -> str:
    count = text.count("\n\n") - 1
    numbers = "一二三四五六七八九十"
    for offset, (heading, words) in enumerate(clauses):
        number = count + offset
        line = f"第{numbers[number]}条 {heading} {words}" if language == "zh" else f"{number + 1}. {heading}. {words}"
        text += f"\n{line}\n"
    return text
