"""Human-readable form of a diagnosis; every string of a document, a model or a user is escaped here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from softlookup.cli.escape import printable_line
from softlookup.cli.wrapping import wrapped
from softlookup.documents.language import language_of

if TYPE_CHECKING:
    from softlookup.diagnostics.diagnosis import Diagnosis, Test

_LABELS = {
    "en": {
        "question": "Question", "expected": "Expected", "nothing": "the document does not answer it",
        "answer": "Answer", "given": "given", "own": "the model's words, unverified", "verdict": "Verdict",
        "remedy": "Remedy", "tests": "Tests (value, threshold)", "untested": "Not tested", "run": "Run",
        "not_fed": "not fed", "masked": "masked", "out_of_reach": "out of reach",
        "beyond_window": "beyond the trained window", "implementation_fault": "implementation fault",
        "not_seen": "not seen", "not_selected": "seen, not selected", "misread": "selected, misread",
        "unsupported_claim": "unsupported claim", "blind_spot": "known blind spot", "no_fault": "no fault found",
    },
    "zh": {
        "question": "问题", "expected": "预期位置", "nothing": "文件未回答该问题",
        "answer": "回答", "given": "用户给出", "own": "模型原话，未经核实", "verdict": "结论",
        "remedy": "处理办法", "tests": "检验（数值，界限）", "untested": "未检验", "run": "运行",
        "not_fed": "未送入", "masked": "被遮住", "out_of_reach": "够不着",
        "beyond_window": "超出训练长度", "implementation_fault": "实现错误",
        "not_seen": "未看到", "not_selected": "看到但未选用", "misread": "选用但误读",
        "unsupported_claim": "无依据的回答", "blind_spot": "已知盲点", "no_fault": "未发现问题",
    },
}  # fmt: skip
_MARKS = {True: "ok  ", False: "FAIL", None: "-   "}


def diagnosis_text(found: Diagnosis) -> str:
    """Question, verdict, sentence, remedy, and every test."""
    label = _LABELS[language_of(found.question)]
    lines = [f"{label['question']}: {printable_line(found.question)}"]
    lines += wrapped(f"{label['expected']}: ", _expected(found, label))
    if found.answer:
        lines += wrapped(
            f"{label['answer']} ({label['given' if found.answer_given else 'own']}): ", printable_line(found.answer)
        )
    lines += [f"=> {label['verdict']} ({found.rung}): {label[found.verdict]}"]
    lines += wrapped("   ", printable_line(found.sentence))
    lines += wrapped(f"   {label['remedy']}: ", printable_line(found.remedy))
    lines += ["", label["tests"], *(line for test in found.tests for line in _test_lines(test))]
    if found.run is not None:
        run = found.run
        heads = run.heads if isinstance(run.heads, str) else f"{len(run.heads)} heads"
        lines += wrapped(
            f"{label['run']}: ",
            f"{printable_line(run.model)}, template {run.template_sha256[:12]}, {heads}, alpha {run.alpha:g}, "
            f"{run.off_topic_questions} off-topic questions; rows: {run.rows}",
        )
    return "\n".join([*lines, *wrapped(f"{label['untested']}: ", "; ".join(found.not_tested))])


def _expected(found: Diagnosis, label: dict[str, str]) -> str:
    place = found.expected
    if place is None:
        return label["nothing"]
    if place.start is None:
        return printable_line(place.named)
    quote = printable_line(place.quote)
    return (
        f"{printable_line(place.clause)} [{place.start}:{place.end}] “{quote[:160]}{'...' if len(quote) > 160 else ''}”"
    )


def _test_lines(test: Test) -> list[str]:
    value = "-" if test.value is None else f"{test.value:.4g}"
    limit = "" if test.threshold is None else f", {test.threshold:.4g}"
    return wrapped(f"  {test.rung:2} {_MARKS[test.passed]} {test.name} {value}{limit}: ", printable_line(test.detail))
