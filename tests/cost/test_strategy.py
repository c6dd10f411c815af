"""The boundary of the plan: full context exactly as long as it fits, and contexts that always fit the window."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.cost.model.model_source import find_model
from softlookup.cost.plan.document_plan import plan_document
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.plan.strategy import FINAL_CONTEXT_TOKENS, MAX_QUESTION_TOKENS, RESERVED_TOKENS
from softlookup.errors import CapacityError

MODEL = find_model("SmolLM2-135M")
# no time limit: the boundary is the window's
EVER = 3_000_000_000.0


def model_with_window(window):
    return replace(MODEL, shape=replace(MODEL.shape, context=window))


def planned(tokens, window=8192, **changes):
    return plan_document(PlanRequest(model_with_window(window), tokens, max_seconds=EVER, **changes))


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (1, "full_context"),
        (7424, "full_context"),
        (7425, "retrieval"),
        (29_695, "retrieval"),
        (29_696, "hybrid"),
        (10**6, "hybrid"),
    ],
)
def test_the_boundary_is_exact(tokens, expected):
    plan = planned(tokens)
    assert plan.decision.strategy == plan.chosen.name == expected
    if expected == "full_context":
        assert plan.chosen.fed == tokens
        assert f"{tokens:,} tokens fit window and memory" in plan.decision.reason
    elif expected == "retrieval":
        assert plan.chosen.fed == 7424
        assert "finds more than windows do" in plan.decision.reason
    else:
        assert (plan.chosen.fed, plan.chosen.window_tokens) == (FINAL_CONTEXT_TOKENS, 8192 - RESERVED_TOKENS)
        assert "8,192" in plan.decision.reason
        assert plan.chosen.seen == tokens


def test_the_users_limit_counts_and_is_named():
    plan = planned(2000, max_context_tokens=1000)
    assert (plan.chosen.name, plan.chosen.fed) == ("retrieval", 1000)
    assert "the limit of 1,000 context tokens" in plan.decision.reason
    assert planned(1000, max_context_tokens=1000).chosen.name == "full_context"
    # a limit beyond the window is none
    beyond = planned(9000, max_context_tokens=100_000)
    assert (beyond.chosen.name, beyond.chosen.fed) == ("retrieval", 8192 - RESERVED_TOKENS)
    assert "100,000" not in beyond.decision.reason


def test_a_longer_answer_leaves_less_room():
    assert planned(7424, answer_tokens=80).chosen.name == "full_context"
    assert planned(7424, answer_tokens=81).chosen.name == "retrieval"


def test_no_room_is_no_strategy():
    nothing = planned(10, RESERVED_TOKENS)
    assert nothing.decision.strategy == "none"
    assert nothing.chosen is None
    assert "leaves no room" in nothing.decision.reason
    assert planned(1, RESERVED_TOKENS + 1).chosen.name == "full_context"


def test_one_that_is_asked_for_and_not_possible_is_refused():
    request = PlanRequest(MODEL, 9000, max_seconds=EVER)
    with pytest.raises(CapacityError, match="full_context is not possible: 9,000 tokens"):
        plan_document(request, strategy="full_context")
    for name in ("retrieval", "hybrid"):
        assert plan_document(request, strategy=name).chosen.name == name


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 10**6), st.integers(769, 10**6), st.none() | st.integers(1, 10**6))
def test_context_question_and_answer_always_fit_the_window(tokens, window, limit):
    plan = planned(tokens, window, max_context_tokens=limit)
    chosen = plan.chosen
    assert chosen is not None
    assert chosen.fed <= tokens
    assert max(chosen.fed, chosen.window_tokens) + RESERVED_TOKENS <= window
    assert limit is None or chosen.fed <= limit
    assert (chosen.name == "full_context") == (tokens <= min(window - RESERVED_TOKENS, limit or tokens))


def test_the_reserve_holds_the_longest_question_and_the_usual_answer():
    from softlookup.session import DEFAULT_ANSWER_TOKENS

    template = 100  # more than any chat template around the two texts
    assert MAX_QUESTION_TOKENS + DEFAULT_ANSWER_TOKENS + template <= RESERVED_TOKENS
