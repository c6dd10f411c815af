"""Reads the cases that the package onnx carries: attributes, inputs and outputs as numpy arrays by name."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from softlookup.conformance.case import Array
from softlookup.errors import ModelError


@dataclass(frozen=True)
class Published:
    """One case; ``inputs`` and ``outputs`` have the operator's names. Half inputs are in ``dtype``, arrays float64."""

    name: str
    attributes: dict[str, Any]
    inputs: dict[str, Array]
    outputs: dict[str, Array]
    dtype: str
    rtol: float
    atol: float


def published_cases() -> list[Published]:
    """All cases of Attention that are not expanded into other operators. Raises ``ModelError`` without onnx."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # collect_testcases() imports the cases of every operator: 10 s against 0.3 s for these alone
            nodes = import_module("onnx.backend.test.case.node")
            import_module("onnx.backend.test.case.node.attention")
            helper = import_module("onnx.helper")
    except ImportError as error:
        raise ModelError(
            f"this needs the package onnx, which carries the cases ({error})", "pip install onnx"
        ) from error
    found = []
    for case in nodes._NodeTestCases:
        node = case.model.graph.node[0]
        if node.op_type == "Attention" and not case.name.endswith("_expanded"):
            attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
            found.append(_read(case, node, attributes))
    return sorted(found, key=lambda case: case.name)


def _read(case: Any, node: Any, attributes: dict[str, Any]) -> Published:
    given, expected = case.data_sets[0]
    inputs = dict(zip((name for name in node.input if name), map(np.asarray, given), strict=True))
    outputs = dict(zip((name for name in node.output if name), map(np.asarray, expected), strict=True))
    dtype = inputs["Q"].dtype.name
    # the suite's own tolerance is below one rounding of a 16-bit output
    rtol, atol = (2e-2, 1e-3) if dtype in ("float16", "bfloat16") else (case.rtol, case.atol)
    return Published(case.name.removeprefix("test_attention_"), attributes, _wide(inputs), _wide(outputs), dtype,
                     rtol, atol)  # fmt: skip


def _wide(arrays: dict[str, Array]) -> dict[str, Array]:
    """Floats as float64, which holds every narrower one; bool and integers as they are."""
    return {name: array if array.dtype.kind in "biu" else array.astype(np.float64) for name, array in arrays.items()}
