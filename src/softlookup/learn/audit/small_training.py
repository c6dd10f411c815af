"""A decoder of one layer, trained for seconds under a wrong mask: what its loss shows, and what it writes then.

Text: a random chain of symbols whose three likely successors are never the symbol itself, so that a repetition is a
fault. Its entropy per symbol is known: no honest loss can fall below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

Mask = Literal["causal", "wrong triangle", "after softmax"]

_SYMBOLS, _LENGTH, _WIDTH = 12, 12, 16
_STEPS, _BATCH, _RATE, _SEED = 60, 16, 2e-2, 1
_PROMPTS, _PROMPT, _WRITTEN = 64, 4, 10
_LIKELY, _REST = (0.6, 0.25, 0.15), 0.01
EARLY = 30


@dataclass(frozen=True, slots=True)
class Trained:
    """``loss`` in nats by step, ``floor`` the entropy of the text.

    ``repeated``: share of written symbols, from the second on, that equal the one before.
    """

    loss: tuple[float, ...]
    floor: float
    repeated: float

    @property
    def early_loss(self) -> float:
        """Mean over the last ten of the first steps."""
        return sum(self.loss[EARLY - 10 : EARLY]) / 10

    @property
    def late_loss(self) -> float:
        """Mean over the last ten steps."""
        return sum(self.loss[-10:]) / 10


@cache
def trained(mask: Mask) -> Trained:
    """Train under ``mask``, then write under it."""
    import torch

    generator = torch.Generator().manual_seed(_SEED)
    chain = _chain(generator)
    decoder = _Decoder(generator, mask)
    optimizer = torch.optim.Adam(decoder.weights, lr=_RATE)
    losses = []
    for _ in range(_STEPS):
        text = _draw(chain, _BATCH, _LENGTH, generator)
        scores = decoder.logits(text[:, :-1])
        loss = torch.nn.functional.cross_entropy(scores.reshape(-1, _SYMBOLS), text[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
    return Trained(tuple(losses), _entropy(chain), _repeated(decoder, _draw(chain, _PROMPTS, _PROMPT - 1, generator)))


def _chain(generator: torch.Generator) -> torch.Tensor:
    """Probabilities [symbol, successor]."""
    import torch

    chain = torch.full((_SYMBOLS, _SYMBOLS), _REST, dtype=torch.float64)
    for symbol in range(_SYMBOLS):
        order = torch.randperm(_SYMBOLS, generator=generator).tolist()
        others = [each for each in order if each != symbol][: len(_LIKELY)]
        chain[symbol, others] = torch.tensor(_LIKELY, dtype=torch.float64)
    return chain / chain.sum(-1, keepdim=True)


def _entropy(chain: torch.Tensor) -> float:
    """Nats per symbol, from the stationary distribution."""
    import torch

    share = torch.linalg.matrix_power(chain, 256)[0]
    return float(-(share @ (chain * chain.log()).sum(-1)))


def _draw(chain: torch.Tensor, count: int, steps: int, generator: torch.Generator) -> torch.Tensor:
    """Symbols [count, steps + 1]."""
    import torch

    text = torch.randint(_SYMBOLS, (count, 1), generator=generator)
    for _ in range(steps):
        text = torch.cat([text, torch.multinomial(chain[text[:, -1]], 1, generator=generator)], 1)
    return text


def _repeated(decoder: _Decoder, text: torch.Tensor) -> float:
    import torch

    start = text.shape[1]
    with torch.no_grad():
        for _ in range(_WRITTEN):
            text = torch.cat([text, decoder.logits(text)[:, -1:].argmax(-1)], 1)
    written = text[:, start:]
    return float((written[:, 1:] == written[:, :-1]).double().mean())


class _Decoder:
    """Symbol and position vectors, one head of attention, one matrix to symbols; float64."""

    def __init__(self, generator: torch.Generator, mask: Mask) -> None:
        import torch

        def weight(*shape: int) -> torch.Tensor:
            return (0.3 * torch.randn(*shape, generator=generator, dtype=torch.float64)).requires_grad_()

        self._mask = mask
        self._symbol, self._position = weight(_SYMBOLS, _WIDTH), weight(2 * _LENGTH, _WIDTH)
        self._query, self._key, self._value, self._output = (weight(_WIDTH, _WIDTH) for _ in range(4))
        self._head = weight(_WIDTH, _SYMBOLS)
        self.weights = [
            self._symbol, self._position, self._query, self._key, self._value, self._output, self._head
        ]  # fmt: skip

    def logits(self, text: torch.Tensor) -> torch.Tensor:
        """[B, T, symbols] of text [B, T]."""
        hidden = self._symbol[text] + self._position[: text.shape[1]]
        query, key, value = ((hidden @ each)[:, None] for each in (self._query, self._key, self._value))
        return (hidden + self._attend(query, key, value)[:, 0] @ self._output) @ self._head

    def _attend(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        import torch

        from softlookup.attention.api import attention

        batch, length = query.shape[0], query.shape[2]
        lower = torch.ones(length, length, dtype=torch.bool).tril()
        if self._mask == "after softmax":
            unit = torch.eye(length, dtype=query.dtype).expand(batch, 1, length, length)
            return attention(query, key, unit, impl="reference").output * lower @ value
        seen = lower if self._mask == "causal" else lower.T
        return attention(query, key, value, mask=seen[None, None], impl="reference").output
