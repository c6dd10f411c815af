"""Words of the plan in English and Chinese; every number comes from elsewhere."""

from __future__ import annotations

from typing import Literal

# the languages of `documents.language`, which this package does not import
PlanLanguage = Literal["en", "zh"]

_EN = {
    "full_context": "full context",
    "retrieval": "retrieval",
    "hybrid": "hybrid",
    "join": "; ",
    # obstacles
    "over_window": "{tokens:,} tokens beside {reserved:,} for question and answer exceed the trained window of "
    "{window:,} ({name})",
    "over_limit": "{tokens:,} tokens exceed the limit of {limit:,} context tokens",
    "over_memory": "its KV needs {needed:.3g} GB{several}, {device} leaves {left:.3g} GB",
    "no_memory": "its weights of {weights:.3g} GB leave no room for KV in the {memory:.3g} GB of {device}",
    "several": " for {count:,} requests",
    "no_room": "a window of {window:,} leaves no room beside {reserved:,} reserved tokens",
    "reads_all": "it would read all {tokens:,} tokens, the limit is {limit:,} context tokens",
    "short_windows": "windows of {room:,} tokens are too short to be read one by one, {least:,} are the least",
    # what can be lost
    "lose_nothing": "nothing",
    "lose_retrieval": "{unread:,} of {tokens:,} tokens are never read; references and definitions among them are "
    "missing unless the closure adds them",
    "lose_retrieval_nothing": "nothing: the whole document is retrieved",
    "lose_clauses": "about {unread:,} of {clauses:,} clauses unread",
    "lose_references": "about {cut:,} of the {references:,} cross references in what is read point into unread text",
    "lose_no_reference": "no cross reference of what is read points into unread text",
    "lose_windows": "no token is unseen; the answer itself reads {fed:,} of {tokens:,} tokens, with links between the "
    "{windows:,} windows only through the closure",
    "lose_one_window": "no token is unseen; the answer itself reads {fed:,} of {tokens:,} tokens",
    "hybrid_clauses": "no clause is unseen, but the answer is written without about {unread:,} of {clauses:,} clauses",
    "hybrid_references": "{cut:,} of {references:,} cross references join clauses that none of the {windows:,} windows "
    "holds together",
    "hybrid_no_reference": "no cross reference is cut by the {windows:,} windows",
    # reasons
    "asked": "as asked",
    "fits": "the {tokens:,} tokens fit window and memory, and nothing is lost",
    "never": "on time alone retrieval wins for any number of questions",
    "at_once": "it is also faster than retrieval from the first question",
    "break_even": "it is faster than retrieval for {crossing:,} questions or more",
    "totals": "{questions:,} questions take {chosen}, by retrieval {retrieval}",
    "no_full": "full context is not possible: {obstacle}",
    "sees_all": "overlapping windows see every token, and the first answer takes {seconds} (limit {limit})",
    "slow": "hybrid would see every token but take {seconds} for the first answer (limit {limit})",
    "slow_but_pays": "overlapping windows see every token; the first answer takes {seconds} (limit {limit}), but all "
    "together take no longer than by retrieval",
    "no_hybrid": "neither is hybrid: {obstacle}",
    "reads_enough": "retrieval reads {share:.0%} of it; beyond a quarter it finds more than windows do, in less time",
    "retrieves": "clauses are chosen by the words of the question (BM25), with the definitions and references "
    "that they need",
    "too_slow_alone": "overlapping windows are the only way left, although the first answer takes {seconds} (limit "
    "{limit}); retrieval is not possible: {obstacle}",
    "none": "no strategy runs {name} on {device}: {obstacle}",
    # the change that would help most
    "kv8": "KV in 8 bits",
    "gqa": "a model with 8 KV heads (GQA)",
    "longer": "a model trained for {tokens:,} tokens",
    "more_memory": "{size:.3g} GB more memory",
    "weights_q8_0": "weights of 8 bits (q8_0)",
    "weights_q4_k_m": "weights of 4 bits (q4_k_m)",
    "lift": "no limit of {limit:,} context tokens",
    "then_strategy": "{change}: then {strategy} is possible, first answer in {seconds}",
    "then_faster": "{change}: {seconds} instead of {now} for {what}, {factor:.2g} times faster",
    "then_requests": "{requests:,} requests at once instead of {now:,}",
    "one_question": "the question",
    "all_questions": "the {questions:,} questions",
    "several_questions": "ask several questions in one run: the document is read once for all of them",
    "nothing_helps": "none of the {count} changes that were computed helps by a tenth: {changes}",
    "smaller_model": "a smaller or quantised model, or a device with more memory",
    # notes
    "not_offered": "{line}; full context is not offered",
    "no_text": "no text could be read: the costs are those of one token",
    "counted_elsewhere": "tokens were counted with the embedded model's tokenizer, since {name} has none here: "
    "{low:,} to {high:,}",
    "depends": "with {tokens:,} tokens, which the count allows, it would be {strategy}",
}
_ZH = {
    "full_context": "全文阅读",
    "retrieval": "检索",
    "hybrid": "窗口混合",
    "join": "；",
    "over_window": "{tokens:,} 个词元，另为问答留 {reserved:,} 个，超出训练窗口 {window:,}（{name}）",
    "over_limit": "{tokens:,} 个词元超出 {limit:,} 个上下文词元的限制",
    "over_memory": "KV 缓存需 {needed:.3g} GB{several}，{device} 只剩 {left:.3g} GB",
    "no_memory": "权重占 {weights:.3g} GB，{device} 的 {memory:.3g} GB 没有留给 KV 缓存的空间",
    "several": "（{count:,} 个请求）",
    "no_room": "窗口 {window:,} 除预留的 {reserved:,} 个词元外没有空间",
    "reads_all": "它要读全部 {tokens:,} 个词元，而限制为 {limit:,} 个上下文词元",
    "short_windows": "{room:,} 个词元的窗口太短，不能逐个阅读，至少需 {least:,} 个",
    "lose_nothing": "无",
    "lose_retrieval": "{tokens:,} 个词元中有 {unread:,} 个从未读到；其中的引用与定义除非补入，否则缺失",
    "lose_retrieval_nothing": "无：检索到整份文件",
    "lose_clauses": "{clauses:,} 个条款中约 {unread:,} 个未读",
    "lose_references": "已读文字中的 {references:,} 处引用约有 {cut:,} 处指向未读文字",
    "lose_no_reference": "已读文字中没有引用指向未读文字",
    "lose_windows": "每个词元都看到；但作答只读 {tokens:,} 个词元中的 {fed:,} 个，{windows:,} 个窗口之间的联系只靠补入",
    "lose_one_window": "每个词元都看到；但作答只读 {tokens:,} 个词元中的 {fed:,} 个",
    "hybrid_clauses": "每个条款都看到，但作答时 {clauses:,} 个条款中约 {unread:,} 个不在眼前",
    "hybrid_references": "{references:,} 处引用中有 {cut:,} 处的两端不在 {windows:,} 个窗口的任何一个之内",
    "hybrid_no_reference": "{windows:,} 个窗口没有切断任何引用",
    "asked": "按要求",
    "fits": "{tokens:,} 个词元放得进窗口和内存，什么都不丢",
    "never": "只论时间，问题再多也是检索更快",
    "at_once": "从第一个问题起也比检索快",
    "break_even": "从第 {crossing:,} 个问题起比检索快",
    "totals": "{questions:,} 个问题共需 {chosen}，检索需 {retrieval}",
    "no_full": "无法全文阅读：{obstacle}",
    "sees_all": "重叠窗口看到每个词元，第一个回答需 {seconds}（上限 {limit}）",
    "slow": "窗口混合能看到每个词元，但第一个回答需 {seconds}（上限 {limit}）",
    "slow_but_pays": "重叠窗口看到每个词元；第一个回答需 {seconds}（上限 {limit}），但全部问题合计不比检索慢",
    "reads_enough": "检索读到其中 {share:.0%}；超过四分之一时，它比分窗口找到的更多，用时更少",
    "retrieves": "按问题的词语（BM25）选出条款，并补入其所需的定义与引用",
    "no_hybrid": "窗口混合也不行：{obstacle}",
    "too_slow_alone": "只剩重叠窗口可行，虽然第一个回答需 {seconds}（上限 {limit}）；检索不可行：{obstacle}",
    "none": "没有办法在 {device} 上运行 {name}：{obstacle}",
    "kv8": "KV 缓存改用 8 位",
    "gqa": "换用 8 个 KV 头的模型（GQA）",
    "longer": "换用训练窗口为 {tokens:,} 的模型",
    "more_memory": "再加 {size:.3g} GB 内存",
    "weights_q8_0": "权重改用 8 位（q8_0）",
    "weights_q4_k_m": "权重改用 4 位（q4_k_m）",
    "lift": "取消 {limit:,} 个上下文词元的限制",
    "then_strategy": "{change}：即可{strategy}，第一个回答需 {seconds}",
    "then_faster": "{change}：{what}需 {seconds}，现在为 {now}，快 {factor:.2g} 倍",
    "then_requests": "可同时处理 {requests:,} 个请求，现在为 {now:,} 个",
    "one_question": "该问题",
    "all_questions": "{questions:,} 个问题",
    "several_questions": "一次提多个问题：文件只需读一遍",
    "nothing_helps": "算过的 {count} 种改动都快不到一成：{changes}",
    "smaller_model": "换用更小或量化的模型，或内存更大的设备",
    "not_offered": "{line}；不提供全文阅读",
    "no_text": "没有读到任何文字：按一个词元计费",
    "counted_elsewhere": "{name} 在此没有分词器，词元数用内置模型的分词器数出：{low:,} 至 {high:,}",
    "depends": "若为 {tokens:,} 个词元（计数允许），则为{strategy}",
}
_TEXTS: dict[PlanLanguage, dict[str, str]] = {"en": _EN, "zh": _ZH}


def say(language: PlanLanguage, key: str, **values: object) -> str:
    """The words of ``key`` with ``values`` in them.

    >>> say("en", "over_limit", tokens=5000, limit=1000)
    '5,000 tokens exceed the limit of 1,000 context tokens'
    """
    return _TEXTS[language][key].format(**values)


def text_keys(language: PlanLanguage) -> frozenset[str]:
    """Every key of ``language``."""
    return frozenset(_TEXTS[language])


def seconds_text(value: float, language: PlanLanguage = "en") -> str:
    """Seconds as people say them: ms, s, min or h.

    >>> seconds_text(0.05), seconds_text(150), seconds_text(9000, "zh")
    ('50 ms', '2.5 min', '2.5 小时')
    """
    units = ("ms", "s", "min", "h") if language == "en" else ("毫秒", "秒", "分钟", "小时")
    if value < 0.1:
        return f"{1e3 * value:.3g} {units[0]}"
    if value < 120:
        return f"{value:.3g} {units[1]}"
    return f"{value / 60:.3g} {units[2]}" if value < 7200 else f"{value / 3600:.3g} {units[3]}"
