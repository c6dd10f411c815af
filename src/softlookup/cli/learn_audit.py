"""``softlookup learn --audit``: the course page's claims, each beside what is computed here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from softlookup.cli.escape import json_line, printable
from softlookup.errors import ExitCode

if TYPE_CHECKING:
    from softlookup.learn.quiz.question import Language


def audit(name: str, language: Language, *, as_json: bool) -> ExitCode:
    """The whole table, or the row called ``name``. Raises ``UsageError`` for an unknown row."""
    from softlookup.learn.audit import audit_row, audit_rows, audit_table, row_as_dict
    from softlookup.learn.audit.render import row_text

    if as_json:
        rows = [audit_row(name)] if name else audit_rows()
        sys.stdout.write(json_line({"schema": 1, "rows": [row_as_dict(row, language) for row in rows]}) + "\n")
    else:
        sys.stdout.write(printable(row_text(audit_row(name), language) if name else audit_table(language)))
    return ExitCode.OK
