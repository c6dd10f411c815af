"""The whole estimate: decisions over scenarios, break-even, memory, JSON; and the course page's account."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.cost import course
from softlookup.cost.course import course_account, requests_on_80_gb
from softlookup.cost.course_shapes import TOKENS, course_shape
from softlookup.cost.devices import find_device
from softlookup.cost.figures import exact
from softlookup.cost.kv_cache import EnginePolicy, KVDtypes
from softlookup.cost.model.model_source import CostModel, find_model
from softlookup.cost.plan.choice import break_even
from softlookup.cost.plan.estimate import estimate
from softlookup.cost.plan.request import PlanRequest, require_window
from softlookup.cost.plan.strategies import last_window, retrieved_tokens, window_count, window_step
from softlookup.errors import CapacityError, UsageError


def request(tokens=50_000, model="Llama-3.1-8B", device="H100", **options):
    return PlanRequest(find_model(model), tokens, find_device(device), **options)


def plan(*arguments, **options):
    return estimate(request(*arguments, **options))


def rows(found):
    return {row.name: row for row in found.strategies}


def page_model(kv_heads=32):
    shape = replace(course_shape(kv_heads), context=262_144)
    return CostModel(shape, "bf16", exact(2 * shape.parameters, "B"), 2.0, "preset")


@pytest.mark.parametrize(
    ("tokens", "model", "device", "options", "expected"),
    [
        (3_000, "SmolLM2-135M", "auto", {}, "full_context"),
        (3_000, "SmolLM2-135M", "auto", {"questions": 50}, "full_context"),
        (200_000, "SmolLM2-135M", "auto", {}, "hybrid"),
        (200_000, "SmolLM2-135M", "H100", {"questions": 50}, "hybrid"),
        (100_000, "Llama-3.1-8B", "H100", {}, "full_context"),
        (100_000, "Llama-3.1-8B", "RTX-4090", {}, "hybrid"),  # 13 GB of KV beside 16 GB of weights
        (100_000, "Llama-3.1-8B", "H100", {"concurrency": 10}, "hybrid"),
        (100_000, "Llama-3.1-70B", "H100", {}, "none"),
    ],
)
def test_decisions(tokens, model, device, options, expected):
    found = plan(tokens, model, device, **options)
    assert found.decision.strategy == expected
    chosen = rows(found).get(expected)
    assert chosen is None or not chosen.obstacle
    if expected != "full_context":
        assert rows(found)["full_context"].obstacle


def test_the_obstacle_is_told_with_its_figures():
    window = rows(plan(200_000, "SmolLM2-135M"))["full_context"].obstacle
    assert "200,000 tokens beside 768" in window
    assert "trained window of 8,192" in window
    memory = rows(plan(100_000, "Llama-3.1-8B", "RTX-4090"))["full_context"].obstacle
    assert memory.startswith("its KV needs 13.1 GB")


def test_a_document_beyond_the_window_is_an_error_where_it_must_be_read_whole():
    with pytest.raises(CapacityError, match="exceed the trained window of 8,192") as caught:
        require_window(request(200_000, "SmolLM2-135M"))
    assert caught.value.exit_code == 6
    require_window(request(7_000, "SmolLM2-135M"))


def test_room_for_the_answer_is_reserved():
    assert request(8192 - 768, "SmolLM2-135M").fits_window
    assert not request(8192 - 767, "SmolLM2-135M").fits_window
    assert not request(8192 - 768, "SmolLM2-135M", answer_tokens=81).fits_window


def test_break_even_by_simulation():
    found = rows(plan(100_000, "Llama-3.1-8B", "H100", answer_tokens=200))
    full, retrieval = found["full_context"], found["retrieval"]
    crossing = break_even(full, retrieval)
    # full pays its prefill once; from the crossing on it has spent less
    prefill = full.first_answer.value - full.next_answer.value
    spent = [prefill + count * full.next_answer.value - count * retrieval.next_answer.value
             for count in (math.floor(crossing), math.ceil(crossing))]  # fmt: skip
    assert spent[0] >= 0 >= spent[1]


def test_break_even_of_the_page():
    """MHA: decoding on the full cache is so slow that full context never wins; with 8 KV heads after about 54.

    The page knows no off-topic bank.
    """
    options = {"device": find_device("H100"), "answer_tokens": 200, "bank_tokens": 0}
    mha, gqa = (estimate(PlanRequest(page_model(heads), TOKENS, **options)) for heads in (32, 8))
    assert mha.decision.break_even is None
    assert gqa.decision.break_even == pytest.approx(54, rel=0.12)
    # MHA fits the card once, so full context is still offered, and what it costs is told
    assert "retrieval wins for any number" in mha.decision.reason
    assert "8 KV heads" in mha.decision.change or "8 bits" in mha.decision.change


def test_requests_that_run_at_once():
    """The page's model on 80 GB: 1, with fp8 KV 2, with 8 KV heads 4, with both 9."""
    fp8 = KVDtypes("fp8", "fp8")
    found = [int(requests_on_80_gb(heads, types)) for heads in (32, 8) for types in (None, fp8)]
    assert found == [1, 2, 4, 9]
    engine = EnginePolicy("vllm")
    assert estimate(PlanRequest(page_model(), TOKENS, find_device("H100"), engine=engine)).pool.requests.value == 1


