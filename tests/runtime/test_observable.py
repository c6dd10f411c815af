"""Everything that cannot be read rightly is refused by name; and a model is left as it was, whatever happens."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
import torch
import transformers as hf

from softlookup.attention import StatsRequest
from softlookup.errors import ModelError, UsageError
from softlookup.runtime import observed_rows as rows_module
from softlookup.runtime.observable import check_call
from softlookup.runtime.observe import observe
from tiny_models import LAYERS, VOCABULARY, build_model

IDS = torch.tensor([[3, 4, 5, 6, 7, 8]])


@pytest.fixture
def llama():
    return build_model("llama", VOCABULARY)


def refused(model, message, error=ModelError, **arguments):
    with torch.inference_mode(), pytest.raises(error, match=message), observe(model):
        model(IDS, **arguments)


SMALL = {"vocab_size": 1000, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
MODELS = {
    "cross-attention": lambda: hf.BartForConditionalGeneration(
        hf.BartConfig(vocab_size=100, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                      decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, pad_token_id=1)
    ),
    "cross-attention (": lambda: hf.GPT2LMHeadModel(
        hf.GPT2Config(vocab_size=100, n_embd=32, n_layer=1, n_head=2, add_cross_attention=True)
    ),
    "ALiBi": lambda: hf.FalconForCausalLM(hf.FalconConfig(**SMALL, alibi=True)),
    "BloomModel, which does not use the attention interface": lambda: hf.BloomForCausalLM(
        hf.BloomConfig(vocab_size=100, hidden_size=32, n_layer=1, n_head=2)
    ),
    "layer of kind conv": lambda: hf.Lfm2ForCausalLM(
        hf.Lfm2Config(**SMALL, num_key_value_heads=2, layer_types=["conv", "full_attention"])
    ),
    "layer of kind linear_attention": lambda: hf.RecurrentGemmaForCausalLM(
        hf.RecurrentGemmaConfig(**SMALL, lru_width=32, head_dim=8)
    ),
    "GPT2Model, which computes by the name": lambda: hf.GPT2LMHeadModel(
        hf.GPT2Config(vocab_size=100, n_embd=32, n_layer=1, n_head=2, reorder_and_upcast_attn=True)
    ),
    "FalconModel, which does not use the attention interface": lambda: hf.FalconForCausalLM(
        hf.FalconConfig(**SMALL, alibi=False)
    ),
}  # fmt: skip


@pytest.mark.parametrize("feature", MODELS)
def test_models_are_refused_by_feature(feature):
    refused(MODELS[feature]().eval(), feature.replace("(", r"\("))


@pytest.mark.parametrize("name", ["flash_attention_2", "flex_attention", "paged|eager", "kernels-community/x"])
def test_other_implementations_are_refused(name, llama, monkeypatch):
    monkeypatch.setattr(llama.config, "_attn_implementation_internal", name)
    with pytest.raises(ModelError, match=f"attention of kind '{name}'".replace("|", r"\|")), observe(llama):
        pass


def test_compiled_models_are_refused(llama):
    llama._compiled_call_impl = llama._call_impl  # what compile() sets
    with pytest.raises(ModelError, match="compiled"), observe(llama):
        pass


def test_a_mixture_of_implementations_is_refused(llama):
    other = build_model("llama", VOCABULARY)
    other.set_attn_implementation("eager")
    llama.model.layers[1].self_attn.config = other.config
    with pytest.raises(ModelError, match="a mixture of attention implementations"), observe(llama):
        pass


@pytest.mark.parametrize("thing", [None, "llama", torch.nn.Linear(2, 2)])
def test_what_is_no_model_is_refused(thing):
    with pytest.raises(UsageError, match="needs a transformers PreTrainedModel"), observe(thing):
        pass


def test_dropout_is_refused():
    model = build_model("llama", VOCABULARY, attention_dropout=0.25)
    with observe(model):
        model(IDS)
    model.train()
    with observe(model), pytest.raises(ModelError, match=r"dropout 0.25 of attention weights"):
        model(IDS)


@pytest.mark.parametrize("name", ["position_bias", "block_indices", "anything"])
def test_arguments_that_may_change_scores_are_refused(name, llama):
    refused(llama, name, **{name: torch.zeros(1)})


def test_softcap_that_the_kernel_ignores_is_refused(llama):
    llama.set_attn_implementation("eager")
    refused(llama, "softcap under 'eager', which ignores it", softcap=2.0)


def test_learned_sinks_that_the_kernel_ignores_are_refused():
    model = build_model("gpt_oss", VOCABULARY)
    model.config._attn_implementation = "sdpa"  # transformers itself would refuse to
    refused(model, "s_aux.* under 'sdpa', which ignores them")


def test_keys_of_another_layer_or_sequence_are_refused():
    module = SimpleNamespace(is_kv_shared_layer=True)
    key = torch.zeros(1, 2, 5, 8)
    with pytest.raises(ModelError, match="reads the keys of another layer"):
        check_call(3, module, "sdpa", key, {}, 5)
    with pytest.raises(ModelError, match=r"5 keys are not those of its sequence \(2 expected; cross-attention"):
        check_call(3, SimpleNamespace(), "sdpa", key, {}, 2)
    with pytest.raises(ModelError, match="no cache position"):
        check_call(3, SimpleNamespace(), "sdpa", key, {}, None)
    check_call(3, SimpleNamespace(), "sdpa", key, {"dropout": 0.0, "position_bias": None}, 5)


def test_damaged_weights_are_named(llama):
    with torch.no_grad():
        llama.model.layers[1].self_attn.k_proj.weight[0, 0] = torch.nan
    refused(llama, "layer 1 cannot be observed: key must be finite")


def test_eager_attention_that_is_no_plain_softmax_is_refused(llama, monkeypatch):
    """Planted fault: the model's own file weighs keys otherwise."""
    module = hf.models.llama.modeling_llama
    real = module.eager_attention_forward

    def warmer(*args, scaling, **kwargs):
        return real(*args, scaling=scaling * 1.1, **kwargs)

    monkeypatch.setattr(module, "eager_attention_forward", warmer)
    llama.set_attn_implementation("eager")
    refused(llama, "layer 0 weighs its keys otherwise")


