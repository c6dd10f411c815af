"""What a query sees, however transformers says it: against eager weights, or the same run said otherwise."""

from __future__ import annotations

import contextlib

import pytest
import torch
import transformers as hf
from transformers import DynamicCache, StaticCache

from eager_oracle import (
    assert_same_rows,
    expected_rows,
    largest_scores,
    model_bound,
    run_passes,
    visible_keys,
    whole_weights,
    window_of,
)
from softlookup.attention import StatsRequest
from softlookup.errors import ModelError
from softlookup.runtime import observed_rows as rows_module
from softlookup.runtime import visibility as visibility_module
from softlookup.runtime.observe import observe
from softlookup.runtime.tiled_attention import tiled_attention
from tiny_models import LAYERS, SLIDING_WINDOW, VOCABULARY, build_model

LENGTH = 2 * SLIDING_WINDOW + 8
PLAIN = StatsRequest(normalized_entropy=True, distance=True, max_score=True)


def tokens(batch, generator, length=LENGTH):
    return torch.randint(2, 1000, (batch, length), generator=generator)


def both(kind, **changes):
    for implementation in ("sdpa", "eager"):
        model = build_model(kind, VOCABULARY, **changes)
        model.set_attn_implementation(implementation)
        yield model


def rows_of(model, run_model, length=LENGTH):
    with torch.inference_mode(), observe(model, PLAIN, rows=range(length)) as run:
        run_model()
    return [run.layers[number].rows for number in sorted(run.layers)], run


def assert_weights(rows, weights, seen, bound, what):
    """Rows of one layer against its eager weights [B, Hq, Tq, Tk]."""
    want = expected_rows(weights.double(), seen, [range(4)] * len(weights))
    assert torch.equal(rows.visible_keys, want["visible_keys"]), what
    for name in ("entropy", "max_weight", "sink_mass"):
        difference = torch.nan_to_num(getattr(rows, name) - want[name]).abs().max()
        assert difference <= bound, f"{what}: {name} is off by {float(difference)}"


@pytest.mark.parametrize("splits", [(LENGTH,), (20, LENGTH - 22, 1, 1), (5, 4, LENGTH - 9)])
@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_a_static_cache_shows_what_a_dynamic_one_shows(kind, splits, generator):
    ids = tokens(1, generator)
    for model in both(kind):
        magnitudes = largest_scores(model, ids)
        dynamic, _ = rows_of(model, lambda model=model: run_passes(model, ids, splits))
        cache = StaticCache(model.config, max_cache_len=LENGTH + 7)
        static, _ = rows_of(model, lambda model=model, cache=cache: run_passes(model, ids, splits, cache=cache))
        for number in range(LAYERS):
            bound = model_bound(magnitudes[number], LENGTH)
            assert_same_rows(static[number], dynamic[number], bound, f"layer {number}")
            assert torch.equal(static[number].argmax, dynamic[number].argmax)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_tiled_attention_shows_what_sdpa_shows(kind, static, generator):
    """Where the statistics come with the output, they count the same columns."""
    model, ids = build_model(kind, VOCABULARY), tokens(1, generator)
    magnitudes = largest_scores(model, ids)
    found = []
    for block in (contextlib.nullcontext(), tiled_attention(model)):
        cache = StaticCache(model.config, max_cache_len=LENGTH + 7) if static else None
        with block:
            rows, _ = rows_of(model, lambda cache=cache: run_passes(model, ids, (5, LENGTH - 7, 1, 1), cache=cache))
        found.append(rows)
    for number in range(LAYERS):
        bound = model_bound(magnitudes[number], LENGTH)
        assert_same_rows(found[1][number], found[0][number], bound, f"layer {number}")
        assert torch.equal(found[1][number].argmax, found[0][number].argmax)


