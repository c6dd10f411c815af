"""What is timed for a calibration: a loaded model, observed as a real question is; no words, no scores, no fit.

The same rows of the same heads are read on passages of usual length, and the numbers thrown away. What they mean is
``attribution.py``'s.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from softlookup.cost.model.dtypes import dtype_name
from softlookup.cost.model.model_source import find_model
from softlookup.cost.model.shapes import ModelShape
from softlookup.cost.seconds import weights_read
from softlookup.cost.timing.calibrated import wanted_key
from softlookup.cost.timing.measuring import Subject
from softlookup.evidence.attribution import PassageMap, PassageMass
from softlookup.evidence.profile_store import find_profile

if TYPE_CHECKING:
    from softlookup.evidence.profile import HeadProfile
    from softlookup.runtime.attention_calls import AttentionCall
    from softlookup.runtime.load import LoadedModel
    from softlookup.runtime.prefilled import Pack
    from softlookup.runtime.timing import ModelBench

# tokens of a passage (of at most 600 characters); of a question of 16 tokens about every second one is read
_PASSAGE, _ROWS = 110, range(0, 16, 2)


class TimedRows:
    """Observers for ``runtime/timing.py``. ``layers``: how many a packed pass runs."""

    def __init__(self, profile: HeadProfile) -> None:
        self._profile = profile
        self.layers = profile.last_layer + 1

    def pack(self, tokens: int, questions: int) -> Callable[[Pack, AttentionCall], None]:
        """As ``Reading.mass``."""
        rows = [list(_ROWS)] * (questions - 1) + [[0]]  # the last question may be short
        return PassageMass(self._profile, _passages(tokens), questions, rows=rows).collect_pack

    def token(self, tokens: int) -> Callable[[AttentionCall], None]:
        """As ``Reading.ask`` watches the answer."""
        collector = PassageMass(self._profile, _passages(tokens), 1, accumulate=True)

        def collect(call: AttentionCall) -> None:
            collector.collect(call, [(0, slice(0, 1))])

        return collect


def bench_and_subject(loaded: LoadedModel, fingerprint: str) -> tuple[ModelBench, Subject]:
    """What times ``loaded``, and what the timings will hold for. Makes the compact weights."""
    import torch

    from softlookup.runtime.prompt import PromptTemplate
    from softlookup.runtime.timing import ModelBench, weight_bytes_read

    template, model = PromptTemplate(loaded.tokenizer), loaded.model
    observers = TimedRows(find_profile(loaded, template))
    shape = find_model(str(loaded.source.folder)).shape
    subject = Subject(
        key=wanted_key(fingerprint, dtype_name(str(model.dtype)), str(model.config._attn_implementation)),
        name=loaded.source.name,
        shape=shape,
        window=loaded.window,
        weight_bytes=round(_active_share(shape) * weight_bytes_read(model)),
        observed_layers=observers.layers,
        thread_count=torch.get_num_threads(),
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )
    return ModelBench(loaded, template, observers), subject


def _active_share(shape: ModelShape) -> float:
    """Share of the weights that one token uses: below 1 for a mixture of experts."""
    used = weights_read(shape, bytes_per_weight=1.0)
    return used / (used + sum(layer.idle_expert_weights for layer in shape.layers))


def _passages(tokens: int) -> PassageMap:
    owner = np.arange(tokens, dtype=np.int64) // _PASSAGE
    return PassageMap(owner, (0, tokens), int(owner[-1]) + 1)