def test_a_batch_decodes_more_slowly_each():
    one, four = (rows(plan(20_000, concurrency=count))["full_context"].next_answer.value for count in (1, 4))
    assert one < four < 4 * one


@given(st.integers(1, 10**6), st.integers(16, 10**5))
def test_windows_cover_the_document(tokens, room):
    count, last = window_count(tokens, room), last_window(tokens, room)
    assert (count == 1) == (tokens <= room)
    assert 1 <= last <= room
    assert (count - 1) * window_step(room) + last == tokens
    # the last window brings something that the one before it lacks
    assert count == 1 or last > room - window_step(room)


@given(st.integers(1, 10**6), st.sampled_from(["SmolLM2-135M", "Llama-3.1-8B"]))
def test_a_retrieved_context_fits(tokens, model):
    found = request(tokens, model)
    assert 1 <= retrieved_tokens(found) <= min(tokens, found.room)


def test_intervals_and_kinds():
    found = plan(100_000)
    for name, figure in found.figures.items():
        assert figure.low <= figure.value <= figure.high, name
        assert figure.kind == "exact" or figure.source or figure.formula
    kinds = {name: figure.kind for name, figure in found.figures.items()}
    assert kinds["parameters"] == kinds["weight_bytes"] == kinds["flops.attention"] == kinds["kv_bytes"] == "exact"
    assert kinds["prefill_seconds"] == kinds["decode_ms_per_token"] == kinds["max_concurrency"] == "prior"
    assert plan(100_000, engine=EnginePolicy("llama.cpp")).figures["kv_bytes"].kind == "version-bound"


def test_json_has_plain_numbers():
    found = json.loads(json.dumps(plan(100_000).to_dict(), allow_nan=False))
    for name in ("parameters", "active_parameters", "weight_bytes", "kv_bytes", "kv_bytes_per_token",
                 "score_matrix_bytes", "max_concurrency"):  # fmt: skip
        assert isinstance(found[name], int), name
        assert found["figures"][name]["value"] == found[name]
    assert found["flops"]["total"] == sum(v for name, v in found["flops"].items() if name != "total")
    assert set(found["flops"]) == {"projections", "attention", "ffn", "lm_head", "total"}
    assert [row["name"] for row in found["strategies"]] == ["full_context", "retrieval", "hybrid"]
    for row in found["strategies"]:
        assert row["first_answer_seconds"] >= row["next_answer_seconds"] > 0
        assert row["memory_bytes"] > found["weight_bytes"]
        assert row["loses"]
    assert sum(found["kv_bytes_by_layer"]) == found["kv_bytes"] == 100_000 * 131_072


