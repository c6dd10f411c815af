"""Stored profiles: found by the model they were measured with, refused with everything else, never half written."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from softlookup.errors import ModelError
from softlookup.evidence import profile_store
from softlookup.evidence.profile import HeadProfile
from softlookup.evidence.profile_store import (
    ProfileKey,
    find_profile,
    profile_key,
    profile_object,
    profile_path,
    profile_state,
    read_profile,
    save_profile,
    store_profile,
)
from softlookup.evidence.profiling import LanguageScores, ProfileReport
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CHATML, build_tokenizer

PROFILE = HeadProfile(((1, 0), (2, 3)), (1.0, 0.25), profiled=True)
SCORES = (LanguageScores("en", 38, 0.06, 0.7, 0.8, 1e-9),)
REPORT = ProfileReport("profiled", PROFILE, (0.8, 0.7), SCORES, SCORES)


@pytest.fixture
def model(tiny_loaded):
    loaded = tiny_loaded("llama")
    return loaded, PromptTemplate(loaded.tokenizer)


def stored(model, report=REPORT, **changes):
    loaded, template = model
    return store_profile(profile_object(report, replace(profile_key(loaded, template), **changes), "tiny"))


def rewrite(path: Path, change) -> None:
    """Change the content and make its digest right again: a fault that only the meaning shows."""
    content = json.loads(path.read_text("utf-8"))
    content.pop("digest")
    change(content)
    path.write_text(json.dumps({**content, "digest": profile_store._digest(content)}), "utf-8")


def test_a_stored_profile_is_found_again(model):
    assert find_profile(*model).profiled is False
    path = stored(model)
    assert find_profile(*model) == PROFILE
    assert path == profile_path(model[0].source.sha256)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert json.loads(path.read_text("utf-8"))["held_out"]["chosen heads"][0]["recall_at_1"] == 0.7


def test_a_language_without_evidence_stays_without(model):
    profile = replace(PROFILE, languages=("en",), note="no better than chance")
    stored(model, replace(REPORT, profile=profile))
    found = find_profile(*model)
    assert found.languages == ("en",)
    assert found.note == "no better than chance"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"template_sha256": "0" * 64}, "another prompt template"),
        ({"quantisation": "bfloat16"}, "another number format"),
        ({"version": "0.1"}, "another version of the method"),
    ],
)
def test_a_profile_of_something_else_is_refused(model, changes, words):
    stored(model, **changes)
    with pytest.raises(ModelError, match=f"{words}.*softlookup model profile"):
        find_profile(*model)


def test_a_profile_of_other_weights_under_this_name_is_refused(model):
    path = stored(model, weights_sha256=model[0].source.sha256[:16] + "f" * 48)
    assert path == profile_path(model[0].source.sha256)  # the names agree, the digests do not
    with pytest.raises(ModelError, match="other weights"):
        find_profile(*model)


def test_another_template_of_the_same_model_is_refused(model):
    stored(model)
    other = PromptTemplate(build_tokenizer(template=CHATML.replace("assistant", "model")))
    with pytest.raises(ModelError, match="another prompt template"):
        find_profile(model[0], other)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["heads"].append([9, 0, 1.0]),
        lambda c: c["heads"].append([0, 4, 1.0]),
        lambda c: c["heads"].append([-1, 0, 1.0]),
        lambda c: c["heads"].append([1, 0, 1.0]),
        lambda c: c["heads"].append([1, 1, -1.0]),
        lambda c: c["heads"].append([1, 1, float("inf")]),
        lambda c: c["heads"].append("x"),
        lambda c: c.update(heads=[]),
        lambda c: c.update(heads=[[1, 0, 0.0]]),
        lambda c: c.pop("heads"),
        lambda c: c.pop("languages"),
        lambda c: c.update(languages=3),
        lambda c: c.update(schema=2),
        lambda c: c.update(key=[]),
    ],
)
def test_a_profile_that_makes_no_sense_is_refused(model, change):
    path = stored(model)
    rewrite(path, lambda content: None)
    assert find_profile(*model) == PROFILE  # healthy: rewriting alone changes nothing
    rewrite(path, change)
    with pytest.raises(ModelError, match="head profile"):
        find_profile(*model)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"3", b"\x80\x02K\x01.", b"{}", b"[" * 100_000, b" " * 2_000_000, b"\xff\xfe\x00\xd8"],
)
def test_a_damaged_file_is_refused(model, content):
    path = stored(model)
    path.write_bytes(content)
    with pytest.raises(ModelError, match="cannot be used"):
        find_profile(*model)
    assert profile_state(model[0].source).startswith("refused")


def test_a_changed_weight_is_noticed(model):
    path = stored(model)
    path.write_text(path.read_text("utf-8").replace("0.25", "0.75"), "utf-8")
    with pytest.raises(ModelError, match="does not match its digest"):
        read_profile(path)


def test_heads_of_sliding_layers_are_refused(tiny_loaded):
    loaded = tiny_loaded("gemma3")
    model = (loaded, PromptTemplate(loaded.tokenizer))
    stored(model, replace(REPORT, profile=replace(PROFILE, heads=((1, 0), (1, 3)))))
    assert find_profile(*model).heads == ((1, 0), (1, 3))
    stored(model)  # layer 2 sees 24 tokens only
    with pytest.raises(ModelError, match="sliding-window"):
        find_profile(*model)


def test_a_failed_write_leaves_the_old_profile(model, monkeypatch):
    path = stored(model)
    before = path.read_bytes()

    def fails(*_arguments, **_keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(profile_store.os, "fsync", fails)
    with pytest.raises(ModelError, match="No space left"):
        stored(model, version="9.9")
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    with pytest.raises(OSError, match="No space left"):
        save_profile(path.parent / "x.json", {"a": 1})


def test_the_state_in_words(model):
    source = model[0].source
    assert profile_state(source).startswith("not profiled")
    stored(model)
    assert profile_state(source) == "profiled on planted questions: 2 heads; held out: en R@1 0.70 (chance 0.06)"
    stored(model, replace(REPORT, kind="middle layers"))
    assert "the middle layers did best" in profile_state(source)
    stored(model, replace(REPORT, kind="unavailable", profile=replace(PROFILE, languages=(), note="mere chance")))
    assert profile_state(source) == "attention evidence unavailable: mere chance"
    stored(model, version="0.1")
    assert profile_state(source).startswith("refused")


def test_the_key_names_weights_template_numbers_and_version(model):
    loaded, template = model
    key = profile_key(loaded, template)
    assert key == ProfileKey(loaded.source.sha256, template.sha256, "float32")
    assert key.version == f"{profile_store.PROFILE_VERSION}.{profile_store.BANK_VERSION}"
