"""A prefix that is read once answers like one that is read anew; positions are exact; nothing is left behind."""

from __future__ import annotations

import copy

import pytest
import torch

from softlookup.attention.rows import row_scores
from softlookup.errors import CapacityError, ModelError
from softlookup.runtime import prefilled as prefilled_module
from softlookup.runtime.kv_cache import PrefixCache
from softlookup.runtime.load import LoadedModel, load_model
from softlookup.runtime.prefilled import Prefilled, StopForward, prefill
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CONTRACT, CONTRACT_ZH, KINDS, edit_config, edit_weights, save_folder

QUESTIONS = ("Who repairs the jetty?", "Which law governs the agreement?", "谁支付租金？", "What is the fee a month?")


def open_prefix(loaded, text=CONTRACT):
    return prefill(loaded, PromptTemplate(loaded.tokenizer), text)


def in_fp64(loaded: LoadedModel) -> torch.nn.Module:
    return copy.deepcopy(loaded.model).double()


def last_logits(model, ids):
    with torch.inference_mode():
        return model(torch.tensor([list(ids)])).logits[0, -1].double()


def suffix_logits(reading: Prefilled, suffix):
    start = len(reading.prefix)
    with reading._scratch():
        return reading._forward(suffix.ids, range(start, start + len(suffix))).double()


def check_one_pass(loaded, text=CONTRACT) -> None:
    """Prefix and suffix in two passes are as near to fp64 as the model in one fp32 pass."""
    reading = open_prefix(loaded, text)
    exact_model = in_fp64(loaded)
    for question in QUESTIONS[:2]:
        suffix = reading.template.suffix(question)
        ids = (*reading.prefix.ids, *suffix.ids)
        exact, one_pass = last_logits(exact_model, ids), last_logits(loaded.model, ids)
        budget = 4 * float((one_pass - exact).abs().max()) + 64 * torch.finfo(torch.float32).eps * float(
            exact.abs().max()
        )
        difference = float((suffix_logits(reading, suffix) - exact).abs().max())
        assert difference <= budget, f"off by {difference}, allowed {budget}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [CONTRACT, CONTRACT_ZH], ids=["en", "zh"])
def test_prefix_and_suffix_equal_one_full_pass(kind, text, tiny_loaded):
    check_one_pass(tiny_loaded(kind), text)


def test_a_position_off_by_one_is_caught(tiny_loaded, monkeypatch):
    real = Prefilled._forward

    def shifted(self, ids, positions, **arguments):
        positions = list(positions)
        return real(self, ids, [p + 1 for p in positions] if positions[0] else positions, **arguments)

    monkeypatch.setattr(Prefilled, "_forward", shifted)
    with pytest.raises(AssertionError, match="off by"):
        check_one_pass(tiny_loaded("llama"))


def packed_rows(reading, suffixes):
    """Weights [Hq, rows, prefix + own keys] of every suffix and layer, from one packed run."""
    found = {}

    def collect(pack, call):
        weights = torch.softmax(row_scores(call.query, call.key, call.visible, call.scale, call.softcap), -1)
        prefix = len(reading.prefix)
        for index, suffix, start in zip(pack.indices, pack.suffixes, pack.starts, strict=True):
            rows = slice(start, start + len(suffix))
            own = slice(prefix + start, prefix + start + len(suffix))
            found[index, call.layer] = torch.cat([weights[:, rows, :prefix], weights[:, rows, own]], -1)
            outside = weights[:, rows].sum(-1) - found[index, call.layer].sum(-1)
            assert outside.abs().max() <= 1e-5, "a suffix looks at another one"

    reading.observe_packed(suffixes, collect)
    return found


def check_packed(loaded) -> None:
    reading = open_prefix(loaded)
    suffixes = [reading.template.suffix(question) for question in QUESTIONS]
    together = packed_rows(reading, suffixes)
    assert len(together) == len(suffixes) * 3
    for index, suffix in enumerate(suffixes):
        alone = packed_rows(reading, [suffix])
        for layer in range(3):
            # fp32 rounding of scores that reach about 30, through up to three layers
            assert (together[index, layer] - alone[0, layer]).abs().max() <= 2e-4, f"suffix {index}, layer {layer}"


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", KINDS)
def test_packed_suffixes_equal_the_same_alone(kind, implementation, tiny_loaded, eager):
    loaded = tiny_loaded(kind)
    if implementation == "eager":
        eager(loaded.model)
    check_packed(loaded)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", KINDS)
