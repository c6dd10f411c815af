"""The embedded model on short contracts: the right passage first, silence off topic, observation without a trace."""

from __future__ import annotations

import pytest
import torch

from softlookup import Session
from softlookup.runtime.attention_calls import observe_calls
from softlookup.session import Options

pytestmark = pytest.mark.weights

ENGLISH = """ORCHARD LEASE

This Lease is made on 3 March 2025 between Alder Farm Limited ("Landlord") and Rowan Fruit Company ("Tenant").

1. Premises. The Landlord lets to the Tenant the orchard of eleven hectares at Mill Lane, with the cold store.

2. Rent
2.1 The Tenant pays rent of 18,400 a year in four equal parts, each on the first day of a quarter.
2.2 Rent that is paid late bears interest at five per cent a year from the due date.

3. Term. The Lease begins on 1 April 2025 and lasts seven years.

4. Use. The Tenant may grow apples and pears and nothing else. The Tenant may not keep bees.

5. Repairs. The Landlord repairs the roof and the walls of the cold store. The Tenant repairs fences and gates.

6. Insurance. The Tenant insures the crop against hail and frost with an insurer that the Landlord has approved.

7. Termination
7.1 The Tenant may terminate the Lease on six months' written notice.
7.2 The Landlord may terminate the Lease at once if rent is more than two months late.

8. Assignment. The Tenant may not assign the Lease or sublet the orchard without the Landlord's consent.

9. Governing law. The Lease is governed by the laws of Scotland, and the courts of Perth have jurisdiction.

10. Notices. A notice must be in writing and be delivered by hand or by registered post.
"""

CHINESE = """果园租赁合同

甲方：青杨农业有限公司
乙方：红果食品有限公司

第一条 甲方将位于磨坊路的果园十一公顷及冷库出租给乙方。

第二条 租金每年人民币一万八千元，乙方应当在每季度首日支付。逾期支付的，按照年利率百分之五计算利息。

第三条 租赁期限为七年，自二〇二五年四月一日起计算。

第四条 甲方负责修理冷库的屋顶和墙壁，乙方负责修理围栏和大门。

第五条 乙方应当为作物投保冰雹和霜冻保险。

第六条 乙方可以提前六个月书面通知甲方解除合同。

第七条 未经甲方书面同意，乙方不得转让本合同或者转租果园。

第八条 本合同适用中华人民共和国法律，争议提交南京仲裁委员会仲裁。
"""

OPTIONS = Options(max_answer_tokens=3, alpha=0.05)


@pytest.fixture(scope="module")
def session(weights):
    return Session(weights, options=OPTIONS)


@pytest.fixture(scope="module")
def english(session, tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "orchard.txt"
    path.write_text(ENGLISH, "utf-8")
    return session.open(path)


@pytest.fixture(scope="module")
def chinese(session, tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "guoyuan.txt"
    path.write_text(CHINESE, "utf-8")
    return session.open(path)


def best_passage(document, answer):
    return document.document.text[answer.ranking[0].start : answer.ranking[0].end]


ON_TOPIC = [
    ("Who repairs the roof of the cold store?", "repairs the roof"),
    ("Which law governs the lease?", "laws of Scotland"),
    ("May the tenant sublet the orchard?", "sublet the orchard"),
    ("What insurance must the tenant take out?", "hail and frost"),
]


@pytest.mark.parametrize(("question", "words"), ON_TOPIC)
def test_the_right_passage_comes_first(question, words, english):
    answer = english.ask(question)
    assert words in best_passage(english, answer)
    assert answer.model.heads != ""
    assert "not profiled" not in answer.reason
    assert answer.alerts == ()


def test_some_on_topic_questions_find_evidence(english):
    outcomes = [english.ask(question).outcome for question, _ in ON_TOPIC[:3]]
    assert sum(outcome != "no_evidence" for outcome in outcomes) >= 1


ON_TOPIC_ZH = [
    ("谁负责修理冷库的屋顶？", "屋顶和墙壁"),
    ("乙方可以转租果园吗？", "转租果园"),
    ("争议提交哪个仲裁委员会？", "南京仲裁委员会"),
]


@pytest.mark.parametrize(("question", "words"), ON_TOPIC_ZH)
def test_the_right_passage_comes_first_in_chinese(question, words, chinese):
    answer = chinese.ask(question)
    assert words in best_passage(chinese, answer)
    assert answer.alerts == ()


@pytest.mark.parametrize(
    "question", ["What is the top speed of the submarine?", "How many goals did the striker score?"]
)
def test_an_off_topic_question_abstains(question, english):
    answer = english.ask(question)
    assert answer.outcome == "no_evidence"
    assert answer.answer == ""
    assert answer.p_value > 0.05
    assert answer.exit_code == 3


def test_an_off_topic_question_abstains_in_chinese(chinese):
    answer = chinese.ask("潜水艇的最高速度是多少？")
    assert (answer.outcome, answer.answer) == ("no_evidence", "")


def test_observation_leaves_the_logits_bit_for_bit(session):
    loaded, template = session.loaded, session.template
    ids = torch.tensor([[*template.prefix(ENGLISH[:600]).ids, *template.suffix("Who pays rent?").ids]])
    layers = []
    with torch.inference_mode():
        off = loaded.model(ids, logits_to_keep=4).logits
        with observe_calls(loaded.model, lambda call: layers.append(call.layer)):
            on = loaded.model(ids, logits_to_keep=4).logits
    assert torch.equal(off, on)
    assert layers == list(range(30))
