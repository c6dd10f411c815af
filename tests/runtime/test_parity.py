"""The reference is the model itself, run plainly; each comparison is zero on a healthy model and sees its fault."""

from __future__ import annotations

import copy
import dataclasses

import pytest
import torch

from softlookup.errors import ModelError
from softlookup.runtime import parity
from softlookup.runtime.parity import Reference, relative_difference, shortened, suffix_logits, watched_positions
from tiny_models import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_is_the_model_run_plainly(read, kind):
    prefilled, suffix = read(kind)
    ids = (*prefilled.prefix.ids, *suffix.ids)
    found = Reference(prefilled.loaded).run(ids)
    with torch.inference_mode():
        expected = prefilled.loaded.model(torch.tensor([ids])).logits[0, -1]
    assert relative_difference(found.logits, expected) < 1e-4
    assert len(found.keys) == len(found.scales) == 3
    assert found.keys[0].shape[1] == len(ids)


def test_the_reference_shares_the_weights_and_leaves_the_model_as_it_was(read):
    prefilled, _ = read()
    model = prefilled.loaded.model
    reference = Reference(prefilled.loaded)
    mine = {p.data_ptr() for p in model.parameters()}
    assert {p.data_ptr() for p in reference._model.parameters()} <= mine
    assert model.config._attn_implementation == "sdpa"
    assert reference._model.config._attn_implementation == "eager"


def test_a_changed_configuration_in_memory_is_not_taken_over(read):
    prefilled, suffix = read()
    changed = copy.deepcopy(prefilled.loaded.model)
    changed.config.rope_parameters = {"rope_type": "default", "rope_theta": 3.0}
    loaded = dataclasses.replace(prefilled.loaded, model=changed)
    ids = (*prefilled.prefix.ids, *suffix.ids)
    assert torch.equal(Reference(loaded).run(ids).logits, Reference(prefilled.loaded).run(ids).logits)


def test_a_model_that_cannot_be_rebuilt(read, tmp_path):
    prefilled, _ = read()
    source = dataclasses.replace(prefilled.loaded.source, folder=tmp_path)
    with pytest.raises(ModelError, match="no reference"):
        Reference(dataclasses.replace(prefilled.loaded, source=source))


def test_a_shortened_prompt_keeps_the_template(read):
    prefilled, suffix = read()
    short = shortened(prefilled, 20)
    start, stop = prefilled.prefix.document
    assert short.prefix.ids == (*prefilled.prefix.ids[: start + 20], *prefilled.prefix.ids[stop:])
    assert short.prefix.document == (start, start + 20)
    plain = Reference(prefilled.loaded).run((*short.prefix.ids, *suffix.ids))
    assert relative_difference(suffix_logits(short, suffix), plain.logits) < 1e-4
    assert parity.keys_difference(prefilled, plain, start + 20) < 1e-4
    assert relative_difference(parity.decoded_logits(short, suffix, 4), plain.logits) < 1e-4
    # a longer limit is the prompt itself
    assert shortened(prefilled, 10**6).prefix.ids == prefilled.prefix.ids


def test_keys_of_another_text_are_told(read):
    prefilled, _ = read()
    other = Reference(prefilled.loaded).run((7, *prefilled.prefix.ids[1:40]))
    assert parity.keys_difference(prefilled, other, 40) > 0.01


def test_a_difference_is_relative_and_nan_is_infinite():
    assert relative_difference(torch.tensor([1.0, 4.0]), torch.tensor([2.0, 4.0])) == 0.25
    assert relative_difference(torch.tensor([float("nan")]), torch.tensor([1.0])) == float("inf")


def test_positions_are_watched_and_the_model_is_left_alone(read):
    prefilled, suffix = read()
    model, start = prefilled.loaded.model, len(prefilled.prefix)
    with watched_positions(model) as gaps:
        suffix_logits(prefilled, suffix)
        with prefilled._scratch():
            prefilled._forward(suffix.ids, range(start + 3, start + 3 + len(suffix)))
    assert gaps == [0, 3]
    assert not model.base_model._forward_pre_hooks
