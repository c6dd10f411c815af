"""Human form of the cost plan and of the course page's account; quantities in the units that people compare."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from softlookup.cli.escape import printable_line

if TYPE_CHECKING:
    from softlookup.cost.course import AccountLine
    from softlookup.cost.estimate import CostEstimate
    from softlookup.cost.figures import Figure

_WIDTH = 110
_KIND_COLUMN = 102
_NAMES = {"full_context": "full context", "retrieval": "retrieval", "hybrid": "hybrid windows"}


def estimate_text(found: CostEstimate) -> str:
    """The plan of a length: quantities with their kinds, strategies, decision."""
    request, figures = found.request, found.figures
    shape = request.model.shape
    window = "unknown" if shape.context is None else f"{shape.context:,}"
    several = f"{request.device.count} x " if request.device.count > 1 else ""
    lines = [
        f"{printable_line(shape.name)} on {several}{request.device.name}: {request.tokens:,} tokens, answers of "
        f"{request.answer_tokens}, trained window {window}" + _engine(request.engine.name),
        "",
        *_quantities(found),
        "",
        *_strategy_table(found),
        "",
        *_wrapped(f"=> {found.decision.strategy}: ", found.decision.reason),
        *_wrapped("   would help most: ", found.decision.change),
    ]
    if all(figure.kind != "measured" for figure in figures.values()):
        lines.append("   seconds are priors from tables, with their interval in brackets: nothing was measured here")
    return "\n".join(lines)


def _quantities(found: CostEstimate) -> list[str]:
    figures, flops, intensity = found.figures, found.flops, found.intensity
    active = found.request.model.shape.active_parameters
    parameters = f"{figures['parameters'].value:,} parameters"
    if active != figures["parameters"].value:
        parameters += f", {active:,} active"
    share = flops.attention / flops.total
    prefill, decode, pool = figures["prefill_seconds"], figures["decode_ms_per_token"], found.pool
    look = found.observation
    return [
        _line("weights", f"{quantity(figures['weight_bytes'].value, 'B')}, {parameters}", figures["weight_bytes"].kind),
        _line("KV cache", f"{quantity(figures['kv_bytes'].value, 'B')}, {figures['kv_bytes_per_token'].value:,} B per "
              "token in layers that keep all", figures["kv_bytes"].kind),
        _line("scores", f"{quantity(figures['score_matrix_bytes'].value, 'B')} for one layer in fp16: never stored, "
              "attention is fused", "exact"),
        _line("prefill", f"{_span(prefill)}: {flops.linear:.3g} FLOP + {flops.attention:.3g} of causal attention "
              f"({share:.0%}), {intensity.prefill_bound}-bound", prefill.kind),
        _line("decode", f"{decode.value:.3g} ms/token ({decode.low:.3g}-{decode.high:.3g}): weights "
              f"{quantity(found.traffic.weights, 'B')} + KV {quantity(found.traffic.kv, 'B')}; "
              f"{intensity.decode:.2g} FLOP/B, ridge {intensity.ridge:.0f}", decode.kind),
        _line("requests", f"{pool.requests.value:,} at once in {quantity(max(0.0, pool.available.value), 'B')} left "
              f"for KV; one of up to {pool.longest.value:,} tokens", pool.requests.kind),
        _line("observe", f"column sums {quantity(look.column_sums, 'B')}, 200 clauses from 256 rows "
              f"{quantity(look.span_mass, 'B')}; all attention weights {quantity(look.weights, 'B')}", "exact"),
    ]  # fmt: skip


def _strategy_table(found: CostEstimate) -> list[str]:
    lines = [f"{'strategy':16}{'first answer':>14}{'each more':>12}{'memory':>10}   can lose"]
    for row in found.strategies:
        mark = "*" if row.name == found.decision.strategy else " "
        text = row.loses if not row.obstacle else f"not possible: {row.obstacle}"
        first, more = seconds(row.first_answer.value), seconds(row.next_answer.value)
        head = f"{_NAMES[row.name] + ' ' + mark:16}{first:>14}{more:>12}{quantity(row.memory.value, 'B'):>10}   "
        lines += textwrap.wrap(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
    questions = found.request.questions
    if questions > 1:
        totals = [f"{_NAMES[row.name]} {seconds(row.total_seconds(questions))}" for row in found.strategies]
        lines.append(f"{questions:,} questions: " + ", ".join(totals))
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
        return seconds(value)
    if unit == "share":
        return f"{value:.0%}"
    number = f"{value:.3g}"
    return f"{number} {unit}" if unit in ("times", "FLOP/B") else number


def seconds(value: float) -> str:
    """Seconds as people say them: ms, s, min or h."""
    if value < 0.1:
        return f"{1e3 * value:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.3g} min" if value < 7200 else f"{value / 3600:.3g} h"


def _engine(name: str) -> str:
    return "" if name == "tensors" else f", KV cache of {name}"


def _span(figure: Figure) -> str:
    return f"{seconds(figure.value)} ({seconds(figure.low)}-{seconds(figure.high)})"


def _line(name: str, text: str, kind: str) -> str:
    return f"{name:10}{text}".ljust(_KIND_COLUMN) + f"  [{kind}]"


def _wrapped(first: str, text: str) -> list[str]:
    return textwrap.wrap(printable_line(text), _WIDTH, initial_indent=first, subsequent_indent=" " * 6) or [first]
