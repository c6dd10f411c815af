"""Calls of a rotary function: unit vectors in, rotation matrices out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from softlookup.conformance.adapters import Adapter
from softlookup.conformance.case import Array
from softlookup.conformance.contract import Contract
from softlookup.conformance.frameworks import framework_of, settled, to_framework, to_numpy
from softlookup.conformance.rope_variants import Rotation, matrices
from softlookup.conformance.subject import OutOfBudgetError


class RopeCall:
    """One rotary function under a contract; ``error`` says why the last call gave nothing."""

    def __init__(
        self, function: Callable[..., Any], contract: Contract, adapter: Adapter, dim: int, deadline: float
    ) -> None:
        self.function, self.adapter, self.dim, self.deadline = function, adapter, dim, deadline
        self.layout = adapter.layout or contract.layout
        self.dtype = adapter.dtype or "float32"
        self.framework = adapter.framework or (
            contract.framework if contract.name not in ("llama", "hf_eager") and contract.framework != "auto"
            else framework_of(function)
        )  # fmt: skip
        self.error = ""

    def matrices(self, positions: Array) -> Array | None:
        """[T, D, D]: row a is the image of unit vector a; None after an error."""
        heads = self.adapter.heads or self.dim
        rows = []
        for start in range(0, self.dim, heads):
            units = np.zeros((1, heads, len(positions), self.dim))
            for place in range(heads):
                units[0, place, :, min(start + place, self.dim - 1)] = 1.0
            found = self._call(units, positions)
            if found is None:
                return None
            rows.append(found[0, : min(heads, self.dim - start)])
        return np.concatenate(rows).transpose(1, 0, 2)

    def first_bad(self, right: Rotation) -> int | str:
        """The first position whose rotation is off by more than 0.05."""
        positions = np.arange(4200)
        seen = self.matrices(positions)
        if seen is None:
            return "?"
        bad = np.abs(seen - matrices(right, positions)).max((1, 2)) > 0.05
        return int(bad.argmax()) if bad.any() else ">4200"

    def script(self, name: str, right: Rotation, position: int, unit: int) -> str:
        """A script to paste that shows one wrong vector."""
        module, _, path = name.partition(":")
        importable = bool(module) and path.isidentifier() and module != "__main__"
        x = np.eye(self.dim)[unit].tolist()
        want = matrices(right, np.array([position]))[0, unit].round(4).tolist()
        torch = self.framework == "torch"
        given, array = ("torch.from_numpy(x)", "torch.tensor") if torch else ("x", "np.array")
        shape = (1, 1, 1, self.dim)
        return "\n".join(
            [
                "import numpy as np",
                *(["import torch"] if torch else []),
                f"from {module} import {path} as fn" if importable else "fn = ...  # the function under test",
                "",
                f"x = np.array({x}, dtype=np.float32).reshape{shape}",
                f"got = fn({given}, {array}([{position}]))",
                f"want = {want}",
                'print("got ", np.asarray(got).ravel().round(4).tolist())',
                'print("want", want)',
                "",
            ]
        )

    def _call(self, units: Array, positions: Array) -> Array | None:
        laid_out = units if self.layout == "bhtd" else units.transpose(0, 2, 1, 3)
        try:
            x = to_framework(laid_out, self.framework, self.dtype)
            places = to_framework(positions.astype(np.int64), self.framework, None)
        except (ImportError, TypeError) as error:
            self.error = f"{type(error).__name__}: {error}"
            return None
        box: list[Any] = [None]
        self.error = ""

        def work() -> None:
            try:
                result = (self.adapter.call or _plain)(self.function, x, places, **self.adapter.fixed)
                box[0] = settled(result, self.framework)
            except Exception as error:  # noqa: BLE001 - whatever the function raises is what is reported
                self.error = f"{type(error).__name__}: {error}"

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(max(0.0, self.deadline - time.monotonic()))
        if thread.is_alive():
            raise OutOfBudgetError("a call did not return within the budget")
        result = box[0][0] if isinstance(box[0], tuple) else box[0]
        found = to_numpy(result)
        if found is None or found.shape != laid_out.shape:
            self.error = self.error or f"returned {'no array' if found is None else list(found.shape)}"
            return None
        return found if self.layout == "bhtd" else found.transpose(0, 2, 1, 3)


def _plain(function: Callable[..., Any], x: Any, positions: Any, **fixed: Any) -> Any:
    return function(x, positions, **fixed)