def test_a_cache_without_sliding_layers_keeps_all_keys_and_the_window_holds(generator):
    ids = tokens(1, generator)
    splits = (20, LENGTH - 21, 1)
    for model in both("gemma3"):
        magnitudes = largest_scores(model, ids)
        short, _ = rows_of(model, lambda model=model: run_passes(model, ids, splits))
        full, _ = rows_of(model, lambda model=model: run_passes(model, ids, splits, cache=DynamicCache()))
        for number in range(LAYERS):
            assert_same_rows(full[number], short[number], model_bound(magnitudes[number], LENGTH), f"layer {number}")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_a_padded_entry_shows_what_it_shows_alone(kind, side, generator):
    short = LENGTH - 13
    ids = tokens(2, generator)
    padding = torch.ones_like(ids)
    token = slice(13, LENGTH) if side == "left" else slice(0, short)
    padding[1] = 0
    padding[1, token] = 1
    for model in both(kind):
        request = StatsRequest(normalized_entropy=True, distance=True, max_score=True, key_mass=True)
        with torch.inference_mode(), observe(model, request, rows=range(LENGTH), reductions=True) as run:
            model(ids, attention_mask=padding)
        with torch.inference_mode(), observe(model, request, rows=range(short)) as alone:
            model(ids[1:, token])
        magnitudes = largest_scores(model, ids)
        for number in range(LAYERS):
            layer, single = run.layers[number], alone.layers[number]
            bound = model_bound(magnitudes[number], LENGTH)
            entry = rows_module._mapped(layer.rows, lambda _, values: values[1:, :, token])
            assert_same_rows(entry, single.rows, bound, f"layer {number}")
            assert (layer.key_mass[1:, :, token] - single.key_mass).abs().max() <= LENGTH * bound
            padded = rows_module._mapped(layer.rows, lambda _, values: values[1:, :, padding[1] == 0])
            assert not padded.visible_keys.any()
            assert padded.entropy.isnan().all()
            assert (padded.argmax == -1).all()
            assert (layer.live_rows, layer.padded_rows, layer.empty_rows) == (LENGTH + short, 13, 0)
            assert layer.entropy.count.tolist() == [LENGTH + short] * layer.entropy.count.numel()


def blocks(sizes):
    """Bool [T, T]: causal inside each of the consecutive sequences."""
    return torch.block_diag(*(torch.ones(size, size).tril() for size in sizes)).bool()


def test_packed_sequences_see_themselves_only(generator):
    ids = tokens(1, generator)
    sizes = (20, 5, LENGTH - 25)
    positions = torch.cat([torch.arange(size) for size in sizes])[None]
    eager = build_model("llama", VOCABULARY, attn_implementation="eager")
    with torch.inference_mode():
        own = eager(ids, position_ids=positions, use_cache=False, output_attentions=True).attentions
    magnitudes = largest_scores(eager, ids)
    for model in both("llama"):
        rows, _ = rows_of(model, lambda model=model: model(ids, position_ids=positions, use_cache=False))
        for number in range(LAYERS):
            bound = model_bound(magnitudes[number], LENGTH)
            assert_weights(rows[number], own[number], blocks(sizes)[None], bound, f"layer {number}")


def test_a_finished_mask_on_a_cached_prefix(generator):
    """Two suffixes that see the prefix and themselves, as the evidence packs its questions."""
    prefix, sizes = 30, (4, 6)
    ids = tokens(1, generator, prefix + 10)
    visible = torch.cat([torch.ones(10, prefix, dtype=torch.bool), blocks(sizes)], dim=1)
    positions = torch.tensor([[*range(prefix, prefix + 4), *range(prefix, prefix + 6)]])
    found = {}
    for model in both("llama"):
        cache = DynamicCache(config=model.config)
        with torch.inference_mode():
            model(ids[:, :prefix], cache=cache, use_cache=True)
        mask = visible[None, None]
        eager = model.config._attn_implementation == "eager"
        if eager:
            mask = torch.where(mask, 0.0, torch.finfo(torch.float32).min)
        with torch.inference_mode(), observe(model, PLAIN, rows=range(prefix, prefix + 10)) as run:
            output = model(
                ids[:, prefix:], cache=cache, use_cache=True, attention_mask=mask, position_ids=positions,
                output_attentions=eager,
            )  # fmt: skip
        assert run.layers[0].row_positions == tuple(range(prefix, prefix + 10))
        found[model.config._attn_implementation] = [run.layers[number].rows for number in range(LAYERS)]
    magnitudes = largest_scores(model, ids)
    for number in range(LAYERS):
        bound = model_bound(magnitudes[number], prefix + 10)
        assert_weights(found["eager"][number], output.attentions[number], visible[None], bound, f"layer {number}")
        assert_same_rows(found["sdpa"][number], found["eager"][number], bound, f"layer {number}")


