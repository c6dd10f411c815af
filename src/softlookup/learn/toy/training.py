"""Trains the small decoder on a text and keeps the curves: loss, and how wide every layer looks."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch

from softlookup.attention import StatsRequest, attention_statistics
from softlookup.learn.toy.decoder import ToyDecoder, ToyShape
from softlookup.learn.toy.mistakes import MISTAKES
from softlookup.learn.toy.texts import clauses

WINDOW = 80  # characters per training row, and the longest text that a decoder is asked to continue
_ROWS = 6
_EVERY = 20
_RATE = 1e-2


@dataclass(frozen=True, eq=False)
class Trained:
    """A decoder and its curves.

    ``steps``: where the curves were read; ``loss`` in nats per character on the training text; ``entropy`` per
    layer in nats, mean over heads and rows, of what the decoder's attention may see.
    """

    name: str
    model: ToyDecoder
    text: str
    characters: str
    steps: tuple[int, ...]
    loss: tuple[float, ...]
    entropy: tuple[tuple[float, ...], ...]

    def encode(self, text: str) -> torch.Tensor:
        """Tokens [1, T]."""
        return torch.tensor([[self.characters.index(character) for character in text]])

    def decode(self, tokens: torch.Tensor) -> str:
        """The characters of tokens [T]."""
        return "".join(self.characters[token] for token in tokens.tolist())


@functools.cache
def train(name: str, language: str = "en", *, steps: int = 400, head_dim: int = 32, seed: int = 0) -> Trained:
    """The decoder with the mistake ``name`` of ``MISTAKES``, trained from ``seed``; the same object when asked again.

    Every run sees the same rows in the same order and starts from the same weights.
    """
    text = clauses(language)
    characters = "".join(sorted(set(text)))
    tokens = torch.tensor([characters.index(character) for character in text])
    model = ToyDecoder(ToyShape(len(characters), head_dim=head_dim), MISTAKES[name], seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=_RATE, betas=(0.9, 0.98))
    draw = torch.Generator().manual_seed(seed + 1)
    read, losses, entropies = [], [], []
    for step in range(steps + 1):
        rows = _batch(tokens, draw)
        loss = loss_of(model(rows[:, :-1]), rows[:, 1:])
        if step % _EVERY == 0:
            read.append(step)
            losses.append(loss.item())
            entropies.append(entropy_per_layer(model))
        for group in optimizer.param_groups:
            group["lr"] = _RATE * min((step + 1) / 20, 1.0) * (1 - step / (steps + 1))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
    model.requires_grad_(requires_grad=False)
    return Trained(name, model, text, characters, tuple(read), tuple(losses), tuple(zip(*entropies, strict=True)))


def loss_of(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Mean of -ln p(wanted) in nats; logits [B, T, V], wanted [B, T]."""
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())


def entropy_per_layer(model: ToyDecoder) -> list[float]:
    """Nats of the latest pass, mean over rows and heads; rows that see no key do not count."""
    found = []
    for query, key in zip(model.latest.query, model.latest.key, strict=True):
        mask = None if model.mistake.after_softmax else model.mistake.visible(query.shape[2], key.shape[2])
        stats = attention_statistics(
            query, key, causal=False, mask=None if mask is None else mask[None, None],
            scale=model.mistake.scale(query.shape[3]), stats=StatsRequest(entropy=True),
        )  # fmt: skip
        found.append(float(torch.nanmean(stats.entropy)) if stats.entropy is not None else float("nan"))
    return found


def _batch(tokens: torch.Tensor, draw: torch.Generator) -> torch.Tensor:
    """Rows [B, WINDOW + 1] from random places."""
    starts = torch.randint(len(tokens) - WINDOW, (_ROWS,), generator=draw)
    return tokens[starts[:, None] + torch.arange(WINDOW + 1)]
