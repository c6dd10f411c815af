"""Runs lists of compiled tasks on a few threads, thousands of times a second: one call, no Python in between.

A task is a row of int64: the address of a compiled function, then that function's parameters. The tasks of a
phase are independent; phases run in order. Threads take tasks one by one from a counter, and the caller waits
only for tasks that another thread has begun: a thread that the system does not run costs nothing.

Between calls the helpers spin for a moment and then sleep; they end with the ``with`` block.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.kernels.compiler import CompiledFunction, compile_function, pause_instruction
from softlookup.kernels.vector_code import I32, I64, Value, VectorCode, ir

if TYPE_CHECKING:
    from types import TracebackType

    import numpy.typing as npt

# int64 of a task: the function and its parameters
TASK_WORDS = 16
# int64 of a phase: address of its tasks, their number, whether threads may share them
PHASE_WORDS = 3

# places in the shared state, each in a cache line of its own
_GATE, _NEXT, _TASKS, _STOP = 0, 16, 32, 48
_STATE_WORDS = 64
# the gate: number of helpers inside, whether it is open, and a counter of the phases
_INSIDE = (1 << 16) - 1
_OPEN = 1 << 16
_PHASE_BIT = 17
# spins of a helper before it sleeps (some 0.2 ms on x86), and how long
_SPINS = 4000
_SLEEP_MICROSECONDS = 50
# spins of the caller before it offers its processor to others
_CALLER_SPINS = 2000


class TaskTeam:
    """The calling thread and ``threads - 1`` helpers, which live as long as the ``with`` block."""

    def __init__(self, threads: int) -> None:
        self._state = np.zeros(_STATE_WORDS, dtype=np.int64)
        libc = ctypes.CDLL(None)
        sleep, give_way = (
            ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (libc.usleep, libc.sched_yield)
        )
        state = self._state.ctypes.data
        self._serve_parameters = (ctypes.c_int64 * 2)(state, sleep)
        self._run_parameters = (ctypes.c_int64 * 4)(state, 0, 0, give_way)
        self._run = _run_function()
        self._helpers = [threading.Thread(target=self._serve, daemon=True) for _ in range(threads - 1)]

    def __enter__(self) -> TaskTeam:
        for number, helper in enumerate(self._helpers):
            try:
                helper.start()
            except RuntimeError:  # the system gives no more threads: fewer do the same work
                del self._helpers[number:]
                break
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._state[_STOP] = 1
        for helper in self._helpers:
            helper.join()

    def run(self, phases: npt.NDArray[np.int64]) -> None:
        """Run phases [n, PHASE_WORDS] in order; the tasks' memory must stay alive meanwhile."""
        self._run_parameters[1], self._run_parameters[2] = phases.ctypes.data, len(phases)
        self._run(self._run_parameters)

    def _serve(self) -> None:
        _serve_function()(self._serve_parameters)


def tasks_of(function: CompiledFunction, count: int) -> npt.NDArray[np.int64]:
    """``count`` tasks [count, TASK_WORDS] of one function, parameters 0."""
    tasks = np.zeros((count, TASK_WORDS), dtype=np.int64)
    tasks[:, 0] = function.address
    return tasks


def phase_of(tasks: npt.NDArray[np.int64], *, shared: bool = True) -> tuple[int, int, int]:
    """One row of phases: tasks in one contiguous array, run by all threads or, in order, by the caller alone."""
    return tasks.ctypes.data, len(tasks), int(shared and len(tasks) > 1)


class _Loops:
    """What both compiled functions share."""

    def __init__(self, name: str) -> None:
        self.c = VectorCode(name, 4)
        self.state = self.c.parameter(0)

    def word(self, place: int) -> Value:
        return self.c.pointer(self.state, I64, place)

    def read(self, place: int) -> Value:
        return self.c.b.load_atomic(self.word(place), "acquire", 8)

    def block(self, name: str) -> Any:
        return self.c.function.append_basic_block(name)

    def go(self, block: Any) -> None:
        """Branch to ``block`` and go on there."""
        self.c.b.branch(block)
        self.c.b.position_at_end(block)

    def call_address(self, address: Value, kinds: list[Any], values: list[Value]) -> None:
        pointer = ir.FunctionType(ir.VoidType(), kinds).as_pointer()
        self.c.b.call(self.c.b.inttoptr(address, pointer), values)

    def call_task(self, tasks: Value, index: Value) -> None:
        """Its parameters begin with its own function's address."""
        c = self.c
        task = c.pointer(tasks, I64, c.mul(index, TASK_WORDS))
        self.call_address(c.b.load(task), [I64.as_pointer()], [task])

    def pause(self) -> None:
        known = pause_instruction()
        if known is None:
            return
        name, operand = known
        kinds, values = ([], []) if operand is None else ([I32], [I32(operand)])
        if name not in self.c.module.globals:
            ir.Function(self.c.module, ir.FunctionType(ir.VoidType(), kinds), name)
        self.c.b.call(self.c.module.globals[name], values)

    def take_tasks(self) -> None:
        """Run tasks of the open phase until none is left."""
        c = self.c
        tasks, count = c.load(self.state, I64, _TASKS), c.load(self.state, I64, _TASKS + 1)
        head, body, end = self.block("take"), self.block("take.body"), self.block("take.end")
        self.go(head)
        index = c.b.atomic_rmw("add", self.word(_NEXT), I64(1), "acq_rel")
        c.b.cbranch(c.less(index, count), body, end)
        c.b.position_at_end(body)
        self.call_task(tasks, index)
        c.b.branch(head)
        c.b.position_at_end(end)