@pytest.mark.parametrize(("kind", "dtype"), [("gpt_oss", torch.bfloat16), ("gemma2", torch.float16)])
def test_half_precision_eager_attention_is_accepted(kind, dtype):
    model = build_model(kind, VOCABULARY, attn_implementation="eager").to(dtype)
    with torch.inference_mode(), observe(model) as run:
        model(torch.arange(2, 90)[None])
    assert run.layers[0].entropy.mean.dtype == torch.float64


# --- one sequence, one block, one thread


def test_passes_must_continue_the_sequence(llama):
    cache = hf.DynamicCache(config=llama.config)
    with torch.inference_mode(), observe(llama) as run:
        llama(IDS, cache=cache)
        llama(IDS[:, :2], cache=cache)
        assert run.result.positions == (0, 8)
        with pytest.raises(UsageError, match="up to position 8 are followed by a pass of 1 at position 0"):
            llama(IDS)
    with torch.inference_mode(), observe(llama, rows=range(20)) as run:
        llama(IDS, cache=cache)  # a block may begin behind a prefix
        cache.crop(-3)
        with pytest.raises(UsageError, match="up to position 14 are followed by a pass of 1 at position 11"):
            llama(IDS, cache=cache)
    assert run.result.positions == (8, 14)
    assert run.layers[0].row_positions == tuple(range(8, 14))


def test_the_batch_must_stay_the_same(llama):
    cache = hf.DynamicCache(config=llama.config)
    with torch.inference_mode(), observe(llama):
        llama(IDS, cache=cache)
        cache.batch_repeat_interleave(2)
        with pytest.raises(UsageError, match="followed by a pass of 2"):
            llama(IDS.repeat(2, 1), cache=cache)


def test_generate_is_observed_step_by_step(llama):
    ids = torch.arange(3, 20)[None]
    with observe(llama, rows=range(100)) as run:
        out = llama.generate(ids, max_new_tokens=5, min_new_tokens=5, do_sample=False)
    assert torch.equal(out, llama.generate(ids, max_new_tokens=5, min_new_tokens=5, do_sample=False))
    # the last token is chosen and never fed
    assert run.layers[2].row_positions == tuple(range(17 + 5 - 1))
    assert run.layers[2].rows.visible_keys[0, 0].tolist() == list(range(1, 22))


def test_a_model_is_not_observed_twice(llama):
    with observe(llama) as run:
        with pytest.raises(UsageError, match="being observed already"), observe(llama):
            pass
        llama(IDS)
    assert run.layers[0].live_rows == 6
    assert llama.config._attn_implementation == "sdpa"


def test_blocks_of_two_models_may_nest(llama):
    other = build_model("gemma2", VOCABULARY)
    with torch.inference_mode(), observe(llama, rows=[1, 2]) as outer:
        with observe(other) as inner:
            llama(IDS)
            other(IDS[:, :3])
        other(IDS)  # observed no longer
    assert outer.layers[0].row_positions == (1, 2)
    assert inner.layers[0].live_rows == 3
    assert (llama.config._attn_implementation, other.config._attn_implementation) == ("sdpa", "eager")


