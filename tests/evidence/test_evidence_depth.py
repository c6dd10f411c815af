"""How many layers run before evidence is complete, from files alone."""

from __future__ import annotations

import json

import pytest

from softlookup.cost.model.model_source import find_model
from softlookup.evidence import profile_store
from softlookup.evidence.profile import built_in_depth
from softlookup.evidence.profile_store import evidence_depth, profile_path
from softlookup.runtime import embedded


def shape(name):
    return find_model(name).shape


def stored(weights, heads):
    content = {"schema": profile_store.SCHEMA, "heads": heads, "kind": "profiled"}
    path = profile_path(weights)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**content, "digest": profile_store._digest(content)}), "utf-8")
    return path


def test_the_embedded_model_reads_19_of_30_layers():
    assert built_in_depth(embedded.GGUF_SHA256) == 19
    assert evidence_depth(embedded.GGUF_SHA256, shape("SmolLM2-135M")) == 19
    assert built_in_depth("0" * 64) is None


@pytest.mark.parametrize(("name", "expected"), [("Llama-3.1-8B", 21), ("SmolLM2-135M", 20), ("Gemma-3-1B", 12)])
def test_a_model_without_a_profile_reads_its_middle_layers(name, expected):
    """Up to two thirds; Gemma-3-1B sees everything in layers 5, 11, ... only, of which layer 11 is in the middle."""
    assert evidence_depth("", shape(name)) == expected


def test_a_stored_profile_counts():
    path = stored("a" * 64, [[3, 0, 1.0], [7, 2, 0.5]])
    assert evidence_depth("a" * 64, shape("Llama-3.1-8B")) == 8
    # planted: a damaged file, and a layer that the model lacks, count as none
    path.write_text(path.read_text("utf-8").replace("[7,", "[9,"), "utf-8")
    assert evidence_depth("a" * 64, shape("Llama-3.1-8B")) == 21
    stored("b" * 64, [[99, 0, 1.0]])
    assert evidence_depth("b" * 64, shape("Llama-3.1-8B")) == 21
