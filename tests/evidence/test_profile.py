"""Which heads may be evidence: layers that see the whole document, and languages that were measured."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from softlookup.evidence.profile import (
    _SMOLLM2_TEMPLATE,
    _SMOLLM2_WEIGHTS,
    NO_GLOBAL_LAYER,
    HeadProfile,
    built_in_profile,
    has_built_in,
    local_layers,
    middle_layers,
)
from tiny_models import build_model

FULL, NEAR = "full_attention", "sliding_attention"


def config(**changes):
    return SimpleNamespace(**{"num_hidden_layers": 4, "max_position_embeddings": 4096, **changes})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, set()),
        ({"sliding_window": None, "layer_types": [FULL] * 4}, set()),
        ({"sliding_window": 512, "layer_types": [NEAR, FULL, NEAR, FULL]}, {0, 2}),
        ({"sliding_window": 512}, {0, 1, 2, 3}),  # Mistral names no kinds: one window for all
        ({"sliding_window": 4096}, set()),  # as long as the trained context: hides nothing
        ({"sliding_window": 8192, "layer_types": [NEAR] * 4}, set()),
        ({"layer_types": [FULL, "chunked_attention", "linear_attention", FULL]}, {1, 2}),
    ],
)
def test_layers_that_see_a_window_only(changes, expected):
    assert local_layers(config(**changes)) == expected


@pytest.mark.parametrize(
    ("kind", "expected"), [("llama", set()), ("gemma3", {0, 2}), ("gemma2", {0, 2}), ("mistral", {0, 1, 2})]
)
def test_layers_of_real_configurations(kind, expected):
    assert local_layers(build_model(kind, 64).config) == expected


def test_without_a_layer_that_sees_the_document_there_is_no_evidence():
    profile = middle_layers(3, 2, frozenset({0, 1, 2}))
    assert profile.languages == ()
    assert profile.note == NO_GLOBAL_LAYER
    assert not profile.serves("en")
    assert middle_layers(3, 2, frozenset({0, 2})).heads == ((1, 0), (1, 1))


def test_a_profile_serves_its_languages():
    profile = HeadProfile(((0, 0),), (1.0,), profiled=True, languages=("zh",))
    assert profile.serves("zh")
    assert not profile.serves("en")


def test_the_embedded_model_has_a_profile_under_its_template_alone():
    known = built_in_profile(_SMOLLM2_WEIGHTS, _SMOLLM2_TEMPLATE)
    assert known.profiled
    assert known.serves("en")
    assert known.serves("zh")
    assert has_built_in(_SMOLLM2_WEIGHTS)
    assert built_in_profile(_SMOLLM2_WEIGHTS, "0" * 64) is None
    assert not has_built_in("0" * 64)