def test_packed_rows_equal_the_unpacked_pass(kind, implementation, tiny_loaded, eager):
    """The pass of an answer makes its masks in transformers, the packed one here: both must agree."""
    loaded = tiny_loaded(kind)
    if implementation == "eager":
        eager(loaded.model)
    reading = open_prefix(loaded)
    suffix = reading.template.suffix(QUESTIONS[0])
    packed = packed_rows(reading, [suffix])
    calls = []
    reading.answer(suffix, max_new_tokens=1, callback=calls.append)
    assert len(calls) == 3
    for call in calls:
        weights = torch.softmax(row_scores(call.query, call.key, call.visible, call.scale, call.softcap), -1)
        assert (packed[0, call.layer] - weights).abs().max() <= 2e-4, f"layer {call.layer}"


def test_suffixes_that_see_each_other_are_caught(tiny_loaded, monkeypatch):
    real = prefilled_module._masks

    def leaky(config, visible, rows, keys, *more):
        return real(config, torch.ones_like(visible).tril(visible.shape[1] - visible.shape[0]), rows, keys, *more)

    monkeypatch.setattr(prefilled_module, "_masks", leaky)
    with pytest.raises(AssertionError):
        check_packed(tiny_loaded("llama"))


def test_packs_bound_the_rows_and_keep_every_suffix(tiny_loaded, monkeypatch):
    monkeypatch.setattr(prefilled_module, "_PACK_TOKENS", 50)
    reading = open_prefix(tiny_loaded("llama"))
    suffixes = [reading.template.suffix(f"{question} {'again ' * n}") for n, question in enumerate(QUESTIONS * 3)]
    packs, fractions = [], []

    def collect(pack, call):
        if call.layer == 0:
            packs.append(pack)

    reading.observe_packed(suffixes, collect, lambda phase, fraction: fractions.append((phase, fraction)))
    assert [i for pack in packs for i in pack.indices] == list(range(len(suffixes)))
    assert len(packs) > 2
    assert all(pack.rows <= 50 or len(pack.suffixes) == 1 for pack in packs)
    assert fractions[-1] == ("calibrate", 1.0)
    assert [f for _, f in fractions] == sorted(f for _, f in fractions)


def check_stop_and_ask(loaded) -> None:
    """A pass that stops between layers leaves a cache that answers like a new one, bit for bit."""
    reading = open_prefix(loaded)
    suffix = reading.template.suffix(QUESTIONS[1])

    def stop(_pack, call):
        if call.layer == 1:
            raise StopForward

    reading.observe_packed([reading.template.suffix(QUESTIONS[0])] * 3, stop)
    lengths = {layer.get_seq_length() for layer in reading._cache.cache.layers}
    assert lengths == {len(reading.prefix)}, f"layers hold {lengths}"
    assert torch.equal(suffix_logits(reading, suffix), suffix_logits(open_prefix(loaded), suffix))


@pytest.mark.parametrize("kind", KINDS)
def test_a_stop_between_layers_leaves_the_prefix_intact(kind, tiny_loaded):
    check_stop_and_ask(tiny_loaded(kind))


def test_a_cache_that_is_not_cropped_is_caught(tiny_loaded, monkeypatch):
    monkeypatch.setattr(PrefixCache, "crop", lambda self: None)
    with pytest.raises(AssertionError, match="layers hold"):
        check_stop_and_ask(tiny_loaded("llama"))


def without_times(decoded):
    return decoded.ids, decoded.text, decoded.mean_logprob, decoded.finished


@pytest.mark.parametrize("kind", KINDS)
def test_answers_do_not_depend_on_earlier_ones(kind, tiny_loaded):
    loaded = tiny_loaded(kind)
    reading = open_prefix(loaded)
    first, second = (reading.template.suffix(question) for question in QUESTIONS[:2])
    alone = without_times(open_prefix(loaded).answer(second, max_new_tokens=6))
    reading.answer(first, max_new_tokens=20)
    assert without_times(reading.answer(second, max_new_tokens=6)) == alone


def test_an_error_in_the_middle_of_an_answer_leaves_no_trace(tiny_loaded):
    loaded = tiny_loaded("llama")
    reading = open_prefix(loaded)
    suffix = reading.template.suffix(QUESTIONS[0])
    expected = without_times(reading.answer(suffix, max_new_tokens=5))

    def interrupt(ids):
        if len(ids) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reading.answer(suffix, max_new_tokens=5, on_token=interrupt)
    assert without_times(reading.answer(suffix, max_new_tokens=5)) == expected


