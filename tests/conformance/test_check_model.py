"""check_model: planted decoders are named by their whole code, correct ones stay silent, every probe can fail."""

import numpy as np
import pytest

from softlookup.attention.decoder import Abilities
from softlookup.conformance import check_model
from softlookup.conformance.models.runs import LENGTH, Runs
from softlookup.conformance.planted.toy import DIM, HEADS, KV_HEADS, Toy, recorded, rotated
from softlookup.conformance.planted.toy_bugs import PackedPositionsOnly, SharedCache
from softlookup.conformance.planted.toy_corpus import toy_controls, toy_plants

PLANTS = {plant.id: plant for plant in toy_plants()}
CONTROLS = {plant.id: plant for plant in toy_controls()}


def codes(decoder, capture=recorded):
    report = check_model(decoder, capture=capture)
    assert not report.problem
    return [finding.code for finding in report.serious]


def status(decoder, probe, capture=recorded):
    return next(entry.status for entry in check_model(decoder, capture=capture).probes if entry.id == probe)


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_the_one_finding(name):
    assert codes(PLANTS[name].decoder) == [PLANTS[name].code]


@pytest.mark.parametrize("name", CONTROLS)
def test_a_correct_decoder_is_silent(name):
    report = check_model(CONTROLS[name].decoder, capture=recorded)
    assert report.conforms
    assert not report.findings
    assert {probe.status for probe in report.probes} <= {"pass", "skipped"}


def changed(**methods):
    """A toy class with some steps replaced."""
    return type("Changed", (Toy,), methods)


def with_allow(rule):
    def allow(self, length, slots, before, start, cache, padding, documents):
        seen = Toy.allow(self, length, slots, before, start, cache, None, None)
        others = Toy.allow(self, length, slots, before, start, cache, padding, documents) | ~seen
        query, key = np.arange(length)[:, None] + before, np.arange(slots)[None] + start
        return rule(seen, query, key) & others

    return changed(allow=allow)


def noisy(self, layer, q, k, v, allow):
    self.calls = getattr(self, "calls", 0) + 1
    return Toy.kernel(self, layer, q, k, v, allow) * np.float32(1 + self.calls / 100)


def mixed(self, tokens, **given):
    logits = Toy.forward(self, tokens, **given)
    return logits + 0.1 * logits[::-1] if len(tokens) > 1 else logits


def unscaled(self, layer, q, k, v, allow):
    return Toy.kernel(self, layer, q * np.float32(DIM**0.5), k, v, allow)


