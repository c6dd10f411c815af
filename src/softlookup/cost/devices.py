"""Nominal rates of accelerators and processors: priors until measured. Dense rates, fp32 accumulation, no sparsity.

Sources: LLM-Viewer, servcalc, NVIDIA aiconfigurator, stas00/ml-engineering, vendor whitepapers; memory that an engine
sees from vLLM's logs. Traps avoided: sparse or fp16-accumulate peaks quoted as dense bf16 (MI300X 2,615; 4090 330).
"""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from typing import Literal

from softlookup.errors import UsageError

DeviceClass = Literal["datacenter", "consumer", "apple", "cpu"]
_GIB, _GB = float(1 << 30), 1e9


@dataclass(frozen=True, slots=True)
class Device:
    """``flops``: peak of bf16 (of fp32 where bf16 is not faster). ``bandwidth``: bytes/s. ``memory``: bytes seen.

    ``fp8_flops`` 0: no faster than bf16. ``count`` devices share the work of a prefill.
    """

    name: str
    device_class: DeviceClass
    flops: float
    fp32_flops: float
    bandwidth: float
    memory: float
    fp8_flops: float = 0.0
    count: int = 1

    @property
    def ridge(self) -> float:
        """FLOP per byte above which compute is the limit (roofline: Williams et al. 2009)."""
        return self.flops / self.bandwidth

    def peak(self, dtype: str) -> float:
        """Peak FLOP/s for weights of ``dtype``, of all devices together."""
        one = self.fp32_flops if dtype == "f32" else self.fp8_flops if dtype == "fp8" and self.fp8_flops else self.flops
        return one * self.count


# name: class, bf16 TFLOP/s, fp32 TFLOP/s, GB/s, GiB seen, fp8 TFLOP/s
_TABLE: dict[str, tuple[DeviceClass, float, float, float, float, float]] = {
    "A100-40GB": ("datacenter", 312, 19.5, 1555, 39.4, 0),
    "A100-80GB": ("datacenter", 312, 19.5, 2039, 79.19, 0),
    "A100-80GB-PCIe": ("datacenter", 312, 19.5, 1935, 79.19, 0),
    "H100": ("datacenter", 989, 67, 3350, 79.19, 1979),
    "H100-PCIe": ("datacenter", 756, 51, 2000, 79.19, 1513),
    "H200": ("datacenter", 989, 67, 4800, 139.8, 1979),
    "H20": ("datacenter", 148, 44, 4000, 95.0, 296),
    "H800": ("datacenter", 989, 67, 3350, 79.19, 1979),
    "B200": ("datacenter", 2250, 80, 7850, 178.0, 4500),
    "MI300X": ("datacenter", 1307, 163.4, 5300, 191.5, 2615),
    "L40S": ("datacenter", 362, 91.6, 864, 44.42, 733),
    "L4": ("datacenter", 121, 30.3, 300, 22.0, 242),
    "RTX-3090": ("consumer", 71, 35.6, 936, 23.58, 0),
    "RTX-4090": ("consumer", 165.2, 82.6, 1008, 23.5, 330.3),
    "RTX-5090": ("consumer", 209.5, 104.8, 1792, 31.4, 419),
    "M1": ("apple", 2.6, 2.6, 68, 12, 0), "M2": ("apple", 3.6, 3.6, 100, 18, 0), "M3": ("apple", 3.5, 3.5, 100, 18, 0),
    "M4": ("apple", 4.3, 4.3, 120, 24, 0), "M1-Max": ("apple", 10.4, 10.4, 400, 48, 0),
    "M2-Max": ("apple", 13.5, 13.5, 400, 72, 0), "M3-Max": ("apple", 14.1, 14.1, 400, 96, 0),
    "M4-Max": ("apple", 13.7, 13.7, 546, 96, 0), "M1-Ultra": ("apple", 20.8, 20.8, 800, 96, 0),
    "M2-Ultra": ("apple", 21.5, 21.5, 800, 144, 0), "M3-Ultra": ("apple", 28.2, 28.2, 819, 384, 0),
    "EPYC-7763": ("cpu", 5, 5, 205, 256, 0),
    "Xeon-8480": ("cpu", 115, 7, 307, 256, 0),
    "Ryzen-7950X": ("cpu", 2.4, 2.4, 83, 64, 0),
}  # fmt: skip
_OTHER_NAMES = {
    "a100": "A100-80GB", "a10080gbsxm": "A100-80GB", "a100sxm": "A100-80GB", "a100sxm480gb": "A100-80GB",
    "a100pcie": "A100-80GB-PCIe", "h100sxm": "H100", "h10080gb": "H100",
    "h100sxm5": "H100", "3090": "RTX-3090", "4090": "RTX-4090", "5090": "RTX-5090", "7950x": "Ryzen-7950X",
    "ryzen97950x": "Ryzen-7950X", "xeon8480+": "Xeon-8480", "cpu": "auto",
}  # fmt: skip


def device_names() -> list[str]:
    """Names of the table."""
    return list(_TABLE)


def find_device(name: str = "auto") -> Device:
    """A device by name; ``auto`` (or ``cpu``) is the processor of this machine, ``2xH100`` two of them.

    Raises ``UsageError`` for an unknown name, with the nearest ones.

    >>> find_device("nvidia h100 sxm").ridge > 290
    True
    """
    several = re.fullmatch(r"\s*(\d{1,5})\s*[x*]\s*(.+)", name)
    count, single = (int(several[1]), several[2]) if several else (1, name)
    wanted = re.sub(r"[^a-z0-9+]", "", re.sub(r"nvidia|geforce|apple|amd|intel", "", single.lower()))
    wanted = re.sub(r"[^a-z0-9+]", "", _OTHER_NAMES.get(wanted, wanted).lower())
    if wanted == "auto" and not several:
        return this_processor()
    for known, row in _TABLE.items():
        if re.sub(r"[^a-z0-9]", "", known.lower()) == wanted and count >= 1:
            kind, bf16, fp32, bandwidth, gib, fp8 = row
            return Device(known, kind, bf16 * 1e12, fp32 * 1e12, bandwidth * _GB, gib * _GIB, fp8 * 1e12, count)
    near = difflib.get_close_matches(wanted, [re.sub(r"[^a-z0-9]", "", each.lower()) for each in _TABLE], 3, 0.4)
    names = [each for each in _TABLE if re.sub(r"[^a-z0-9]", "", each.lower()) in near] or ["H100", "RTX-4090"]
    raise UsageError(f"the device {name!r} is not in the table", f"use auto, or a name such as {', '.join(names)}")


def this_processor() -> Device:
    """The processor of this machine: 95 GFLOP/s of fp32 (AVX2) and 12 GB/s per core, both coarse priors."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    try:
        memory = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):  # no such call on this system
        memory = 8 * _GIB
    rate = 95e9 * cores
    return Device(f"this CPU ({cores} cores)", "cpu", rate, rate, min(100e9, 12e9 * cores), memory)
