"""Decoding one token at a time gives what the model gives, on either path, observed or not, with any threads."""

from __future__ import annotations

import copy

import pytest
import torch

from softlookup.attention.rows import row_scores
from softlookup.errors import ModelError
from softlookup.runtime import decode as decode_module
from softlookup.runtime import decode_program
from softlookup.runtime.attention_calls import observe_calls
from softlookup.runtime.decode import decoding
from softlookup.runtime.decode_program import is_supported
from softlookup.runtime.kv_cache import PrefixCache
from softlookup.runtime.load import load_model
from softlookup.runtime.prefilled import prefill
from softlookup.runtime.prompt import PromptTemplate
from softlookup.runtime.tiled_attention import tiled_attention
from tiny_models import CONTRACT, OBSERVED_KINDS, SLIDING_WINDOW, VOCABULARY, build_model

LLAMA_FAMILY = ("llama", "mistral", "qwen2", "qwen3")
# kinds with attention of a whole cache that the cache can be cut back from
KINDS = tuple(kind for kind in OBSERVED_KINDS if kind != "gpt_oss")
PROMPT, STEPS = 3 * SLIDING_WINDOW + 1, 5


@pytest.fixture(scope="module")
def models():
    """Tiny models by kind; the qwen2 and llama ones have biases of random size, which a new model has at zero."""
    built = {}

    def model(kind):
        if kind not in built:
            changes = {"attention_bias": True, "mlp_bias": True} if kind == "llama" else {}
            built[kind] = build_model(kind, VOCABULARY, **changes)
            generator = torch.Generator().manual_seed(3)
            with torch.no_grad():
                for name, parameter in built[kind].named_parameters():
                    if name.endswith("bias"):
                        parameter.normal_(generator=generator)
                    elif name.endswith("norm.weight"):
                        parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
        return built[kind]

    return model


@pytest.fixture
def threads():
    """Sets torch's number of threads for one test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def prompt(generator):
    return torch.randint(2, 1000, (1, PROMPT + STEPS), generator=generator)


def filled(model, ids):
    cache = PrefixCache(model.config)
    with torch.inference_mode():
        model(ids[:, :PROMPT], cache=cache.cache, use_cache=True)
    return cache


def decoded(model, ids, callback=None):
    """Logits [STEPS, V] of the tokens behind the prompt, one at a time."""
    cache = filled(model, ids)
    tokens = ids[0, PROMPT:].tolist()
    with decoding(model, cache, position=PROMPT, steps=STEPS, callback=callback) as step:
        rows = [step(token).clone() for token in tokens]
    assert {layer.get_seq_length() for layer in cache.cache.layers} == {PROMPT + STEPS}
    return torch.stack(rows)


def check(model, ids):
    """As near to float64 as the model's own float32 pass, allowing for rounding of the logits themselves."""
    exact_model = copy.deepcopy(model).double()
    with torch.inference_mode():
        exact, own = (m(ids).logits[0, PROMPT:].double() for m in (exact_model, model))
    size = float(exact.abs().max())
    budget = 4 * float((own - exact).abs().max()) + 64 * torch.finfo(torch.float32).eps * size
    difference = float((decoded(model, ids) - exact).abs().max())
    assert difference <= budget, f"off by {difference}, allowed {budget}"


@pytest.fixture(params=["own path", "modules"])
def path(request, monkeypatch):
    """Every model on the path that it gets, and on the one that works for all."""
    if request.param == "modules":
        monkeypatch.setattr(decode_module, "is_supported", lambda _model: False)
    return request.param


@pytest.mark.parametrize("kind", KINDS)
def test_logits_equal_the_models_own(kind, path, models, generator):
    check(models(kind), prompt(generator))


def test_the_llama_family_runs_as_a_program(models):
    assert [kind for kind in KINDS if is_supported(models(kind))] == list(LLAMA_FAMILY)