@pytest.mark.parametrize(
    ("options", "message"),
    [({"tokens": 0}, "--tokens must lie"), ({"tokens": -1}, "--tokens must lie"), ({"tokens": 1 << 60}, "--tokens"),
     ({"answer_tokens": 0}, "--answer-tokens"), ({"questions": -3}, "--questions"),
     ({"concurrency": 0}, "--concurrency"),
     ({"utilisation": 1.5}, "utilisation")],
)  # fmt: skip
def test_absurd_numbers(options, message):
    with pytest.raises(UsageError, match=message):
        request(**options)


def test_hybrid_reads_less_at_once_where_memory_is_short():
    found = rows(plan(100_000, "Llama-3.1-8B", "RTX-4090"))
    assert not found["hybrid"].obstacle
    assert found["hybrid"].memory.value < found["full_context"].memory.value


# --- the course page


def test_the_page_is_reproduced_and_corrected():
    lines = {line.what: line for line in course_account()}
    page = {"score matrix, fp16": 1.1e12, "KV per layer": 2.1e9, "KV of 24 layers": 51.5e9, "FFN": 8.4e14,
            "total": 8.0e15,
            "QK^T and AV": 6.8e15, "Q, K, V and output projections": 4.2e14, "prefill": 8, "decode per token": 0.017,
            "200 tokens of answer": 3.4, "one question": 11.5, "retrieval, seconds": 0.72, "scores of QK^T": 5.5e11,
            "T = 4096, d = 4096: QK^T and AV": 6.9e10, "projection weights per layer": 67.1e6,
            "saving of retrieval": 11, "retrieval, 8 x 4k": 7.2e14}  # fmt: skip
    for what, value in page.items():
        assert lines[what].page_value == pytest.approx(value, rel=0.03), what
    right = {"score matrix, fp16": 26.4e12, "KV of 24 layers": 51.5e9, "QK^T and AV": 3.38e15, "total": 4.64e15,
             "prefill": 8.2, "decode per token": 0.0232, "200 tokens of answer": 4.65, "one question": 12.8,
             "retrieval, 8 x 4k": 5.28e14, "retrieval, seconds": 0.94, "saving of retrieval": 8.8,
             "contracts at once on 80 GB": 1, "T = 4096, d = 4096: QK^T and AV": 2.75e11,
             "logits of all positions, fp32": 67e9, "softmax exponentials": 6.6e12}  # fmt: skip
    for what, value in right.items():
        assert lines[what].right == pytest.approx(value, rel=0.01), what
    assert (lines["prefill"].low, lines["prefill"].high) == pytest.approx((7.2, 11.7), rel=0.01)


# how the course text writes what the account quotes
WRITTEN = {
    "5.5e11": "5.5×1011", "4.2e14": "4.2×1014", "6.8e15": "6.8×1015", "8.4e14": "8.4×1014", "8.0e15": "8.0×1015",
    "7e14": "7×1014", "6.9e10": "6.9×1010", "6.7e7": "6.7×107", "8 s": "8秒", "17 ms": "17ms", "3.4 s": "3.4s",
    "11 s": "约11s", "17": "1/17", "0.7 s": "0.7秒", "1-2": "1–2", "67.1 million": "6710万", "1": "=1FLOP/byte",
    "11 times": "7×1014", "1.1 TB": "1.1TB", "2.1 GB": "2.1GB", "51.5 GB": "51.5GB", "85%": "85%",
}  # fmt: skip


def test_every_quoted_number_is_on_the_page(shared_data):
    """11 times is the quotient of the page's two totals."""
    text = (shared_data.parent / "course" / "attention-qkv.txt").read_text("utf-8")
    plain = re.sub(r"[\s{}^$]", "", text.replace("\\times", "×"))
    quoted = {line.page for line in course_account() if line.page}
    assert quoted == set(WRITTEN)
    for number, written in WRITTEN.items():
        assert written in plain, number


def test_a_line_that_forgets_the_weights_is_found(monkeypatch):
    """Planted fault: decode without weights gives the page's 17 ms (at the full bandwidth) and no longer 23 ms."""
    monkeypatch.setattr(course, "weights_read", lambda _: 0)
    lines = {line.what: line for line in course_account()}
    assert lines["decode per token"].right == pytest.approx(0.0192, rel=0.01)
