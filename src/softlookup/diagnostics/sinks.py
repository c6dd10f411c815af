"""Which keys take attention without meaning: where they stand, what they are, in how many heads; raises no alerts.

Metric of Gu et al. (arXiv 2410.10781): the mean weight of key k over all queries i >= k; above 0.3 it is a sink. From
an observed prefill that mean is over every row; from the question's rows it is over those alone.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from softlookup.diagnostics.head_statistics import SINK_WEIGHT, HeadStatistics

if TYPE_CHECKING:
    from softlookup.runtime.observation import LayerObservation

SinkKind = Literal["first_token", "delimiter", "content", "template", "learned"]
# a mean over fewer queries than this is no mean: the last keys are looked at by the last few rows alone
LEAST_ROWS = 32
MOST_PLACES = 5


@dataclass(frozen=True, slots=True)
class Sink:
    """Column ``key`` (None: a learned logit without a key) in ``heads`` heads, ``mass`` being their mean.

    ``places``: the heads with the largest mass, (layer, head, mass), best first, at most five.
    """

    kind: SinkKind
    key: int | None
    token: str
    heads: int
    mass: float
    places: tuple[tuple[int, int, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "mass": round(self.mass, 4)}


Place = tuple[int, int, float]


def sinks_of_rows(layers: Mapping[int, HeadStatistics]) -> dict[int | None, list[Place]]:
    """Sinks of the question's rows by column, learned ones under None.

    Columns of the rows themselves are left out by :func:`named_sinks`.
    """
    found: dict[int | None, list[Place]] = defaultdict(list)
    for number, layer in layers.items():
        for share in layer.sinks:
            found[share.key].append((number, share.head, share.mass))
        learned = () if layer.learned_sink is None else layer.learned_sink.tolist()
        found[None] += [(number, head, float(mass)) for head, mass in enumerate(learned) if mass > SINK_WEIGHT]
    return dict(found)


def sinks_of_prefill(layers: Mapping[int, LayerObservation]) -> dict[int | None, list[Place]]:
    """Sinks over all rows of an observed pass that began at column 0, with ``key_mass``; learned ones under None."""
    found: dict[int | None, list[Place]] = defaultdict(list)
    for number, layer in layers.items():
        if layer.learned_sink_mass is not None:
            for head, mass in enumerate(layer.learned_sink_mass.mean.tolist()):
                if mass > SINK_WEIGHT:
                    found[None].append((number, head, float(mass)))
        if layer.key_mass is None:
            continue
        mass_per_key = layer.key_mass[0].double().numpy()  # [Hq, T]
        length = mass_per_key.shape[1]
        queries = length - np.arange(length)
        if layer.sliding_window:
            queries = np.minimum(queries, layer.sliding_window)
        enough = queries >= min(LEAST_ROWS, max(1, length // 4))
        means = np.where(enough, mass_per_key / queries, 0.0)
        for head, key in np.argwhere(means > SINK_WEIGHT):
            found[int(key)].append((number, int(head), float(means[head, key])))
    return dict(found)


def named_sinks(
    found: Mapping[int | None, Iterable[Place]], token_at: Callable[[int], str], document: tuple[int, int]
) -> tuple[Sink, ...]:
    """The sinks with their tokens, those of most heads first.

    ``token_at`` gives the text of a column, "" for one behind the prefix; ``document`` is the document's range.
    """
    sinks = []
    for key, places in found.items():
        ordered = sorted(places, key=lambda place: -place[2])
        if not ordered:
            continue
        token = "" if key is None else token_at(key)
        if key is not None and not token:
            continue
        mass = sum(place[2] for place in ordered) / len(ordered)
        best = tuple((layer, head, round(value, 4)) for layer, head, value in ordered[:MOST_PLACES])
        sinks.append(Sink(_kind(key, token, document), key, token, len(ordered), mass, best))
    return tuple(sorted(sinks, key=lambda sink: (-sink.heads, -1 if sink.key is None else sink.key)))


def _kind(key: int | None, token: str, document: tuple[int, int]) -> SinkKind:
    if key is None:
        return "learned"
    if key == 0:
        return "first_token"
    if all(unicodedata.category(character)[0] in "PZCS" for character in token):
        return "delimiter"
    return "content" if document[0] <= key < document[1] else "template"