def test_attention_in_both_directions(generator):
    ids = tokens(1, generator)
    eager = build_model("gemma3", VOCABULARY, use_bidirectional_attention=True, attn_implementation="eager")
    with torch.inference_mode():
        own = eager(ids, use_cache=False, output_attentions=True).attentions
    magnitudes = largest_scores(eager, ids)
    for model in both("gemma3", use_bidirectional_attention=True):
        rows, _ = rows_of(model, lambda model=model: model(ids, use_cache=False))
        for number in range(LAYERS):
            seen = own[number][:, 0] > 0
            assert bool(seen.all()) == (window_of(model, number) is None)
            assert bool(seen[:, 0, 1])
            assert_weights(rows[number], own[number], seen, model_bound(magnitudes[number], LENGTH), f"layer {number}")


def built(kind, config, **arguments):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return kind(config, **arguments).eval()


@pytest.mark.parametrize("padded", [False, True])
def test_an_encoder(padded, generator):
    config = hf.BertConfig(
        vocab_size=1000, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        initializer_range=0.25,
    )  # fmt: skip
    model = built(hf.BertModel, config, add_pooling_layer=False)
    ids = tokens(2, generator)
    padding = torch.ones_like(ids)
    if padded:
        padding[1, -9:] = 0
    found = {}
    for implementation in ("sdpa", "eager"):
        model.set_attn_implementation(implementation)
        with torch.inference_mode(), observe(model, PLAIN, rows=range(LENGTH)) as run:
            output = model(ids, attention_mask=padding, output_attentions=implementation == "eager")
        found[implementation] = run
    magnitudes = largest_scores(model, ids)
    for number in range(2):
        seen = padding.bool()[:, None] & padding.bool()[:, :, None]
        rows, bound = found["eager"].layers[number].rows, model_bound(magnitudes[number], LENGTH)
        assert_weights(rows, output.attentions[number], seen, bound, f"layer {number}")
        assert_same_rows(found["sdpa"].layers[number].rows, rows, bound, f"layer {number}")
        assert found["sdpa"].layers[number].padded_rows == (9 if padded else 0)


