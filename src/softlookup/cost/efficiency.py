"""Which share of the nominal rates a run reaches: two for a prefill (linear, attention), one for decoding.

t = F_linear / (P e1) + F_attention / (P e2), attention counted causally. Series: weighted least squares on relative
error over published timings (MInference and TriangleMix READMEs, logs of engines); one engine's efficiencies misjudge
another by 5 to 19 %, so they are kept per device and engine. Everything else is a prior with a wide interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from softlookup.cost.devices import Device, DeviceClass
from softlookup.cost.figures import Kind


@dataclass(frozen=True, slots=True)
class Timed:
    """What timings on this machine add to shares of its rates.

    ``kv``: share of the bandwidth at which a cache is read, beside that of weights. ``width`` and ``decode_width``:
    half-widths of the intervals; that of decoding widens beyond ``longest_kv`` bytes. ``same_model``: the timings are
    of this very model; else no lower limit but the hardware's is known. ``observed``: shares (linear, attention) of the
    peak that observed rows behind a cache reach.
    """

    kv: float
    width: float
    decode_width: float
    longest_kv: float
    same_model: bool
    observed: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Shares of the peak (``linear``, ``attention``) and of the bandwidth (``bandwidth``), with outer limits.

    ``fixed_seconds`` per prefill. ``longest``: tokens of the longest timing behind it; beyond, the interval widens.
    """

    linear: float
    attention: float
    bandwidth: float
    low: float
    high: float
    bandwidth_low: float
    bandwidth_high: float
    source: str
    fixed_seconds: float = 0.0
    longest: int | None = None
    timed: Timed | None = None

    @property
    def kind(self) -> Kind:
        """How the shares are known."""
        return "prior" if self.timed is None else "measured"

    @property
    def of_observed_rows(self) -> Efficiency:
        """The same for rows behind a cache whose attention is looked at, where these were timed."""
        if self.timed is None or self.timed.observed is None:
            return self
        linear, attention = self.timed.observed
        return replace(self, linear=linear, attention=attention)

    @property
    def stretch(self) -> float:
        """Relative half-width of a prefill's interval inside the lengths of a series."""
        return 0.15 if self.timed is None else self.timed.width

    def limits(self, tokens: int) -> tuple[float, float]:
        """Factors on the prefill's seconds, for a series: wider by 5 % per doubling beyond its longest timing."""
        doublings = 0.0
        length = float(tokens)
        while self.longest and length > self.longest:
            doublings, length = doublings + 1, length / 2
        width = self.stretch + 0.05 * doublings
        return 1 / (1 + width), 1 + width


_PRIORS: dict[DeviceClass, Efficiency] = {
    # the centre and the band of all published A100 and H100 series, on the causal total
    "datacenter": Efficiency(0.56, 0.58, 0.80, 0.40, 0.65, 0.60, 0.95, "usual efficiencies of data-centre GPUs"),
    # between that and the 0.84 that the one public long prefill implies: the listed peaks of these cards are stated for
    # a clock that they exceed
    "consumer": Efficiency(0.72, 0.75, 0.80, 0.40, 0.90, 0.60, 0.95, "usual efficiencies of consumer GPUs"),
    "apple": Efficiency(0.60, 0.50, 0.70, 0.30, 0.90, 0.50, 0.90, "coarse prior for Apple GPUs"),
    # this program's own runs (README: prefills of 4,000 and 8,000 tokens) imply .70 of 95 GFLOP/s per core
    "cpu": Efficiency(0.65, 0.65, 0.65, 0.10, 1.0, 0.35, 0.95, "runs on two AVX-512 cores; coarse elsewhere"),
}
# (device, engine): what public timings imply. Fitted rows are named in benchmarks/cost_reference.py.
_SERIES: dict[tuple[str, str], Efficiency] = {
    ("A100-80GB", "vllm"): Efficiency(
        0.599, 0.603, 0.80, 0.5, 0.7, 0.60, 0.95, "vLLM, Llama-3-8B, 1k to 100k (MInference README)", longest=100_000
    ),
    ("A100-80GB", "transformers"): Efficiency(
        0.540, 0.511, 0.70, 0.4, 0.6, 0.50, 0.90,
        "transformers with FlashAttention-2, 10k to 300k (MInference README)", longest=300_000,
    ),
    ("A100-80GB", "transformers dense"): Efficiency(
        0.562, 0.602, 0.70, 0.4, 0.65, 0.50, 0.90, "transformers, 32k to 96k (TriangleMix README)", longest=98_304
    ),
    ("RTX-5090", "vllm"): Efficiency(
        0.84, 0.84, 0.80, 0.6, 0.95, 0.60, 0.95, "one vLLM log, Qwen3-4B, 91,056 tokens", longest=91_056
    ),
    # little compute beside much bandwidth (ridge 37): any engine keeps it busy
    ("H20", ""): Efficiency(
        0.785, 0.785, 0.80, 0.6, 0.9, 0.60, 0.95, "SGLang, Qwen3-30B-A3B and Qwen3-8B, 4,096 tokens (InferSim README)",
        longest=4096,
    ),
}  # fmt: skip


def efficiency_of(device: Device, engine: str = "") -> Efficiency:
    """Published series of the device under the engine, else of the device, else the prior of its class."""
    return _SERIES.get((device.name, engine)) or _SERIES.get((device.name, "")) or _PRIORS[device.device_class]


def is_series(efficiency: Efficiency) -> bool:
    """Whether ``efficiency`` comes from timings of that device and engine."""
    return efficiency.longest is not None


def fit_rates(timings: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Rates (linear, attention) in FLOP/s from timings (F_linear, F_attention, seconds): least relative squares.

    Two timings are solved exactly. Raises ``ValueError`` when the timings do not determine two positive rates:
    both lengths too alike, or a measurement that is wrong.
    """
    # unknowns x = 1/R1, y = 1/R2 of a x + b y = 1 with a = F_linear/t, b = F_attention/t
    rows = [(linear / seconds, attention / seconds) for linear, attention, seconds in timings]
    aa, bb = sum(a * a for a, _ in rows), sum(b * b for _, b in rows)
    ab, a1, b1 = sum(a * b for a, b in rows), sum(a for a, _ in rows), sum(b for _, b in rows)
    determinant = aa * bb - ab * ab
    if len(rows) < 2 or determinant <= 1e-9 * aa * bb:
        raise ValueError("two prefills of clearly different attention share are needed to fit two rates")
    x, y = (a1 * bb - b1 * ab) / determinant, (b1 * aa - a1 * ab) / determinant
    if x <= 0 or y <= 0:
        raise ValueError("the timings imply a rate that is not positive: one of them is wrong")
    return 1 / x, 1 / y
