"""All rows in the order of the page; finds one by its name."""

from __future__ import annotations

import difflib
from functools import cache

from softlookup.errors import UsageError
from softlookup.learn.audit.row import AuditRow

# sections as a reader meets them
SECTIONS = (
    "head", "0", "1", "1.1", "2", "2.1", "2.2", "2.3", "2.4", "3", "3.1", "4", "4.1", "4.2", "4.3", "4.4", "4.5", "5",
    "5.1", "5.2", "5.3", "5.4", "6", "7", "8", "9", "10", "11", "quiz",
)  # fmt: skip


@cache
def audit_rows() -> tuple[AuditRow, ...]:
    """Every row; nothing is computed yet."""
    from softlookup.learn.audit.rows_contract import CONTRACT
    from softlookup.learn.audit.rows_divided import DIVIDED
    from softlookup.learn.audit.rows_examples import EXAMPLES
    from softlookup.learn.audit.rows_failures import FAILURES
    from softlookup.learn.audit.rows_intensity import INTENSITY
    from softlookup.learn.audit.rows_model import MODEL
    from softlookup.learn.audit.rows_scaling import SCALING
    from softlookup.learn.audit.rows_scene import SCENE
    from softlookup.learn.audit.rows_shapes import SHAPES
    from softlookup.learn.audit.rows_structure import STRUCTURE
    from softlookup.learn.audit.rows_symptoms import SYMPTOMS

    groups = (
        SCENE, INTENSITY, SHAPES, STRUCTURE, SCALING, DIVIDED, EXAMPLES, CONTRACT, FAILURES, SYMPTOMS, MODEL,
    )  # fmt: skip
    rows = (row for group in groups for row in group)
    return tuple(sorted(rows, key=lambda row: SECTIONS.index(row.where)))


def audit_row(name: str) -> AuditRow:
    """The row ``name``. Raises ``UsageError`` with the nearest names for one that does not exist."""
    rows = {row.id: row for row in audit_rows()}
    if name in rows:
        return rows[name]
    near = difflib.get_close_matches(name, rows, 3, 0.4) or [*rows][:3]
    raise UsageError(f"the audit has no row {name!r}", f"use one of its ids, such as {', '.join(near)}")
