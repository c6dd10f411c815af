"""One run on one document as a single HTML file: for the lawyer who reads it, for the engineer who debugs it."""

from softlookup.ui.report.build import build_report
from softlookup.ui.report.content import MOST_BYTES, Record, ReportInput

__all__ = ["MOST_BYTES", "Record", "ReportInput", "build_report"]
