"""Families of label styles: which styles count together, and which may number the clauses of a document."""

from __future__ import annotations

from softlookup.documents.tree.candidates import Candidate

# numbered across the whole document or namespace; a new one ends every list inside the one before
HARD = (
    "zh-part",
    "zh-subpart",
    "zh-chapter",
    "zh-division",
    "zh-article",
    "part",
    "article",
    "item",
    "section",
    "decimal",
)
MAIN = (*HARD, "decimal1", "decimal1、", "zh-list", "upper-roman.", "upper-letter.")


def family(style: str) -> str:
    """Name of the sequence a style counts in: all multi-part decimals count together."""
    return "decimal" if style.startswith("decimal") and not style.startswith("decimal1") else style


def is_main(candidate: Candidate) -> bool:
    """True when the label may number clauses, not only items of a list."""
    return any(family(reading.style) in MAIN for reading in candidate.label.readings)
