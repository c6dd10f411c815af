"""Human-readable form of an inspection, in the question's language; every string of others is escaped here."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import TYPE_CHECKING

from softlookup.cli.escape import printable_line
from softlookup.diagnostics.alert_texts import ALERT_TEXTS
from softlookup.diagnostics.alerts import condensed

if TYPE_CHECKING:
    from softlookup.diagnostics.alerts import Alert
    from softlookup.diagnostics.inspection_result import ClauseShare, HeadClauses, Inspection, LayerSummary, StripRow
    from softlookup.diagnostics.sinks import Sink

_SHADES = " ·░▒▓█"
_LABEL_WIDTH = 16
_MOST_SINKS = 8
_RED, _BOLD, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"

LABELS = {
    "en": {
        "question": "Question", "alerts": "Alerts", "none": "none", "meaning": "means", "remedy": "do",
        "value": "value", "threshold": "threshold", "layer": "layer", "head": "head", "heads": "heads",
        "more_layers": "more layers", "model": "whole model", "evidence": "evidence found",
        "no_evidence": "no evidence found", "answer": "Answer (the model's words, unverified)",
        "strip": "Where the question's rows looked: clause x layer",
        "strip_note": "mass over all heads beyond the mean of {n} questions of the bank on this document; "
        "darkest cell: {top:.3f}",
        "per_head": "Clauses per head that is read as evidence (layer.head, calibrated)",
        "middle": "this model is not profiled: heads of the middle layers",
        "sinks": "Sinks (mean weight over the queries behind the key above 0.3)",
        "sinks_all": "over all rows of the document and the template", "sinks_question": "over the question's rows",
        "layers": "Entropy per layer (nats; share of ln(visible keys); bank on this document; first token)",
        "baseline": "heads are compared with {n} healthy questions of this model",
        "no_baseline": "no stored baseline of this model: single heads are not judged",
        "failure": "The run ended",
        "first_token": "first token", "delimiter": "delimiter", "content": "document", "template": "template",
        "learned": "learned sink", "column": "column",
        "note": "Attention says where the model looked, not that an answer is right.",
    },
    "zh": {
        "question": "问题", "alerts": "警报", "none": "无", "meaning": "含义", "remedy": "处理",
        "value": "数值", "threshold": "阈值", "layer": "层", "head": "头", "heads": "个头",
        "more_layers": "层另有", "model": "整个模型", "evidence": "找到依据",
        "no_evidence": "未找到依据", "answer": "回答（模型原话，未经核实）",
        "strip": "问题各行看向何处：条款 × 层",
        "strip_note": "所有头的注意力减去题库 {n} 个问题在本文件上的均值；最深一格为 {top:.3f}",
        "per_head": "作为依据的各头所看条款（层.头，已校准）",
        "middle": "该模型未标定：取中间层各头",
        "sinks": "注意力汇（其后各查询的平均权重高于 0.3 的键）",
        "sinks_all": "按文件与模板的全部行计算", "sinks_question": "按问题各行计算",
        "layers": "各层熵（奈特；占 ln(可见键数) 的比例；题库在本文件上；首词元）",
        "baseline": "各头与该模型 {n} 个正常问题的范围比较",
        "no_baseline": "该模型没有已存基线：不评判单个头",
        "failure": "运行中止",
        "first_token": "首词元", "delimiter": "分隔符", "content": "文件", "template": "模板",
        "learned": "可学习汇", "column": "列",
        "note": "注意力只说明模型看向何处，不说明回答是否正确。",
    },
}  # fmt: skip


def inspection_text(found: Inspection, *, width: int, colored: bool) -> str:
    """The whole text, lines of at most ``width`` columns."""
    label = LABELS["zh" if found.language == "zh" else "en"]
    outcome = label["evidence" if found.found else "no_evidence"]
    p_value = "" if found.p_value is None else f" (p = {found.p_value:.3f}, alpha {found.alpha:g})"
    lines = _wrapped(f"{label['question']}: ", printable_line(found.question), width)
    if found.failure:
        lines += _wrapped(f"{label['failure']}: ", printable_line(found.failure), width)
    else:
        lines.append(f"=> {outcome}{p_value}")
    if found.answer:
        lines += _wrapped(f"{label['answer']}: ", printable_line(found.answer), width)
    lines += ["", *_alert_lines(found, label, width, colored=colored)]
    lines += ["", *_strip_lines(found.strip, found.bank_questions, label, width)]
    lines += ["", *_head_lines(found, label, width)]
    lines += ["", *_sink_lines(found, label, width)]
    lines += ["", *_layer_lines(found.layers, label, width)]
    lines += ["", *_wrapped("", label["note"], width)]
    return "\n".join(_clipped(line, width) if "\x1b" not in line else line for line in lines) + "\n"


def _alert_lines(found: Inspection, label: dict[str, str], width: int, *, colored: bool) -> list[str]:
    alerts = condensed(found.alerts)
    title = f"{label['alerts']}: {len(found.alerts) if alerts else label['none']}"
    lines = [f"{_BOLD}{_RED}{title}{_PLAIN}" if colored and alerts else title]
    for alert in alerts:
        lines += _one_alert(alert, label, width, chinese=found.language == "zh")
    known = label["no_baseline"] if found.baseline_runs is None else label["baseline"].format(n=found.baseline_runs)
    return lines + _wrapped("  ", known, width)


def _one_alert(alert: Alert, label: dict[str, str], width: int, *, chinese: bool) -> list[str]:
    text = ALERT_TEXTS[alert.monitor]
    meaning, remedy = (text.meaning_zh, text.remedy_zh) if chinese else (text.meaning, text.remedy)
    where = [label["model"]]
    if alert.layer is not None:
        where = [f"{label['layer']} {alert.layer}"]
        if alert.head is not None:
            where.append(f"{label['head']} {alert.head}")
        if alert.heads > 1:
            where.append(f"{alert.heads} {label['heads']}")
        if alert.layers > 1:
            where.append(f"+{alert.layers - 1} {label['more_layers']}")
    detail = f" [{printable_line(alert.detail)}]" if alert.detail else ""
    numbers = f"{label['value']} {alert.value:.3g}, {label['threshold']} {alert.threshold:.3g}"
    return [
        *_wrapped("  ! ", f"{alert.monitor} ({', '.join(where)}): {numbers}{detail}", width),
        *_wrapped(f"      {label['meaning']}: ", meaning, width),
        *_wrapped(f"      {label['remedy']}: ", remedy, width),
    ]


def _strip_lines(rows: tuple[StripRow, ...], bank: int, label: dict[str, str], width: int) -> list[str]:
    """One line per clause, one cell per layer, or per few layers (the largest of them) where the width is short."""
    if not rows:
        return [label["strip"], f"  {label['none']}"]
    layers = len(rows[0].mass)
    room = width - _LABEL_WIDTH - 4
    group = -(-layers // max(1, room))
    repeat = max(1, min(3, room // -(-layers // group)))
    top = max((value for row in rows for value in row.mass), default=0.0)
    note = label["strip_note"].format(n=bank, top=max(top, 0.0))
    lines = [label["strip"], *_wrapped("  ", note, width)]
    for row in rows:
        cells = [max(row.mass[start : start + group]) for start in range(0, layers, group)]
        drawn = "".join(_shade(value, top) * repeat for value in cells)
        lines.append(f"  {_padded(_name(row, _LABEL_WIDTH), _LABEL_WIDTH)}|{drawn}|")
    count = -(-layers // group) * repeat
    ticks = [" "] * count
    for layer in range(0, layers, 5 if group == 1 else 5 * group):
        place = layer // group * repeat
        if place + len(str(layer)) <= count:
            ticks[place : place + len(str(layer))] = str(layer)
    lines.append(f"  {_padded(label['layer'], _LABEL_WIDTH)} {''.join(ticks)}")
    return lines


def _shade(value: float, top: float) -> str:
    if top <= 0 or not value > 0:
        return _SHADES[0]
    return _SHADES[min(len(_SHADES) - 1, 1 + int(value / top * (len(_SHADES) - 1) * 0.999))]


def _head_lines(found: Inspection, label: dict[str, str], width: int) -> list[str]:
    lines = [label["per_head"]]
    if not found.profiled:
        lines += _wrapped("  ", label["middle"], width)
    return lines + [_head_line(head) for head in found.heads[:24]]


def _head_line(head: HeadClauses) -> str:
    shares = ", ".join(f"{_name(share, 22)} {share.mass:+.3f}" for share in head.clauses)
    return f"  {head.layer:>3}.{head.head:<3} {shares}"


def _name(place: ClauseShare | StripRow, columns: int) -> str:
    """The clause's number; the opening words of a passage without one."""
    return printable_line(place.clause) or f"“{_clipped(printable_line(place.opening), columns - 3)}”"


