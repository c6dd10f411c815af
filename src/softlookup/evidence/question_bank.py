"""Fixed questions that are run on every document beside the user's; no scoring here.

Two lists per language, with two jobs:

- ``ordinary``: common contract questions. With the others they make the *null*: the attention that any
  question draws to a passage. Subtracting it leaves what this question adds. Sixteen serve as well as more do.
- ``off_topic``: questions of contract style about matters that a commercial contract does not treat.
  Their scores on the same document are the reference sample of the p-value.

``off_topic_more.py`` holds further off-topic questions: the reference sample grows by them when alpha is smaller than
the standard list can serve. They are no part of the null, so that scores do not depend on alpha.

The lists are part of the method: a change of wording changes scores, so ``BANK_VERSION`` enters every
fingerprint.
"""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.documents.language import Language
from softlookup.evidence.off_topic_more import FURTHER_EN, FURTHER_ZH

BANK_VERSION = 2

_ORDINARY_EN = (
    "Who are the parties?",
    "How long does the agreement last?",
    "Which law governs the agreement?",
    "What must be paid, and when?",
    "Who pays taxes?",
    "What happens after termination?",
    "Who indemnifies whom?",
    "Who owns the intellectual property?",
    "May the agreement be assigned?",
    "What insurance is required?",
    "What must be delivered?",
    "How can the agreement be amended?",
    "Is there a minimum purchase?",
    "May employees be solicited?",
    "What happens on a change of control?",
    "Are the parties independent contractors?",
)

_OFF_TOPIC_EN = (
    "Who inherits the house when the testator dies?",
    "How many days of maternity leave may the nurse take?",
    "Is the tenant allowed to keep a dog in the flat?",
    "Which parent has custody of the children in summer?",
    "What is the deductible for storm damage to the roof?",
    "How deep must the foundations of the garage be?",
    "Which vaccine must the traveller have received?",
    "What is the maximum speed of the ferry?",
    "How many goals earn the striker a bonus?",
    "What grade does the student need to keep the scholarship?",
    "When must the orchestra arrive for the rehearsal?",
    "How much oil may the tanker discharge in port?",
    "Which bedroom does the au pair use?",
    "What is the alimony after the divorce?",
    "Who feeds the horses at the weekend?",
    "How often must the swimming pool be cleaned?",
    "Which seeds may the farmer sow next year?",
    "What is the penalty for overdue library books?",
    "How high may the garden fence be?",
    "Which organ may be donated after death?",
    "What does the wedding caterer serve to vegetarians?",
    "How many passengers may the balloon carry?",
    "When does the museum return the painting?",
    "Which dental treatments are covered by the policy?",
    "What altitude must the drone not exceed?",
    "How is the prize of the chess tournament divided?",
    "Who repairs the elevator in the apartment building?",
    "What is the curfew for residents of the dormitory?",
    "How many eggs must the hatchery supply each week?",
    "Which hymns are sung at the funeral?",
    "What is the bail amount for the defendant?",
    "How long must the astronaut stay in quarantine?",
    "Which side of the road must the cyclist use?",
    "What temperature must the bakery oven reach?",
    "How many votes does the parish council need?",
    "What is the toll for lorries on the bridge?",
    "Who chooses the name of the racing yacht?",
    "When may hunters shoot deer on the estate?",
    "What is the recipe for the house dressing?",
)

_ORDINARY_ZH = (
    "合同双方是谁？",
    "合同期限多长？",
    "适用哪国法律？",
    "应付多少款项，何时支付？",
    "税费由谁承担？",
    "合同终止后如何处理？",
    "谁应当赔偿对方的损失？",
    "知识产权归谁所有？",
    "合同可以转让吗？",
    "需要购买哪些保险？",
    "应当交付什么？",
    "合同如何变更？",
    "违约金是多少？",
    "质量标准是什么？",
    "保证金是多少？",
    "附件包括哪些？",
)

_OFF_TOPIC_ZH = (
    "立遗嘱人去世后房子由谁继承？",
    "护士可以休多少天产假？",
    "住户可以养狗吗？",
    "离婚后孩子由谁抚养？",
    "屋顶遭受暴风雨损坏的免赔额是多少？",
    "车库的地基要挖多深？",
    "旅客必须接种哪种疫苗？",
    "渡轮的最高航速是多少？",
    "前锋进多少球可以拿到奖金？",
    "学生要考多少分才能保住奖学金？",
    "乐团几点到场排练？",
    "油轮在港内可以排放多少油？",
    "保姆住哪间卧室？",
    "离婚后的赡养费是多少？",
    "周末由谁喂马？",
    "游泳池多久清洗一次？",
    "农民明年可以播种哪些种子？",
    "图书馆的书逾期罚多少钱？",
    "花园的围墙可以建多高？",
    "去世后可以捐献哪些器官？",
    "婚宴给素食者准备什么菜？",
    "热气球可以载多少名乘客？",
    "博物馆何时归还油画？",
    "哪些牙科治疗可以报销？",
    "无人机不得超过什么高度？",
    "象棋比赛的奖品怎么分？",
    "公寓楼的电梯由谁修理？",
    "宿舍晚上几点锁门？",
    "孵化场每周要供应多少鸡蛋？",
    "葬礼上唱哪些歌？",
    "被告人的保释金是多少？",
    "宇航员要隔离多长时间？",
    "骑自行车应当靠哪一侧行驶？",
    "面包房的烤箱要达到多少度？",
    "村民代表会议需要多少票通过？",
    "货车过桥收费多少？",
    "谁来给赛艇起名？",
    "猎人什么时候可以在庄园猎鹿？",
    "招牌沙拉酱的配方是什么？",
)


_LISTS: dict[Language, tuple[tuple[str, ...], ...]] = {
    "en": (_ORDINARY_EN, _OFF_TOPIC_EN, FURTHER_EN),
    "zh": (_ORDINARY_ZH, _OFF_TOPIC_ZH, FURTHER_ZH),
}


@dataclass(frozen=True, slots=True)
class QuestionBank:
    """Questions of one language; the tuples never overlap. ``further`` is empty in the standard bank."""

    language: Language
    ordinary: tuple[str, ...]
    off_topic: tuple[str, ...]
    further: tuple[str, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """Ordinary questions, then off-topic ones: those whose mean is the null, for every alpha."""
        return self.ordinary + self.off_topic

    @property
    def compared(self) -> tuple[str, ...]:
        """The off-topic questions that the p-value compares with."""
        return self.off_topic + self.further


def question_bank(language: Language, alpha: float | None = None) -> QuestionBank:
    """The bank of ``language``, which should be that of the question: other words draw other attention.

    M compared questions give no p-value below 1 / (M + 1): where ``alpha`` is smaller than the standard bank can serve,
    the further questions are added. None: the standard bank.
    """
    ordinary, off_topic, further = _LISTS[language]
    enough = alpha is None or alpha >= 1 / (len(off_topic) + 1)
    return QuestionBank(language, ordinary, off_topic, () if enough else further)


def most_compared() -> int:
    """Questions of the larger reference sample, M: no alpha below 1 / (M + 1) can be served."""
    return len(question_bank("en", 0.0).compared)
