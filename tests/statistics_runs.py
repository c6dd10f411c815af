"""Statistics of made-up questions, for tests of what reads them; no assertions here."""

from __future__ import annotations

import torch

from softlookup.diagnostics.head_statistics import head_statistics
from softlookup.runtime.attention_calls import AttentionCall


def run_of(seed, *, size=1.0, layers=2, changed=()):
    """One question's layers; ``changed`` maps (layer, head) to a factor of its queries."""
    generator = torch.Generator().manual_seed(seed)
    found = {}
    for layer in range(layers):
        query = torch.randn(4, 6, 8, generator=generator) * size
        for at, head, factor in changed:
            if at == layer:
                query[head] *= factor
        key = torch.randn(2, 200, 8, generator=generator)
        visible = torch.ones(6, 200, dtype=torch.bool).tril(194)
        found[layer] = head_statistics(AttentionCall(layer, query, key, visible, 8**-0.5, None, None), slice(0, 6))
    return found