def test_other_threads_are_not_observed_and_get_the_same_logits(llama):
    with torch.inference_mode():
        plain = llama(IDS).logits
    found, errors = [], []

    def run_it():
        with torch.inference_mode():
            found.append(llama(IDS).logits)
        try:
            with observe(llama):
                pass
        except UsageError as error:
            errors.append(str(error))

    with torch.inference_mode(), observe(llama) as run:
        llama(IDS[:, :2])
        thread = threading.Thread(target=run_it)
        thread.start()
        thread.join()
    assert torch.equal(found[0], plain)
    assert "being observed already" in errors[0]
    assert run.layers[0].live_rows == 2
    assert run.result.positions == (0, 2)


@pytest.mark.parametrize("where", ["block", "forward", "statistics"])
def test_the_model_is_restored_after_an_exception(where, llama, monkeypatch):
    with torch.inference_mode():
        plain = llama(IDS).logits

    def fail(*_, **__):
        raise RuntimeError("planned")

    if where == "statistics":
        monkeypatch.setattr(rows_module, "attention_statistics", fail)
    handle = llama.model.layers[1].mlp.register_forward_hook(fail) if where == "forward" else None
    action = fail if where == "block" else llama
    with pytest.raises(RuntimeError, match="planned"), torch.inference_mode(), observe(llama) as run:
        action(IDS)
    if handle is not None:
        handle.remove()
        assert sorted(run.layers) == [0, 1]
    assert llama.config._attn_implementation == "sdpa"
    assert not any(module._forward_pre_hooks for module in llama.modules())
    with torch.inference_mode():
        assert torch.equal(llama(IDS).logits, plain)


def test_gradients_are_those_of_the_model_alone(llama):
    def gradient():
        llama.zero_grad()
        llama(IDS, labels=IDS).loss.backward()
        return llama.model.layers[0].self_attn.k_proj.weight.grad.clone()

    plain = gradient()
    with observe(llama, StatsRequest(key_mass=True), rows=[0, 5], reductions=True) as run:
        watched = gradient()
    assert torch.equal(plain, watched)
    assert not run.layers[0].rows.entropy.requires_grad


# --- arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stats": {"entropy": True}}, "stats must be a StatsRequest or None, got dict"),
        ({"rows": [3, -1]}, "rows must be integers from 0, got -1"),
        ({"rows": [3, 3]}, "got a repeated one"),
        ({"rows": [True]}, "rows must be integers"),
        ({"rows": [1.0]}, r"got 1\.0"),
        ({"rows": range(-2, 4)}, "got -2"),
        ({"rows": []}, "nothing is observed"),
        ({"layers": [LAYERS]}, f"layers must be integers from 0 to {LAYERS - 1}, got {LAYERS}"),
        ({"layers": [-1]}, "got -1"),
        ({"reductions": False}, "nothing is observed"),
        ({"stats": StatsRequest(top_k=2)}, "top_k and span_mass are kept per query row"),
        ({"stats": StatsRequest(span_mass=[(0, 3)])}, "kept per query row"),
        ({"stats": StatsRequest(span_mass=[(5, 3)]), "rows": [1]}, "spans must be"),
        ({"stats": StatsRequest(span_mass=[(0, 3)], span_rows=[0]), "rows": [1]}, "span_rows and key_mass_rows"),
        ({"stats": StatsRequest(key_mass=True, key_mass_rows=[0])}, "span_rows and key_mass_rows"),
        ({"stats": StatsRequest(sink_mass=[0, -4])}, "sink_mass positions must be integers from 0, got -4"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(arguments, message, llama):
    with pytest.raises(UsageError, match=message), observe(llama, **arguments):
        pass
    assert llama.config._attn_implementation == "sdpa"


def test_only_what_is_asked_for_is_computed(llama, monkeypatch):
    real, seen = rows_module.attention_statistics, []

    def spy(query, key, **arguments):
        seen.append((query.shape[2], arguments["q_offset"]))
        return real(query, key, **arguments)

    monkeypatch.setattr(rows_module, "attention_statistics", spy)
    ids = torch.arange(2, 62)[None]
    with torch.inference_mode(), observe(llama, layers=[1], rows=torch.tensor([59, 20, 21, 22, 80])) as run:
        llama(ids)
    assert seen == [(3, 20), (1, 59)]
    assert list(run.layers) == [1]
    assert run.layers[1].row_positions == (20, 21, 22, 59)
    assert run.layers[1].entropy is None
    assert run.layers[1].live_rows == 4
    with torch.inference_mode(), observe(llama, rows=[90]) as run:
        llama(ids)
    assert run.layers[0].rows is None
    assert run.layers[0].live_rows == 0


def test_a_loaded_model_is_taken_as_it_is(tiny_loaded):
    loaded = tiny_loaded("llama")
    with torch.inference_mode(), observe(loaded) as run:
        assert not run.layers
        loaded.model(IDS)
        assert run.layers[0].live_rows == 6  # readable inside the block
    assert run.result.model == "LlamaForCausalLM"
