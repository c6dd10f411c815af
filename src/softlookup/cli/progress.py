"""A progress bar on stderr, when stderr is a terminal; silence otherwise."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from softlookup.runtime.progress import Progress, no_progress

_LABELS = {
    "download": "fetching the model",
    "convert": "converting the model (once)",
    "load": "loading the model",
    "prefill": "reading the document",
    "calibrate": "running the question bank",
    "answer": "answering",
    "profile": "ranking planted questions",
    "time": "timing the model",
}


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """A :class:`Progress` that draws one bar per phase; it clears itself at the end."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(phase: str, fraction: float) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(_LABELS.get(phase, phase), total=1.0)
            bars.update(tasks[phase], completed=fraction, visible=fraction < 1.0)

        yield report