@pytest.mark.parametrize("kind", LLAMA_FAMILY)
def test_threads_change_no_bit(kind, path, models, threads, generator):
    ids = prompt(generator)
    cache = filled(models(kind), ids)  # one for all: torch's own part may depend on the threads
    cache.extend(range(PROMPT))
    rows = []
    for count in (1, 2, 3):
        threads(count)
        with decoding(models(kind), cache, position=PROMPT, steps=STEPS) as step:
            rows.append(torch.stack([step(token).clone() for token in ids[0, PROMPT:].tolist()]))
        cache.crop()
    assert all(torch.equal(row, rows[0]) for row in rows[1:])


@pytest.mark.parametrize("kind", LLAMA_FAMILY)
def test_grid_and_bfloat16_weights_equal_the_models_own(kind, path, models, generator):
    for bits in (4, 16):
        model = copy.deepcopy(models(kind))
        with torch.no_grad():
            for module in model.modules():
                if isinstance(module, torch.nn.Linear):
                    module.weight.copy_(module.weight.bfloat16() if bits == 16 else on_grid(module.weight, generator))
        check(model, prompt(generator))


def on_grid(weight, generator):
    groups = weight.reshape(-1, 16)
    step = (groups.abs().amax(1, keepdim=True) / 7).half().float()
    return ((groups / step).round().clamp(-8, 7) * step).view_as(weight)


@pytest.mark.parametrize("kind", KINDS)
def test_observed_logits_are_equal_bit_for_bit(kind, path, models, generator):
    model, ids, calls = models(kind), prompt(generator), []
    assert torch.equal(decoded(model, ids), decoded(model, ids, calls.append))
    assert [call.layer for call in calls] == [0, 1, 2] * STEPS


@pytest.mark.parametrize("kind", LLAMA_FAMILY)
def test_calls_show_what_transformers_shows(kind, path, models, generator):
    """Queries, keys and visible keys of every layer, against observation of the model's own step."""
    model, ids = models(kind), prompt(generator)
    ours, theirs = [], []
    decoded(model, ids, ours.append)
    cache = filled(model, ids)
    with torch.inference_mode(), observe_calls(model, theirs.append):
        for at in range(PROMPT, PROMPT + STEPS):
            position = torch.tensor([[at]])
            model(ids[:, at : at + 1], cache=cache.cache, use_cache=True, position_ids=position)
    for a, b in zip(ours, theirs, strict=True):
        assert (a.layer, a.scale, a.softcap) == (b.layer, b.scale, b.softcap)
        weights = [torch.softmax(row_scores(c.query, c.key, c.visible, c.scale, c.softcap), -1) for c in (a, b)]
        largest = float(row_scores(b.query, b.key, None, b.scale).abs().max())
        assert (weights[0] - weights[1]).abs().max() <= 64 * torch.finfo(torch.float32).eps * (largest + 8)


@pytest.mark.parametrize("kind", ["mistral", "qwen2"])
def test_a_window_that_is_ignored_is_caught(kind, models, generator, monkeypatch):
    monkeypatch.setattr(decode_program, "_windows", lambda config, layers: [None] * layers)
    with pytest.raises(AssertionError, match="off by"):
        check(models(kind), prompt(generator))


def test_a_position_off_by_one_is_caught(path, models, generator, monkeypatch):
    real = decoding

    def shifted(*args, position, **arguments):
        return real(*args, position=position + 1, **arguments)

    monkeypatch.setitem(globals(), "decoding", shifted)
    with pytest.raises(AssertionError, match="off by"):
        check(models("llama"), prompt(generator))


def test_a_query_norm_that_is_forgotten_is_caught(models, generator, monkeypatch):
    monkeypatch.setattr(decode_program, "hasattr", lambda *_: False, raising=False)
    with pytest.raises(AssertionError, match="off by"):
        check(models("qwen3"), prompt(generator))


def changed_by_hook(model):
    model.model.layers[1].mlp.register_forward_hook(lambda _module, _inputs, output: output * 1.5)


def changed_by_forward(model):
    part = model.model.layers[1].mlp
    real = part.forward
    part.forward = lambda x: real(x) * 1.5


def changed_by_class(model):
    class Louder(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x) * 1.5

    model.model.layers[0].mlp.up_proj.__class__ = Louder