@functools.cache
def _run_function() -> CompiledFunction:
    """run(state, phases, count, give_way): the caller's side."""
    loops = _Loops("run")
    c = loops.c
    phases, give_way = c.parameter(1), c.parameter(3)
    with c.loop(0, c.parameter(2)) as number:
        tasks, count, shared = (
            c.load(phases, I64, c.add(c.mul(number, PHASE_WORDS), word)) for word in range(PHASE_WORDS)
        )
        is_shared = c.b.icmp_signed("!=", shared, I64(0))
        with c.when(c.b.not_(is_shared)), c.loop(0, count) as index:
            loops.call_task(tasks, index)
        with c.when(is_shared):
            c.store(tasks, loops.state, _TASKS)
            c.store(count, loops.state, _TASKS + 1)
            c.store(I64(0), loops.state, _NEXT)
            # nobody is inside and the gate is closed: only this thread writes to it
            phase = c.b.and_(loops.read(_GATE), I64(~(_INSIDE | _OPEN)))
            opened = c.b.or_(c.add(phase, 1 << _PHASE_BIT), I64(_OPEN))
            c.b.store_atomic(opened, loops.word(_GATE), "release", 8)
            loops.take_tasks()
            c.b.atomic_rmw("and", loops.word(_GATE), I64(~_OPEN), "acq_rel")
            _wait_for_helpers(loops, give_way)
    return compile_function(c.finish(), "run")


def _wait_for_helpers(loops: _Loops, give_way: Value) -> None:
    c = loops.c
    spins = c.variable(I64(0))
    head, body, end = loops.block("wait"), loops.block("wait.body"), loops.block("wait.end")
    loops.go(head)
    inside = c.b.and_(loops.read(_GATE), I64(_INSIDE))
    c.b.cbranch(c.b.icmp_signed("!=", inside, I64(0)), body, end)
    c.b.position_at_end(body)
    loops.pause()
    spins.set(c.add(spins.get(), 1))
    with c.when(c.less(_CALLER_SPINS, spins.get())):
        loops.call_address(give_way, [], [])
    c.b.branch(head)
    c.b.position_at_end(end)


@functools.cache
def _serve_function() -> CompiledFunction:
    """serve(state, sleep): a helper's life."""
    loops = _Loops("serve")
    c = loops.c
    idle, served = c.variable(I64(0)), c.variable(I64(0))
    head, look, enter, work, rest, end = (
        loops.block(name) for name in ("serve", "look", "enter", "work", "rest", "end")
    )
    loops.go(head)
    c.b.cbranch(c.b.icmp_signed("!=", loops.read(_STOP), I64(0)), end, look)
    c.b.position_at_end(look)
    gate = loops.read(_GATE)
    phase = c.b.lshr(gate, I64(_PHASE_BIT))
    is_open = c.b.icmp_signed("!=", c.b.and_(gate, I64(_OPEN)), I64(0))
    is_new = c.b.icmp_signed("!=", phase, served.get())
    c.b.cbranch(c.b.and_(is_open, is_new), enter, rest)
    c.b.position_at_end(enter)
    # succeeds only if the gate is still open for the same phase
    entered = c.b.cmpxchg(loops.word(_GATE), gate, c.add(gate, 1), "acq_rel", "acquire")
    c.b.cbranch(c.b.extract_value(entered, 1), work, head)
    c.b.position_at_end(work)
    loops.take_tasks()
    c.b.atomic_rmw("sub", loops.word(_GATE), I64(1), "acq_rel")
    served.set(phase)
    idle.set(I64(0))
    c.b.branch(head)
    c.b.position_at_end(rest)
    loops.pause()
    idle.set(c.add(idle.get(), 1))
    with c.when(c.less(_SPINS, idle.get())):
        loops.call_address(c.parameter(1), [I32], [I32(_SLEEP_MICROSECONDS)])
    c.b.branch(head)
    c.b.position_at_end(end)
    return compile_function(c.finish(), "serve")
