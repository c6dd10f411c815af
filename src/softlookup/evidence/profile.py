"""Which heads are read as evidence for which model and template; measures nothing itself.

Heads are chosen by ranking quality on labelled questions (mean reciprocal rank of the right passage
per head), not by how much mass they give, which picks heads that stare at headings.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeadProfile:
    """Heads (layer, head), counted from 0, with one non-negative weight each.

    ``profiled`` is False for the fallback of a model that was never profiled.
    """

    heads: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]
    profiled: bool

    def __post_init__(self) -> None:
        if len(self.heads) != len(self.weights) or not self.heads:
            raise ValueError(f"need one weight per head, got {len(self.heads)} heads and {len(self.weights)} weights")
        if len(set(self.heads)) != len(self.heads):
            raise ValueError("a head is listed twice")

    @property
    def last_layer(self) -> int:
        """The deepest layer that has to run."""
        return max(layer for layer, _ in self.heads)

    def in_layer(self, layer: int) -> list[tuple[int, int]]:
        """(index into ``heads``, head) of the heads in ``layer``."""
        return [(index, head) for index, (at, head) in enumerate(self.heads) if at == layer]


# SmolLM2-135M-Instruct Q4_1 under the template whose digest is given; chosen by the procedure of
# `benchmarks/choose_heads.py` on the tune half of the labelled contracts
_SMOLLM2_TEMPLATE = "3e1d04961774d2f284fc94219f3ebff43deb26e9e0c6001e8b544260bf471a95"
_SMOLLM2_WEIGHTS = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# (layer, head): weight = quality squared over the spread of the calibrated mass; quality is the mean
# reciprocal rank of the right passage when the head ranks alone (.70 for the first, .45 for the last)
_SMOLLM2_HEADS = {
    (18, 7): 0.50,
    (17, 4): 0.24,
    (7, 7): 0.24,
    (17, 3): 0.21,
    (23, 2): 0.13,
    (18, 6): 0.20,
    (17, 0): 0.13,
    (14, 3): 0.17,
    (15, 6): 0.13,
    (21, 8): 0.09,
    (23, 7): 0.12,
    (18, 8): 1.00,
}

_PROFILES = {
    (_SMOLLM2_WEIGHTS, _SMOLLM2_TEMPLATE): HeadProfile(
        tuple(_SMOLLM2_HEADS), tuple(_SMOLLM2_HEADS.values()), profiled=True
    ),
}


def head_profile(
    model_sha256: str,
    template_sha256: str,
    *,
    num_hidden_layers: int,
    num_attention_heads: int,
    local_layers: frozenset[int] = frozenset(),
) -> HeadProfile:
    """Profile of this model under this template, else all heads of the middle third of the layers.

    ``local_layers`` (sliding window) are left out of the fallback: their heads cannot see the document.
    A profile is tied to weights and template: both digests must match.
    """
    known = _PROFILES.get((model_sha256, template_sha256))
    if known is not None:
        return known
    middle = range(num_hidden_layers // 3, max(num_hidden_layers // 3 + 1, 2 * num_hidden_layers // 3))
    layers = [layer for layer in middle if layer not in local_layers]
    layers = layers or [layer for layer in range(num_hidden_layers) if layer not in local_layers]
    heads = tuple((layer, head) for layer in layers for head in range(num_attention_heads))
    return HeadProfile(heads, (1.0,) * len(heads), profiled=False)
