"""The invented contract that the small decoder learns by heart, in English and in Chinese."""

from __future__ import annotations

from softlookup.errors import UsageError

_ENGLISH = """\
1. Definitions. In this Agreement, "Loss" means any damage, cost or expense that a party suffers because the other \
party breaks this Agreement. "Goods" means the machines listed in Schedule A. "Price" means the sum stated in clause 4.
2. Delivery. The Supplier shall deliver the Goods to the Buyer's plant within sixty days after the order. If the \
Supplier is late, it shall pay one percent of the Price for each week of delay, up to ten percent in total.
3. Liability. Each party shall make good such Losses as the other party proves. The total liability of a party under \
this Agreement shall not exceed twice the Price. This cap does not apply to fraud, death or personal injury.
4. Price and payment. The Price of the Goods is two million euros. The Buyer shall pay one half upon order and the \
other half within thirty days after acceptance. Late sums bear interest at four percent a year.
5. Acceptance. The Buyer shall test the Goods within fifteen days after delivery. If the Buyer stays silent during \
that time, the Goods are deemed accepted. Hidden defects may be notified within one year.
6. Warranty. The Supplier warrants that the Goods are new, free of defects and fit for their purpose for two years \
after acceptance. The Supplier shall repair or replace what fails at its own cost.
7. Title and risk. Risk passes to the Buyer upon delivery. Title passes to the Buyer when the Price is paid in full.
8. Secrecy. Neither party shall disclose what it learns about the business of the other party. This duty lasts five \
years after the end of this Agreement and does not cover what is public.
9. Force majeure. A party is not liable for delay caused by war, flood, fire or strike, as long as it tells the other \
party at once. If the event lasts more than ninety days, either party may end this Agreement under clause 11.
10. Insurance. The Supplier shall keep liability insurance of five million euros and shall prove it upon request.
11. Termination. Either party may end this Agreement by notice of thirty days if the other party breaks it and does \
not cure the breach in that time. Claims for Losses under clause 3 survive the end of this Agreement.
12. Notices. Notices shall be made in writing and sent to the address on page one. They take effect upon receipt.
13. Law and courts. This Agreement is governed by the law of Austria. The courts of Vienna decide all disputes.
14. Entire agreement. This Agreement replaces all earlier promises. Changes are valid only in writing and signed.
"""

_CHINESE = """\
第一条 定义。本合同所称“损失”，是指一方因对方违约而遭受的损害、费用和开支；\
“货物”，是指附件一列明的设备；“价款”，是指第四条载明的金额。
第二条 交货。卖方应当在订单生效后六十日内将货物运至买方工厂。卖方迟延交货的，\
每迟延一周，应当按价款的百分之一向买方支付违约金，但总额不超过价款的百分之十。
第三条 责任。任何一方应当赔偿对方所证明的该等损失。\
一方在本合同项下的赔偿总额以价款的两倍为上限，但欺诈、致人伤亡的除外。
第四条 价款与付款。货物价款为人民币两百万元。买方应当在下单时支付一半，\
其余一半在验收合格后三十日内付清。逾期付款的，按年利率百分之四计付利息。
第五条 验收。买方应当在交货后十五日内检验货物。买方在该期限内未提出异议的，视为验收合格。隐蔽瑕疵可以在一年内提出。
第六条 质量保证。卖方保证货物全新、无瑕疵，并在验收合格后两年内适合约定用途。\
货物发生故障的，卖方应当自费修理或者更换。
第七条 风险与所有权。货物的风险自交付时起由买方承担。货物的所有权自价款全部付清时起归买方所有。
第八条 保密。任何一方不得披露其所知悉的对方商业信息。保密义务在本合同终止后继续有效五年，但已经公开的信息除外。
第九条 不可抗力。因战争、洪水、火灾或者罢工导致迟延的，受影响的一方不承担责任，\
但应当立即通知对方。该等事件持续超过九十日的，任何一方可以依照第十一条终止本合同。
第十条 保险。卖方应当投保金额为五百万元的责任保险，并应买方要求出示保险单。
第十一条 终止。一方违约且在收到通知后三十日内未能纠正的，\
对方可以书面通知终止本合同。第三条项下的损失赔偿请求权不因合同终止而消灭。
第十二条 通知。通知应当采用书面形式，并寄送至首页所列地址。通知自收到时生效。
第十三条 法律与管辖。本合同适用中华人民共和国法律。因本合同发生的争议，由上海市人民法院管辖。
第十四条 完整合同。本合同取代双方此前的一切承诺。对本合同的修改，非经双方书面签字不生效。
"""

_TEXTS = {"en": _ENGLISH, "zh": _CHINESE}


def clauses(language: str) -> str:
    r"""Fourteen clauses of a supply contract that nobody signed; ``language`` "en" or "zh". Raises ``UsageError``.

    >>> clauses("en").count("\n")
    14
    """
    if language not in _TEXTS:
        raise UsageError(f"language must be one of {', '.join(sorted(_TEXTS))}, got {language!r}", "use en or zh")
    return _TEXTS[language]