def test_gpt2(generator):
    """Learned positions, as many key heads as query heads, and a scale of its own."""
    config = hf.GPT2Config(
        vocab_size=1000, n_embd=32, n_layer=2, n_head=4, n_positions=256, scale_attn_by_inverse_layer_idx=True,
        initializer_range=0.25, bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    model = built(hf.GPT2LMHeadModel, config)
    ids = tokens(1, generator)
    model.set_attn_implementation("eager")
    with observe(model, PLAIN, rows=range(LENGTH)) as run:
        outputs = run_passes(model, ids, (40, LENGTH - 41, 1), output_attentions=True)
    magnitudes = largest_scores(model, ids)
    for number in range(2):
        weights, bound = whole_weights(outputs, number, LENGTH), model_bound(magnitudes[number], LENGTH)
        assert_weights(run.layers[number].rows, weights, visible_keys(LENGTH), bound, f"layer {number}")


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_keys_and_values_of_different_sizes(implementation, generator):
    """Multi-head latent attention: the statistics read no value."""
    config = hf.DeepseekV3Config(
        vocab_size=1000, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
        intermediate_size=32, q_lora_rank=8, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=8, v_head_dim=6,
        first_k_dense_replace=2, initializer_range=0.4,
    )  # fmt: skip
    model = built(hf.DeepseekV3ForCausalLM, config)
    ids, splits = tokens(1, generator), (20, LENGTH - 21, 1)
    magnitudes = largest_scores(model, ids)
    model.set_attn_implementation("eager")
    outputs = run_passes(model, ids, splits, output_attentions=True)
    model.set_attn_implementation(implementation)
    rows, _ = rows_of(model, lambda: run_passes(model, ids, splits))
    for number in range(2):
        weights, bound = whole_weights(outputs, number, LENGTH), model_bound(magnitudes[number], LENGTH)
        assert_weights(rows[number], weights, visible_keys(LENGTH), bound, f"layer {number}")


def test_the_text_part_of_a_multimodal_model(generator):
    """Gemma 3: the tokens of an image see each other, in global layers too."""
    text = {
        "vocab_size": 1000, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "head_dim": 8,
        "num_attention_heads": 4, "num_key_value_heads": 2, "sliding_window": 8, "query_pre_attn_scalar": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    }  # fmt: skip
    vision = {
        "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "image_size": 28, "patch_size": 14,
    }  # fmt: skip
    tokens_of = {"image_token_index": 999, "boi_token_index": 998, "eoi_token_index": 997, "mm_tokens_per_image": 4}
    config = hf.Gemma3Config(text_config=text, vision_config=vision, **tokens_of)
    model = built(hf.Gemma3ForConditionalGeneration, config)
    ids = torch.tensor([[5, 6, 998, 999, 999, 999, 999, 997, 7, 8]])
    image = {"pixel_values": torch.randn(1, 3, 28, 28, generator=generator), "token_type_ids": (ids == 999).long()}
    with torch.inference_mode():
        plain = model(ids, **image).logits
        with observe(model, PLAIN, rows=range(10)) as run:
            watched = model(ids, **image).logits
    assert torch.equal(plain, watched)
    assert run.layers[1].rows.visible_keys[0, 0].tolist() == [1, 2, 3, 7, 7, 7, 7, 8, 9, 10]
    used = (model.config, model.config.text_config, model.config.vision_config)
    assert {part._attn_implementation for part in used} == {"sdpa"}


# --- what is said by arguments, what by a mask


@pytest.fixture
def masks(monkeypatch):
    """The shapes of all masks that reach the statistics; None for none."""
    real = rows_module.attention_statistics
    shapes = []

    def spy(query, key, **arguments):
        mask = arguments["mask"]
        shapes.append(None if mask is None else tuple(mask.shape))
        return real(query, key, **arguments)

    monkeypatch.setattr(rows_module, "attention_statistics", spy)
    return shapes


@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma3"])
def test_causality_windows_and_caches_need_no_mask(kind, masks, generator):
    for model in both(kind):
        with observe(model, PLAIN):
            run_passes(model, tokens(1, generator), (10, LENGTH - 12, 1, 1))
    assert set(masks) == {None}


def test_a_pass_without_the_padding_of_the_last_one_shows_what_it_sees(generator):
    """Forgetting the 2-D mask lets the model look at padding: the statistics say so."""
    ids = tokens(2, generator)
    padding = torch.ones_like(ids)
    padding[1, :9] = 0
    for model in both("llama"):
        cache = DynamicCache(config=model.config)
        with torch.inference_mode(), observe(model, PLAIN, rows=range(LENGTH)) as run:
            model(ids[:, :40], attention_mask=padding[:, :40], cache=cache, use_cache=True)
            model(ids[:, 40:50], cache=cache, use_cache=True)
            model(ids[:, 50:51], cache=cache, use_cache=True)
        seen = run.layers[1].rows.visible_keys[:, 0]
        assert seen[0].tolist() == list(range(1, 52))
        assert seen[1].tolist() == [0] * 9 + list(range(1, 32)) + list(range(41, 52))
        assert run.layers[1].padded_rows == 9


@pytest.mark.parametrize("kind", ["llama", "mistral"])
def test_padding_needs_one_row(kind, masks, generator):
    padding = torch.ones(2, LENGTH, dtype=torch.long)
    padding[1, :9] = 0
    for model in both(kind):
        with observe(model, PLAIN):
            run_passes(model, tokens(2, generator), (LENGTH - 1, 1), padding=padding)
    assert set(masks) <= {None, (1, 1, 1, LENGTH - 1), (1, 1, 1, LENGTH), (1, 1, 1, SLIDING_WINDOW)}
    assert (1, 1, 1, LENGTH - 1) in masks


def test_a_mask_is_compared_in_parts(masks, generator, monkeypatch):
    """Small parts give the same verdict, and a difference in the last part is seen."""
    monkeypatch.setattr(visibility_module, "_ENTRIES", 3 * LENGTH)
    model = build_model("llama", VOCABULARY)
    causal = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    ids = tokens(1, generator)
    with torch.inference_mode(), observe(model, PLAIN):
        model(ids, attention_mask=causal[None, None])
    assert set(masks) == {None}
    causal[-1, 3] = False
    with torch.inference_mode(), observe(model, PLAIN) as run:
        model(ids, attention_mask=causal[None, None])
    assert masks[-1] == (1, 1, LENGTH, LENGTH)
    assert run.layers[0].live_rows == LENGTH


def test_a_verdict_is_not_kept_for_another_mask(generator):
    model = build_model("llama", VOCABULARY)
    ids = tokens(1, generator)
    seen = []
    for hidden in (None, 3):
        mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()[None, None]
        if hidden is not None:
            mask[..., -1, hidden] = False
        rows, _ = rows_of(model, lambda mask=mask: model(ids, attention_mask=mask, use_cache=False))
        seen.append(int(rows[0].visible_keys[0, 0, -1]))
    assert seen == [LENGTH, LENGTH - 1]


def test_a_row_that_sees_nothing_is_counted_and_left_out(generator):
    model = build_model("llama", VOCABULARY)
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()[None, None]
    mask[..., 5, :] = False
    with torch.inference_mode(), observe(model, PLAIN, rows=[4, 5], reductions=True) as run:
        model(tokens(1, generator), attention_mask=mask)
    layer = run.layers[1]
    assert (layer.live_rows, layer.empty_rows, layer.padded_rows) == (LENGTH - 1, 1, 0)
    assert (layer.entropy.count == LENGTH - 1).all()
    assert layer.rows.entropy[..., 1].isnan().all()
    assert not layer.entropy.mean.isnan().any()


def additive(mask):
    return torch.where(mask, 0.0, torch.finfo(torch.float32).min)


CAUSAL = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()[None, None]
BIASED = additive(CAUSAL) - (torch.arange(LENGTH) == 7) * 0.25


@pytest.mark.parametrize(
    ("implementation", "mask", "message"),
    [
        ("sdpa", BIASED, "bias"),
        ("eager", BIASED, "bias"),
        ("eager", CAUSAL, "a bool mask under eager"),
        ("eager", CAUSAL.int(), "a mask of torch.int32"),
    ],
)  # fmt: skip
def test_masks_that_change_scores_are_refused(implementation, mask, message, generator):
    model = build_model("llama", VOCABULARY, attn_implementation=implementation)
    with torch.inference_mode(), observe(model, PLAIN), pytest.raises(ModelError, match=message):
        model(tokens(1, generator), attention_mask=mask, use_cache=False)


def test_a_prefix_without_a_mask_is_refused(generator):
    """SDPA then aligns causality to the upper left, and the rows do not see themselves."""
    model = build_model("qwen3", VOCABULARY)
    cache = DynamicCache(config=model.config)
    ids = tokens(1, generator)
    with torch.inference_mode():
        model(ids[:, :9], cache=cache)
        with observe(model, PLAIN), pytest.raises(ModelError, match="without a mask after 9 cached"):
            model(ids[:, 9:14], cache=cache, attention_mask={"full_attention": None})
