"""The course page's numbers and checkable claims, each computed again: ``softlookup learn --audit``.

Rows stand in ``rows_*.py`` by the page's sections; verdicts follow from what is computed (``row.settle``).
"""

from __future__ import annotations

from softlookup.learn.audit.render import audit_table, row_as_dict
from softlookup.learn.audit.rows import audit_row, audit_rows

__all__ = ["audit_row", "audit_rows", "audit_table", "row_as_dict"]
