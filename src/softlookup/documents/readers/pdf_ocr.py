"""Reads scanned pages on request with the optional extra ``[ocr]``, in a process of its own; no models here."""

from __future__ import annotations

from collections.abc import Sequence

from softlookup.documents.readers import ReadOptions
from softlookup.documents.readers.pdf_account import PageAccount


def read_scans(data: bytes, options: ReadOptions, accounts: Sequence[PageAccount]) -> None:
    """Put lines into the accounts of scanned pages when ``options.ocr`` asks for it."""
