"""The function under test, called on canonical cases within a budget; every way it can misbehave is an observation."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup.conformance.adapters import Adapter, read_signature
from softlookup.conformance.arguments import Arguments
from softlookup.conformance.case import Array, Case
from softlookup.conformance.contract import Contract
from softlookup.conformance.frameworks import dtype_name, framework_of, settled, to_numpy
from softlookup.conformance.oracle import one_nan_per_row


class OutOfBudgetError(Exception):
    """The function did not return in time; nothing more can be asked of it."""


@dataclass(frozen=True)
class Observation:
    """What one call gave: ``output`` [B, H, Tq, Dv] float64 (None: ``error`` says why), and what was odd about it."""

    output: Array | None
    error: str = ""
    mutated: tuple[str, ...] = ()
    dtype: str = ""
    form: str = ""  # "tuple", or the shape that came where it was not the wanted one


class Subject:
    """``function`` under ``contract`` and ``adapter``; ``budget`` seconds for all calls together."""

    def __init__(self, function: Callable[..., Any], contract: Contract, adapter: Adapter, budget: float) -> None:
        self.function, self.contract, self.adapter = function, contract, adapter
        self.signature = read_signature(function, adapter)
        self.framework = adapter.framework or (
            contract.framework if contract.framework != "auto" else framework_of(function)
        )
        self.use(self.framework)
        self.value_is_free = True
        self.mask_heads = "1"
        self.budget = budget
        self.left = budget  # only the function's own time counts, not the search for a name
        self.calls = 0

    def use(self, framework: str) -> None:
        """Give the function arrays of this library."""
        self.framework = framework
        self.arguments = Arguments(self.signature, self.contract, self.adapter, framework)

    @property
    def features(self) -> frozenset[str]:
        """Arguments that can be asked for."""
        return self.signature.features | ({"causal"} if self.adapter.always_causal else frozenset())

    def run(self, case: Case, *, strided: bool = False) -> Observation:
        """Call once, or in slices of value columns where their number is tied to D. Raises ``OutOfBudgetError``."""
        if self.adapter.always_causal and not case.causal:
            return Observation(None, "unasked: it is always causal")
        width, limit = case.value.shape[-1], case.head_dim
        if self.value_is_free or width == limit:
            return self._once(case, strided=strided)
        parts = []
        for start in range(0, width, limit):
            piece = case.value[..., start : start + limit]
            padded = np.pad(piece, [(0, 0)] * 3 + [(0, limit - piece.shape[-1])])
            found = self._once(case.but(value=padded), strided=strided)
            if found.output is None:
                return found
            parts.append(found.output[..., : piece.shape[-1]])
        return Observation(np.concatenate(parts, -1), mutated=found.mutated, dtype=found.dtype, form=found.form)

    def _once(self, case: Case, *, strided: bool) -> Observation:
        try:
            tensors, keywords = self.arguments.build(case, strided=strided)
        except (TypeError, ImportError, AttributeError) as error:
            return Observation(None, f"{type(error).__name__}: {error}")
        before = {name: to_numpy(value) for name, value in (*tensors.items(), *keywords.items())}
        call = self.adapter.call
        given = dict(tensors)
        positional = [given.pop(name) for name in ("query", "key", "value") if name in given]
        result, raised = self._timed(
            (lambda: call(self.function, *positional, **given, **keywords))
            if call is not None
            else (lambda: self.function(*positional, **given, **keywords))
        )
        if raised is not None:
            return Observation(None, f"{type(raised).__name__}: {_first_line(raised)}")
        mutated = tuple(
            name for name, value in (*tensors.items(), *keywords.items()) if not _same(before[name], to_numpy(value))
        )
        return self._read(result, case, mutated)

    def _read(self, result: Any, case: Case, mutated: tuple[str, ...]) -> Observation:
        form = ""
        if isinstance(result, tuple | list) and result:
            form, result = f"a {type(result).__name__} of {len(result)}", result[0]
        output = to_numpy(getattr(result, "output", result))
        dtype = dtype_name(getattr(result, "output", result))
        if output is None:
            return Observation(None, f"returned {type(result).__name__}, no array", mutated, dtype, form)
        wanted = (case.batch, case.heads, case.q_length, case.value.shape[-1])
        laid_out = self.arguments.output(output, wanted)
        if laid_out is None:
            form = f"shape {list(output.shape)}, wanted {list(self.arguments.shape(wanted))}"
            return Observation(None, f"returned {form}", mutated, dtype, form)
        return Observation(one_nan_per_row(laid_out), "", mutated, dtype, form)

    def _timed(self, call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        left = self.left
        if left <= 0:
            raise OutOfBudgetError(f"budget of {self.budget:g} s used up after {self.calls} calls")
        self.calls += 1
        box: list[Any] = [None, None]

        def work() -> None:
            try:
                with np.errstate(all="ignore"):
                    box[0] = settled(call(), self.framework)
            except SystemExit as error:  # sys.exit() in the function, or it was stopped
                box[1] = error
            except Exception as error:  # noqa: BLE001 - whatever the function raises is what is reported
                box[1] = error

        thread = threading.Thread(target=work, daemon=True)
        started = time.monotonic()
        thread.start()
        thread.join(left)
        self.left -= time.monotonic() - started
        if thread.is_alive():
            _stop(thread)
            raise OutOfBudgetError(f"a call did not return within {left:.0f} s")
        return box[0], box[1]


def _stop(thread: threading.Thread) -> None:
    """Ends a loop written in Python; a loop inside C code runs on until the process ends."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))


def _same(before: Array | None, after: Array | None) -> bool:
    if before is None or after is None:
        return before is after
    return before.shape == after.shape and bool(np.array_equal(before, after, equal_nan=True))


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else ""
