"""The plan: full context exactly as long as it fits, and a reason that states the figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.cost.strategy import FINAL_CONTEXT_TOKENS, MAX_QUESTION_TOKENS, RESERVED_TOKENS, choose_strategy


@pytest.mark.parametrize(
    ("tokens", "expected"), [(0, "full_context"), (7424, "full_context"), (7425, "hybrid"), (10**6, "hybrid")]
)
def test_the_boundary_is_exact(tokens, expected):
    strategy = choose_strategy(tokens, 8192)
    assert strategy.strategy == expected
    assert strategy.window == 8192
    assert strategy.document_tokens == tokens
    assert strategy.context_tokens == (tokens if expected == "full_context" else FINAL_CONTEXT_TOKENS)
    assert strategy.window_tokens == (0 if expected == "full_context" else 8192 - RESERVED_TOKENS)
    assert f"{tokens:,} tokens" in strategy.reason
    assert ("8,192" if expected == "full_context" else "7,424") in strategy.reason


def test_the_users_limit_counts_and_is_named():
    strategy = choose_strategy(2000, 8192, max_context_tokens=1000)
    assert (strategy.strategy, strategy.context_tokens) == ("retrieval", 1000)
    assert "the limit of 1,000 context tokens" in strategy.reason
    assert choose_strategy(1000, 8192, max_context_tokens=1000).strategy == "full_context"
    # a limit beyond the window is none
    beyond = choose_strategy(9000, 8192, max_context_tokens=100_000)
    assert (beyond.strategy, beyond.context_tokens) == ("retrieval", 8192 - RESERVED_TOKENS)
    assert "100,000" not in beyond.reason


def test_no_room_is_refused():
    with pytest.raises(ValueError, match="window of 768 tokens leaves no room"):
        choose_strategy(10, RESERVED_TOKENS)
    assert choose_strategy(1, RESERVED_TOKENS + 1).strategy == "full_context"
    assert choose_strategy(10, 100, reserved=50).context_tokens == 10


@given(st.integers(0, 10**6), st.integers(769, 10**6), st.none() | st.integers(1, 10**6))
def test_context_question_and_answer_always_fit_the_window(tokens, window, limit):
    strategy = choose_strategy(tokens, window, max_context_tokens=limit)
    assert strategy.context_tokens <= tokens
    assert strategy.context_tokens + RESERVED_TOKENS <= window
    assert limit is None or strategy.context_tokens <= limit
    assert (strategy.strategy == "full_context") == (strategy.context_tokens == tokens)


def test_the_reserve_holds_the_longest_question_and_the_usual_answer():
    from softlookup.session import DEFAULT_ANSWER_TOKENS

    template = 100  # more than any chat template around the two texts
    assert MAX_QUESTION_TOKENS + DEFAULT_ANSWER_TOKENS + template <= RESERVED_TOKENS
