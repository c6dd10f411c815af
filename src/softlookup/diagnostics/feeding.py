"""Rungs 0a and 0c: was the expected text fed, and at positions that the model was trained for? Runs no model."""

from __future__ import annotations

import numpy as np

from softlookup.diagnostics.case import Case
from softlookup.diagnostics.diagnosis import Hit, Step, Test
from softlookup.documents.model import Span

# blanks at the joints of passages are not fed; words are
_WHOLE = 0.98


def not_fed(case: Case) -> Step:
    """0a: the text of the expected place is in the reading text, in the context, and in the tokens of the prompt."""
    place = case.place
    if place is None:
        return Step(())
    there = place.span is not None
    found = Test(
        "0a", "in_reading_text", float(there), 1.0, there,
        "the expected words are in the text that `softlookup read` prints" if place.elsewhere is None
        else f"the expected words are not in the reading text: {place.elsewhere.kind} ({place.elsewhere.where})",
    )  # fmt: skip
    if place.elsewhere is not None:
        return Step((found,), Hit("not_fed", place.elsewhere.kind, {"where": place.elsewhere.where}))
    share = _share_fed(case)
    fed = Test(
        "0a", "share_in_context", share, _WHOLE, share >= _WHOLE,
        "share of the characters of the expected place in the context that the model was given",
    )  # fmt: skip
    tests = [found, fed]
    if case.fed.rank is not None:
        detail = "rank of the expected place by the words of the question (BM25), which retrieval goes by"
        tests.append(Test("0a", "rank_by_words", float(case.fed.rank), None, None, detail))
    facts = {
        "share": f"{share:.0%}", "read": f"{case.fed.context_tokens:,}", "total": f"{case.fed.document_tokens:,}",
        "rank": "-" if case.fed.rank is None else str(case.fed.rank),
    }  # fmt: skip
    if share < _WHOLE:
        return Step(tuple(tests), Hit("not_fed", "retrieval" if case.fed.retrieved else "truncated", facts))
    held = _share_in_tokens(case)
    tests.append(Test("0a", "share_in_tokens", held, _WHOLE, held >= _WHOLE, "the same in the tokens of the prompt"))
    return Step(
        tuple(tests), None if held >= _WHOLE else Hit("not_fed", "truncated", {**facts, "share": f"{held:.0%}"})
    )


def beyond_window(case: Case, answer_tokens: int) -> Step:
    """0c: the last token of the prompt with its answer, and of the expected place, lie in the trained window."""
    window = trained_window(case)
    total = len(case.prefix) + len(case.suffix) + answer_tokens
    inside = total <= window
    tests = [
        Test(
            "0c", "prompt_length", float(total), float(window), inside, "tokens of the prompt with question and answer"
        )
    ]
    last = None
    if case.place is not None and len(case.place_columns):
        last = int(case.place_columns.max())
        detail = "position of the last token of the expected place"
        tests.append(Test("0c", "place_position", float(last), float(window), last < window, detail))
    if inside:
        return Step(tuple(tests))
    facts = {"position": f"{total if last is None else last:,}", "total": f"{total:,}", "window": f"{window:,}"}
    return Step(tuple(tests), Hit("beyond_window", "" if last is None or last < window else "place", facts))


def trained_window(case: Case) -> int:
    """Tokens that the model was trained for; with scaled rotary positions what the scaling promises."""
    stated = case.loaded.window
    config = case.loaded.model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    original, factor = rope.get("original_max_position_embeddings"), rope.get("factor")
    if isinstance(original, int) and isinstance(factor, (int, float)):
        return min(stated, int(original * factor))
    return stated


def _share_fed(case: Case) -> float:
    """Share of the characters of the place, blanks not counted, that the context holds."""
    span, text = case.span, case.document.text
    wanted = len("".join(text[span.start : span.end].split()))
    held = 0
    for fed in case.fed.context.spans:
        if span.overlap(fed):
            part = Span(max(span.start, fed.start), min(span.end, fed.end))
            held += len("".join(text[part.start : part.end].split()))
    return held / max(1, wanted)


def _share_in_tokens(case: Case) -> float:
    """The same by the character ranges of the tokens."""
    context, offsets = case.fed.context, case.prefix.offsets
    covered = np.zeros(len(context.text) + 1, dtype=bool)
    for start, end in offsets:
        covered[start:end] = True
    span, text = case.span, case.document.text
    places = [context.to_context(at) for at in range(span.start, span.end) if not text[at].isspace()]
    held = [place is not None and bool(covered[place]) for place in places]
    return sum(held) / max(1, len(held))
