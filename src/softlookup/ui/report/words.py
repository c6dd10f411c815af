"""Labels and sentences of the report in English and Chinese; no numbers and no logic."""

from __future__ import annotations

from softlookup.documents.language import Language

_EN = {
    "title": "Report", "skip": "Skip to the questions", "contents": "Contents", "question": "Question",
    "pages": "pages", "page": "page", "clauses": "clauses", "characters": "characters", "tokens": "tokens",
    "note": "This report says where a model looked while it read. It does not say that an answer is right, and it is "
    "no legal advice.",
    "answered": "Evidence found", "no_evidence": "No evidence found", "conflict": "Evidence and answer disagree",
    "say_answered": "The model looked at {clauses} when it read your question, more than for questions that have "
    "nothing to do with this document. Read the quoted passages: whether they answer the question is for you to judge.",
    "say_no_evidence": "No passage of the document stood out for this question. The document may still answer it in "
    "other words: please check by hand.",
    "say_conflict": "Passages were found, but the model took its answer from another place. Read the quoted passages "
    "and do not rely on the answer.",
    "review": "Check by hand", "reasons": "Why", "answer": "Answer in the model’s words",
    "unverified": "not verified", "no_answer": "The model gave no answer.",
    "citations": "Cited passages", "added": "What the cited passages need", "nearest": "Nearest passages",
    "nearest_note": "None of them stood out. They are in the order in which they resemble the question.",
    "clause": "clause", "unnumbered": "passage without a number", "score": "score", "p": "p",
    "read_there": "Read it in the document", "see_page": "See the page", "found_by": "Found",
    "attention": "the model looked here while reading the question",
    "lexical": "by its words: it shares most with the question; the attention did not single it out",
    "reference": "a cited passage refers to it", "definition": "it defines a term of a cited passage",
    "verbatim": "quoted word for word", "crop": "Page {page}, the part with the cited passage marked",
    "strip": "Where the model looked", "strip_all": "All questions side by side",
    "strip_note": "The whole document from start to end, one cell per clause, as wide as the clause is long "
    "({unit}). A click leads to the clause.",
    "strip_merged": "Clauses too small to draw are drawn together ({cells:,} cells for {clauses:,} clauses).",
    "row_evidence": "evidence", "row_attention": "attention", "row_fed": "read",
    "key_evidence": "evidence: attention beyond that for off-topic questions, the darkest cell is the highest score; "
    "underlined: p at most {alpha:g}; only the 20 best clauses are scored",
    "key_attention": "attention: share of the raw attention per {unit}; headings and repeated words draw some of it "
    "whatever is asked",
    "key_fed": "read: dark was before the model when it answered, light was not",
    "fed": "read for the answer", "not_fed": "not read for the answer", "part_fed": "partly read for the answer",
    "of_attention": "{share} of the attention", "evidence_at": "evidence {score} (p = {p})",
    "diagnosis": "Diagnosis", "expected": "Expected", "expected_none": "the document does not answer the question",
    "diagnosed": "Diagnosed answer", "remedy": "Remedy", "tests": "Tests", "rung": "step", "test": "test",
    "value": "value", "threshold": "threshold", "result": "result", "detail": "what was compared",
    "ok": "passed", "fail": "failed", "open": "no verdict", "distractor": "Used instead",
    "not_tested": "Not tested", "verdict": "Verdict",
    "not_fed_v": "not fed", "masked": "masked", "out_of_reach": "out of reach", "beyond_window":
    "beyond the trained window", "implementation_fault": "implementation fault", "not_seen": "not seen",
    "not_selected": "seen, not selected", "misread": "selected, misread", "unsupported_claim": "unsupported claim",
    "blind_spot": "known blind spot", "no_fault": "no fault found",
    "run": "How the document was read", "coverage": "What was read", "complete": "All of the text was read.",
    "incomplete": "Part of the file could not be read:", "units": "read without loss", "aside":
    "{count:,} pieces beside the text (headers, footers, comments, hidden or deleted words) are not part of it",
    "seen_line": "The model read {seen:,} of {total:,} tokens", "fed_line": "the answer was made from {fed:,}",
    "left_out": "Left out", "and_more": "and {count:,} more",
    "nothing_left": "no clause was left out", "by_model": "By the model", "plan": "Plan",
    "strategy": "Strategy", "because": "Why",
    "full_context": "the whole document at once", "retrieval": "retrieved clauses", "hybrid": "windows",
    "measured": "Cost: predicted and measured", "predicted_first": "predicted, first question",
    "predicted_next": "predicted, further question", "phase": "Phase", "seconds": "seconds",
    "read": "read the file", "load": "load the model", "prefill": "model reads the document",
    "calibrate": "off-topic questions", "question_s": "question", "answer_s": "answer", "total": "total",
    "estimate": "What the plan weighed", "first": "first answer", "next": "each more", "memory": "memory",
    "loses": "can lose", "chosen": "chosen", "impossible": "not possible", "nothing": "nothing", "kind": "figures",
    "exact": "exact", "version-bound": "bound to a version", "prior": "from tables", "kind_measured": "measured here",
    "inside": "Inside the model", "inside_note": "For engineers: what every attention head did with the rows of the "
    "question.", "alerts": "Alerts", "no_alerts": "No monitor raised an alert.", "meaning": "meaning",
    "layer": "layer", "head": "head", "layers": "layers", "heads": "heads", "whole_model": "whole model",
    "entropy_map": "Entropy per layer and head", "entropy_note": "Share of the largest possible entropy. Light is 0: "
    "one key gets everything. Dark is 1: all keys get the same.",
    "sink_map": "Attention on the first token per layer and head",
    "sink_note": "Healthy models park attention on the first token; a head that stops doing so, or does nothing else, "
    "is worth a look.", "outlined": "Outlined: an alert names this head.",
    "clause_map": "Clauses per layer", "clause_note": "Mass of the clauses of the best passages beyond the mean of "
    "other questions, over all heads of a layer.", "sinks": "Sinks", "sink": "key",
    "sink_mass": "mean weight", "no_sinks": "none above 0.3", "monitor": "monitor", "place": "place",
    "baseline": "Single heads are compared with {n:,} healthy questions of this model.",
    "no_baseline": "There is no stored baseline of this model: single heads are not judged.",
    "failure": "The run ended early", "first_token": "first token", "delimiter": "delimiter", "content": "document",
    "template": "template", "learned": "learned sink",
    "numbers": "What the numbers mean",
    "numbers_p": "p = (1 + the off-topic questions that reach such a score on this very document) / (1 + all of them): "
    "small means that few do. At or below alpha = {alpha:g} a passage counts as evidence.",
    "numbers_score": "The score is the attention on a passage beyond the mean of other questions on this document. It "
    "can be compared within one question, not between questions or documents.",
    "pages_title": "Cited pages", "page_alt": "Image of page {page} of the document, cited passages marked",
    "document": "Document text", "page_rule": "page {page}",
    "document_note": "The text that was read, from start to end. Cited passages are marked; references are links.",
    "partial_note": "The whole text would make this report larger than {limit} MB. It holds the text around every "
    "cited, nearest and expected passage: {shown:,} of {total:,} characters.",
    "gap": "{count:,} characters are not in this report",
    "pages_left": "Images of {count:,} cited pages were left out to keep the report small.",
    "pages_failed": "Images of these pages could not be drawn: {pages}.",
    "fingerprints": "Fingerprints", "file": "File", "size": "Size", "bytes": "bytes", "format": "Format",
    "view": "View of tracked changes", "model": "Model", "prompt": "Prompt template (SHA-256)",
    "evidence_heads": "Evidence heads (layer-head)", "version": "Made by", "alpha": "alpha", "sha": "SHA-256",
    "joint": ", ", "last": " and ", "one": "clause {clause}", "some": "the passages below",
    "top": "Back to the top", "measured_note": "These are the only figures that differ from run to run.",
}  # fmt: skip
_ZH = {
    "title": "报告", "skip": "跳到问题", "contents": "目录", "question": "问题",
    "pages": "页", "page": "第{}页", "clauses": "个条款", "characters": "个字符", "tokens": "个词元",
    "note": "本报告说明模型阅读时关注了哪里，不说明回答是否正确，也不构成法律意见。",
    "answered": "找到依据", "no_evidence": "未找到依据", "conflict": "依据与回答不一致",
    "say_answered": "阅读您的问题时，模型对{clauses}的关注超过了对无关问题的关注。"
    "请阅读所引原文：它们是否回答了问题，由您判断。",
    "say_no_evidence": "文件中没有任何段落因这个问题而突出。答案仍可能以其他措辞写在文件中，请人工核对。",
    "say_conflict": "找到了相关段落，但模型的回答取自别处。请阅读所引原文，不要采信该回答。",
    "review": "请人工核对", "reasons": "理由", "answer": "模型的原话",
    "unverified": "未经核实", "no_answer": "模型没有作答。",
    "citations": "引用的段落", "added": "引用段落所依赖的内容", "nearest": "最接近的段落",
    "nearest_note": "这些段落均不突出，按与问题的相近程度排列。",
    "clause": "条款", "unnumbered": "无编号段落", "score": "得分", "p": "p",
    "read_there": "在文件中阅读", "see_page": "查看该页", "found_by": "途径",
    "attention": "模型阅读问题时关注了此处",
    "lexical": "词语匹配：与问题共有的词语最多，注意力并未突出此处",
    "reference": "被引用的段落提到了此处", "definition": "此处定义了引用段落中的术语",
    "verbatim": "逐字引用", "crop": "第{page}页中标出引用段落的部分",
    "strip": "模型关注了哪里", "strip_all": "各问题并列比较",
    "strip_note": "从头到尾的整份文件，一格一个条款，宽度为条款长度（{unit}）。点击可跳到该条款。",
    "strip_merged": "过小的条款合并绘制（{clauses:,}个条款合为{cells:,}格）。",
    "row_evidence": "依据", "row_attention": "注意力", "row_fed": "读入",
    "key_evidence": "依据：超出无关问题的注意力，最深者得分最高；"
    "下划线表示 p 不高于 {alpha:g}；只计算得分最高的 20 个条款",
    "key_attention": "注意力：每{unit}所得的原始注意力；无论问什么，标题和重复出现的词都会吸引一部分",
    "key_fed": "读入：深色部分作答时在模型面前，浅色部分不在",
    "fed": "作答时已读入", "not_fed": "作答时未读入", "part_fed": "作答时部分读入",
    "of_attention": "占注意力的 {share}", "evidence_at": "依据 {score}（p = {p}）",
    "diagnosis": "诊断", "expected": "预期位置", "expected_none": "文件未回答该问题",
    "diagnosed": "所诊断的回答", "remedy": "处理办法", "tests": "检验", "rung": "步骤", "test": "检验项",
    "value": "数值", "threshold": "界限", "result": "结果", "detail": "比较内容",
    "ok": "通过", "fail": "未通过", "open": "不作判断", "distractor": "误用的条款",
    "not_tested": "未检验", "verdict": "结论",
    "not_fed_v": "未送入", "masked": "被遮住", "out_of_reach": "够不着", "beyond_window": "超出训练长度",
    "implementation_fault": "实现错误", "not_seen": "未看到", "not_selected": "看到但未选用",
    "misread": "选用但误读", "unsupported_claim": "无依据的回答", "blind_spot": "已知盲点", "no_fault": "未发现问题",
    "run": "文件是如何读的", "coverage": "读了什么", "complete": "正文已全部读取。",
    "incomplete": "文件有一部分无法读取：", "units": "完整读取",
    "aside": "正文之外另有{count:,}处内容（页眉、页脚、批注、隐藏或删除的文字），不计入正文",
    "seen_line": "模型读了{total:,}个词元中的{seen:,}个", "fed_line": "回答依据其中{fed:,}个",
    "left_out": "未送入的条款", "and_more": "等，另有{count:,}个",
    "nothing_left": "没有遗漏任何条款", "by_model": "模型读入", "plan": "方案", "strategy": "策略", "because": "原因",
    "full_context": "一次读完整份文件", "retrieval": "读检索出的条款", "hybrid": "分窗口读",
    "measured": "成本：预测与实测", "predicted_first": "预测（首个问题）",
    "predicted_next": "预测（后续问题）", "phase": "阶段", "seconds": "秒",
    "read": "读取文件", "load": "载入模型", "prefill": "模型读文件",
    "calibrate": "无关问题", "question_s": "问题", "answer_s": "回答", "total": "合计",
    "estimate": "方案比较", "first": "首个回答", "next": "其后每个", "memory": "内存",
    "loses": "可能丢失", "chosen": "采用", "impossible": "不可行", "nothing": "无", "kind": "数值来源",
    "exact": "精确", "version-bound": "随版本", "prior": "按表估计", "kind_measured": "本机实测",
    "inside": "模型内部", "inside_note": "供工程师使用：各注意力头在问题各行上的表现。",
    "alerts": "警报", "no_alerts": "没有监测发出警报。", "meaning": "含义",
    "layer": "层", "head": "头", "layers": "层", "heads": "头", "whole_model": "整个模型",
    "entropy_map": "各层各头的熵",
    "entropy_note": "占最大可能熵的比例。浅色为 0：全部集中于一个键；深色为 1：平均分给所有键。",
    "sink_map": "各层各头落在首词元上的注意力",
    "sink_note": "正常模型会把注意力停放在首词元上；某个头不再如此，或只做这一件事，都值得一看。",
    "clause_map": "各层所看条款",
    "clause_note": "最佳段落所在条款在每层所有头上的注意力，减去其他问题的均值。",
    "outlined": "带框的格：有警报指向该头。", "sinks": "注意力汇", "sink": "键",
    "sink_mass": "平均权重", "no_sinks": "没有高于 0.3 的", "monitor": "监测", "place": "位置",
    "baseline": "各头与该模型 {n:,} 个正常问题的范围比较。",
    "no_baseline": "该模型没有已存基线：不评判单个头。",
    "failure": "运行提前中止", "first_token": "首词元", "delimiter": "分隔符", "content": "文件",
    "template": "模板", "learned": "可学习汇",
    "numbers": "数字的含义",
    "numbers_p": "p =（1 + 在这份文件上得分不低于此的无关问题数）/（1 + 无关问题总数），越小越少见。"
    "不高于 alpha = {alpha:g} 的段落算作依据。",
    "numbers_score": "得分是段落所得注意力超出本文件上其他问题均值的部分。"
    "只能在同一问题内比较，不能跨问题或跨文件比较。",
    "pages_title": "引用的页面", "page_alt": "文件第{page}页的图像，引用段落已标出",
    "document": "文件正文", "page_rule": "第{page}页",
    "document_note": "读到的正文，从头到尾。引用段落已标出，文中的引用可点击。",
    "partial_note": "收入全文会使报告超过 {limit} MB。"
    "这里只有引用、接近及预期段落前后的文字：共{total:,}个字符中的{shown:,}个。",
    "gap": "此处有{count:,}个字符未收入报告",
    "pages_left": "为控制大小，略去了{count:,}个引用页面的图像。",
    "pages_failed": "以下页面无法绘制：{pages}。",
    "fingerprints": "指纹", "file": "文件", "size": "大小", "bytes": "字节", "format": "格式",
    "view": "修订的显示方式", "model": "模型", "prompt": "提示模板（SHA-256）",
    "evidence_heads": "作为依据的注意力头（层-头）", "version": "生成工具", "alpha": "alpha", "sha": "SHA-256",
    "joint": "、", "last": "和", "one": "条款 {clause}", "some": "下列段落",
    "top": "回到顶部", "measured_note": "只有这些数字会随每次运行而变。",
}  # fmt: skip
WORDS: dict[Language, dict[str, str]] = {"en": _EN, "zh": _ZH}


def page_name(page: int, language: Language) -> str:
    """A page in words: "page 3"."""
    return _ZH["page"].format(page) if language == "zh" else f"{_EN['page']} {page}"


def clause_name(label: str, language: Language) -> str:
    """A clause in a sentence: "clause 8.2", but "Schedule 2/1" and "第三条", whose label says what they are."""
    if not label:
        return WORDS[language]["unnumbered"]
    alone = label.startswith("第") if language == "zh" else label[:4].isalpha() and len(label) > 3
    return label if alone or label.startswith("附") else WORDS[language]["one"].format(clause=label)
