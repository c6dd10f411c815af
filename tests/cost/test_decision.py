"""The choice, its reason, a strategy that is asked for, and the change that would help most."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.cost.devices import find_device
from softlookup.cost.kv_cache import KVDtypes
from softlookup.cost.model.model_source import find_model
from softlookup.cost.plan import changes
from softlookup.cost.plan.choice import choose
from softlookup.cost.plan.document_plan import TokenInterval, plan_document
from softlookup.cost.plan.losses import DocumentOutline, Unread, cut_by_windows
from softlookup.cost.plan.plan_texts import say, seconds_text, text_keys
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.plan.strategies import strategy_costs
from softlookup.cost.pool import pool_of
from softlookup.errors import CapacityError, UsageError

NEVER = Unread(0, 0, 0)


def request(tokens=50_000, model="Llama-3.1-8B", device="H100", **options):
    return PlanRequest(find_model(model), tokens, find_device(device), **options)


def long_on_a_processor(**options):
    """Two cores, whose full context of 200,000 tokens would take hours, and hybrid minutes."""
    device = replace(find_device("Ryzen-7950X"), flops=1.9e11, fp32_flops=1.9e11, bandwidth=2.4e10)
    options = {"evidence_layers": 19, **options}
    return PlanRequest(find_model("SmolLM2-135M"), 200_000, device, **options)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_strategy_that_was_asked_for_gives_a_whole_reason(language):
    """Planted before: "as asked; " where nothing else was to be said."""
    found = plan_document(request(1000, language=language), strategy="retrieval")
    assert found.decision.strategy == "retrieval"
    assert found.decision.reason == say(language, "asked")


def test_hybrid_gives_way_to_retrieval_where_it_takes_too_long():
    found = plan_document(long_on_a_processor())
    hybrid = found.chosen
    assert found.decision.strategy == hybrid.name == "hybrid"
    needed = hybrid.first_answer.value
    for limit, expected in ((needed * 1.01, "hybrid"), (needed * 0.99, "retrieval")):
        found = plan_document(long_on_a_processor(max_seconds=limit))
        assert found.decision.strategy == expected
        assert f"{seconds_text(needed)}" in found.decision.reason
        assert f"limit {seconds_text(limit)}" in found.decision.reason


def test_many_questions_pay_for_windows():
    """Beyond the limit hybrid is chosen questions or more at which its total is that of retrieval."""
    asked = replace(long_on_a_processor(max_seconds=1), model=find_model("Llama-3.1-8B"), evidence_layers=21)
    rows = {row.name: row for row in strategy_costs(asked, pool_of(asked))}
    full = [replace(row, obstacle="planted") if row.name == "full_context" else row for row in rows.values()]
    hybrid, retrieval = rows["hybrid"], rows["retrieval"]
    assert not hybrid.obstacle
    saved = retrieval.next_answer.value - hybrid.next_answer.value
    crossing = (hybrid.first_answer.value - hybrid.next_answer.value) / saved
    assert crossing > 2
    for questions, expected in ((int(crossing), "retrieval"), (int(crossing) + 1, "hybrid")):
        assert choose(replace(asked, questions=questions), full) == expected
    reason = plan_document(replace(asked, questions=int(crossing) + 1)).decision.reason
    assert "no longer than by retrieval" in reason


def test_hybrid_stays_where_nothing_else_is_left():
    asked = long_on_a_processor(max_seconds=1)
    rows = strategy_costs(asked, pool_of(asked))
    assert choose(asked, rows) == "retrieval"
    blocked = [replace(row, obstacle="planted") if row.name == "retrieval" else row for row in rows]
    assert choose(asked, blocked) == "hybrid"
    blocked = [replace(row, obstacle="planted") for row in rows]
    assert choose(asked, blocked) == "none"


def test_questions_are_part_of_the_reason():
    one = plan_document(request(100_000)).decision
    many = plan_document(request(100_000, questions=50))
    assert one.strategy == many.decision.strategy == "full_context"
    assert re.search(r"faster than retrieval for \d+ questions or more", one.reason)
    assert "50 questions" not in one.reason
    rows = {row.name: row for row in many.strategies}
    full, retrieval = (seconds_text(rows[name].total_seconds(50)) for name in ("full_context", "retrieval"))
    assert f"50 questions take {full}, by retrieval {retrieval}" in many.decision.reason


@pytest.mark.parametrize("strategy", ["full_context", "retrieval", "hybrid"])
def test_a_strategy_that_is_asked_for(strategy):
    found = plan_document(request(strategy and 50_000), strategy=strategy)
    assert found.decision.strategy == strategy
    assert found.decision.reason.startswith("as asked")


def test_one_that_is_not_possible_is_refused_with_figures():
    with pytest.raises(CapacityError, match=r"full_context is not possible: 200,000 tokens .* 8,192") as caught:
        plan_document(long_on_a_processor(), strategy="full_context")
    assert caught.value.exit_code == 6
    assert "retrieval or hybrid" in caught.value.remedy
    with pytest.raises(CapacityError, match=r"its KV needs 13\.1 GB"):
        plan_document(request(100_000, device="RTX-4090"), strategy="full_context")
    with pytest.raises(CapacityError, match="a smaller model"):
        plan_document(request(1000, "DeepSeek-V3", "RTX-4090"), strategy="retrieval")


def test_an_unknown_strategy():
    with pytest.raises(UsageError, match="'windows' is not known"):
        plan_document(request(), strategy="windows")


# --- the change that would help most


def outcome(asked):
    pool = pool_of(asked)
    rows = strategy_costs(asked, pool)
    chosen = choose(asked, rows)
    total = next((row.total_seconds(asked.questions) for row in rows if row.name == chosen), float("inf"))
    return changes._ORDER.index(chosen), total


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (request(100_000, device="RTX-4090"), "weights of"),  # 16 GB of weights leave too little for 13 GB of KV
        (request(3_000, "Llama-2-7B", questions=1000), "weights of 4 bits"),
        (request(20_000, "Llama-2-7B"), "a model trained for"),
        (request(100_000, "Phi-3-mini", questions=100), "KV"),  # 32 KV heads: the cache is what a token reads
        (request(1_000, "Llama-3.1-70B", "A100-80GB"), "weights of"),
    ],
)
def test_the_largest_gain_is_named(asked, expected):
    """Every alternative is planned here again: none beats the one that is named."""
    found = plan_document(asked)
    pool = pool_of(asked)
    rank, total = outcome(asked)
    options = {text: outcome(changed) for text, changed in changes.alternatives(asked, pool)}
    named = next(text for text in options if found.decision.change.startswith(f"{text}: "))
    best = max(options.values(), key=lambda each: (each[0], -each[1]))
    assert options[named] == best
    assert best[0] > rank or total / best[1] >= 1.1
    assert expected in named


def test_grouped_heads_help_where_the_cache_is_the_cost():
    asked = request(120_000, "Phi-3-mini", "A100-80GB", questions=100, kv=KVDtypes("fp8", "fp8"))
    found = plan_document(asked).decision.change
    assert found.startswith("a model with 8 KV heads (GQA): ")
    # a model that has them already is offered none
    texts = [text for text, _ in changes.alternatives(request(), pool_of(request()))]
    assert not any("GQA" in text for text in texts)


def test_more_memory_is_what_is_missing():
    asked = request(100_000, "Llama-3.1-8B", "RTX-4090", kv=KVDtypes("fp8", "fp8"))
    offered = dict(changes.alternatives(asked, pool_of(asked)))
    text = next(text for text in offered if "more memory" in text)
    assert outcome(asked)[0] < outcome(offered[text])[0] == 3
    less = replace(offered[text].device, memory=0.99 * offered[text].device.memory)
    assert outcome(replace(offered[text], device=less))[0] < 3


def test_a_slower_strategy_beyond_the_limit_is_no_gain():
    asked = long_on_a_processor()
    whole = plan_document(asked).strategies[0].first_answer.value
    assert whole > asked.max_seconds
    assert not plan_document(asked).decision.change.startswith("a model trained for")
    assert plan_document(replace(asked, max_seconds=2 * whole)).decision.change.startswith("a model trained for")


def test_nothing_helps_is_said():
    asked = long_on_a_processor()
    found = plan_document(asked).decision.change
    assert found.startswith("none of the ")
    assert "KV in 8 bits" in found


# --- the document's own losses


def outline(references=(), unread=NEVER):
    return DocumentOutline(120, tuple(references), lambda _: unread)


@given(
    st.lists(st.tuples(st.integers(0, 999), st.integers(0, 999)), max_size=20), st.integers(9, 400)
)  # fmt: skip
def test_references_that_windows_cut(references, room):
    """By search over all windows: one holds both ends, or the reference is cut."""
    from softlookup.cost.plan.strategies import window_count, window_step

    step, count = window_step(room), window_count(1000, room)
    windows = [range(number * step, number * step + room) for number in range(count)]
    expected = sum(not any(a in window and b in window for window in windows) for a, b in references)
    assert cut_by_windows(outline(references), count, room, step) == expected


def test_losses_are_those_of_the_document():
    asked = long_on_a_processor()
    references = ((0, 100), (0, 199_000), (50_000, 51_000))
    found = plan_document(asked, outline(references, Unread(90, 40, 7)))
    rows = {row.name: row for row in found.strategies}
    assert rows["retrieval"].loses == (
        "about 90 of 120 clauses unread; about 7 of the 40 cross references in what is read point into unread text"
    )
    assert rows["hybrid"].loss.to_dict() == {"clauses": 120, "unread_clauses": 90, "references": 3,
                                             "cut_references": 1}  # fmt: skip
    assert "1 of 3 cross references" in rows["hybrid"].loses
    assert rows["full_context"].loss is None  # not possible here
    assert plan_document(asked).strategies[1].loss is None


def test_a_short_document_loses_nothing():
    found = plan_document(request(1500), outline(unread=Unread(9, 9, 9)))
    assert [row.loss for row in found.strategies] == [None] * 3
    assert found.strategies[1].loses.startswith("nothing")


# --- a number of tokens that is not exact


def test_figures_carry_the_interval_of_the_tokens():
    asked = request(100_000)
    plain, found = plan_document(asked), plan_document(asked, interval=TokenInterval(80_000, 130_000, "elsewhere"))
    cache = found.figures["kv_bytes"]
    assert (cache.kind, cache.low, cache.value, cache.high) == (
        "prior", 80_000 * 131_072, 100_000 * 131_072, 130_000 * 131_072,
    )  # fmt: skip
    assert found.figures["tokens"].to_dict()["low"] == 80_000
    for name in ("weight_bytes", "parameters", "kv_bytes_per_token"):
        assert found.figures[name] == plain.figures[name]
    for narrow, wide in zip(plain.strategies, found.strategies, strict=True):
        assert wide.first_answer.low < narrow.first_answer.low
        assert wide.first_answer.high > narrow.first_answer.high
    assert any("80,000 to 130,000" in line for line in found.warnings)
    assert not any("it would be" in line for line in found.warnings)


def test_a_limit_that_changes_the_choice_is_told():
    found = plan_document(request(125_000), interval=TokenInterval(100_000, 160_000, "elsewhere"))
    assert found.decision.strategy == "full_context"
    assert any("with 160,000 tokens" in line and "hybrid" in line for line in found.warnings)


# --- words


def test_both_languages_say_the_same():
    assert text_keys("en") == text_keys("zh")
    for key in text_keys("en"):
        fields = [set(re.findall(r"\{(\w+)", say_raw(language, key))) for language in ("en", "zh")]
        assert fields[0] == fields[1], key


def say_raw(language, key):
    from softlookup.cost.plan import plan_texts

    return plan_texts._TEXTS[language][key]


@pytest.mark.parametrize(
    "asked",
    [long_on_a_processor(), long_on_a_processor(max_seconds=1), request(questions=9),
     request(1000, "DeepSeek-V3", "RTX-4090"), request(100_000, device="RTX-4090", concurrency=3),
     request(5000, max_context_tokens=300)],
)  # fmt: skip
def test_chinese_plans_are_chinese(asked):
    found = plan_document(replace(asked, language="zh"), outline(((0, 150_000),), Unread(90, 40, 7)))
    plain = plan_document(asked)
    assert found.decision.strategy == plain.decision.strategy
    texts = [found.decision.reason, found.decision.change, *(row.loses for row in found.strategies),
             *(row.obstacle for row in found.strategies if row.obstacle)]  # fmt: skip
    for text in texts:
        assert re.search(r"[\u4e00-\u9fff]", text), text
        assert not re.search(r"\b(the|tokens|than|possible|questions|and)\b", text), text
    assert say("zh", "hybrid") == "窗口混合"
