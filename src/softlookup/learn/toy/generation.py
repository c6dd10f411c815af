"""What a trained decoder does without the future: text that it generates, and its loss when it decodes."""

from __future__ import annotations

import torch

from softlookup.attention import KVCache
from softlookup.learn.toy.decoder import ToyDecoder
from softlookup.learn.toy.model_check import PLACES, Places
from softlookup.learn.toy.training import WINDOW, Trained


def generate(trained: Trained, prompt: str, length: int = 64, *, places: str = "right") -> str:
    """The ``length`` likeliest next characters, one at a time through a cache; ``places``: a key of ``PLACES``."""
    tokens = trained.encode(prompt)
    cache = KVCache(trained.model.shape.num_hidden_layers)
    logits = trained.model(tokens, cache=cache)
    written = []
    for _ in range(length):
        token = logits[:, -1].argmax(-1, keepdim=True)  # [1, 1]
        written.append(token)
        logits = _step(trained.model, token, cache, tokens.shape[1], PLACES[places])
    return trained.decode(torch.cat(written, 1)[0])


def decoded_loss(trained: Trained, *, prompt: int = 32, rows: int = 16, places: str = "right") -> torch.Tensor:
    """Loss in nats [WINDOW - prompt] of every further character of the training text, decoded through a cache.

    The model is given the true text so far and nothing else, as when it generates; mean over ``rows`` places.
    """
    tokens = trained.encode(trained.text)[0]
    starts = torch.linspace(0, len(tokens) - WINDOW - 1, rows).long()
    windows = tokens[starts[:, None] + torch.arange(WINDOW + 1)]  # [rows, WINDOW + 1]
    cache = KVCache(trained.model.shape.num_hidden_layers)
    trained.model(windows[:, :prompt], cache=cache)
    losses = []
    for at in range(prompt, WINDOW):
        logits = _step(trained.model, windows[:, at : at + 1], cache, prompt, PLACES[places])
        losses.append(torch.nn.functional.cross_entropy(logits[:, 0], windows[:, at + 1]))
    return torch.stack(losses)


def repeated(text: str, size: int = 8) -> float:
    """Share of the pieces of ``size`` characters that have stood in the text before.

    >>> repeated("abababababab", 4)
    0.78
    """
    pieces = [text[at : at + size] for at in range(len(text) - size + 1)]
    return round(1 - len(set(pieces)) / len(pieces), 2)


def _step(model: ToyDecoder, token: torch.Tensor, cache: KVCache, prompt: int, places: Places) -> torch.Tensor:
    position = places(cache.length, prompt)
    logits: torch.Tensor = model(token, torch.tensor([position]), cache)
    return logits
