"""Claims that the embedded model itself answers: tokens per Chinese character, the 2/T rule, the sink."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from softlookup.learn.audit.row import AuditRow, Fact, Reading, Verdict

QUESTIONS = 4
_CHARACTERS = 120_000
# of the page's contract
_CLAIMED = 131_072 / _CHARACTERS


@dataclass(frozen=True, slots=True)
class OffTopic:
    """Last rows of questions that the document does not answer: ``rows`` (question, layer, head) in all.

    ``below``: how many have their largest weight under 2/T, at ``tokens`` on average; ``least``: the smallest largest
    weight in units of 1/T; ``first``: mean weight of the first token.
    """

    rows: int
    below: int
    tokens: float
    least: float
    first: float


@cache
def off_topic() -> OffTopic:
    """Run the embedded model on a planted contract with questions of the off-topic list."""
    import torch

    from softlookup.attention.stats import StatsRequest
    from softlookup.evidence.profile_texts import planted_contracts
    from softlookup.evidence.question_bank import question_bank
    from softlookup.runtime.load import load_model
    from softlookup.runtime.observe import observe
    from softlookup.runtime.prompt import PromptTemplate

    loaded = load_model()
    template = PromptTemplate(loaded.tokenizer)
    prefix = template.prefix(planted_contracts()[0].text).ids
    largest, lengths, first = [], [], []
    for question in question_bank("en").off_topic[:QUESTIONS]:
        ids = (*prefix, *template.suffix(question).ids)
        with torch.no_grad(), observe(loaded, StatsRequest(sink_mass=1), rows=[len(ids) - 1]) as run:
            loaded.model(torch.tensor([ids]), logits_to_keep=1)
        for layer in run.layers.values():
            if layer.rows is None or layer.rows.max_weight is None or layer.rows.sink_mass is None:
                raise AssertionError("asked for")
            largest.append(layer.rows.max_weight.flatten().double() * len(ids))
            first.append(layer.rows.sink_mass.flatten().double())
        lengths.append(len(ids))
    weights = torch.cat(largest)
    return OffTopic(
        len(weights), int((weights < 2).sum()), sum(lengths) / len(lengths), float(weights.min()),
        float(torch.cat(first).mean()),
    )  # fmt: skip


@cache
def tokens_per_character() -> float:
    """Of the embedded model's tokenizer, over the Chinese planted contracts."""
    from softlookup.evidence.profile_texts import planted_contracts
    from softlookup.runtime.load import find_model_source
    from softlookup.runtime.token_count import TokenCounter

    count = TokenCounter(find_model_source(None))
    texts = [each.text for each in planted_contracts() if each.language == "zh"]
    return sum(count(text) for text in texts) / sum(len(text) for text in texts)


def _other_tokenizers() -> Fact:
    """Whether the page's ratio lies between the limits that a plan assumes of other tokenizers."""
    from softlookup.session.plan_source import find_plan_model

    counted = round(_CHARACTERS * tokens_per_character())
    limits = find_plan_model("Llama-3.1-8B").interval(counted, "zh")
    if limits is None:
        raise AssertionError("another model's tokens are an interval")
    low, high = limits.low / _CHARACTERS, limits.high / _CHARACTERS
    return Fact(low <= _CLAIMED <= high, f"{low:.1f} to {high:.1f} per character", f"每字{low:.1f}到{high:.1f}")


def _rule_fires() -> Fact:
    found = off_topic()
    return Fact(
        found.below > found.rows / 2,
        f"fires in {found.below} of {found.rows:,} rows of {QUESTIONS} off-topic questions; every maximum is at least "
        f"{math.floor(found.least)}/T",
        f"{QUESTIONS}个无关问题的{found.rows:,}行中触发{found.below}次；最大权重至少{math.floor(found.least)}/T",
    )


def _sink_is_a_fault() -> Fact:
    found = off_topic()
    return Fact(
        found.first < 0.05,
        f"the first token holds {found.first:.0%} of the weight in a healthy run",
        f"正常运行时首token就占{found.first:.0%}的权重",
    )


MODEL = (
    AuditRow(
        "tokens", "0", "120,000 characters are about 130,000 tokens, one each", "12万字约13万token，一字约一token",
        "1.1", "per character", tokens_per_character,
        "of the embedded, English-centred tokenizer; it depends on the vocabulary: {other}",
        "指内置的、以英文为主的分词器；取决于词表：{other}",
        Reading(Verdict.CONVENTION, _other_tokenizers, "other tokenizers", "其他分词器"), on_page="12 13",
        command="softlookup plan FILE", needs_model=True,
    ),
    AuditRow(
        "two-over-t", "5.4", "a largest weight under 2/T marks, on a model, that nothing was found",
        "在真实模型上，最大权重低于2/T表示未找到依据", None, "", _rule_fires,
        "weights must go somewhere; `ask` compares with off-topic questions instead",
        "权重总要落在某处；`ask`改为与无关问题比较", command="softlookup inspect FILE QUESTION", needs_model=True,
    ),
    AuditRow(
        "sink", "5.4", "a sink on the first token means that the rest is as good as unseen",
        "首token成为汇，后面等于没看", None, "", _sink_is_a_fault, "a sink is normal; only its change tells something",
        "汇是常态，只有它的变化才说明问题", on_page="13", command="softlookup inspect FILE QUESTION", needs_model=True,
    ),
)  # fmt: skip
