"""Human form of the cost plan and of the course page's account; quantities in the units that people compare."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from softlookup.cli.escape import printable_line
from softlookup.cli.plan_labels import PLAN_LABELS
from softlookup.cli.wrapping import columns, wrapped_wide
from softlookup.cost.plan.plan_texts import PlanLanguage, seconds_text

if TYPE_CHECKING:
    from softlookup.cost.course import AccountLine
    from softlookup.cost.figures import Figure
    from softlookup.cost.plan.estimate import CostEstimate
    from softlookup.documents.model import Document

_WIDTH = 110
_KIND_COLUMN = 102
# the label of each column of figures, and its width
_COLUMNS = (("first", 14), ("more", 12), ("memory", 10))


def estimate_text(found: CostEstimate, document: Document | None = None) -> str:
    """The plan of a length or of ``document``: quantities with their kinds, strategies, decision.

    In the language of the request, which is that of the document.
    """
    label = PLAN_LABELS[found.request.language]
    lines = [*_title(found, document), "", *_quantities(found), "", *_strategy_table(found), ""]
    strategy = found.decision.strategy
    lines += _wrapped(label["choice"].format(strategy=strategy, name=label[strategy]), found.decision.reason)
    lines += _wrapped(label["most"], found.decision.change)
    if document is not None and not document.coverage.complete:
        lines.append("   " + label["partly"])
    if all(figure.kind != "measured" for figure in found.figures.values()):
        lines.append(label["priors"])
    return "\n".join(lines)


def _title(found: CostEstimate, document: Document | None) -> list[str]:
    request, shape = found.request, found.request.model.shape
    label = PLAN_LABELS[request.language]
    several = f"{request.device.count} x " if request.device.count > 1 else ""
    title = label["title"].format(
        name=printable_line(shape.name), device=several + request.device.name, tokens=request.tokens,
        answer=request.answer_tokens, window=label["unknown"] if shape.context is None else f"{shape.context:,}",
    )  # fmt: skip
    if request.engine.name != "tensors":
        title += label["engine"].format(engine=request.engine.name)
    if document is None:
        return [title]
    counted = found.figures.get("tokens")
    tokens = label["counted"].format(tokens=request.tokens)
    if counted is not None:
        tokens = label["estimated"].format(tokens=request.tokens, low=int(counted.low), high=int(counted.high))
    about = label["document"].format(
        path=printable_line(document.source.path), clauses=len(document.clauses), references=len(document.references),
        tokens=tokens,
    )  # fmt: skip
    return [*_wrapped("", about), *_wrapped("", title)]


def _quantities(found: CostEstimate) -> list[str]:
    label, figures = PLAN_LABELS[found.request.language], found.figures
    active = found.request.model.shape.active_parameters
    parameters = label["parameters"].format(count=int(figures["parameters"].value))
    if active != figures["parameters"].value:
        parameters += label["active"].format(count=active)
    pool, look = found.pool, found.observation
    rows = [
        ("weights", _size(figures["weight_bytes"]) + label["comma"] + parameters, figures["weight_bytes"].kind),
        ("cache", label["per_token"].format(
            size=_size(figures["kv_bytes"]), bytes=int(figures["kv_bytes_per_token"].value)),
         figures["kv_bytes"].kind),
        ("scores", label["score_matrix"].format(size=_size(figures["score_matrix_bytes"])),
         figures["score_matrix_bytes"].kind),
        *_times(found),
        ("requests", label["requests_line"].format(
            count=int(figures["max_concurrency"].value), left=quantity(max(0.0, pool.available.value), "B"),
            longest=int(pool.longest.value)), pool.requests.kind),
        ("observe", label["observe_line"].format(
            seconds=seconds_text(figures["observation_seconds"].value, found.request.language),
            sums=quantity(look.column_sums, "B"), weights=quantity(look.weights, "B")),
            figures["observation_seconds"].kind),
    ]  # fmt: skip
    return [_line(label[name], text, label[kind]) for name, text, kind in rows]


def _times(found: CostEstimate) -> list[tuple[str, str, str]]:
    """Prefill and decode, each with what limits it."""
    label, flops, intensity = PLAN_LABELS[found.request.language], found.flops, found.intensity
    prefill, decode = found.figures["prefill_seconds"], found.figures["decode_ms_per_token"]
    reading = label["prefill_line"].format(
        span=_span(prefill, found.request.language), linear=flops.linear, attention=flops.attention,
        share=flops.attention / flops.total, bound=label[intensity.prefill_bound],
    )  # fmt: skip
    writing = label["decode_line"].format(
        value=decode.value, low=decode.low, high=decode.high, weights=quantity(found.traffic.weights, "B"),
        cache=quantity(found.traffic.kv, "B"), intensity=intensity.decode, ridge=intensity.ridge,
    )  # fmt: skip
    return [("prefill", reading, prefill.kind), ("decode", writing, decode.kind)]


def _strategy_table(found: CostEstimate) -> list[str]:
    language = found.request.language
    label = PLAN_LABELS[language]
    heads = [_left(label["strategy"], 16), *(_right(label[name], width) for name, width in _COLUMNS)]
    lines = ["".join(heads) + "   " + label["lose"]]
    for row in found.strategies:
        mark = " *" if row.name == found.decision.strategy else ""
        text = row.loses if not row.obstacle else label["impossible"].format(obstacle=row.obstacle)
        cells = (seconds_text(row.first_answer.value, language), seconds_text(row.next_answer.value, language),
                 _size(row.memory))  # fmt: skip
        head = _left(label[row.name] + mark, 16)
        head += "".join(_right(cell, width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True)) + "   "
        lines += wrapped_wide(head, printable_line(text), _WIDTH, columns(head))
    questions = found.request.questions
    if questions > 1:
        totals = [
            f"{label[row.name]} {seconds_text(row.total_seconds(questions), language)}" for row in found.strategies
        ]
        lines.append(label["all_questions"].format(questions=questions) + label["comma"].join(totals))
    return lines


def account_text(account: Sequence[AccountLine]) -> str:
    """The course page's account: page, right value, verdict and reason."""
    lines = [
        "contract-qa: 131,072 tokens, 24 layers, 32 heads, D = 4096, d_k = 128 (vocabulary 128,256 assumed)",
        f"{'':35}{'page':>13}{'right':>13}  verdict: reason",
    ]
    for line in account:
        head = f"{line.what:35}{line.page or '-':>13}{quantity(line.right, line.unit):>13}  "
        limits = ""
        if line.low is not None and line.high is not None:
            limits = f" [{quantity(line.low, line.unit)} to {quantity(line.high, line.unit)}]"
        text = f"{line.verdict}: {line.reason}{limits}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
    lines.append("seconds: H100, 56 % and 58 % of its peak, 80 % of its bandwidth; brackets: 40 to 65 %, 60 to 95 %")
    return "\n".join(lines)


