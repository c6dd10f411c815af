"""A simulated machine that runs the embedded model at known rates, and the faults of timing that are planted in it."""

from __future__ import annotations

import random

from softlookup.cost.model.presets import preset_shape
from softlookup.cost.timing.calibration import CalibrationKey
from softlookup.cost.timing.measuring import Subject
from softlookup.cost.timing.prediction import cache_bytes, observed_share, observed_work, prefill_work

SHAPE = preset_shape("SmolLM2-135M")
KEY = CalibrationKey("a CPU, 2 cores", "softlookup", "softlookup 1", "ab" * 32, "f32", "f32", "sdpa", "default")
OBSERVED_LAYERS = 19
WEIGHTS = 96_000_000


def subject(**changes):
    facts = {
        "key": KEY, "name": "SmolLM2", "shape": SHAPE, "window": 8192, "weight_bytes": WEIGHTS,
        "observed_layers": OBSERVED_LAYERS, "thread_count": 2, "date": "2026-05-02T10:00:00+00:00",
    }  # fmt: skip
    return Subject(**{**facts, **changes})


class Machine:
    """Follows the model of the time exactly but for ``noise`` (relative); ``subject`` tells what it runs.

    Processor caches: prefills of up to ``cached`` tokens are ``speedup`` times as fast in their linear part.
    """

    fixed, linear, attention = 0.05, 150e9, 130e9
    weight_rate, kv_rate, start = 9e9, 14e9, 0.02
    observe_linear, observe_attention = 120e9, 60e9
    flops, bandwidth = 200e9, 20e9
    noise, cached, speedup = 0.0, 0, 1.0

    def __init__(self, *, shape=SHAPE, weights=WEIGHTS, seed=1, **changes):
        self.shape, self.weights = shape, weights
        self.length, self.lengths = 0, []
        self._random = random.Random(seed)
        for name, value in changes.items():
            assert hasattr(type(self), name), name
            setattr(self, name, value)

    def _taken(self, seconds):
        return seconds * (1 + self.noise * self._random.uniform(-1, 1))

    def read(self, tokens):
        """Seconds of a prefill without noise."""
        work = prefill_work(self.shape, tokens)
        linear = work.linear / self.linear / (self.speedup if tokens <= self.cached else 1.0)
        return self.fixed + linear + work.attention / self.attention

    def prefill(self, tokens):
        self.length = tokens
        self.lengths.append(tokens)
        return self._taken(self.read(tokens)), tokens

    def stretch(self, tokens):
        self.length = tokens
        return tokens

    def token(self, tokens):
        return self.weights / self.weight_rate + cache_bytes(self.shape, tokens, "f32") / self.kv_rate

    def decode(self, steps):
        return self._taken(self.token(self.length + steps // 2)), self.start

    def look(self, rows, tokens):
        linear, attention = observed_work(self.shape, rows, tokens, OBSERVED_LAYERS)
        fixed = self.fixed * observed_share(self.shape, OBSERVED_LAYERS)
        return fixed + linear / self.observe_linear + attention / self.observe_attention

    def observe(self, rows):
        return self._taken(self.look(rows, self.length))

    def peak_flops(self):
        return self.flops

    def peak_bandwidth(self):
        return self.bandwidth


class Truncates(Machine):
    """A prefill that silently reads 1,024 tokens of whatever it is given, and says nothing."""

    most = 1024

    def read(self, tokens):
        return super().read(min(tokens, self.most))


class TruncatesAndTells(Truncates):
    """The same, but its cache tells how much it holds."""

    def prefill(self, tokens):
        return super().prefill(tokens)[0], min(tokens, self.most)


class KeepsPrefix(Machine):
    """A prefill of a length that was seen before takes the prefix from a cache."""

    def read(self, tokens):
        return super().read(16 if tokens in self.lengths[:-1] and tokens > 256 else tokens)


class ForgetsAttention(Machine):
    """A wrong mask: every row sees itself alone, on a machine whose products are close to the peak."""

    attention, linear = 1e15, 195e9


class IgnoresCache(Machine):
    """A decode that does not read keys and values."""

    kv_rate = 1e15


class Asynchronous(Machine):
    """The clock stops when the work is handed over."""

    def _taken(self, seconds):
        return 0.002 + seconds / 1000


class WrongModel(Machine):
    """A model of 15 million parameters under the name of one of 135 million."""

    def __init__(self, **changes):
        super().__init__(**changes)
        self.linear, self.attention, self.weight_rate = 9 * self.linear, 9 * self.attention, 9 * self.weight_rate
