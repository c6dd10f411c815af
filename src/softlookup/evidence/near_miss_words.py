"""Words for parties and events of contracts, grouped by meaning, English and Chinese; data of ``near_miss.py`` only.

A group that is too wide hides a near miss, one that is too narrow warns about a synonym: the second is worse here.
"""

from __future__ import annotations

_ROLES_EN = """
buyer purchaser customer client distributor reseller
seller supplier vendor provider manufacturer producer
landlord lessor
tenant lessee renter
licensor
licensee
franchisor
franchisee
employer
employee worker staff personnel
lender bank creditor
borrower debtor
guarantor surety
agent representative broker
principal
subcontractor
contractor builder engineer
insurer
insured policyholder
publisher
author
consultant adviser advisor
carrier shipper
bailee warehouse
trustee
beneficiary
affiliate
"""
_ROLES_ZH = """
出租人 出租方 房东 业主
承租人 承租方 租客 租户 租赁方
买方 买受人 采购方 需方 买家
卖方 出卖人 供应商 供方 卖家 供货方
委托人 委托方 客户 发包人 发包方 定作人
受托人 受托方 承包人 承包方 施工方 开发人 承揽人
借款人 借款方
贷款人 贷款方 出借人 银行
保证人 担保人
用人单位 雇主
劳动者 员工 雇员 职工
许可人 许可方
被许可人 被许可方
承运人 承运方
托运人 托运方
监理人 监理
"""
# nobody calls another party so: a document that names none of the group has no such party
_NO_OTHER_PARTY = frozenset(
    {
        "landlord", "tenant", "franchisor", "franchisee", "guarantor", "insurer", "insured", "trustee", "bailee",
        "出租人", "承租人", "保证人", "承运人", "托运人", "监理人",
    }
)  # fmt: skip
# stems; behind the bar those that mention an event without asking for it ("when does it end?" asks for any duration);
# "changeofcontrol" is one word here, for "control" alone is no event
_EVENTS_EN = """
terminat cancel rescin dissol | withdraw end expir
renew extension prolong | extend
insolven bankrup liquidat | receiver winding administrat creditor
assign novat | transfer
death die dies died | deceas
merger merge merging acquisition takeover | acqui changeofcontrol consolidat amalgamat
strike lockout | industrial labour labor majeure
fire flood earthquake storm lightning | weather majeure disaster god
recall
audit inspect | examin books record
subcontract | contractor
sublet sublease underlet | sublicens
theft thief steal stole
confiden secre | disclos
bribe corrupt
pregnan matern
arbitrat
"""
_EVENTS_ZH = """
解除 终止 解约 退租 取消 | 不干 提前结束 不再
续签 续租 续期 续约 | 延长 展期
破产 清算 | 资不抵债
转让 转给 让与 过户
死亡 去世 身故
合并 收购 控制权 并购 | 股权变更
罢工
地震 洪水 台风 火灾 着火 失火 | 不可抗力 自然灾害
召回
审计 查账 | 查阅
转包 分包
转租 分租
被盗 盗窃 偷窃 丢失 遗失
保密 泄露 泄密 外泄 秘密
仲裁
"""
_NO_NAMES = """
agreement contract section clause article schedule exhibit annex appendix party parties january february march april
may june july august september october november december monday tuesday wednesday thursday friday saturday sunday
term effective date services products
"""

Group = tuple[str, ...]


def _groups(text: str) -> tuple[Group, ...]:
    return tuple(tuple(line.split()) for line in text.strip().splitlines())


def _events(text: str) -> tuple[tuple[Group, Group], ...]:
    halves = (line.partition("|") for line in text.strip().splitlines())
    return tuple((tuple(asked.split()), (*asked.split(), *more.split())) for asked, _, more in halves)


ROLES_EN, ROLES_ZH = _groups(_ROLES_EN), _groups(_ROLES_ZH)
# (words that a question asks with, words that mention it)
EVENTS_EN, EVENTS_ZH = _events(_EVENTS_EN), _events(_EVENTS_ZH)
# words that are capitalised in contracts and name nobody
NO_NAMES = frozenset(_NO_NAMES.split())


def is_no_other_party(group: Group) -> bool:
    """Whether the words of ``group`` mean one kind of party only, so that a document without them has none."""
    return not _NO_OTHER_PARTY.isdisjoint(group)
