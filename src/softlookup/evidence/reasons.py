"""Sentences that go with an answer, in the language of its question; says where the model looked, never why.

The keys name the finding; placeholders are filled by ``assembly.py``.
"""

from __future__ import annotations

from softlookup.documents.language import Language

_EN = {
    "no_evidence": "no passage stood out from off-topic questions; please check by hand",
    "found": "while reading the question the model looked at the cited passages more than for off-topic questions "
    "(p = {p}, {heads} heads); whether they answer it was not tested",
    "conflict": "while writing its answer the model looked at {clause}, which your question did not point to",
    "unnumbered": "a passage without number",
    "unnumbered_clause": "a clause without number",
    "further": "the cited clauses also lead to {clauses}, not shown",
    "dangling": "the cited clauses refer to what this document does not contain: {named}",
    "override": "{source} overrides {target}",
    "read_together": "read together: {pairs}",
    "unsupported": "the answer names values that the cited passages do not contain: {values}",
    "cut": "the answer is unfinished: it was cut after {tokens} tokens",
    "partly_read": "part of the document could not be read",
    "retrieved": "only the retrieved clauses were read, not the whole document",
    "alerts": "the model behaved unusually: read the alerts before you use the answer",
    "not_profiled": "the evidence heads of this model are not profiled: scores are less reliable",
    "unavailable": "attention evidence is unavailable for this model ({note}): the passages are in the order of BM25, "
    "nothing was tested, and a person must read them",
    "unavailable_note": "it was not found on planted questions in this language",
    "joint": ", ",
}
_ZH = {
    "no_evidence": "未见突出依据，请人工核对",
    "found": "阅读问题时，模型对所引段落的关注高于无关问题（p = {p}，{heads}个注意力头）；是否回答了问题未经检验",
    "conflict": "写出回答时，模型关注的是{clause}，而问题并未指向该处",
    "unnumbered": "一处无编号的段落",
    "unnumbered_clause": "一处无编号的条款",
    "further": "所引条款还涉及{clauses}，此处未列出",
    "dangling": "所引条款提到了本文件中没有的内容：{named}",
    "override": "{source}优先于{target}",
    "read_together": "须一并阅读：{pairs}",
    "unsupported": "回答中的数值不见于所引段落：{values}",
    "cut": "回答不完整：写到{tokens}个词元时被截断",
    "partly_read": "文件有一部分无法读取",
    "retrieved": "模型只读了检索出的条款，没有读完整份文件",
    "alerts": "模型表现异常：使用回答之前请先看警报",
    "not_profiled": "该模型的依据注意力头未经测定，得分的可靠性较低",
    "unavailable": "该模型无法提供注意力依据（{note}）：段落仅按词语匹配排序，未作任何检验，须由人工阅读判断",
    "unavailable_note": "在预设问题上未通过检验",
    "joint": "、",
}


def reason(key: str, language: Language, **facts: object) -> str:
    """The sentence of ``key``; ``facts`` fill its placeholders. Raises ``KeyError`` for an unknown key."""
    return (_ZH if language == "zh" else _EN)[key].format(**facts)
