"""Bytes per element of every storage type: plain floats, fp8, and the block formats of GGUF. No tensors here."""

from __future__ import annotations

import math
from fractions import Fraction

from softlookup.errors import UsageError

# GGUF block formats: bytes and elements of one block, scales included.
# Source: ggml-common.h and gguf-py's GGML_QUANT_SIZES; "q8_0 = 1 byte" would be 6 % too low.
_BLOCKS: dict[str, tuple[int, int]] = {
    "q4_0": (18, 32), "q4_1": (20, 32), "q5_0": (22, 32), "q5_1": (24, 32), "q8_0": (34, 32), "q8_1": (40, 32),
    "q2_k": (84, 256), "q3_k": (110, 256), "q4_k": (144, 256), "q5_k": (176, 256), "q6_k": (210, 256),
    "q8_k": (292, 256), "iq1_s": (50, 256), "iq1_m": (56, 256), "iq2_xxs": (66, 256), "iq2_xs": (74, 256),
    "iq2_s": (82, 256), "iq3_xxs": (98, 256), "iq3_s": (110, 256), "iq4_nl": (18, 32), "iq4_xs": (136, 256),
    "tq1_0": (54, 256), "tq2_0": (66, 256), "mxfp4": (17, 32), "nvfp4": (36, 64),
}  # fmt: skip
_PLAIN = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "fp8": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8}
_OTHER_NAMES = {
    "float64": "f64", "fp64": "f64", "float32": "f32", "fp32": "f32", "float": "f32", "float16": "f16", "fp16": "f16",
    "half": "f16", "bfloat16": "bf16", "float8": "fp8", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8",
    "f8_e4m3": "fp8", "f8_e5m2": "fp8", "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "int8": "i8", "u8": "i8", "bool": "i8",
    "int16": "i16", "int32": "i32", "u32": "i32", "int64": "i64", "u64": "i64", "u16": "i16",
}  # fmt: skip
# Names of whole files mix several block formats; bits per weight are the averages llama.cpp's quantize tool prints
# for Llama-3-8B, so they are priors: other models differ by a few per cent.
_MIXES = {
    "q2_k_m": 3.16, "q3_k_s": 3.64, "q3_k_m": 4.00, "q3_k_l": 4.30, "q4_k_s": 4.67, "q4_k_m": 4.89, "q5_k_s": 5.57,
    "q5_k_m": 5.70,
}  # fmt: skip

# ids in a GGUF tensor table; source: enum ggml_type
GGML_TYPES: dict[int, str] = {
    0: "f32", 1: "f16", 2: "q4_0", 3: "q4_1", 6: "q5_0", 7: "q5_1", 8: "q8_0", 9: "q8_1", 10: "q2_k", 11: "q3_k",
    12: "q4_k", 13: "q5_k", 14: "q6_k", 15: "q8_k", 16: "iq2_xxs", 17: "iq2_xs", 18: "iq3_xxs", 19: "iq1_s",
    20: "iq4_nl", 21: "iq3_s", 22: "iq2_s", 23: "iq4_xs", 24: "i8", 25: "i16", 26: "i32", 27: "i64", 28: "f64",
    29: "iq1_m", 30: "bf16", 34: "tq1_0", 35: "tq2_0", 39: "mxfp4", 40: "nvfp4",
}  # fmt: skip


def dtype_name(name: str) -> str:
    """The name used here for ``name``. Raises ``UsageError`` for an unknown one.

    >>> dtype_name("torch.bfloat16"), dtype_name("Q4_K")
    ('bf16', 'q4_k')
    """
    plain = name.strip().lower().removeprefix("torch.").replace("-", "_")
    plain = _OTHER_NAMES.get(plain, plain)
    if plain not in _BLOCKS and plain not in _PLAIN and plain not in _MIXES:
        raise UsageError(f"the storage type {name!r} is not known", "use one of " + ", ".join(known_dtypes()))
    return plain


def known_dtypes() -> list[str]:
    """Every name that :func:`dtype_name` returns."""
    return [*_PLAIN, *_BLOCKS, *_MIXES]


def is_mix(name: str) -> bool:
    """Whether ``name`` stands for a file of several formats, whose size is then a prior."""
    return dtype_name(name) in _MIXES


def element_bytes(name: str) -> Fraction:
    """Bytes per element, block scales included.

    >>> element_bytes("q8_0"), element_bytes("bf16")
    (Fraction(17, 16), Fraction(2, 1))
    """
    plain = dtype_name(name)
    if plain in _PLAIN:
        return Fraction(_PLAIN[plain])
    if plain in _MIXES:
        return Fraction(str(_MIXES[plain])) / 8
    return Fraction(*_BLOCKS[plain])


def storage_bytes(elements: int, name: str) -> int:
    """Bytes of ``elements`` stored as ``name``; a last incomplete byte counts as one."""
    return math.ceil(elements * element_bytes(name))
