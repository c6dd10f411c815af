"""Human-readable output; every string that comes from a document, a model or a user is escaped here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from softlookup.cli.escape import printable, printable_line
from softlookup.cli.wrapping import wrapped
from softlookup.documents.language import language_of
from softlookup.ui.labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softlookup.evidence.answer import Answer, Citation, CoverageSummary
    from softlookup.runtime.load import ModelSource


_MOST_NOT_FED = 6


def note_model(source: ModelSource, stream: TextIO) -> None:
    """Say once per run what the embedded model is."""
    if source.note:
        stream.write(f"model: {printable_line(source.name)}, {printable_line(source.note)}\n")


def answer_text(answer: Answer) -> str:
    """The human form of an answer."""
    label = LABELS[language_of(answer.question)]
    lines = [f"{label['question']}: {printable_line(answer.question)}"]
    p_value = "" if answer.p_value is None else f" (p = {answer.p_value:.3f}, alpha {answer.alpha:g})"
    outcome = f"{label[answer.outcome]}{p_value}"
    if answer.outcome != "no_evidence":
        lines += wrapped(f"{label['answer']} ({label['unverified']}): ", printable_line(answer.answer) or "-")
    lines.append(f"=> {outcome}")
    lines += wrapped(f"   {label['review']}: " if answer.needs_review else "   ", printable_line(answer.reason))
    if answer.citations:
        lines += ["", label["citations"]]
        for number, citation in enumerate(answer.citations, 1):
            lines += _citation_lines(number, citation, label)
    elif answer.ranking:
        lines += ["", label["nearest"]]
        lines += [
            f"  {printable_line(p.clause) or label['unnumbered']} [{p.start}:{p.end}]" for p in answer.ranking[:3]
        ]
    lines += ["", *wrapped(f"{label['coverage']}: ", _coverage_line(answer.coverage, label))]
    lines += wrapped(f"{label['plan']}: ", f"{answer.plan.strategy}: {answer.plan.reason}")
    for alert in answer.alerts:
        lines += wrapped(f"{label['alerts']}: ", printable_line(alert))
    seconds = {k: getattr(answer.seconds, k) for k in answer.seconds.__dataclass_fields__}
    lines.append(f"{label['time']}: " + ", ".join(f"{k} {v:.1f} s" for k, v in seconds.items() if v >= 0.05))
    return "\n".join(lines) + "\n"


def _citation_lines(number: int, citation: Citation, label: dict[str, str]) -> list[str]:
    parts = [printable_line(citation.clause) or label["unnumbered"]]
    if citation.heading:
        parts.append(printable_line(citation.heading)[:80])
    if citation.page is not None:
        parts.append(f"{label['page']} {citation.page}")
    if citation.score is not None:
        parts.append(f"{label['score']} {citation.score:.4f}, p = {citation.p_value:.3f}")
    parts.append(citation.via if not citation.why else f"{citation.via}: {printable_line(citation.why)}")
    quote = wrapped("      ", f"“{printable_line(citation.quote)}”")
    return [f"  [{number}] " + " | ".join(parts), *quote]


def _coverage_line(coverage: CoverageSummary, label: dict[str, str]) -> str:
    parts = [] if coverage.pages is None else [f"{coverage.pages} {label['pages']}"]
    parts.append(f"{coverage.characters:,} {label['characters']}")
    parts.append(f"{coverage.tokens_seen:,} {label['of']} {coverage.tokens_total:,} {label['tokens']}")
    windows = coverage.tokens_seen > coverage.tokens_read
    skipped = "; ".join(coverage.skipped)
    partly = coverage.tokens_seen < coverage.tokens_total
    if partly:
        parts.append(label["rest"])
    if skipped:
        parts.append(f"{label['skipped']}: {printable_line(skipped)}")
    elif not partly:
        parts.append(label["nothing"])
    if windows and coverage.tokens_read:
        parts.append(label["fed"].format(tokens=f"{coverage.tokens_read:,}"))
    if coverage.clauses_not_fed and coverage.tokens_read:
        parts.append(_not_fed(coverage.clauses_not_fed, label))
    parts += [printable_line(note) for note in coverage.notes]
    return ", ".join(parts)


def _not_fed(clauses: Sequence[str], label: dict[str, str]) -> str:
    """The first clauses that the answer's context leaves out, and how many there are."""
    named = label["comma"].join(printable_line(clause) for clause in clauses[:_MOST_NOT_FED])
    more = label["comma"] + "..." if len(clauses) > _MOST_NOT_FED else ""
    return label["not_fed"].format(count=f"{len(clauses):,}", clauses=named + more)


def model_object(source: ModelSource) -> dict[str, Any]:
    """JSON of ``softlookup model info``."""
    from softlookup.evidence.profile_store import profile_state

    config = source.config
    shape = config.get("text_config", config)
    names = (
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "hidden_size",
        "vocab_size",
    )
    return {
        "schema": 1, "name": source.name, "sha256": source.sha256, "folder": str(source.folder), "note": source.note,
        "model_type": config.get("model_type"), "window": source.window,
        **{name: shape.get(name) for name in names},
        "evidence": profile_state(source),
    }  # fmt: skip


def model_text(info: dict[str, Any]) -> str:
    """Human form of ``softlookup model info``."""
    return "\n".join(
        f"{key}: {printable(str(value))}" for key, value in info.items() if key != "schema" and value is not None
    )
