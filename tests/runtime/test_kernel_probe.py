"""Row sums and hidden mass read off the kernel equal those of weights that are known."""

from __future__ import annotations

import pytest
import torch

from softlookup.attention.rows import row_scores
from softlookup.runtime.kernel_probe import KernelProbe, probe_kernel
from tiny_models import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_healthy_kernel(read, kind):
    probe = probe_kernel(*read(kind))
    assert probe.row_sum_error < 1e-5
    assert probe.hidden_mass == 0.0
    assert sorted(probe.scales) == [0, 1, 2]


def test_the_pass_itself_is_not_changed(read):
    from softlookup.runtime.attention_hook import hook_attention

    prefilled, _ = read()
    ids = torch.tensor([prefilled.prefix.ids])
    with torch.inference_mode():
        before = prefilled.loaded.model(ids).logits
        with hook_attention(prefilled.loaded.model, KernelProbe()):
            assert torch.equal(prefilled.loaded.model(ids).logits, before)


def test_the_hidden_mass_is_that_of_the_weights(read, monkeypatch):
    """Without causality: the mass after each row, from weights that are computed here."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    from softlookup.runtime.attention_hook import hook_attention

    real = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def uncausal(module, query, key, value, mask, **arguments):
        return real(module, query, key, value, torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)[None, None],
                    **arguments)  # fmt: skip

    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS._local_mapping, "sdpa", uncausal)
    prefilled, _ = read()
    length = 6  # fewer rows than channels: every row is probed
    expected = []

    def weigh(call):
        weights = row_scores(call.query[0], call.key[0], None, call.arguments["scaling"], None).softmax(-1)
        expected.append(float((weights * torch.ones(length, length).triu(1)).sum(-1).max()))

    ids = torch.tensor([prefilled.prefix.ids[:length]])
    probe = KernelProbe()
    with torch.inference_mode():
        with hook_attention(prefilled.loaded.model, probe):
            prefilled.loaded.model(ids, use_cache=False)
        with hook_attention(prefilled.loaded.model, weigh):
            prefilled.loaded.model(ids, use_cache=False)
    assert max(expected) > 0.1
    assert probe.hidden_mass == pytest.approx(max(expected), abs=1e-5)
    assert probe.hidden_layer == expected.index(max(expected))


@pytest.mark.parametrize("kind", ["mistral", "gemma3"])
def test_a_window_that_is_not_kept_is_hidden_mass(read, kind, monkeypatch):
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    real = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def windowless(module, query, key, value, mask, **arguments):
        rows, keys = query.shape[-2], key.shape[-2]
        causal = torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows)[None, None]
        return real(module, query, key, value, causal, **arguments)

    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS._local_mapping, "sdpa", windowless)
    assert probe_kernel(*read(kind)).hidden_mass > 1e-3
