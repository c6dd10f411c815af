"""Claims of section 8 about what users see when the mask, the scale or the cache is wrong."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from softlookup.cost.course_shapes import HEAD_DIM
from softlookup.learn.audit.row import AuditRow, Fact, Reading, Verdict
from softlookup.learn.audit.small_training import Mask, trained
from softlookup.learn.audit.tiny_attention import RANDOM_KEYS, mean_entropy, random_rows

if TYPE_CHECKING:
    import torch

_NEAR, _FAR = 100, 4_000
_CHUNK = 512


def _change_by_offset(position: int, offset: int) -> float:
    """Relative change of a score between a query at ``position`` and the key 8 before it, shifted by ``offset``."""
    found = _score(position, position - 8), _score(position + offset, position - 8)
    return abs(found[1] - found[0]) / abs(found[0])


def _score(query_at: int, key_at: int) -> float:
    import torch

    from softlookup.attention.rope import RotaryEmbedding

    query, key = random_rows(HEAD_DIM, 1, 1)
    rope = RotaryEmbedding(HEAD_DIM)
    turned: list[torch.Tensor] = [
        rope.apply(each, torch.tensor([at])) for each, at in ((query, query_at), (key, key_at))
    ]
    return float((turned[0] * turned[1]).sum())


def _only_far_away() -> Fact:
    near, far = _change_by_offset(_NEAR, 1), _change_by_offset(_FAR, 1)
    return Fact(
        near < 0.1 * far,
        f"off by 1: scores change by {near:.0%} at {_NEAR} and by {far:.0%} at {_FAR:,}",
        f"偏移1：位置{_NEAR}处分数变{near:.0%}，{_FAR:,}处变{far:.0%}",
    )


def _tens(share: float) -> str:
    """Down to 10 %: a short training is not the same to the last digit everywhere."""
    return f"> {math.floor(10 * share) * 10} %" if share > 0.1 else "< 10 %"


def _hidden_in_training() -> Fact:
    run = trained("wrong triangle")
    return Fact(
        run.early_loss > 0.95 * run.floor,
        f"after 30 steps the loss is {run.early_loss:.1f} nats, below the text's entropy of {run.floor:.1f}",
        f"30步后损失{run.early_loss:.1f}奈特，已低于文本的熵{run.floor:.1f}",
    )


def _repeats(mask: Mask) -> Fact:
    run = trained(mask)
    names = {"wrong triangle": "三角错误", "after softmax": "softmax之后置零", "causal": "正确掩码"}
    return Fact(
        run.repeated > 0.5,
        f"{mask}: {_tens(run.repeated)} of the symbols repeat the one before",
        f"{names[mask]}：{_tens(run.repeated)}的符号重复前一个",
    )


def _looks_at_first() -> Fact:
    from softlookup.attention.api import attention_statistics

    found = attention_statistics(*random_rows(HEAD_DIM), scale=1.0).argmax
    share = math.nan if found is None else float((found == 0).double().mean())
    return Fact(
        share > 0.5,
        f"{share:.1%} of unscaled random rows of {RANDOM_KEYS:,} keys have their largest weight on the first",
        f"{RANDOM_KEYS:,}个键的未缩放随机行中，{share:.1%}的最大权重在第一个键",
    )


def _near_uniform() -> Fact:
    entropy = mean_entropy(HEAD_DIM, 1 / HEAD_DIM)
    return Fact(entropy > 0.99, f"entropy {entropy:.4f} of ln T", f"熵为ln T的{entropy:.4f}")


def _learns_to_look_away() -> Fact:
    """What a model that had learned not to look at the future would end with."""
    run = trained("wrong triangle")
    return Fact(
        run.late_loss > 0.95 * run.floor,
        f"after 60 steps the loss is {run.late_loss:.1f} nats, of an entropy of {run.floor:.1f}",
        f"60步后损失{run.late_loss:.1f}奈特，而熵为{run.floor:.1f}",
    )


SYMPTOMS = (
    AuditRow(
        "mask-hidden", "8", "a wrong mask can hardly be seen early in training", "掩码错误在训练早期几乎看不出来",
        None, "", _hidden_in_training,
        "of a one-layer decoder under the wrong triangle: a loss below the entropy of the text gives it away; true of "
        "the mask after the softmax: {0:.1f} nats then, the right mask {1:.1f}",
        "单层解码器、三角错误：损失低于文本的熵，当场露馅；softmax之后置零则确实看不出：此时{0:.1f}奈特，正确掩码{1:.1f}",
        facts=(lambda: trained("after softmax").early_loss, lambda: trained("causal").early_loss),
        command="softlookup learn 11",
    ),
    AuditRow(
        "mask-learns", "8", "since the model learns not to look at the future", "因为模型会学着不去看未来", None, "",
        _learns_to_look_away, "it learns to look there: the next symbol is the answer",
        "它学会的恰恰是去看：下一个符号就是答案", command="softlookup learn 11",
    ),
    AuditRow(
        "mask-repeats", "8", "and makes the model repeat itself from the second token on",
        "推理时从第二个token开始复读", None, "", lambda: _repeats("wrong triangle"),
        "of the two named errors only the wrong triangle does: {other}", "所列两种错误里只有三角错误如此；{other}",
        Reading(Verdict.MISLEADING, lambda: _repeats("after softmax"), "after the softmax", "softmax之后置零"),
        command="softlookup learn 11",
    ),
    AuditRow(
        "unscaled-first", "8", "without the scale only the first token is looked at", "漏掉缩放后只盯着开头的token",
        None, "", _looks_at_first,
        "sharp rows pick some key, no particular one; a sink on the first token is another thing",
        "行变尖锐后会盯住某个键，但不是固定某一个；首token上的汇是另一回事", command="softlookup learn 11",
    ),
    AuditRow(
        "divided-uniform", "8", "divided by d_k, weights come near uniform", "误除以d_k，权重逼近均匀", None, "",
        _near_uniform, "of random queries and keys; trained ones can make up for it",
        "指随机的query和key；训练可以补偿", command="softlookup learn 2",
    ),
    AuditRow(
        "offset-far", "8", "a wrong offset of the cache is right for hundreds of tokens and wrong after thousands",
        "缓存位置偏移不一致时，前几百token正常、几千之后出错", None, "", _only_far_away,
        "a constant offset is wrong from its first token on; only one that starts at a length (a chunk of {0:.0f}) "
        "or grows is late",
        "恒定偏移从第一个token起就错；只有到某个长度（如{0:.0f}的分块）才开始或逐渐增大的偏移才会晚出现",
        facts=(lambda: float(_CHUNK),), command="softlookup learn 7",
    ),
)  # fmt: skip
