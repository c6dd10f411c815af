"""A translation whose alignment must be learned, and what each scoring function learns of it in seconds.

A source holds ``SOURCE`` words in random order, each under a symbol that occurs once; the target asks for ``TARGET``
of the symbols and wants the translated word. Every other word of the source is a distractor.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch

from softlookup.learn.toy.scorers import SCORERS, Parameters, Scorer

SOURCE, TARGET = 16, 4
SYMBOLS, WORDS = 32, 32
_ROWS, _TESTED = 16, 64
_EVERY = 10
_VALUE = 32  # width of what is fetched, the same for all


@dataclass(frozen=True, eq=False)
class Batch:
    """symbols, words [B, SOURCE]; asked: places in the source [B, TARGET]."""

    symbols: torch.Tensor
    words: torch.Tensor
    asked: torch.Tensor


@dataclass(frozen=True, eq=False)
class AlignmentRun:
    """Curves over training on new sources, one entry per seed: share of right words, and of right places.

    ``steps``; ``accuracy`` and ``aligned`` [steps, S]; ``entropy`` [steps, S] in nats, at most ln SOURCE.
    """

    steps: tuple[int, ...]
    accuracy: torch.Tensor
    aligned: torch.Tensor
    entropy: torch.Tensor

    def steps_to(self, level: float) -> list[int | None]:
        """Per seed the first step whose accuracy is at least ``level``; None where it never is."""
        reached = []
        for curve in (self.accuracy >= level).T:
            reached.append(self.steps[int(curve.int().argmax())] if curve.any() else None)
        return reached


@functools.cache
def align(
    name: str, d: int, *, steps: int = 150, seeds: int = 5, rate: float = 1e-2, optimizer: str = "adam"
) -> AlignmentRun:
    """Train the scorer ``name`` of ``SCORERS`` at width ``d`` from ``seeds`` seeds at once: no seed sees another."""
    scorer = SCORERS[name]
    parameters = _drawn(scorer, d, seeds)
    kinds = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
    stepper = kinds[optimizer](list(parameters.values()), lr=rate)
    draw, fresh = torch.Generator().manual_seed(7), torch.Generator().manual_seed(8)
    tested = _batch(_TESTED, fresh)
    read, found = [], []
    for step in range(steps + 1):
        if step % _EVERY == 0:
            read.append(step)
            with torch.no_grad():
                found.append(_measured(scorer, parameters, tested))
        batch = _batch(_ROWS, draw)
        logits, _ = _forward(scorer, parameters, batch)
        # summed over seeds: the gradient of each is its own
        loss = _wrong(logits, batch).mean((1, 2)).sum()
        stepper.zero_grad()
        torch.autograd.backward(loss)
        stepper.step()
    accuracy, aligned, entropy = (torch.stack(each) for each in zip(*found, strict=True))
    return AlignmentRun(tuple(read), accuracy, aligned, entropy)


def _drawn(scorer: Scorer, d: int, seeds: int) -> Parameters:
    shapes = {"asked": (SYMBOLS, d), "symbol": (SYMBOLS, d), "word": (WORDS, d), "value": (WORDS, _VALUE)}
    drawn: dict[str, list[torch.Tensor]] = {name: [] for name in (*shapes, "out")}
    for seed in range(seeds):
        draw = torch.Generator().manual_seed(seed)
        for name, shape in shapes.items():
            drawn[name].append(torch.randn(shape, generator=draw, dtype=torch.float64))
        drawn["out"].append(torch.randn(_VALUE, WORDS, generator=draw, dtype=torch.float64) * _VALUE**-0.5)
    tables = {name: torch.stack(each) for name, each in drawn.items()} | scorer.parameters(d, seeds)
    return {name: table.requires_grad_() for name, table in tables.items()}


def _batch(rows: int, draw: torch.Generator) -> Batch:
    symbols = torch.rand(rows, SYMBOLS, generator=draw).argsort(1)[:, :SOURCE]
    words = torch.randint(WORDS, (rows, SOURCE), generator=draw)
    asked = torch.rand(rows, SOURCE, generator=draw).argsort(1)[:, :TARGET]
    return Batch(symbols, words, asked)


def _forward(scorer: Scorer, parameters: Parameters, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits [S, B, TARGET, WORDS] and weights [S, B, TARGET, SOURCE]."""
    query = parameters["asked"][:, batch.symbols.gather(1, batch.asked)]  # [S, B, TARGET, d]
    # symbol and word share the key: the scorer must learn to look past the word
    key = (parameters["symbol"][:, batch.symbols] + parameters["word"][:, batch.words]) / 2**0.5
    weights = scorer.score(parameters, query, key).softmax(-1)
    fetched = weights @ parameters["value"][:, batch.words]  # [S, B, TARGET, value]
    return fetched @ parameters["out"][:, None], weights


def _wrong(logits: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Loss [S, B, TARGET]; word w is translated as w, whose value and output are learned."""
    wanted = batch.words.gather(1, batch.asked)
    return -logits.log_softmax(-1).gather(-1, wanted[None, ..., None].expand(*logits.shape[:-1], 1)).squeeze(-1)


def _measured(scorer: Scorer, parameters: Parameters, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Per seed: share of right words, share of right places, entropy."""
    logits, weights = _forward(scorer, parameters, batch)
    right = (logits.argmax(-1) == batch.words.gather(1, batch.asked)).double().mean((1, 2))
    aligned = (weights.argmax(-1) == batch.asked).double().mean((1, 2))
    entropy = -torch.special.xlogy(weights, weights).sum(-1).mean((1, 2))
    return right, aligned, entropy