def quantity(value: float, unit: str) -> str:
    """A value with a decimal prefix where the unit takes one."""
    if unit == "B":
        for factor, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
            if value >= factor:
                return f"{value / factor:.3g} {name}" if value < 999.5 * factor else f"{value / factor:.0f} {name}"
        return f"{value:.0f} B"
    if unit == "s":
        return seconds_text(value)
    if unit == "share":
        return f"{value:.0%}"
    number = f"{value:.3g}"
    return f"{number} {unit}" if unit in ("times", "FLOP/B") else number


def _size(figure: Figure) -> str:
    return quantity(figure.value, "B")


def _span(figure: Figure, language: PlanLanguage) -> str:
    value, low, high = (seconds_text(each, language) for each in (figure.value, figure.low, figure.high))
    return f"{value} ({low}-{high})"


def _line(name: str, text: str, kind: str) -> str:
    return _left(_left(name, 10) + text, _KIND_COLUMN) + f"  [{kind}]"


def _left(text: str, width: int) -> str:
    return text + " " * max(0, width - columns(text))


def _right(text: str, width: int) -> str:
    return " " * max(0, width - columns(text)) + text


def _wrapped(first: str, text: str) -> list[str]:
    return wrapped_wide(first, printable_line(text), _WIDTH, 6) or [first]