def _sink_lines(found: Inspection, label: dict[str, str], width: int) -> list[str]:
    rows = label["sinks_all" if found.sink_rows == "all" else "sinks_question"]
    lines = [label["sinks"], *_wrapped("  ", rows, width)]
    lines += [_sink_line(sink, label) for sink in found.sinks[:_MOST_SINKS]]
    return lines if found.sinks else [*lines, f"  {label['none']}"]


def _sink_line(sink: Sink, label: dict[str, str]) -> str:
    where = "" if sink.key is None else f" {label['column']} {sink.key} “{_shown(sink.token)}”"
    best = ", ".join(f"{layer}.{head} {mass:.2f}" for layer, head, mass in sink.places[:3])
    return f"  {label[sink.kind]}{where}: {sink.heads} {label['heads']}, {sink.mass:.2f} ({best})"


def _shown(token: str) -> str:
    return printable_line(token) or printable_line(token.encode("unicode_escape").decode("ascii"))


def _layer_lines(layers: tuple[LayerSummary, ...], label: dict[str, str], width: int) -> list[str]:
    bar = max(8, min(30, width - 60))
    lines = _wrapped("", label["layers"], width)
    for layer in layers:
        share = layer.normalized_entropy
        drawn = "" if share is None else "█" * round(share * bar)
        numbers = (layer.entropy, 2), (share, 3), (layer.bank_normalized_entropy, 3), (layer.first_token, 3)
        written = " ".join(_number(value, digits) for value, digits in numbers)
        lines.append(f"  {layer.layer:>3} {written} |{drawn:<{bar}}|")
    return lines


def _number(value: float | None, digits: int) -> str:
    return f"{'-':>6}" if value is None else f"{value:>6.{digits}f}"


def _padded(text: str, columns: int) -> str:
    text = _clipped(text, columns)
    return text + " " * (columns - _columns(text))


def _clipped(text: str, columns: int) -> str:
    if _columns(text) <= columns:
        return text
    kept = ""
    for character in text:
        if _columns(kept + character) >= columns:
            break
        kept += character
    return kept + "…"


def _columns(text: str) -> int:
    """Terminal columns: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _wrapped(first: str, text: str, width: int) -> list[str]:
    """Lines of at most ``width`` columns; Chinese text is counted at two columns a character."""
    lines = []
    wide = _columns(text) > 1.2 * len(text)
    room = max(20, (width - _columns(first)) // (2 if wide else 1))
    indent = " " * min(8, len(first) + 2)
    for number, line in enumerate(textwrap.wrap(text, room, break_on_hyphens=False) or [""]):
        lines.append((first if number == 0 else indent) + line)
    return lines
