"""Sentence and remedy of every verdict in both languages; says where the model looked, never why it answered.

``{place}`` is the expected clause; the other names are facts of the rung that hit. A key is the verdict, or the
verdict and a variant of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softlookup.diagnostics.diagnosis import Hit
    from softlookup.documents.language import Language

_EN = {
    "not_fed aside": (
        "The words you expect are in the file but not in its reading text ({where}), so the model never read them.",
        "make them part of the text (accept or unhide them, or read with --view markup) and ask again",
    ),
    "not_fed unread": (
        ("The words you expect were not found, and part of the file could not be read ({where}): the model never "
        "had that part."),
        "read scanned pages with --ocr, or give the file as text, and ask again",
    ),
    "not_fed retrieval": (
        ("{place} was not among the clauses chosen for the model to read ({share} of it; {read} of {total} tokens "
        "were read): it could not answer from it."),
        ("raise --max-context-tokens, take a model with a longer window, or use words of the clause in the question "
        "(its rank by words is {rank})"),
    ),
    "not_fed truncated": (
        "{place} was cut off before it reached the model ({share} of it arrived).",
        "look for a truncation between the text and the prompt (max_length of a tokenizer, a context limit)",
    ),
    "masked": (
        "{place} stood in what the model was given, but the program hid it from the question in all {layers} layers.",
        "repair the attention mask: the rows of the question see none of the columns {columns}",
    ),
    "out_of_reach": (
        ("{place} lies too far from the question for {local} of the model's layers, which see only their "
        "neighbourhood; {seeing} can look at it."),
        ("ask on the clause and its neighbours alone (a smaller --max-context-tokens), or use a model with full "
        "attention in every layer"),
    ),
    "beyond_window": (
        "The text fed is longer ({total} tokens) than what the model was trained to read ({window}).",
        "let softlookup retrieve clauses (no --whole), or use a model with a longer window",
    ),
    "beyond_window place": (
        "{place} stands at token {position}, beyond the {window} tokens that the model was trained to read.",
        "let softlookup retrieve clauses (no --whole), or use a model with a longer window",
    ),
    "implementation_fault": (
        "The program that runs the model does not compute what the model is, so nothing it says can be relied on.",
        "{remedy} ({test}: {value}, at most {threshold}: {detail})",
    ),
    "not_seen": (
        ("While reading the question the model did not look at {place} more than off-topic questions do (p = {p}); "
        "it looked most at {top}."),
        "ask with the clause's own words, or ask about that clause alone; for many such questions take another model",
    ),
    "not_seen closure": (
        ("While reading the question the model did not look at {place} itself (p = {p}), but a clause that it looked "
        "at leads there ({via})."),
        "read the clauses that softlookup adds to its citations; for an answer ask on both clauses alone",
    ),
    "not_selected": (
        "While reading the question the model looked at {place}, but its answer goes with {other}.",
        "name the clause or the party in the question, or ask on {place} alone; {other} was used instead",
    ),
    "misread given": (
        ("The model looked at {place}; the answer that was given says otherwise, while the model, asked on that clause "
        "alone, answers in its words."),
        "ask again: if the model's own answer is right, the given one came from elsewhere; else feed less",
    ),
    "misread capacity": (
        ("The model looked at {place} and answered otherwise, also when it was given that clause alone: it does not "
        "read it rightly."),
        "use a larger model for the answer; the citation can still be read by a person",
    ),
    "misread length": (
        ("The model looked at {place} and answered otherwise; given that clause alone, it answers in the words of the "
        "clause."),
        "feed less: ask on the cited clauses and what they need (a smaller --max-context-tokens)",
    ),
    "unsupported_claim given": (
        ("No passage stood out from off-topic questions (best p = {p}), yet there is an answer: nothing shows that it "
        "comes from this document."),
        "do not use the answer; `softlookup ask` says 'no evidence found' here. Have the document checked by hand",
    ),
    "unsupported_claim own": (
        ("No passage stood out from off-topic questions (best p = {p}): softlookup gives no answer here, though the "
        "model alone would."),
        "ask with other words, or have the document checked by hand; do not use the model's own words",
    ),
    "unsupported_claim values": (
        ("The answer names values ({values}) that none of the passages which stood out holds: nothing shows that they "
        "come from this document."),
        "do not use the answer; show such values as unsupported, and have the document checked by hand",
    ),
    "blind_spot": (
        ("Passages stood out (first {top}, p = {p}) although you expect that nothing answers the question: a question "
        "about another party or event can look like evidence."),
        "read the cited clause; for such near misses only a person, or a second model as a judge, can tell",
    ),
    "no_fault": (
        "No fault was found: the answer agrees with {place} as far as its values and words go.",
        "if the answer is wrong nevertheless, compare it with the clause by hand: meaning was not tested",
    ),
}  # fmt: skip

_ZH = {
    "not_fed aside": (
        "您指出的文字在文件里，但不在正文中（{where}），模型没有读到。",
        "使其成为正文（接受修订、取消隐藏，或使用 --view markup）后重新提问",
    ),
    "not_fed unread": (
        "没有找到您指出的文字，而文件有一部分无法读取（{where}），模型没有得到那一部分。",
        "扫描页请使用 --ocr，或提供文本文件后重新提问",
    ),
    "not_fed retrieval": (
        "{place}没有被选入模型阅读的条款（仅{share}；共读{read}/{total}词元），模型无法据此回答。",
        "提高 --max-context-tokens，使用窗口更长的模型，或在问题中使用该条款的用词（按词面排第{rank}）",
    ),
    "not_fed truncated": (
        "{place}在送达模型之前被截断（送达{share}）。",
        "检查文本到提示词之间的截断（分词器的 max_length、上下文上限）",
    ),
    "masked": (
        "{place}在模型得到的文本里，但程序在全部{layers}层都对问题遮住了它。",
        "修复注意力掩码：问题各行看不到第{columns}列",
    ),
    "out_of_reach": (
        "{place}离问题太远，{local}个只看邻近文字的层看不到它，只有其余{seeing}层能看到。",
        "仅就该条款及相邻条款提问（减小 --max-context-tokens），或使用各层均为全局注意力的模型",
    ),
    "beyond_window": (
        "送入的文本（{total}词元）超过模型训练时能读的长度（{window}）。",
        "让 softlookup 检索条款（不用 --whole），或使用窗口更长的模型",
    ),
    "beyond_window place": (
        "{place}位于第{position}个词元，超出模型训练时能读的{window}词元。",
        "让 softlookup 检索条款（不用 --whole），或使用窗口更长的模型",
    ),
    "implementation_fault": (
        "运行模型的程序算出的不是模型本身的结果，其输出均不可信。",
        "{remedy}（{test}：{value}，上限{threshold}：{detail}）",
    ),
    "not_seen": (
        "阅读问题时，模型对{place}的关注不高于无关问题（p = {p}），关注最多的是{top}。",
        "用该条款的原词提问，或只就该条款提问；若多次如此，请换用其他模型",
    ),
    "not_seen closure": (
        "阅读问题时模型没有直接关注{place}（p = {p}），但它关注的条款引向该处（{via}）。",
        "请一并阅读 softlookup 补充引用的条款；需要回答时只就这两条提问",
    ),
    "not_selected": (
        "阅读问题时模型看到了{place}，但回答与{other}一致。",
        "在问题中写明条款或当事人，或只就{place}提问；干扰条款是{other}",
    ),
    "misread given": (
        "模型看了{place}；所给的回答与之不符，而只给它这一条时，模型的回答与条款用语相符。",
        "请重新提问：若模型自己的回答正确，则所给回答另有来源；否则请减少送入的文本",
    ),
    "misread capacity": (
        "模型看了{place}，回答仍与之不符；只给它这一条时也是如此：它没有读对该条款。",
        "换用更大的模型作答；引用仍可由人阅读",
    ),
    "misread length": (
        "模型看了{place}，回答与之不符；只给它这一条时，回答与条款用语相符。",
        "减少送入的文本：只就引用的条款及其关联条款提问（减小 --max-context-tokens）",
    ),
    "unsupported_claim given": (
        "没有段落比无关问题更突出（最小 p = {p}），却有回答：没有迹象表明它出自本文件。",
        "不要采用该回答；softlookup ask 此时给出“未找到依据”。请人工核对文件",
    ),
    "unsupported_claim own": (
        "没有段落比无关问题更突出（最小 p = {p}）：softlookup 在此不作答，尽管模型自己会回答。",
        "换一种问法，或请人工核对文件；不要采用模型的原话",
    ),
    "unsupported_claim values": (
        "回答中的数值（{values}）不在任何突出的段落里：没有迹象表明它们出自本文件。",
        "不要采用该回答；将此类数值标为无依据，并请人工核对文件",
    ),
    "blind_spot": (
        "有段落突出（首先是{top}，p = {p}），而您认为文件并未回答该问题：涉及其他当事人或事项的问题会看似有依据。",
        "请阅读所引条款；此类近似问题只能由人，或由另一个模型判断",
    ),
    "no_fault": (
        "未发现问题：就数值和用词而言，回答与{place}相符。",
        "若回答仍然有误，请人工与条款对照：含义未经检验",
    ),
}  # fmt: skip

# what mends each test of the implementation
_REPAIRS = {
    "row_sums": ("apply the mask before the softmax", "在 softmax 之前施加掩码"),
    "hidden_mass": ("repair the causal mask or window of the attention", "修复注意力的因果掩码或窗口"),
    "position_gap": ("number positions on from the cached prefix", "位置编号须接续缓存的前缀"),
    "score_scale": ("scale the scores as the model's file says", "按模型文件缩放得分"),
    "parity": (
        "compare the attention kernel and its cache with eager attention",
        "将注意力内核与缓存同 eager 实现对照",
    ),
    "cached_keys": ("rebuild the cache: its keys are not those of the text", "重建缓存：其中的键与文本不符"),
    "prefill_decode": ("compare the decoding step with a full pass", "将逐词解码与整段计算对照"),
}
_PLACE = {"en": ("clause {0}", "the quoted place"), "zh": ("条款{0}", "所引文字处")}


def worded(hit: Hit, label: str, language: Language) -> tuple[str, str]:
    """Sentence and remedy of ``hit``; ``label`` is the printed path of the expected clause, "" for none."""
    table = _ZH if language == "zh" else _EN
    named, quoted = _PLACE[language]
    place = _clause(named, label) if label else quoted
    facts = {**hit.facts, "place": place}
    for key in ("other", "top"):
        if key in facts:
            facts[key] = _clause(named, facts[key])
    if hit.verdict == "implementation_fault":
        facts["remedy"] = _REPAIRS[hit.variant][language == "zh"]
    sentence, remedy = table.get(f"{hit.verdict} {hit.variant}") or table[hit.verdict]
    sentence = sentence.format(**facts)
    return sentence[:1].upper() + sentence[1:], remedy.format(**facts)


def _clause(named: str, label: str) -> str:
    """Say "clause 8.2", but "第三条" and "Schedule 2/3.1" as they are printed."""
    plain = label[:1].isdigit() or label[:1] == "("
    if not plain:
        return label
    return named.format(label)