@pytest.mark.parametrize("change", [changed_by_hook, changed_by_forward, changed_by_class])
def test_a_changed_model_is_decoded_with_its_changes(change, models, generator):
    model = copy.deepcopy(models("llama"))
    change(model)
    assert not is_supported(model)
    ids = prompt(generator)
    cache = filled(model, ids)
    with torch.inference_mode():
        own = torch.cat([
            model(ids[:, at : at + 1], cache=cache.cache, position_ids=torch.tensor([[at]])).logits[0]
            for at in range(PROMPT, PROMPT + STEPS)
        ])  # fmt: skip
    eps, size = torch.finfo(torch.float32).eps, float(own.abs().max())
    # two float32 computations of three layers whose sums have up to 100 terms
    assert (decoded(model, ids) - own).abs().max() <= 512 * eps * size


def test_models_in_other_precision_or_attention_are_left_to_transformers(models, generator):
    model = copy.deepcopy(models("llama")).bfloat16()
    assert not is_supported(model)
    assert torch.isfinite(decoded(model, prompt(generator))).all()
    model = models("llama")
    with tiled_attention(model):
        assert not is_supported(model)
        check_near(model, prompt(generator))


def check_near(model, ids):
    plain = decoded(model, ids)
    cache = filled(model, ids)
    with torch.inference_mode():
        own = model(ids[:, PROMPT : PROMPT + 1], cache=cache.cache, position_ids=torch.tensor([[PROMPT]])).logits[0, -1]
    assert (plain[0] - own).abs().max() <= 512 * torch.finfo(torch.float32).eps * float(own.abs().max())


def test_rotary_positions_that_move_are_left_to_transformers():
    moving = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}
    assert not is_supported(build_model("llama", VOCABULARY, rope_parameters=moving))
    linear = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}
    assert is_supported(build_model("llama", VOCABULARY, rope_parameters=linear))


@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_the_model_is_restored_also_after_an_error(kind, path, models, generator):
    model, ids = models(kind), prompt(generator)
    before = decoded(model, ids)
    seen = []

    def stop(call):
        seen.append(call.layer)
        if len(seen) == 4:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        decoded(model, ids, stop)
    assert model.config._attn_implementation == "sdpa"
    assert not [part for part in model.modules() if "forward" in vars(part)]
    assert torch.equal(decoded(model, ids), before)


def test_more_steps_than_reserved_are_refused(models, generator):
    cache = filled(models("llama"), prompt(generator))
    with decoding(models("llama"), cache, position=PROMPT, steps=1) as step:
        step(5)
        with pytest.raises(IndexError):
            step(5)
    assert cache.cache.get_seq_length() == PROMPT + 1


@pytest.mark.parametrize("token", [-1, VOCABULARY])
def test_a_token_that_does_not_exist_is_refused(token, models, generator):
    with (
        decoding(models("llama"), filled(models("llama"), prompt(generator)), position=PROMPT, steps=1) as step,
        pytest.raises(IndexError, match=str(token)),
    ):
        step(token)


def test_nan_in_a_grid_of_weights_gives_no_answer(models, tiny_loaded):
    loaded = copy.deepcopy(tiny_loaded("llama"))
    with torch.no_grad():
        loaded.model.lm_head.weight[7, 3] = torch.nan
    reading = prefill(loaded, PromptTemplate(loaded.tokenizer), CONTRACT)
    with pytest.raises(ModelError, match="NaN or infinite"):
        reading.answer(reading.template.suffix("Who repairs the jetty?"), max_new_tokens=3)


@pytest.mark.weights
def test_the_embedded_model_answers_as_transformers_does(weights):
    loaded = load_model(weights)
    reading = prefill(loaded, PromptTemplate(loaded.tokenizer), CONTRACT)
    assert is_supported(loaded.model)
    suffix = reading.template.suffix("Who repairs the jetty?")
    answer = reading.answer(suffix, max_new_tokens=10)
    ids = torch.tensor([[*reading.prefix.ids, *suffix.ids]])
    with torch.inference_mode():
        own = loaded.model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=10, do_sample=False)
    assert own[0, ids.shape[1] :].tolist()[: len(answer.ids)] == list(answer.ids)
