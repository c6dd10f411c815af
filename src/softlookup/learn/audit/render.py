"""The audit as Markdown in both languages and as JSON; decides nothing."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from softlookup.learn.audit.not_claims import NOT_CLAIMS
from softlookup.learn.audit.row import AuditRow, Fact, Outcome, Value, Verdict, settle
from softlookup.learn.audit.rows import SECTIONS, audit_rows
from softlookup.learn.audit.words import Language, page_words, section_title, verdict_words

FILES: dict[Language, str] = {"en": "page-audit.md", "zh": "page-audit.zh-CN.md"}
_MODEL_MARK = "†"


def audit_page(language: Language, *, with_model: bool = True) -> str:
    """The whole document of ``docs/``; ``with_model`` as in :func:`audit_table`."""
    words = page_words(language)
    counts = Counter(settle(row).verdict for row in audit_rows() if with_model or not row.needs_model)
    shown = [f"{counts[each]} {verdict_words(each, None, language)}" for each in Verdict if counts[each]]
    joined = ", ".join(shown) if language == "en" else "，".join(shown)
    summary = words.counts.format(total=len(audit_rows()), counts=joined)
    parts = [words.title, words.introduction, summary, audit_table(language, with_model=with_model).rstrip()]
    parts += [words.not_claims, _not_claims_table(language), words.untested]
    return "\n\n".join(parts) + "\n"


def audit_table(lang: Language = "en", *, with_model: bool = False) -> str:
    """A Markdown table per section of the page; computes every row, in seconds.

    Rows of the embedded model take half a minute more: without ``with_model`` they only name their command.
    """
    words = page_words(lang)
    blocks = []
    for where in SECTIONS:
        rows = [row for row in audit_rows() if row.where == where]
        if rows:
            table = _table(words.columns, [_cells(row, lang, with_model) for row in rows])
            blocks.append(f"## {section_title(where, lang)}\n\n{table}")
    return "\n\n".join(blocks) + "\n"


def row_text(row: AuditRow, language: Language = "en") -> str:
    """One row in lines, for the terminal."""
    names, cells = page_words(language).columns, _plain_cells(row, language)
    colon = ": " if language == "en" else "："
    return "\n".join(f"{name}{colon}{cell}" for name, cell in zip(names, cells, strict=True)) + "\n"


def row_as_dict(row: AuditRow, lang: Language = "en") -> dict[str, Any]:
    """The row with its outcome, JSON-ready."""
    outcome = settle(row)
    return {
        "id": row.id,
        "where": row.where,
        "claim": row.claim_en if lang == "en" else row.claim_zh,
        "page": row.page,
        "unit": row.unit,
        "value": _json_value(outcome.value, lang),
        "other_reading": None if row.reading is None else (row.reading.en if lang == "en" else row.reading.zh),
        "other_value": None if outcome.other is None else _json_value(outcome.other, lang),
        "verdict": outcome.verdict.value,
        "factor": None if outcome.factor is None else float(f"{outcome.factor:.6g}"),
        "why": why(row, outcome, lang),
        "commands": commands(row),
        "needs_model": row.needs_model,
    }


def commands(row: AuditRow) -> list[str]:
    """What reproduces it."""
    return [f"softlookup learn --audit {row.id}", *([row.command] if row.command else [])]


def why(row: AuditRow, outcome: Outcome, language: Language) -> str:
    """The reason with its numbers filled in."""
    text = row.why_en if language == "en" else row.why_zh
    other = outcome.other
    shown = shown_value(row, other, language) if isinstance(other, Fact) else other
    ours = outcome.value if isinstance(outcome.value, float) else shown_value(row, outcome.value, language)
    return _plain_power(text.format(*outcome.facts, ours=ours, other=shown, factor=outcome.factor))


def shown_value(row: AuditRow, value: Value, language: Language) -> str:
    """A value with its unit."""
    if isinstance(value, Fact):
        return _plain_power(value.en if language == "en" else value.zh)
    page = row.page[0] if isinstance(row.page, tuple) else row.page or ""
    # one that the page prints to five digits is shown to five
    most = max(4, len(page.partition("e")[0].replace(".", "").lstrip("0")))
    if isinstance(value, tuple):
        number = ", ".join(_digits(each, most) for each in value)
    else:
        number = value if isinstance(value, str) else _digits(value, most)
    return f"{number} {row.unit}".strip()


def _digits(number: float, most: int = 4) -> str:
    """``most`` digits of numbers that need no exponent, three of others.

    >>> _digits(5.4975e11), _digits(11.3137), _digits(65504.0), _digits(4.0)
    ('5.5e11', '11.31', '65504', '4')
    """
    if number and not 1e-3 <= abs(number) < 1e6:
        return _plain_power(f"{number:.3g}")
    return str(int(number)) if number == int(number) else f"{number:.{most}g}"


def _plain_power(text: str) -> str:
    """5.5e+11 as 5.5e11, 1e-07 as 1e-7."""
    return re.sub(r"(?<=\d)e([+-])0*(\d+)", lambda found: f"e{'-' if found[1] == '-' else ''}{found[2]}", text)


def _page(row: AuditRow) -> str:
    if row.page is None:
        return ""
    page = row.page if isinstance(row.page, str) else ", ".join(row.page)
    return f"{page} {row.unit}".strip()


def _plain_cells(row: AuditRow, language: Language) -> list[str]:
    outcome = settle(row)
    return [
        row.id + (f" {_MODEL_MARK}" if row.needs_model else ""),
        row.claim_en if language == "en" else row.claim_zh,
        _page(row),
        shown_value(row, outcome.value, language),
        verdict_words(outcome.verdict, outcome.factor, language),
        why(row, outcome, language),
        "; ".join(commands(row)),
    ]


def _cells(row: AuditRow, language: Language, with_model: bool) -> list[str]:
    if row.needs_model and not with_model:
        claim = row.claim_en if language == "en" else row.claim_zh
        texts = [f"{row.id} {_MODEL_MARK}", claim, _page(row), "", page_words(language).needs_model, "", ""]
    else:
        texts = _plain_cells(row, language)
    cells = [cell(text) for text in texts]
    cells[-1] = "<br>".join(f"`{each}`" for each in commands(row))
    return cells


def cell(text: str) -> str:
    r"""Text as one cell of a Markdown table: nothing in it is markup.

    >>> print(cell("|q|^2 < a_b*c*"))
    \|q\|^2 &lt; a\_b\*c\*
    """
    escaped = re.sub(r"([\\`*_\[\]|~])", r"\\\1", " ".join(text.split()))
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


def _table(columns: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _not_claims_table(language: Language) -> str:
    own = [each for each in NOT_CLAIMS if each.numerals == each.where]
    reason = own[0].reason.en if language == "en" else own[0].reason.zh
    rows = [[", ".join(each.where for each in own), page_words(language).own_number, cell(reason)]]
    rows += [
        [
            each.where,
            cell(", ".join(each.numerals.split())),
            cell(each.reason.en if language == "en" else each.reason.zh),
        ]
        for each in NOT_CLAIMS
        if each not in own
    ]
    return _table(page_words(language).not_claims_columns, rows)


def _json_value(value: Value, language: Language) -> Any:
    if isinstance(value, Fact):
        return {"holds": value.holds, "seen": value.en if language == "en" else value.zh}
    if isinstance(value, tuple):
        return [float(f"{each:.6g}") for each in value]
    return value if isinstance(value, str) else float(f"{value:.6g}")
