"""Models small enough to be trained inside a lesson: a decoder over characters, and an alignment task.

For showing what a mistake in attention does to training and to generated text. Not for reading contracts.
torch loads when a name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {
    "MISTAKES": "softlookup.learn.toy.mistakes",
    "PLACES": "softlookup.learn.toy.model_check",
    "SCORERS": "softlookup.learn.toy.scorers",
    "align": "softlookup.learn.toy.alignment",
    "bytes_for_backward": "softlookup.learn.toy.scorers",
    "repeated": "softlookup.learn.toy.generation",
    "Mistake": "softlookup.learn.toy.mistakes",
    "ToyDecoder": "softlookup.learn.toy.decoder",
    "Trained": "softlookup.learn.toy.training",
    "attend": "softlookup.learn.toy.mistakes",
    "attention_weights": "softlookup.learn.toy.mistakes",
    "checked": "softlookup.learn.toy.model_check",
    "clauses": "softlookup.learn.toy.texts",
    "decoded_loss": "softlookup.learn.toy.generation",
    "generate": "softlookup.learn.toy.generation",
    "train": "softlookup.learn.toy.training",
}

__all__ = [
    "MISTAKES",
    "PLACES",
    "SCORERS",
    "Mistake",
    "ToyDecoder",
    "Trained",
    "align",
    "attend",
    "attention_weights",
    "bytes_for_backward",
    "checked",
    "clauses",
    "decoded_loss",
    "generate",
    "repeated",
    "train",
]

if TYPE_CHECKING:
    from softlookup.learn.toy.alignment import align
    from softlookup.learn.toy.decoder import ToyDecoder
    from softlookup.learn.toy.generation import decoded_loss, generate, repeated
    from softlookup.learn.toy.mistakes import MISTAKES, Mistake, attend, attention_weights
    from softlookup.learn.toy.model_check import PLACES, checked
    from softlookup.learn.toy.scorers import SCORERS, bytes_for_backward
    from softlookup.learn.toy.texts import clauses
    from softlookup.learn.toy.training import Trained, train


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'softlookup.learn.toy' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
