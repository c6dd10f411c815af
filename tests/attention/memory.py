"""How much memory a piece of code holds at its peak, counted by torch's allocator; independent of the machine."""

from __future__ import annotations

from collections.abc import Callable

from torch.autograd.profiler import profile


def peak_bytes(run: Callable[[], object]) -> int:
    """Most bytes of tensors that ``run`` holds at a time beside those that exist before it."""
    with profile(profile_memory=True) as recorded:
        kept = run()  # noqa: F841 - the result counts: it must not be freed in here
    events = [event for event in recorded.kineto_results.events() if event.name() == "[memory]"]
    held = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak
