"""Rung 0b: can the rows of the question look at the expected place at all? Reads the masks of the actual pass."""

from __future__ import annotations

from softlookup.diagnostics.case import Case
from softlookup.diagnostics.diagnosis import Hit, Step, Test
from softlookup.runtime.attention_calls import AttentionCall


def out_of_reach(case: Case) -> Step:
    """0b: in how many layers a row of the question sees a token of the place; local layers apart from global ones."""
    if case.place is None:
        return Step(())
    reached: dict[int, float] = {}
    local: set[int] = set()
    columns = case.place_columns

    def look(call: AttentionCall) -> None:
        rows = slice(0, case.suffix.question_length)
        if call.sliding_window is not None:
            local.add(call.layer)
        if call.visible is None:
            reached[call.layer] = 1.0
        else:
            reached[call.layer] = float(call.visible[rows][:, columns].any(dim=0).float().mean())

    # the pass of an answer, whose mask is the model's own; nothing is decoded
    case.reading.prefilled.answer(case.suffix, max_new_tokens=1, callback=look, wanted=lambda: False)
    seeing = [layer for layer, share in reached.items() if share > 0]
    seeing_local = [layer for layer in seeing if layer in local]
    tests = [
        Test("0b", "layers_that_reach", float(len(seeing)), 1.0, bool(seeing),
             f"of {len(reached)} layers, those where a row of the question sees a token of the expected place"),
        Test("0b", "share_reached", max(reached.values()), None, None,
             "largest share of the place's tokens that a row of the question sees in one layer"),
    ]  # fmt: skip
    facts = {"layers": str(len(reached)), "seeing": str(len(seeing)), "local": str(len(local))}
    facts |= {"columns": f"{columns.min()}-{columns.max()}" if len(columns) else "-"}
    if not seeing:
        return Step(tuple(tests), Hit("masked", "", facts))
    if local and not seeing_local and len(local) < len(reached):
        detail = f"of {len(local)} layers with a sliding window, those whose window reaches the expected place"
        tests.append(Test("0b", "local_layers_that_reach", 0.0, 1.0, passed=False, detail=detail))
        return Step(tuple(tests), Hit("out_of_reach", "", facts))
    return Step(tuple(tests))