def tiled_heads(self, layer, q, k, v, allow):
    k, v = np.tile(k, (1, HEADS // KV_HEADS, 1, 1)), np.tile(v, (1, HEADS // KV_HEADS, 1, 1))
    scores = np.where(allow, q @ k.swapaxes(-1, -2) * np.float32(DIM**-0.5), np.float32(-1e30))
    raised = np.exp(scores - scores.max(-1, keepdims=True)) * allow
    return raised / raised.sum(-1, keepdims=True) @ v


FAULTS = {
    "dropout.active_in_eval": changed(kernel=noisy),
    "batch.rows_not_independent": changed(forward=mixed),
    "causal.not_applied": with_allow(lambda seen, query, key: seen | (key >= 0)),
    "causal.leak_future=1": with_allow(lambda seen, query, key: seen | (key == query + 1)),
    "scale.missing": changed(kernel=unscaled),
    "gqa.tile": changed(kernel=tiled_heads),
}


@pytest.mark.parametrize("code", FAULTS)
def test_other_faults_are_named(code):
    found = codes(FAULTS[code]())
    assert found[0] == code
    assert len(found) == 1


def test_a_window_that_is_one_too_wide_is_measured():
    def allow(self, *given):
        return Toy.allow(Toy(window=5), *given)

    assert codes(changed(allow=allow)(window=4)) == ["window.size=5(want=4)"]


def test_a_window_of_one_layer_shows_in_what_its_kernel_gets():
    """A hybrid decoder: the reach of all layers says nothing, the captured mask does."""

    def told(self):
        return Abilities(**{**vars(Toy.abilities.fget(self)), "windows": (4, None)})

    hybrid = changed(abilities=property(told))
    found = check_model(hybrid(), capture=declared_window)
    assert [finding.code for finding in found.serious] == ["window.ignored"]
    assert found.serious[0].input["layer"] == 0


def declared_window(toy):
    """Like recorded, with the windows that the abilities declare."""
    import contextlib
    import dataclasses

    @contextlib.contextmanager
    def around():
        with recorded(toy) as calls:
            yield (shown := [])
            windows = toy.abilities.windows
            shown.extend(dataclasses.replace(call, window=windows[call.layer]) for call in calls)

    return around()


def test_a_mask_that_does_not_count_cached_tokens_shows_in_the_kernel():
    shifted = with_allow(lambda seen, query, key: seen & (key <= query - query[0, 0]))
    assert codes(shifted()) == ["causal.align=top_left(want=bottom_right)"]
    assert codes(shifted(), capture=None) == ["cache.read_side"]


def test_another_scale_than_the_configuration_says():
    def told(self):
        return Abilities(**{**vars(Toy.abilities.fget(self)), "scale": 0.5})

    assert codes(changed(abilities=property(told))()) == ["scale.config"]


def test_a_rotation_that_is_not_the_declared_one_is_read_from_the_keys():
    def backwards(self, layer, positions, cache):
        return -positions

    assert codes(changed(layer_positions=backwards)()) == ["rope.direction"]
    opposite = changed(rotated_key=lambda self, k, p: rotated(k, -p))
    assert status(opposite(), "rope.shift") == "finding"


def misses_the_last(self, length, slots, before, start, cache, padding, documents):
    seen = Toy.allow(self, length, slots, before, start, cache, padding, documents)
    return seen & (np.arange(slots) + start != before - 1) if length == 1 and before else seen


def rolled(self, k, v):
    kept = Toy.kept(self, k, v)
    return tuple(np.roll(part, 1, 2) for part in kept) if k.shape[2] > self.window else kept


def restarted(self, cache):
    if cache is None or not cache.seen:
        return 0
    cache.base = getattr(cache, "base", cache.seen)
    return cache.seen - cache.base


def one_late(self, cache, layer, k, v, at):
    return Toy.write(self, cache, layer, k, v, at + 1 if at else 0)


def zero_in_later_layers(self, layer, positions, cache):
    return positions * 0 if layer and positions.shape[1] == 1 else positions


def of_first_row(self, length, slots, before, start, cache, padding, documents):
    padding = None if padding is None else np.repeat(padding[:1], len(padding), 0)
    return Toy.allow(self, length, slots, before, start, cache, padding, documents)


def off_by_one(self, length, slots, before, start, cache, padding, documents):
    documents = None if documents is None else np.concatenate([documents[:, 1:], documents[:, -1:]], 1)
    return Toy.allow(self, length, slots, before, start, cache, padding, documents)


# written after the probes, which found all of them; some of the names came afterwards
LATER = {
    "decode.position=restart": (changed(offset=restarted), {}),
    "cache.write_position=?": (changed(write=one_late), {}),
    "decode.position=0@layer>=1": (changed(layer_positions=zero_in_later_layers), {}),
    "cache.read_side": (changed(allow=misses_the_last), {}),
    "cache.ring_order": (changed(kept=rolled), {"window": 4}),
    "leftpad.mask_ignored": (changed(allow=of_first_row), {}),
    "packed.boundary_off_by_one": (changed(allow=off_by_one), {}),
    "kv_quant.error": (changed(scales=lambda self, scale: scale * 2), {}),
}


@pytest.mark.parametrize("code", LATER)
def test_mistakes_beyond_the_published_ones_are_one_finding(code):
    kind, options = LATER[code]
    assert codes(kind(**options)) == [code]


def test_reordering_that_does_nothing():
    assert codes(changed(reorder=lambda self, cache, rows: None)()) == ["cache.reorder_ignored"]


def test_a_crop_that_does_nothing():
    def kept(self, cache, length):
        cache.seen = length

    assert codes(changed(crop=kept)()) == ["cache.crop"]


def test_packing_that_nobody_promised_is_told_and_is_no_finding():
    def told(self):
        return Abilities(**{**vars(Toy.abilities.fget(self)), "packed": "unspecified"})

    report = check_model(type("Told", (PackedPositionsOnly,), {"abilities": property(told)})())
    assert report.conforms
    assert [(finding.code, finding.severity) for finding in report.findings] == [
        ("packed.leak(position_reset_only)", "info")
    ]


def test_a_decoder_without_context_is_vacuous_and_no_pass():
    def alone(self, layer, q, k, v, allow):
        return np.zeros_like(q)

    assert status(changed(kernel=alone)(), "model.context") == "vacuous"


def test_nan_is_the_one_finding():
    def broken(self, tokens, **given):
        return Toy.forward(self, tokens, **given) * np.float32("nan")

    assert codes(changed(forward=broken)()) == ["call.nan"]


def test_a_decoder_that_raises_could_not_be_tested():
    def refuse(self, tokens, **given):
        raise RuntimeError("no GPU\nmore")

    report = check_model(changed(forward=refuse)())
    assert report.problem == "call.raises: RuntimeError: no GPU"
    assert not report.conforms


def test_a_cache_that_raises_is_untestable_and_the_rest_is_judged():
    def refuse(self, kind, length):
        raise NotImplementedError("no cache")

    report = check_model(changed(new_cache=refuse)())
    assert {probe.status for probe in report.probes if probe.id == "caching.*"} == {"untestable"}
    assert any(probe.status == "pass" for probe in report.probes)


def test_without_time_nothing_conforms():
    report = check_model(Toy(), budget=1e-6)
    assert report.problem.startswith("call.")


def test_after_a_shared_cache_nothing_of_caches_is_asked():
    report = check_model(SharedCache())
    assert {probe.id for probe in report.probes if probe.reason.startswith("after cache.aliased")} >= {"caching.*"}


def test_influence_is_the_causal_triangle():
    runs = Runs(Toy(), 30)
    assert (runs.influence(runs.full) == np.tril(np.ones((LENGTH, LENGTH), bool))).all()