def test_greedy_decoding_equals_full_passes(tiny_loaded):
    loaded = tiny_loaded("llama")
    reading = open_prefix(loaded)
    suffix = reading.template.suffix(QUESTIONS[0])
    rows = []
    decoded = reading.answer(
        suffix, max_new_tokens=5, answer_callback=lambda call: rows.append((call.layer, call.query.shape[1]))
    )
    ids, logprobs = [*reading.prefix.ids, *suffix.ids], []
    for token in decoded.ids:
        logits = last_logits(loaded.model, ids)
        assert int(logits.argmax()) == token
        logprobs.append(float(torch.log_softmax(logits, 0)[token]))
        ids.append(token)
    assert decoded.mean_logprob == pytest.approx(sum(logprobs) / len(logprobs), abs=1e-4)
    assert rows == [(layer, 1) for _ in decoded.ids for layer in range(3)]
    assert decoded.question_seconds > 0
    assert decoded.answer_seconds > 0


def test_a_stop_token_ends_the_answer(tiny_loaded, monkeypatch):
    reading = open_prefix(tiny_loaded("llama"))
    suffix = reading.template.suffix(QUESTIONS[0])
    long = reading.answer(suffix, max_new_tokens=4)
    assert not long.finished
    monkeypatch.setattr(prefilled_module, "_stop_ids", lambda _loaded: frozenset({long.ids[2]}))
    short = reading.answer(suffix, max_new_tokens=4)
    assert short.finished
    assert short.ids == long.ids[: long.ids.index(long.ids[2])]
    monkeypatch.setattr(prefilled_module, "_stop_ids", lambda _loaded: frozenset({long.ids[0]}))
    nothing = reading.answer(suffix, max_new_tokens=4)
    assert (nothing.ids, nothing.text, nothing.mean_logprob, nothing.finished) == ((), "", 0.0, True)


def test_stop_tokens_come_from_model_and_tokenizer(tiny_loaded, monkeypatch):
    loaded = tiny_loaded("llama")
    assert 1 in prefilled_module._stop_ids(loaded)
    monkeypatch.setattr(loaded.model.generation_config, "eos_token_id", [7, 9])
    assert prefilled_module._stop_ids(loaded) == {1, 7, 9}


def test_capacity_is_checked_before_the_work(tmp_path):
    loaded = load_model(save_folder(tmp_path / "short", window=420))
    reading = open_prefix(loaded, CONTRACT[:600])
    suffix = reading.template.suffix(QUESTIONS[0])
    room = 420 - len(reading.prefix) - len(suffix)
    assert room > 0
    assert len(reading.answer(suffix, max_new_tokens=room).ids) <= room
    with pytest.raises(CapacityError, match="window of 420"):
        reading.answer(suffix, max_new_tokens=room + 1)
    with pytest.raises(CapacityError, match="window 420"):
        open_prefix(loaded, CONTRACT * 3)


def test_memory_errors_become_capacity_errors(tiny_loaded, monkeypatch):
    def fail(*_arguments, **_keywords):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")

    loaded = tiny_loaded("llama")
    monkeypatch.setattr(Prefilled, "_forward", fail)
    with pytest.raises(CapacityError, match="more memory"):
        open_prefix(loaded)
    monkeypatch.setattr(Prefilled, "_forward", lambda *_a, **_k: (_ for _ in ()).throw(RuntimeError("other")))
    with pytest.raises(RuntimeError, match="other"):
        open_prefix(loaded)


def test_weights_of_nan_give_no_answer(tmp_path):
    folder = save_folder(tmp_path / "nan")

    def spoil(tensors):
        tensors["model.layers.1.mlp.down_proj.weight"][0, 0] = torch.nan
        return tensors

    edit_weights(folder, spoil)
    reading = open_prefix(load_model(folder))
    with pytest.raises(ModelError, match="NaN or infinite"):
        reading.answer(reading.template.suffix(QUESTIONS[0]), max_new_tokens=3)


def test_progress_and_size(tiny_loaded):
    loaded = tiny_loaded("llama")
    hooks = dict(loaded.model.model.layers[0]._forward_hooks)
    seen = []
    reading = prefill(
        loaded, PromptTemplate(loaded.tokenizer), CONTRACT, progress=lambda phase, f: seen.append((phase, f))
    )
    assert seen == [("prefill", 1 / 3), ("prefill", 2 / 3), ("prefill", 1.0)]
    assert reading.kv_bytes == 3 * 2 * 2 * len(reading.prefix) * 8 * 4
    assert dict(loaded.model.model.layers[0]._forward_hooks) == hooks


def test_the_window_of_a_folder_rules(tiny_loaded, tmp_path):
    folder = save_folder(tmp_path / "edited")
    edit_config(folder, max_position_embeddings=300)
    with pytest.raises(CapacityError):
        open_prefix(load_model(folder))
