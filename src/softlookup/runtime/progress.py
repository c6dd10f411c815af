"""How long work reports that it is still going; drawing it is the command line's business."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with a phase ("convert", "load", "prefill", "calibrate", "answer") and a fraction of it done."""

    def __call__(self, phase: str, fraction: float) -> None:
        """Report that ``fraction`` (0 to 1) of ``phase`` is done."""


def no_progress(phase: str, fraction: float) -> None:
    """Report to nobody."""
